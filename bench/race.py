#!/usr/bin/env python3
"""Races `sinter bench` against ONNX Runtime on a folder of models in ONNX test form.

    bench/race.py DIR [--threads 1] [--rounds 3] [--seconds 2] [--markdown FILE] [--json FILE] [MODEL ...]
    bench/race.py DIR --before OTHER/bin/sinter     # another build of Sinter in ONNX Runtime's place

Each round runs both programs on a model, one right after the other, the order turned round every time; a program's
figure is the median of its rounds' medians. The ratio is Sinter's time by ONNX Runtime's: below 1, Sinter is faster.
Needs `npm install --ignore-scripts` in bench/ once. Stops at nothing: a model that fails gets a line that says so,
and the exit code is then 1.
"""
import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 1800
NAMES = {"onnxruntime": "ONNX Runtime", "before": "build before"}


def tensor_name(path):
    """The name (field 8) in a TensorProto file, or ''. Walks the wire format, so it needs no protobuf."""
    with open(path, "rb") as file:
        message = file.read()
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        field, kind = key >> 3, key & 7
        if kind == 0:
            varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        if field == 8:
            return message[at : at + size].decode()
        at += size
    return ""


def inputs(model):
    """The --input options that feed a model the inputs beside it."""
    options = []
    data = os.path.join(model, "test_data_set_0")
    number = 0
    while os.path.exists(path := os.path.join(data, f"input_{number}.pb")):
        name = tensor_name(path)
        options += ["--input", f"{name}={path}" if name else path]
        number += 1
    return options


def measure(command):
    """Runs a benchmark program; the object it prints, or {'error': why not}."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    except OSError as error:
        return {"error": str(error)}
    except subprocess.TimeoutExpired:
        return {"error": f"no end after {TIMEOUT_S} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["nothing on standard error"]
        return {"error": f"exit code {done.returncode}: {lines[-1][:200]}"}
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": "the output is not JSON"}


def race(name, options):
    """All rounds of one model: {'model', 'sinter': [..], 'onnxruntime' or 'before': [..]}."""
    model = os.path.join(options.directory, name)
    common = ["--threads", str(options.threads), "--seconds", str(options.seconds)]
    bench = ["bench", os.path.join(model, "model.onnx"), *inputs(model), *common, "--json"]
    commands = {"sinter": [options.sinter, *bench]}
    if options.before:
        commands["before"] = [options.before, *bench]
    else:
        commands["onnxruntime"] = ["node", os.path.join(HERE, "ort_bench.js"), model, *common]
    if options.only:
        commands = {options.only: commands[options.only]}
    runs = {peer: [] for peer in commands}
    for number in range(options.rounds):
        peers = list(commands) if number % 2 == 0 else list(commands)[::-1]
        for peer in peers:
            if not any("error" in run for run in runs[peer]):
                runs[peer].append(measure(commands[peer]))
    return {"model": name, **runs}


def summary(result):
    """One model's figures: medians in ms of each peer (or None), the ratio, compile time, memory, spread, errors."""
    row = {"model": result["model"], "errors": []}
    other = "before" if "before" in result else "onnxruntime"
    for peer in ("sinter", other):
        runs = result.get(peer, [])
        row["errors"] += [f"{peer}: {run['error']}" for run in runs if "error" in run]
        good = [run for run in runs if "error" not in run]
        medians = [run["latency_ms"]["median"] for run in good]
        row[peer] = statistics.median(medians) if medians and len(good) == len(runs) else None
        row[f"{peer}_spread"] = (max(medians) - min(medians)) / min(medians) if medians else None
        row[f"{peer}_rss_mb"] = max((run.get("peak_rss_mb") or 0 for run in good), default=None)
        row[f"{peer}_start_ms"] = (good[0].get("load_ms") or 0) + (good[0].get("compile_ms") or 0) if good else None
    both = row["sinter"] and row[other]
    row["ratio"] = row["sinter"] / row[other] if both else None
    return row


def columns(other):
    """(heading, key of a summary, format) of each column behind the model's name."""
    short = {"onnxruntime": "ORT", "before": "before"}[other]
    return [
        ("Sinter ms", "sinter", "{:.3f}"),
        (f"{NAMES[other]} ms", other, "{:.3f}"),
        ("ratio", "ratio", "{:.2f}"),
        ("spread", "sinter_spread", "{:.0%}"),
        (f"spread ({short})", f"{other}_spread", "{:.0%}"),
        ("load + compile ms", "sinter_start_ms", "{:.0f}"),
        (f"load ms ({short})", f"{other}_start_ms", "{:.0f}"),
        ("peak MB", "sinter_rss_mb", "{:.0f}"),
        (f"peak MB ({short})", f"{other}_rss_mb", "{:.0f}"),
    ]


def line(row, other):
    cells = [row["model"]]
    cells += ["-" if row.get(key) is None else form.format(row[key]) for _, key, form in columns(other)]
    return "| " + " | ".join(cells) + " |" + "".join(f" {error}" for error in row["errors"][:1])


def header(other):
    headings = ["model"] + [heading for heading, _, _ in columns(other)]
    return f"| {' | '.join(headings)} |\n|---|{'---:|' * len(columns(other))}"


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            names = [text.split(":", 1)[1].strip() for text in file if text.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0]}, {len(names)} cores" if names else platform.processor()


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def find_models(options):
    found = sorted(
        name for name in os.listdir(options.directory) if os.path.exists(os.path.join(options.directory, name, "model.onnx"))
    )
    unknown = set(options.models) - set(found)
    if unknown or not found:
        sys.exit(f"race.py: no model {', '.join(sorted(unknown)) or 'at all'} in {options.directory}")
    return options.models or found


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="folders in DIR (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="how long each program runs a model in a round")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    parser.add_argument("--before", metavar="SINTER", help="race this build of Sinter instead of ONNX Runtime")
    parser.add_argument("--only", choices=["sinter", "onnxruntime"], help="no race: just this one's figures")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there too")
    parser.add_argument("--json", metavar="FILE", help="write everything measured there")
    return parser.parse_args()


def main():
    options = parse()
    other = "before" if options.before else "onnxruntime"
    if other == "onnxruntime" and options.only != "sinter" and not os.path.isdir(os.path.join(HERE, "node_modules", "onnxruntime-node")):
        sys.exit(f"race.py: ONNX Runtime is missing; run: cd {HERE} && npm install --ignore-scripts")
    date = datetime.date.today().isoformat()
    title = f"{cpu_name()}; {options.threads} thread(s); {options.rounds} rounds of {options.seconds:g} s; {date}"
    table = [title, "", *header(other).splitlines()]
    print("\n".join(table), flush=True)
    results, rows = [], []
    for name in find_models(options):
        results.append(race(name, options))
        rows.append(summary(results[-1]))
        table.append(line(rows[-1], other))
        print(table[-1], flush=True)
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if ratios:
        worst = max(rows, key=lambda row: row["ratio"] or 0)
        table += ["", f"Geometric mean of {len(ratios)} ratios: {geometric_mean(ratios):.2f}; worst: {worst['ratio']:.2f} ({worst['model']})."]
        print("\n".join(table[-2:]))
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(table) + "\n")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": cpu_name(), "date": date, "threads": options.threads, "summary": rows, "runs": results}, file, indent=1)
    sys.exit(1 if any(row["errors"] for row in rows) else 0)


if __name__ == "__main__":
    main()
