#!/usr/bin/python3
"""Random quantised ONNX graphs of every form, judged by ONNX Runtime.

  RandomQuantized.py --sinter build/bin/sinter [--count 200] [--seed 1] [--first 0] [--backend cpu] [--keep DIR]

Graph i depends on the seed and i alone: QuantizeLinear and DequantizeLinear around operations, QLinearConv and
QLinearMatMul, DynamicQuantizeLinear with ConvInteger and MatMulInteger, weights in 8 or 4 bits with scales for a channel or
a block, activations of 8 and 16 bits, any zero point, and what stands between products. onnxruntime-node (npm install in
bench/) runs each node straight from its definition, or with --fused as it would itself; what it refuses is left out. Both
backends must give the same, to what follows from the roundings: the largest difference that one unit at each can
make, on average a tenth of that, and of all outputs one in twenty may differ at all, as ties are rare. Graphs of dynamic
sizes are run on inputs of other ones, too, some of which do not fit: what the runtime refuses Sinter must refuse. With --optimize, what `sinter optimize` writes must do so in the runtime,
too, and with --raise-quantized what it writes with that option. The last line says how many did. Needs Python's onnx and numpy.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
from judge import OnnxRuntime, RandomModels
from QuantizedGenerator import Generator
from QuantizedValues import FLOAT_ERROR, Real

# A mean difference above this part of the largest permitted one is no matter of ties.
MEAN_PART = 0.1
# So is a larger part of all outputs that differ.
DIFFERING_PART = 0.05


def sums_saturate():
    """Whether the runtime's sums of two 8-bit products may saturate at 16 bits on this machine, as they do without VNNI."""
    try:
        with open("/proc/cpuinfo") as file:
            flags = file.read()
    except OSError:
        return True
    return not any(each in flags for each in ("avx512_vnni", "avx_vnni", "asimddp"))


def float_error(value, expected):
    """What sums of floats in another order may make."""
    if not isinstance(value, Real):
        return 0
    return FLOAT_ERROR * max(value.spread, np.abs(expected[np.isfinite(expected)]).max(initial=0))


def difference(value, expected, got):
    """What is wrong with an output, or None, and whether it differs at all."""
    if got is None:
        return "is missing", True
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"is {got.dtype} {list(got.shape)}, not {expected.dtype} {list(expected.shape)}", True
    a, b = expected.astype(np.float64), got.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return "has other infinities or NaNs", True
    apart = np.abs(np.where(np.isfinite(a), a - b, 0))
    error = float_error(value, a)
    most, mean = value.slack + error, max(MEAN_PART, 2 / max(apart.size, 1)) * value.slack + error
    if apart.max(initial=0) <= error:
        return None, False
    if apart.max() <= most and apart.mean() <= mean:
        return None, True
    at = [int(i) for i in np.unravel_index(apart.argmax(), apart.shape)]
    return (f"differs by up to {apart.max():.4g} (most {most:.4g}) and by {apart.mean():.4g} on average (most {mean:.4g}); "
            f"{np.count_nonzero(apart > error)} of {apart.size} do; at {at} {got[tuple(at)]:.6g}, expected {expected[tuple(at)]:.6g}"), True


class Verdict:
    """Of a case: why it fails, or None, how many outputs there are, and which differ at all."""

    def __init__(self, reason=None):
        self.reason, self.outputs, self.differing = reason, 0, []

    def judge(self, results, expected, got):
        for name, value in results.items():
            reason, differs = difference(value, expected[name], got.get(name))
            self.outputs += 1
            self.differing += [name] if differs else []
            self.reason = self.reason or reason and f"output '{name}' {reason}"
        return self


def run_case(sinter, backend, task, results):
    """Runs a case in Sinter; the verdict. What the runtime refused must be refused as an invalid model."""
    words = [sinter, "run", task.model, "--backend", backend, "--no-cache", "--threads", "1", "--json"]
    for name, array in task.feeds.items():
        path = os.path.join(task.folder, f"{name}.npy")
        np.save(path, array)
        words += ["--input", f"{name}={path}"]
    out = os.path.join(task.folder, backend)
    try:
        done = subprocess.run([*words, "--output-dir", out], capture_output=True, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return Verdict("no end after 300 s")
    if task.error:
        # Where there is no room for a window, a convolution has no elements, by the operator's formula; the runtime refuses it.
        nothing = done.returncode == 0 and "Invalid input shape" in task.error
        return Verdict(None if done.returncode in (2, 3) or nothing else f"exit code {done.returncode}, though the runtime says: {task.error[-200:]}")
    if done.returncode:
        return Verdict(f"exit code {done.returncode}: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1])
    files = {name: os.path.join(out, name + ".npy") for name in results}
    return Verdict().judge(results, task.outputs, {name: np.load(file) for name, file in files.items() if os.path.exists(file)})


def check_optimized(sinter, tasks, generators, options):
    """Verdicts on what the runtime makes of the graphs once Sinter has written them. That it has no kernel for what is
    written, a Pad of 16 bits say, is said and no failure: what is written is valid."""
    verdicts, again = {}, {}
    for seed, task in tasks.items():
        target = os.path.join(task.folder, "optimized.onnx")
        if failure := Command.optimize(sinter, task.model, target, *options):
            verdicts[seed] = Verdict(failure)
            continue
        again[seed] = OnnxRuntime.Task(target, task.feeds, os.path.join(task.folder, "again"), level="disabled")
    OnnxRuntime.run(again.values())
    lacking = [seed for seed, task in again.items() if task.error and "Could not find an implementation" in task.error]
    if lacking:
        print(f"{len(lacking)} are written with operators of types that the runtime has no kernels for: g{', g'.join(map(str, lacking))}")
    for seed, task in again.items():
        if seed in lacking:
            continue
        verdicts[seed] = (Verdict(f"the runtime: {task.error}") if task.error else
                          Verdict().judge(generators[seed].results, tasks[seed].outputs, task.outputs))
    return verdicts


def report(what, verdicts):
    """Prints what failed; how many did, and one more where too many outputs differ."""
    failed = 0
    for seed, verdict in sorted(verdicts.items()):
        if verdict.reason:
            failed += 1
            print(f"FAILED {what} g{seed}: {verdict.reason}")
    outputs, differing = sum(each.outputs for each in verdicts.values()), sum(len(each.differing) for each in verdicts.values())
    print(f"{what}: {len(verdicts) - failed} passed, {failed} failed; {differing} of {outputs} outputs differ at all", flush=True)
    if differing > max(2, DIFFERING_PART * outputs):
        where = [f"g{seed} {name}" for seed, verdict in sorted(verdicts.items()) for name in verdict.differing]
        print(f"FAILED {what}: so many do not lie on ties: {', '.join(where[:20])}")
        failed += 1
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    RandomModels.add_options(parser, 200)
    parser.add_argument("--fused", action="store_true", help="judge by the runtime's own quantised kernels")
    parser.add_argument("--raise-quantized", action="store_true", help="judge what `sinter optimize --raise-quantized` writes, too")
    arguments = parser.parse_args()
    folder = arguments.keep or tempfile.mkdtemp()
    narrow = sums_saturate()
    generators = {seed: Generator(seed, narrow) for seed in RandomModels.seeds(arguments)}
    tasks = RandomModels.write_cases(os.path.join(folder, "cases"), generators, None if arguments.fused else "disabled")
    tasks = RandomModels.ask_runtime(tasks)
    odd = {seed: OnnxRuntime.Task(task.model, generators[seed].odd_feeds(), os.path.join(task.folder, "odd"), level=task.level)
           for seed, task in tasks.items() if generators[seed].is_dynamic}
    OnnxRuntime.run(odd.values())
    print(f"{len(odd)} inputs of other sizes; the runtime refused {sum(task.error is not None for task in odd.values())}")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for backend in arguments.backend or ["cpu", "interpreter"]:
            verdicts = pool.map(lambda seed: run_case(arguments.sinter, backend, tasks[seed], generators[seed].results), tasks)
            bad += report(backend, dict(zip(tasks, verdicts)))
            verdicts = pool.map(lambda seed: run_case(arguments.sinter, backend, odd[seed], generators[seed].results), odd)
            bad += report(f"{backend}, other sizes:", dict(zip(odd, verdicts)))
    for wanted, options in ((arguments.optimize, []), (arguments.raise_quantized, ["--raise-quantized"])):
        if wanted:
            what = " ".join(["optimize", *options])
            bad += report(what, check_optimized(arguments.sinter, tasks, generators, options))
    if not arguments.keep:
        shutil.rmtree(folder)
    if len(tasks) < arguments.count // 2:
        print(f"only {len(tasks)} of {arguments.count} graphs could be judged")
        bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
