#!/usr/bin/env python3
# Covers: formats/onnx/ops Activations Bodies Casts Constants ControlFlow Convolutions Detection Determinant Einsum
# Covers: formats/onnx/ops Elementwise Fourier GatherScatter Inputs Losses NGrams Normalization Optimizers Pooling
# Covers: formats/onnx/ops Products Quantization RandomNumbers Rearranging Recurrent Reductions Resizing Sampling
# Covers: formats/onnx/ops ScanLoop Sequences Shapes Slicing Unique Unpooling Window Windows
"""Runs the public conformance suites through `sinter test` and holds the result against a list.

    test/conformance/run.py --sinter build/bin/sinter [--backend cpu] [--precision P] [--update] [SUITE_DIR ...]

The suites are the ONNX backend cases of Debian's libonnx-testdata, onnx-light (public image models with light
weights) where it is found below $SINTER_SHARED or in ../shared beside the checkout, and any further folder named. What is not
supported yet stands in missing-<backend>.txt beside this script, a case a line. A case outside the list must pass,
and a case on the list must not (so that the list stays true): `--update` rewrites it. Where the data of a case are at
fault, faulty-data.txt says why. The output ends with
`N passed, N failed` for each backend.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ONNX_DATA = "/usr/share/libonnx-testdata/data"
ROOT = os.path.dirname(os.path.dirname(HERE))
ONNX_LIGHT = os.path.join(os.environ.get("SINTER_SHARED") or os.path.join(ROOT, "..", "shared"), "data", "onnx-light")
ONNX_SUITES = ["node", "simple", "pytorch-converted", "pytorch-operator"]
BATCH = 40
TIMEOUT_S = 600


def suite_folders(named):
    """The folders of every suite; says which optional one is left out."""
    folders = [os.path.join(ONNX_DATA, suite) for suite in ONNX_SUITES]
    if os.path.isdir(ONNX_LIGHT):
        folders.append(ONNX_LIGHT)
    else:
        print("onnx-light is left out: set SINTER_SHARED to the folder whose data/onnx-light has it")
    return folders + named


def cases(directory):
    """Every folder below DIRECTORY that holds a model.onnx and data to run it on."""
    found = []
    for folder, folders, files in os.walk(directory):
        if "model.onnx" in files and any(name.startswith("test_data_set_") for name in folders):
            found.append(folder)
            folders.clear()
    return sorted(found)


def case_name(path):
    return "/".join(os.path.normpath(path).split(os.sep)[-2:])


def without_path(reason, path):
    """A reason begins with the path of the file at fault, which differs from machine to machine."""
    return " ".join(reason.replace(os.path.normpath(path) + os.sep, "").split())


def run_batch(sinter, backend, paths, options=()):
    """The answers of one `sinter test` process: {case name: (status, reason)}, and how the process ended."""
    command = [sinter, "test", "--backend", backend, "--threads", "1", "--sizes", "1", "--json", *options, *paths]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
        output, ending = done.stdout, f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    except subprocess.TimeoutExpired as expired:
        output, ending = (expired.stdout or b"").decode(errors="replace"), f"no end after {TIMEOUT_S} s"
    answers = {}
    for line in output.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if isinstance(answer, dict) and "case" in answer:
            reason = without_path(answer.get("reason", ""), answer["case"])
            answers[case_name(answer["case"])] = answer["status"], reason
    return answers, ending


def run_cases(sinter, backend, paths, options=()):
    """Runs a batch; where a process died on the way, each case without an answer gets a process of its own."""
    answers, _ = run_batch(sinter, backend, paths, options)
    for path in paths:
        if case_name(path) not in answers:
            alone, ending = run_batch(sinter, backend, [path], options)
            answers[case_name(path)] = alone.get(case_name(path), ("failed", " ".join(f"no answer, {ending}".split())))
    return answers


def run_suite(sinter, backend, paths, jobs, options=()):
    batches = [paths[i : i + BATCH] for i in range(0, len(paths), BATCH)]
    answers = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(lambda batch: run_cases(sinter, backend, batch, options), batches):
            answers.update(part)
    return answers


def read_list(path):
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        return {line.split()[0] for line in file if line.strip() and not line.startswith("#")}


def read_faults():
    """Cases whose data are at fault: {case name: why}."""
    with open(os.path.join(HERE, "faulty-data.txt")) as file:
        return dict(line.strip().split("  ", 1) for line in file if line.strip() and not line.startswith("#"))


def write_list(path, backend, failing, answers, kept):
    faults = read_faults()
    with open(path, "w") as file:
        file.write(f"# Conformance cases that the {backend} backend does not pass yet: run.py --update writes this list.\n")
        lines = {name: f"{name}  {faults.get(name, answers[name][1][:120])}".rstrip() for name in failing}
        lines.update({name: name for name in kept})
        file.writelines(lines[name] + "\n" for name in sorted(lines))


def judge(backend, answers, list_path, update):
    """Prints what differs from the list and the closing line; returns how many cases are bad."""
    listed = read_list(list_path)
    good = {name for name, (status, _) in answers.items() if status == "passed"}
    skipped = {name for name, (status, _) in answers.items() if status == "skipped"}
    failing = set(answers) - good - skipped
    if update:
        write_list(list_path, backend, failing, answers, listed - set(answers))
        listed = failing
    broken, stale = failing - listed, good & listed
    for name in sorted(broken):
        print(f"FAILED {backend} {name}: {answers[name][1]}")
    for name in sorted(stale):
        print(f"FAILED {backend} {name}: passes, but stands in {os.path.basename(list_path)}")
    faults = set(read_faults())
    reasons = collections.Counter(answers[name][1][:80] for name in (failing & listed) - faults)
    print(f"{backend}: {len(good)} of {len(answers)} cases pass, {len(failing & listed)} known not to,"
          f" {len(failing & listed & faults)} of them because of their data")
    for reason, times in reasons.most_common(5):
        print(f"    {times:4d} x {reason}")
    print(f"{len(good) - len(stale)} passed, {len(broken) + len(stale)} failed")
    return len(broken) + len(stale)


def add_precision(parser):
    """--precision P, as the words that `sinter test` gets."""
    parser.add_argument("--precision", type=lambda name: ("--precision", name), default=(), help="how to compute f32 matmuls and convolutions: see `sinter test --help`")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True, help="the program")
    parser.add_argument("--backend", action="append", help="cpu or interpreter; may be repeated (default: cpu)")
    parser.add_argument("--update", action="store_true", help="rewrite the list of missing cases")
    add_precision(parser)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("directories", nargs="*", metavar="SUITE_DIR")
    arguments = parser.parse_args()
    if not os.access(arguments.sinter, os.X_OK):
        sys.exit(f"run.py: there is no program {arguments.sinter}; build it first")
    paths = [path for directory in suite_folders(arguments.directories) for path in cases(directory)]
    if not paths:
        sys.exit(f"run.py: no cases below {ONNX_DATA}; install libonnx-testdata")
    bad = 0
    for backend in arguments.backend or ["cpu"]:
        answers = run_suite(arguments.sinter, backend, paths, arguments.jobs, arguments.precision)
        bad += judge(backend, answers, os.path.join(HERE, f"missing-{backend}.txt"), arguments.update)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
