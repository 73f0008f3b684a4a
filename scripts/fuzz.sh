#!/usr/bin/env bash
# Fuzzes each reader of model files for SECONDS (30): ONNX's and PaddlePaddle's
# file layers and the readers on top of them, StableHLO texts, and portable
# artifacts; and the decoders of images and audio. The corpora are small models of Debian's libonnx-testdata, the
# programs of the tests, and those beside the fuzzers. They run side by side, with the sanitizers of build-asan/; those
# that go through libMLIR, which carries none, get a third of that time more under
# valgrind, as build/ has them. What is found is left in build-asan/fuzz/. Every
# day has inputs of its own.
#
#   scripts/fuzz.sh [SECONDS]     SINTER_FUZZ_SEED=N: the inputs of that seed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
seed=${SINTER_FUZZ_SEED:-$(date +%Y%m%d)}
echo "seed $seed"
[ -f build/build.ninja ] || cmake --preset release >/dev/null
[ -f build-asan/build.ninja ] || cmake --preset asan >/dev/null
cmake --build build --target fuzz-onnx-reader fuzz-paddle-reader fuzz-stablehlo-text fuzz-portable-artifact write-artifacts
cmake --build build-asan --target fuzz-images fuzz-onnx-file fuzz-onnx-reader fuzz-paddle-file fuzz-paddle-reader fuzz-stablehlo-text \
  fuzz-portable-artifact
found=build-asan/fuzz
mkdir -p "$found"
# See stage_asan in scripts/test.sh.
export ASAN_OPTIONS=${ASAN_OPTIONS-allow_user_poisoning=0}

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
mkdir "$corpus/models" "$corpus/texts" "$corpus/artifacts"
number=0
while IFS= read -r -d '' model; do
  cp "$model" "$corpus/models/$((number += 1)).onnx"
done < <(find /usr/share/libonnx-testdata/data -name model.onnx -size -16k -print0)
echo "$number models in the corpus"
# A file of tests has many programs.
while IFS= read -r -d '' file; do
  csplit -sz -f "$corpus/texts/$((number += 1))-" "$file" '/^\/\/ -----/' '{*}'
done < <(find test/graph test/passes test/formats -name '*.mlir' -print0)
build/bin/write-artifacts test/fuzz/artifact-programs.mlir "$corpus/artifacts"
python3 test/fuzz/WritePaddleFiles.py "$corpus/programs"
/usr/bin/python3 test/fuzz/WriteImages.py "$corpus/images"

# fuzz PROGRAM CORPUS [OPTION...]
fuzz() {
  local program=$1 from=$2
  shift 2
  echo "== $program"
  # What a fuzzer finds worth keeping goes to the first folder.
  mkdir "$corpus/$program"
  "build-asan/bin/$program" -seed="$seed" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3072 -max_len=16384 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$found/$program-" "$@" "$corpus/$program" "$corpus/$from"
}

# fuzz_memory PROGRAM CORPUS: under valgrind, from a few small inputs, all of which are kept.
fuzz_memory() {
  local program=$1 from=$2 own="$corpus/$1-memory"
  echo "== $program under valgrind"
  mkdir "$own" "$own-from"
  find "$corpus/$from" -type f -size -4k | sort | shuf -n 30 --random-source=<(yes "$seed") | xargs cp -t "$own-from"
  valgrind -q --error-exitcode=9 "build/bin/$program" -seed="$seed" -max_total_time=$(((seconds + 2) / 3)) -timeout=120 \
    -rss_limit_mb=6144 -max_len=16384 -print_final_stats=1 -verbosity=0 -artifact_prefix="$found/$program-" \
    -keep_seed=1 -reduce_inputs=0 "$own" "$own-from"
}

# at_once FUNCTION ARGUMENT...: as many side by side as there are processors; what each printed follows that of the one
# before.
jobs=${SINTER_JOBS:-$(nproc)} status=0 started=0 pids=()
finish_oldest() {
  wait "${pids[0]}" || status=1
  pids=("${pids[@]:1}")
  cat "$corpus/output-$((started - ${#pids[@]}))"
}
at_once() {
  [ ${#pids[@]} -lt "$jobs" ] || finish_oldest
  started=$((started + 1))
  "$@" >"$corpus/output-$started" 2>&1 &
  pids+=($!)
}

at_once fuzz fuzz-images images
at_once fuzz fuzz-onnx-file models
# Readers that go through libMLIR have no coverage to tell which inputs are worth keeping: all are.
at_once fuzz fuzz-onnx-reader models -keep_seed=1 -reduce_inputs=0
at_once fuzz fuzz-paddle-file programs
at_once fuzz fuzz-paddle-reader programs -keep_seed=1 -reduce_inputs=0
at_once fuzz fuzz-portable-artifact artifacts
at_once fuzz fuzz-stablehlo-text texts -keep_seed=1 -reduce_inputs=0
while [ ${#pids[@]} -gt 0 ]; do finish_oldest; done
at_once fuzz_memory fuzz-onnx-reader models
at_once fuzz_memory fuzz-paddle-reader programs
at_once fuzz_memory fuzz-stablehlo-text texts
at_once fuzz_memory fuzz-portable-artifact fuzz-portable-artifact
while [ ${#pids[@]} -gt 0 ]; do finish_oldest; done
exit $status
