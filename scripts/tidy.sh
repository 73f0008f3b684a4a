#!/usr/bin/env bash
# Runs clang-tidy on what changed since the merge base with BASE, committed or not: .cpp files, and .h files where one
# that includes them shows what is wrong in them (scripts/TidySources.py).
#
#   scripts/tidy.sh [BASE]     BASE: a commit, by default $SINTER_BASE, else origin/main, else the commit before HEAD
#   scripts/tidy.sh --all      all of src/, some 25 minutes of one core: the libraries' sources four at a time, as they
#                              are compiled, without the analyzer, which sees only what is not included
#
# A file takes some 20 s, so at most $SINTER_TIDY_FILES (16) are checked, the latest changed first; the others are named.
# How a file is compiled by itself is known from build-debug/, where only headers are made for this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# check FOLDER OPTION...: the files that standard input names, ended by 0, as they are compiled in the build FOLDER.
check() {
  cmake --build "$1" --target sinter_pch sinter_backend_tablegen sinter_onnx_schema sinter_paddle_schema \
    src/driver/CMakeFiles/sinter.dir/cmake_pch.hxx.pch </dev/null >/dev/null
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 -p "$1" --quiet --warnings-as-errors='*' "${@:2}" \
    2> >(grep -v 'warnings generated' >&2)
}

if [ "${1-}" = --all ]; then
  [ -f build/build.ninja ] || cmake --preset release >/dev/null
  sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/compile_commands.json |
    grep -E "^$PWD/(build/merged/)?src/" | sort -u | tr '\n' '\0' |
    check build --checks=-bugprone-suspicious-include,-clang-analyzer-*
  exit
fi

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
kinds=('src/*.cpp' 'test/*.cpp' 'src/*.h' 'test/*.h')
mapfile -t changed < <({
  git diff --name-only --diff-filter=d HEAD -- "${kinds[@]}"
  git log --name-only --format= "$fork..HEAD" -- "${kinds[@]}"
} | awk '!seen[$0]++' | while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
[ -f build-debug/build.ninja ] || cmake --preset debug >/dev/null
files=()
while read -r file; do
  # A file that is not part of the build has no flags to be checked with.
  if grep -qF "/$file\"" build-debug/compile_commands.json; then files+=("$file"); fi
done < <(python3 scripts/TidySources.py "${changed[@]}")
if [ ${#files[@]} -eq 0 ]; then
  echo "tidy.sh: no source changed since $(git rev-parse --short "$fork")"
  exit 0
fi
most=${SINTER_TIDY_FILES:-16}
if [ ${#files[@]} -gt "$most" ]; then
  echo "tidy.sh: not checked, since only the latest $most of ${#files[@]} are: ${files[*]:$most}"
  files=("${files[@]:0:$most}")
fi
echo "tidy.sh: ${#files[@]} sources for ${#changed[@]} files that changed since $(git rev-parse --short "$fork")"
printf '%s\0' "${files[@]}" | check build-debug
