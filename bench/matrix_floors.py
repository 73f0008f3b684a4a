#!/usr/bin/env python3
"""Tells what models take at least on matrix units, and what their programs take in memory and to compile with and without them.

    bench/matrix_floors.py DIR [MODEL ...] [--cpu sapphirerapids] [--machine FILE] [--markdown FILE] [--sinter build/bin/sinter]

Nothing is run, so the machine needs no such units: `sinter inspect --cpu` compiles for one that has. A floor, for one thread, is what
the products of all layers take at the ceiling of the units (one bf16 product for each of f32, three, six, or one of bytes), or to read
all weights that no second-level cache holds, in the form that these products have, whatever is more. The ceilings are a Sapphire Rapids core's, or those in FILE, what `sinter bench
--machine --json` printed. Memory is the program's: weights as they are packed, and everything else (`peak_bytes`). Compilation is
processor time of one thread, the least of --rounds. The exit code is 1 if a program takes more memory or longer to compile with units than
--slack allows.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Of a core of a Sapphire Rapids: bf16 and bytes in operations a second, and reading from memory.
CEILINGS = {"bf16": 3100e9, "i8": 6100e9, "DRAM": 16.7e9}
# What stays in the second-level cache from run to run is not read from memory.
CACHE = 2 << 20
# Products for one of f32, the ceiling, and bytes for one weight.
WAYS = {"f32": (3, "bf16", 4), "f32-exact": (6, "bf16", 6), "bf16": (1, "bf16", 2), "int8": (1, "i8", 1)}
WITHOUT = "--features=-amx-tile"


def ceilings(path):
    """What `sinter bench --machine --json` measured, where it measured that."""
    found = dict(CEILINGS)
    if not path:
        return found
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    for each in told["arithmetic"]:
        if each["name"].startswith("tiles-"):
            found[each["name"][len("tiles-"):]] = each["gops"] * 1e9
    for each in told["bandwidth"]:
        if each["level"] == "DRAM":
            found["DRAM"] = each["gb_per_s"] * 1e9
    return found


def inspect(options, model, *more):
    """The plan of a model, and the processor time that it took to make it."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([options.sinter, "inspect", os.path.join(options.directory, model, "model.onnx"), "--threads", "1", "--steps", "--json",
                               *(["--cpu", options.cpu] if options.cpu else []), *more],
                              capture_output=True, text=True, errors="replace", env={**os.environ, "XDG_CACHE_HOME": cache}, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"matrix_floors.py: {model}: {done.stderr.strip()}")
    return json.loads(done.stdout)["plan"], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def work(options, model):
    """Operations of all products, and how many numbers of weights they read, each once."""
    plan, _ = inspect(options, model, "--precision", "f32-exact", WITHOUT)
    weights, operations = {}, 0
    for step in plan["program"]:
        if step["kind"] != "kernel" or step["kernel"] == "loops":
            continue
        operations += step["flops"]
        for operand in step["operands"]:
            if operand["role"] == "constant":
                weights[operand["index"]] = operand["bytes"] // 4
    return operations, sum(weights.values())


def row(options, model, limits):
    operations, weights = work(options, model)
    read = weights if 4 * weights > CACHE else 0
    floors = [max(operations * products / limits[ceiling], read * size / limits["DRAM"]) * 1e3 for products, ceiling, size in WAYS.values()]
    runs = {"with": [], "without": []}
    for _ in range(options.rounds):
        for name, more in (("with", []), ("without", [WITHOUT])):
            runs[name].append(inspect(options, model, *more))
    taken = {name: (each[0][0]["peak_bytes"] / 1e6, min(seconds for _, seconds in each)) for name, each in runs.items()}
    return operations, floors, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="models in ONNX test form")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="folders in DIR (default: all)")
    parser.add_argument("--cpu", default="sapphirerapids", help="by LLVM's name; '': this one (default: sapphirerapids)")
    parser.add_argument("--machine", metavar="FILE", help="what `sinter bench --machine --json` printed on such a machine")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is compiled (default: 3)")
    parser.add_argument("--slack", type=float, default=1.05, help="how much more may be taken with units (default: 1.05)")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there too")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    options = parser.parse_args()
    limits = ceilings(options.machine)
    models = options.models or sorted(each.name for each in os.scandir(options.directory) if os.path.exists(os.path.join(each.path, "model.onnx")))
    if not models:
        sys.exit(f"matrix_floors.py: no model.onnx in a folder of {options.directory}")
    lines = ["| model | GFLOP | " + " | ".join(f"floor {name}, ms" for name in WAYS) + " | MB, with units | without | s to compile, with | without |",
             "|---|" + "---:|" * (len(WAYS) + 5)]
    print(lines[0], lines[1], sep="\n")
    exceeds = []
    for model in models:
        operations, floors, taken = row(options, model, limits)
        lines.append(f"| {model} | {operations / 1e9:.2f} | " + " | ".join(f"{floor:.3g}" for floor in floors)
                     + " | " + " | ".join(f"{taken[name][0]:.1f}" for name in taken) + " | " + " | ".join(f"{taken[name][1]:.2f}" for name in taken) + " |")
        print(lines[-1], flush=True)
        for what, i in (("memory", 0), ("time to compile", 1)):
            if taken["with"][i] > options.slack * taken["without"][i]:
                exceeds.append(f"{model}: {taken['with'][i] / taken['without'][i]:.2f} times the {what}")
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    for each in exceeds:
        print(f"  {each} with matrix units: MISSED")
    return 1 if exceeds else 0


if __name__ == "__main__":
    sys.exit(main())
