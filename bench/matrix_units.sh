#!/bin/bash
# What matrix units (AMX) bring, against ONNX Runtime and against what must hold; on a machine that has them, with nothing else running.
#
#   bench/matrix_units.sh ZOO [--out OUT] [--sinter build/bin/sinter] [--rounds 5] [--seconds 2]
#
# ZOO is a folder of models in ONNX test form (scripts/zoo.sh makes one). Tables and JSON go to OUT (matrix-units): floors, memory
# and compile times, for which no units are needed; then races of f32 models in default precision and in f32-exact, of f16 and bf16
# models against the f32 ones, of quantised ones, each with one and two threads, and errors against f64. The exit code is 1 if a goal
# is missed, 2 if there are no units and so no races.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
zoo="" out=matrix-units sinter="$here/../build/bin/sinter" rounds=5 seconds=2
while [ $# -gt 0 ]; do
  case "$1" in
    --out) out=$2; shift 2 ;;
    --sinter) sinter=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "matrix_units.sh: unknown option $1" >&2; exit 2 ;;
    *) zoo=$1; shift ;;
  esac
done

if [ -z "$zoo" ] || [ ! -d "$zoo" ]; then
  echo "matrix_units.sh: expected a folder of models in ONNX test form (scripts/zoo.sh makes one)" >&2
  exit 2
fi
mkdir -p "$out"
missed=0
has_units=false
if grep -qw amx_bf16 /proc/cpuinfo && grep -qw amx_int8 /proc/cpuinfo && grep -qw amx_tile /proc/cpuinfo; then
  has_units=true
fi

echo "## Floors of one thread, memory, and compilation"
floors=(--sinter "$sinter" --markdown "$out/floors.md")
if $has_units; then
  "$sinter" bench --machine --json --no-cache > "$out/machine.json"
  floors+=(--cpu "" --machine "$out/machine.json")
fi
"$here/matrix_floors.py" "$zoo" "${floors[@]}" || missed=1
if ! $has_units; then
  echo "matrix_units.sh: this processor ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)) has no matrix units:" \
    "/proc/cpuinfo lists no amx_tile, amx_bf16 and amx_int8. Nothing was run." >&2
  exit 2
fi

# race NAME DIRECTORY THREADS OPTION...: a race of its own table.
race() {
  local name=$1 directory=$2 threads=$3
  shift 3
  echo
  echo "## $name, $threads thread(s)"
  "$here/race.py" "$directory" --sinter "$sinter" --threads "$threads" --rounds "$rounds" --seconds "$seconds" \
    --markdown "$out/$name-$threads.md" --json "$out/$name-$threads.json" "$@" || missed=1
}

# goals FILE PEER KEY=VALUE...: the least speed-up that must hold, by geometric mean, worst, or of a model.
goals() {
  /usr/bin/python3 - "$@" <<'PYTHON' || missed=1
import json, math, statistics, sys

file, peer, *goals = sys.argv[1:]
with open(file, encoding="utf-8") as text:
    rows = json.load(text)["summary"]
speed = {row["model"]: 1 / row[f"{peer}_ratio"] for row in rows if row.get(f"{peer}_ratio")}
if not speed:
    sys.exit(f"{file}: no model was measured")
is_missed = False
for goal in goals:
    name, wanted = goal.split("=")
    if name == "mean":
        got = math.exp(statistics.mean(math.log(each) for each in speed.values()))
    elif name == "worst":
        worst = min(speed, key=speed.get)
        name, got = f"worst ({worst})", speed[worst]
    elif name in speed:
        got = speed[name]
    else:
        print(f"  {name}: not measured, goal {wanted}")
        is_missed = True
        continue
    is_missed |= got < float(wanted)
    print(f"  {name}: {got:.2f} times as fast, goal {wanted}{'' if got >= float(wanted) else ': MISSED'}")
sys.exit(is_missed)
PYTHON
}

race f32 "$zoo" 1
goals "$out/f32-1.json" onnxruntime mean=2.5 worst=1.1 resnet50=2.5 bert_base=3 vit_b16=3
race f32 "$zoo" 2
goals "$out/f32-2.json" onnxruntime mean=2.3 worst=1.05
for threads in 1 2; do
  race f32-exact "$zoo" $threads "--options=--precision f32-exact"
  goals "$out/f32-exact-$threads.json" onnxruntime mean=1.6
done

echo
echo "## What matrix units themselves bring"
race without-units "$zoo" 1 --before "$sinter" --peer-options=--features=-amx-tile

echo
echo "## Models in half precision, and quantised"
models=()
for name in resnet50 bert_base vit_b16 googlenet mobilenet_v2; do
  [ -d "$zoo/$name" ] && models+=("$zoo/$name")
done
if [ ${#models[@]} = 0 ]; then
  echo "matrix_units.sh: $zoo has none of resnet50, bert_base, vit_b16, googlenet, mobilenet_v2" >&2
  exit 2
fi
"$here/quantized.py" "${models[@]}" --styles f16,bf16,around,inputs,qlinear,dynamic,weights8 --out "$out/quantized" --sinter "$sinter" || missed=1
for threads in 1 2; do
  for style in f16 bf16; do
    race "$style" "$out/quantized" $threads --baseline "$zoo" "*.$style"
    goals "$out/$style-$threads.json" baseline worst=1.0
  done
  # The style that ONNX Runtime computes in 8 bits throughout.
  race int8 "$out/quantized" $threads "*.qlinear"
  goals "$out/int8-$threads.json" onnxruntime mean=1.5 worst=1.1
  race int8-others "$out/quantized" $threads "*.around" "*.inputs" "*.dynamic" "*.weights8"
  goals "$out/int8-others-$threads.json" onnxruntime worst=1.2
done

echo
echo "## Errors against f64, by the range of the outputs"
"$here/errors.py" "$zoo" --sinter "$sinter" --options=--features=-amx-tile --options= "--options=--precision f32-exact" \
  "--options=--precision f32-exact --features=-amx-tile" --markdown "$out/errors.md" || missed=1

echo
echo "## From a cold cache: load and compile"
for entry in resnet50=1.2 bert_base=3; do
  name=${entry%=*} limit=${entry#*=}
  [ -d "$zoo/$name" ] || continue
  seconds_taken=$("$sinter" bench "$zoo/$name/model.onnx" --no-cache --seconds 0.1 --json |
    /usr/bin/python3 -c 'import json, sys; told = json.load(sys.stdin); print("%.2f" % (((told.get("load_ms") or 0) + told["compile_ms"]) / 1000))')
  verdict=$(awk -v a="$seconds_taken" -v b="$limit" 'BEGIN { print a <= b ? "" : ": MISSED" }')
  echo "  $name: $seconds_taken s, goal $limit s$verdict"
  [ -z "$verdict" ] || missed=1
done
exit $missed
