#!/usr/bin/env python3
"""Programs of PaddlePaddle beside the same networks converted to ONNX: the results must agree, the kernels must be the
same, and so should the times.

    bench/paddle.py [FOLDER ...] --sinter build/bin/sinter [--shape x:1x3x48x320] [--rounds N] [--peer]

A FOLDER holds a program and test_data_set_0/input_NAME.npy (those in ../shared/data/paddle beside the checkout, or in
$SINTER_SHARED, if none is given; without any, the exit code is 77); with --shape, random inputs of that shape take their place.
Without its parameters a program gets random ones (--random-parameters). Prints a row a network; with --rounds 0 it
only compares results and kernels. --peer: ONNX Runtime on the converted file, too (npm install in bench/). Needs numpy (else the exit code is 77),
and onnx for the peer.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    raise SystemExit(77)

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4


def shared():
    """The programs that come with inputs, where there are any."""
    root = pathlib.Path(os.environ.get("SINTER_SHARED") or HERE / ".." / ".." / "shared")
    return sorted(path.parent for path in (root / "data" / "paddle").glob("*/test_data_set_0"))


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """A program, what it is fed, and the ONNX file that it was converted to."""

    def __init__(self, sinter, source, shapes, folder):
        self.sinter, self.name, self.folder = sinter, source.name, folder / source.name
        self.folder.mkdir(parents=True)
        self.inputs = self.draw(shapes) if shapes else {
            path.name[len("input_"):-len(".npy")]: np.load(path) for path in source.glob("test_data_set_0/input_*.npy")}
        if not self.inputs:
            raise SystemExit(f"{source}: there is no test_data_set_0/input_NAME.npy; say --shape")
        files = [self.folder / f"input_{name}.npy" for name in self.inputs]
        for file, array in zip(files, self.inputs.values()):
            np.save(file, array)
        self.options = [f"--input={name}={file}" for name, file in zip(self.inputs, files)]
        has_parameters = any(source.glob("*.pdiparams")) or not any(source.glob("*.json"))
        self.forms = {"paddle": [source] + ([] if has_parameters else ["--random-parameters"]),
                      "onnx": [self.folder / "model.onnx"]}
        given = [f"--shape={name}:{'x'.join(map(str, array.shape))}" for name, array in self.inputs.items()]
        call(sinter, "convert", *self.forms["paddle"], *given, "-o", self.forms["onnx"][0])

    @staticmethod
    def draw(shapes):
        random = np.random.default_rng(1)
        return {name: random.standard_normal([int(size) for size in sizes.split("x")]).astype(np.float32)
                for name, sizes in (shape.rsplit(":", 1) for shape in shapes)}

    def outputs(self, form):
        target = self.folder / form
        call(self.sinter, "run", *self.forms[form], *self.options, "--output-dir", target)
        return [np.load(path) for path in sorted(target.glob("*.npy"))]

    def difference(self):
        """The largest, by the largest number there is."""
        return max(float(np.max(np.abs(a - b)) / np.max(np.abs(a)))
                   for a, b in zip(self.outputs("paddle"), self.outputs("onnx"), strict=True))

    def bench(self, form, seconds, threads, *more):
        # The ONNX file is of these sizes alone.
        return json.loads(call(self.sinter, "bench", *self.forms[form], *self.options, "--static", "--seconds", seconds,
                               "--threads", threads, "--json", *more))

    def kernels(self, form, threads):
        """How many steps there are of each kind."""
        layers = self.bench(form, 0.01, threads, "--layers")["layers"]
        return collections.Counter((each["op"], each.get("kernel", "")) for each in layers)

    def peer(self, seconds, threads):
        from onnx import numpy_helper
        data = self.folder / "test_data_set_0"
        data.mkdir(exist_ok=True)
        for i, (name, array) in enumerate(self.inputs.items()):
            (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        return json.loads(call("node", HERE / "ort_bench.js", self.folder, "--threads", threads, "--seconds", seconds))


def rows(network, options):
    difference = network.difference()
    if not difference <= TOLERANCE:
        raise SystemExit(f"{network.name}: the results differ by {difference:.1e} of the largest")
    ours, theirs = (network.kernels(form, options.threads) for form in ("paddle", "onnx"))
    if ours != theirs:
        raise SystemExit(f"{network.name}: the steps differ: only the program has {dict(ours - theirs)}, "
                         f"only its ONNX file {dict(theirs - ours)}")
    if options.rounds == 0:
        return None
    # In turn, so that a change of the machine's speed meets all.
    runs = {"paddle": lambda: network.bench("paddle", options.seconds, options.threads),
            "onnx": lambda: network.bench("onnx", options.seconds, options.threads)}
    if options.peer:
        runs["peer"] = lambda: network.peer(options.seconds, options.threads)
    times = {name: [] for name in runs}
    for turn in range(options.rounds):
        for name in list(runs) if turn % 2 == 0 else reversed(list(runs)):
            times[name].append(runs[name]()["latency_ms"][options.statistic])
    whole = min if options.statistic == "min" else statistics.median
    figures = {name: whole(each) for name, each in times.items()}
    cells = [network.name, " ".join("x".join(map(str, each.shape)) for each in network.inputs.values()),
             str(sum(ours.values()))]
    cells += [f"{figures[name]:.3f}" for name in runs]
    cells.append(f"{figures['paddle'] / figures['onnx']:.3f}")
    if options.peer:
        cells.append(f"{figures['paddle'] / figures['peer']:.2f}")
    return cells + [f"{difference:.0e}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--sinter", default="build/bin/sinter")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--statistic", choices=["median", "min"], default="median")
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    folders = options.folders or shared()
    if not folders:
        print("skipped: there are no programs in ../shared/data/paddle")
        raise SystemExit(77)
    if options.rounds:
        heads = ["network", "input", "steps", "program, ms", "ONNX, ms"] + ["ONNX Runtime, ms"] * options.peer
        heads += ["ratio"] + ["ratio to ONNX Runtime"] * options.peer + ["largest difference"]
        print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        for source in folders:
            cells = rows(Network(options.sinter, source, options.shape, pathlib.Path(temporary)), options)
            if cells:
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
