#!/usr/bin/env bash
# Fuzzes the ONNX file layer, the reader on top of it, and the reader of
# portable artifacts for SECONDS (30) each, from small models of Debian's
# libonnx-testdata and programs beside the fuzzers. What it finds is left in
# build-fuzz/.
#
#   scripts/fuzz.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=Release -DSINTER_FUZZ=ON \
  -DSINTER_BUILD_TESTS=OFF -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 >/dev/null
cmake --build build-fuzz --target fuzz-onnx-file fuzz-onnx-reader \
  fuzz-portable-artifact write-artifacts

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
mkdir "$corpus/models"
number=0
while IFS= read -r -d '' model; do
  cp "$model" "$corpus/models/$((number += 1)).onnx"
done < <(find /usr/share/libonnx-testdata/data -name model.onnx -size -16k -print0)
echo "$number models in the corpus"
for fuzzer in fuzz-onnx-file fuzz-onnx-reader; do
  # What a fuzzer finds worth keeping goes to the first folder.
  mkdir "$corpus/$fuzzer"
  "build-fuzz/bin/$fuzzer" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3072 -max_len=16384 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix=build-fuzz/ "$corpus/$fuzzer" "$corpus/models"
done

mkdir "$corpus/artifacts"
build-fuzz/bin/write-artifacts test/fuzz/artifact-programs.mlir "$corpus/artifacts"
build-fuzz/bin/fuzz-portable-artifact -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3072 \
  -max_len=16384 -print_final_stats=1 -verbosity=0 -artifact_prefix=build-fuzz/ "$corpus/artifacts"
