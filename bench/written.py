#!/usr/bin/env python3
"""Times ONNX Runtime on models as they are and as `sinter optimize` writes them.

  written.py FOLDER --sinter build/bin/sinter [--rounds 7] [--seconds 1] [--threads 2] [--filter TEXT]

FOLDER holds models in ONNX test form. The two take turns, so that what else the
machine does meets both; a line a model has the medians of the rounds' medians
and their ratio (below 1: what was written is faster).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def time_once(options, folder):
    done = subprocess.run(["node", os.path.join(HERE, "ort_bench.js"), folder, "--seconds", str(options.seconds),
                           "--threads", str(options.threads)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
    return json.loads(done.stdout)["latency_ms"]["median"]


def compare(options, folder):
    with tempfile.TemporaryDirectory() as scratch:
        written = os.path.join(scratch, "model.onnx")
        done = subprocess.run([options.sinter, "optimize", os.path.join(folder, "model.onnx"), "-o", written],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError((done.stderr.strip().splitlines() or ["not written"])[-1])
        for name in os.listdir(folder):
            if name.startswith("test_data_set_"):
                os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(scratch, name))
        times = ([], [])
        for i in range(options.rounds):
            # Each goes first as often as the other.
            for which in ((0, 1) if i % 2 == 0 else (1, 0)):
                times[which].append(time_once(options, (folder, scratch)[which]))
    return [statistics.median(each) for each in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    if not os.path.isdir(os.path.join(HERE, "node_modules")):
        print("skipped: onnxruntime-node is not installed (npm install --ignore-scripts in bench/)")
        return 77
    failed = 0
    print(f"{'model':24} {'as it is':>10} {'written':>10}  ratio")
    for name in sorted(os.listdir(options.folder)):
        folder = os.path.join(options.folder, name)
        if options.filter not in name or not os.path.exists(os.path.join(folder, "model.onnx")):
            continue
        try:
            before, after = compare(options, folder)
            print(f"{name:24} {before:7.2f} ms {after:7.2f} ms  {after / before:.3f}", flush=True)
        except RuntimeError as error:
            failed += 1
            print(f"{name:24} {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
