#!/usr/bin/env python3
"""Writes the table of what `sinter compile` makes of small models for several CPUs into docs/ahead-of-time.md.

    bench/ahead_sizes.py                  write it
    bench/ahead_sizes.py --check          write nothing; exit code 1 if any size is larger than the table says by more than 3 %

Sizes are those of the description; the models are examples/glyphs and those of test/driver/SmallModels.py, in float and as
`sinter quantize` makes them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("ahead_sizes.py: needs NumPy")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.append(os.path.join(ROOT, "test", "driver"))
import SmallModels

PAGE = os.path.join(ROOT, "docs", "ahead-of-time.md")
BEGIN, END = "<!-- bench/ahead_sizes.py writes this table -->", "<!-- end of bench/ahead_sizes.py -->"
GLYPHS = os.path.join(ROOT, "examples", "glyphs")
# By what the table calls them.
TARGETS = {"x86-64-v3": ("x86_64-linux-gnu", "x86-64-v3"), "Cortex-A53": ("aarch64-linux-gnu", "cortex-a53"), "Cortex-A9": ("armv7-linux-gnueabihf", "cortex-a9"),
           "RV64GC": ("riscv64-linux-gnu", ""), "Cortex-M3": ("thumbv7m-none-eabi", "cortex-m3"), "Cortex-M4": ("thumbv7em-none-eabihf", "cortex-m4"),
           "Cortex-M7": ("thumbv7em-none-eabihf", "cortex-m7"), "Cortex-M33": ("thumbv8m.main-none-eabihf", "cortex-m33")}
SIZES = ["code", "constants", "weights", "workspace", "stack"]
TOLERANCE = 0.03


def sinter(command, *arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ahead_sizes.py: {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def models(command, folder):
    """(what the table calls it, its file, further options)"""
    keyword, features = os.path.join(folder, "keyword.onnx"), os.path.join(folder, "features.npz")
    with open(keyword, "wb") as file:
        file.write(SmallModels.keyword_spotting())
    numpy.savez(features, features=numpy.random.default_rng(3).standard_normal((16, 1, 49, 10)).astype("f4"))
    glyphs = os.path.join(GLYPHS, "glyphs.onnx")
    for name, model, calibration, options in (("keyword spotting", keyword, features, ()),
                                              ("glyphs", glyphs, os.path.join(GLYPHS, "images"), ("--shape", "image:1x1x32x32"))):
        quantised = os.path.join(folder, os.path.basename(model).replace(".onnx", "_int8.onnx"))
        sinter(command, "quantize", model, "--calibration", calibration, "-o", quantised)
        yield name, model, options
        yield name + ", int8", quantised, options


def measured(command):
    """The rows of the table, as numbers of bytes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model, options in models(command, folder):
            for cpu_name, (target, cpu) in TARGETS.items():
                for goal in "2", "s":
                    # -Os matters where memory is small.
                    if goal == "s" and "none" not in target:
                        continue
                    of_cpu = ("--cpu", cpu) if cpu else ()
                    done = json.loads(sinter(command, "compile", model, "-o", os.path.join(folder, "net.o"), "--force", "--target", target, *of_cpu,
                                             "-O" + goal, "--json", *options))
                    rows.append([name, cpu_name + (", -Os" if goal == "s" else ""), done["code_bytes"], done["data_bytes"], done["weights"]["bytes"],
                                 done["workspace"]["bytes"], done["stack_bytes"]])
    return rows


def lines_of(rows):
    lines = ["| model | CPU | " + " | ".join(SIZES) + " |", "|---|---|" + "---:|" * len(SIZES)]
    return lines + ["| " + " | ".join(row[:2] + [f"{size:,}" for size in row[2:]]) + " |" for row in rows]


def check(rows, table):
    """Prints what is larger than the table says; whether all is as small."""
    kept = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "model":
            kept[tuple(cells[:2])] = [int(cell.replace(",", "")) for cell in cells[2:]]
    good = True
    for row in rows:
        before = kept.pop(tuple(row[:2]), None)
        if before is None:
            print(f"{row[0]}, {row[1]}: not in the table")
            good = False
            continue
        for what, was, size in zip(SIZES, before, row[2:]):
            if size > was * (1 + TOLERANCE) + 64:
                print(f"{row[0]}, {row[1]}: {size} bytes of {what}, {was} in the table")
                good = False
    for name, cpu in kept:
        print(f"{name}, {cpu}: in the table, but no longer measured")
    return good and not kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(ROOT, "build", "bin", "sinter"))
    parser.add_argument("--check", action="store_true", help="write nothing, and compare")
    options = parser.parse_args()
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"ahead_sizes.py: {PAGE} needs the lines '{BEGIN}' and '{END}' once each")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    rows = measured(options.sinter)
    if options.check:
        sys.exit(0 if check(rows, table) else 1)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join([before + BEGIN, "", *lines_of(rows), "", END]) + after)


if __name__ == "__main__":
    main()
