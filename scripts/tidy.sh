#!/usr/bin/env bash
# Runs clang-tidy on the .cpp files that changed since the merge base with BASE, committed or not.
#
#   scripts/tidy.sh [BASE]     BASE: a commit, by default $SINTER_BASE, else origin/main, else the commit before HEAD
#
# A file takes some 20 s, so at most $SINTER_TIDY_FILES (40) are checked, the latest changed first; the others are named.
# How a file is compiled by itself is known from build-debug/, where only headers are made for this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=${1:-${SINTER_BASE-}}
if [ -z "$base" ]; then
  for base in origin/main HEAD~1 HEAD; do
    git rev-parse -q --verify "$base^{commit}" >/dev/null && break
  done
  # On main itself the branch point is HEAD: look at the last commit then.
  if [ "$(git rev-parse "$base")" = "$(git rev-parse HEAD)" ] && git rev-parse -q --verify HEAD~1 >/dev/null; then
    base=HEAD~1
  fi
fi
git rev-parse -q --verify "$base^{commit}" >/dev/null || { echo "tidy.sh: no commit '$base'" >&2; exit 2; }
fork=$(git merge-base "$base" HEAD)

# The latest change first: what is not committed, then the commits from the newest on.
mapfile -t changed < <({
  git diff --name-only --diff-filter=d HEAD -- 'src/*.cpp' 'test/*.cpp'
  git log --name-only --format= "$fork..HEAD" -- 'src/*.cpp' 'test/*.cpp'
} | awk '!seen[$0]++')
[ -f build-debug/build.ninja ] || cmake --preset debug >/dev/null
files=()
for file in "${changed[@]}"; do
  # A file that is not part of the build has no flags to be checked with.
  [ -f "$file" ] && grep -qF "/$file\"" build-debug/compile_commands.json && files+=("$file")
done
if [ ${#files[@]} -eq 0 ]; then
  echo "tidy.sh: no .cpp file changed since $(git rev-parse --short "$fork")"
  exit 0
fi
most=${SINTER_TIDY_FILES:-40}
if [ ${#files[@]} -gt "$most" ]; then
  echo "tidy.sh: not checked, since only the latest $most of ${#files[@]} are: ${files[*]:$most}"
  files=("${files[@]:0:$most}")
fi
cmake --build build-debug --target sinter_pch sinter_backend_tablegen sinter_onnx_schema \
  src/driver/CMakeFiles/sinter.dir/cmake_pch.hxx.pch >/dev/null
echo "tidy.sh: ${#files[@]} files changed since $(git rev-parse --short "$fork")"
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 -p build-debug --quiet --warnings-as-errors='*' 2> >(grep -v 'warnings generated' >&2)
