#!/usr/bin/env bash
# From a fresh clone to a running model: installs what is missing, builds Sinter, and runs the example.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

model=examples/glyphs/glyphs.onnx
labels=examples/glyphs/labels.txt
sinter=build/bin/sinter
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '\n== %s\n' "$1"; }

step 'packages'
scripts/deps.sh --build
echo 'all there'

step 'build'
if ! cmake --preset release >"$work/configure.log" 2>&1; then
  cat "$work/configure.log" >&2
  exit 1
fi
scripts/build_bar.py build sinter

step "what is in the pictures of examples/glyphs/images"
for image in examples/glyphs/images/*.png; do
  printf '\n%s:\n' "$image"
  "$sinter" run "$model" --input "$image" --labels "$labels"
done

step 'what simplification removes'
"$sinter" optimize "$model" -o "$work/glyphs.onnx" --stats

step 'how fast it runs, next to the interpreter (the oracle)'
for backend in cpu interpreter; do
  "$sinter" bench "$model" --shape image:1x1x32x32 --backend "$backend" --threads 1 --seconds 2 --json >"$work/$backend.json"
done
python3 - "$work/cpu.json" "$work/interpreter.json" <<'PYTHON'
import json
import sys

results = [json.load(open(path)) for path in sys.argv[1:]]
medians = [result["latency_ms"]["median"] for result in results]
print(f"{'backend':<12} {'median ms':>10} {'runs per s':>11} {'compile ms':>11}")
for result, median in zip(results, medians):
    print(f"{result['backend']:<12} {median:>10.4f} {1000 / median:>11.0f} {result.get('compile_ms') or 0:>11.0f}")
print(f"native code is {medians[1] / medians[0]:.0f} times as fast as the interpreter")
PYTHON

printf '\nDone. Next: build/bin/sinter run YOUR_MODEL.onnx --input random, or build/bin/sinter --help for an example per task.\n'
