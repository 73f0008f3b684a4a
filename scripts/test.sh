#!/usr/bin/env bash
# Builds Sinter and runs every test. The last line is `N passed, N failed`.
#
#   scripts/test.sh                        every stage
#   scripts/test.sh --only release,asan    these stages, in the order below
#
# Stages: deps         installs what is missing (scripts/deps.sh; ONNX Runtime by npm)
#         format       clang-format on every tracked C and C++ file
#         asan         as release, with the address and undefined-behaviour sanitizers, and a part of the tests
#         release      builds the preset and runs ctest: GoogleTest programs, lit tests, the folder rule
#         syntax       a third of the sources, each by itself, without code (scripts/syntax.sh)
#         tsan         the runtime, the engine and the library for C with the thread sanitizer: pool, executors, sessions, cache
#         random       random programs on both backends for a minute, others each day; SINTER_RANDOM_SEED=N: those from N on
#         tidy         clang-tidy on what changed (scripts/tidy.sh)
#         fuzz         each reader of files under libFuzzer for 30 s (scripts/fuzz.sh)
#         conformance  the public suites on every backend and ahead of time (test/conformance/)
#         zoo          exported networks with a symbolic batch, in half precision, and as other tools see them once
#                      written, and a detector (test/zoo), on the models in $SINTER_ZOO_MODELS or those that scripts/zoo.sh
#                      makes
#
# SINTER_TEST_SHARE=I/N: the asan stage takes every Nth test, from number I on; else a sixth, which the commit chooses.
# SINTER_SYNTAX_SHARE=I/N: the syntax stage takes every Nth source, from number I on; else a third, which the commit chooses.
# SINTER_SWEEP_START=I: sweeps of which a part is run begin with number I, modulo the part; else the commit says where.
# A stage that counts no tests of its own (format, say) counts as one, and one that was skipped as none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stages=(deps format asan release syntax tsan random tidy fuzz conformance zoo)
jobs=${SINTER_JOBS:-$(nproc)}

stage_deps() {
  scripts/deps.sh
  # A peer that judges what is written; the tests that ask it are skipped without.
  [ -d bench/node_modules ] || (cd bench && npm install --ignore-scripts --no-audit --no-fund) ||
    echo "ONNX Runtime could not be installed in bench/: the tests that ask it are skipped"
}

stage_format() {
  git ls-files -z -- '*.cpp' '*.h' '*.c' '*.hpp' | xargs -0 -r clang-format-19 --dry-run -Werror
}

# build_and_test PRESET DIRECTORY [OPTION...]
build_and_test() {
  cmake --preset "$1" "${@:3}"
  cmake --build "$2" -j "$jobs"
  ctest --test-dir "$2" -j "$jobs" --output-on-failure --no-tests=error
}

# What chooses among the parts of sweeps, so that each has its turn: the commit.
turn() { echo $((16#$(git rev-parse --short=6 HEAD))); }

stage_release() { build_and_test release build -DSINTER_SWEEP_START="${SINTER_SWEEP_START-$(turn)}"; }

# LLVM's bump allocators mark memory as poisoned in code that is compiled into ours, and as usable again in code that is
# in libMLIR, which knows no sanitizer: what they mark means nothing.
stage_asan() {
  local share=${SINTER_TEST_SHARE-$(($(turn) % 6))/6}
  ASAN_OPTIONS=${ASAN_OPTIONS-allow_user_poisoning=0} \
    UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1} build_and_test asan build-asan -DSINTER_TEST_SHARE="$share" -DSINTER_SWEEP_START="${SINTER_SWEEP_START-$(turn)}"
}

# LLVM's and MLIR's libraries know no thread sanitizer, so what needs them is left out.
stage_tsan() {
  cmake --preset tsan
  cmake --build build-tsan -j "$jobs" --target test-runtime test-engine test-engine-sessions test-bindings-threads
  ctest --test-dir build-tsan -j "$jobs" --output-on-failure --no-tests=error -R '^(runtime|engine|engine-sessions|bindings-threads)\.'
}

# The stages below use build/ as the release stage left it, and make it when it is not there.
need_release() {
  [ -f build/build.ninja ] || cmake --preset release
  cmake --build build -j "$jobs"
}

stage_random() {
  need_release
  local seed=${SINTER_RANDOM_SEED:-$(($(date +%s) / 86400 * 1000000))}
  echo "random programs from SINTER_RANDOM_SEED=$seed on"
  # Each takes one thread.
  printf '%s\n' 'RandomProgramTest.*Agree' RandomFoldingTest.SimplifiedAsBefore |
    SINTER_RANDOM_SEED=$seed SINTER_RANDOM_SECONDS=${SINTER_RANDOM_SECONDS:-30} \
      xargs -P "$jobs" -I {} build/bin/test-random '--gtest_filter={}'
}

stage_syntax() { SINTER_SYNTAX_SHARE=${SINTER_SYNTAX_SHARE-$(($(turn) % 3))/3} scripts/syntax.sh; }

stage_tidy() { scripts/tidy.sh; }

stage_fuzz() {
  if [ ! -x scripts/fuzz.sh ]; then
    echo "skipped: there is no scripts/fuzz.sh"
    return
  fi
  scripts/fuzz.sh 30
}

stage_conformance() {
  need_release
  local status=0
  python3 test/conformance/run.py --sinter build/bin/sinter --backend cpu --backend interpreter || status=1
  python3 test/conformance/stablehlo.py --sinter build/bin/sinter --backend cpu --backend interpreter || status=1
  /usr/bin/python3 test/conformance/ahead.py --sinter build/bin/sinter || status=1
  return $status
}

# Small networks of every kind; the rest of the zoo takes the same scripts by hand.
zoo_models=(mlp mnist_cnn squeezenet1_1 mobilenet_v2 resnet18 bert_mini)

stage_zoo() {
  need_release
  # Forms of transformers that need no zoo.
  /usr/bin/python3 test/zoo/transformers.py build/transformers && /usr/bin/python3 test/zoo/fusions.py build/transformers --sinter build/bin/sinter ||
    [ $? -eq 77 ] || return 1
  local models=${SINTER_ZOO_MODELS:-build/zoo} missing=() name status=0
  if [ -z "${SINTER_ZOO_MODELS-}" ]; then
    if [ ! -f "${SINTER_ZOO:-../shared/zoo/zoo.py}" ]; then
      echo "skipped: there is no zoo.py to make the models with; set SINTER_ZOO to it or SINTER_ZOO_MODELS to a folder of models"
      return
    fi
    for name in "${zoo_models[@]}"; do
      [ -f "$models/$name/test_data_set_0/output_0.pb" ] || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] || scripts/zoo.sh "$models" "${missing[@]}"
  fi
  local peer=
  [ ! -d bench/node_modules ] || peer=--peer
  # Sizes that values decide, and what detectors make of boxes.
  # shellcheck disable=SC2086
  /usr/bin/python3 test/zoo/detectors.py build/detectors ssdlite --sinter build/bin/sinter --interpreter $peer || [ $? -eq 77 ] || status=1
  for name in symbolic_batch "symbolic_batch --type f16" "symbolic_batch --stablehlo" half_precision "half_precision --backend interpreter" \
    "half_precision --optimized $peer" fusions "dynamic_sizes --seconds 10"; do
    # shellcheck disable=SC2086
    set -- $name
    /usr/bin/python3 "test/zoo/$1.py" "$models" --sinter build/bin/sinter "${@:2}" || [ $? -eq 77 ] || status=1
  done
  return $status
}

# count LOG STATUS: sets `good` and `bad` from what a stage printed, or from its status.
count() {
  local counts
  counts=$(sed -nE \
    -e 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/ctest \1 \2/p' \
    -e 's/^([0-9]+) passed, ([0-9]+) failed(, [0-9]+ skipped)?$/cases \1 \2/p' "$1" |
    awk '$1 == "ctest" { good += $3 - $2; bad += $2 } $1 == "cases" { good += $2; bad += $3 } END { print good + 0, bad + 0 }')
  read -r good bad <<<"$counts"
  if [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1
  elif [ "$good" -eq 0 ] && [ "$bad" -eq 0 ] && ! grep -q '^skipped: ' "$1"; then
    good=1
  fi
}

# excerpt LOG: the tests of ctest that failed, with the last 30 lines that each printed; without such tests the log's end.
excerpt() {
  awk -v keep=30 '
    function flush(i) {
      for (i = lines > keep ? lines - keep : 0; i < lines; i++) print "  " tail[i % keep]
      lines = 0
    }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { flush(); failed = /\*\*\*/ && !/Not Run|Skipped/; if (failed) { print; found = 1 }; next }
    /^ +Start +[0-9]+: / || /^[0-9]+% tests passed/ { flush(); failed = 0 }
    failed { tail[lines++ % keep] = $0 }
    END { flush(); exit !found }' "$1" || tail -n 30 "$1"
}

selected=("${stages[@]}")
if [ $# -gt 0 ]; then
  if [ $# -ne 2 ] || [ "$1" != --only ]; then
    sed -nE '2,/^set /{/^set /!s/^# ?//p}' scripts/test.sh >&2
    exit 2
  fi
  selected=()
  for name in ${2//,/ }; do
    [[ " ${stages[*]} " == *" $name "* ]] || { echo "test.sh: no stage '$name'; there are: ${stages[*]}" >&2; exit 2; }
  done
  for name in "${stages[@]}"; do
    [[ ",$2," == *",$name,"* ]] && selected+=("$name")
  done
fi

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 summary=() broken=()
for name in "${selected[@]}"; do
  echo "== $name"
  start=$SECONDS
  set +e
  (set -e; "stage_$name") 2>&1 | tee "$logs/$name"
  status=${PIPESTATUS[0]}
  set -e
  count "$logs/$name" "$status"
  passed=$((passed + good)) failed=$((failed + bad))
  [ "$bad" -eq 0 ] || broken+=("$name")
  summary+=("$(printf '%-12s %5d s  %d good, %d bad' "$name" $((SECONDS - start)) "$good" "$bad")")
  echo "== $name: $((SECONDS - start)) s, $good good, $bad bad"
  # Nothing can be built or checked without the packages.
  if [ "$name" = deps ] && [ "$status" -ne 0 ]; then break; fi
done

# A long log may be cut at its begin: what failed is said once more at its end.
for name in "${broken[@]}"; do
  printf '\n== failed in %s\n' "$name"
  excerpt "$logs/$name"
done

printf '\n'
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
