#!/usr/bin/env python3
"""Races `sinter bench` against ONNX Runtime on a folder of models in ONNX test form.

    bench/race.py DIR [--threads 1] [--rounds 5] [--seconds 2] [--markdown FILE] [--json FILE] [MODEL ...]
    bench/race.py DIR --before OTHER/bin/sinter     # another build of Sinter in ONNX Runtime's place
    bench/race.py QUANTISED --baseline DIR          # Sinter on the float model in ONNX Runtime's place: MODEL for MODEL.STYLE

Each round runs all programs on a model, one right after the other, the order turned round every time; a program's
figure is the median of its rounds' medians (or of their fastest runs: --statistic min, where other work disturbs). The
ratio is Sinter's time by the other's, the median of the rounds: below 1, Sinter (on the model in DIR) is faster. The cosine
is that of the outputs with the expected ones, where there are some: the least of all outputs. Needs `npm install --ignore-scripts` in bench/ once. Stops at nothing: a model that fails gets a line that says so,
and the exit code is then 1.
"""
import argparse
import datetime
import fnmatch
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import tensor_file

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = "test_data_set_0"
TIMEOUT_S = 1800
# What Sinter is raced against: (name, name in headings of columns).
NAMES = {"onnxruntime": ("ONNX Runtime", "ORT"), "before": ("build before", "before"), "baseline": ("baseline", "baseline")}


def inputs(model):
    """The --input options that feed a model the inputs beside it."""
    options = []
    for path in tensor_file.numbered(os.path.join(model, DATA), "input"):
        name = tensor_file.name_in(path)
        options += ["--input", f"{name}={path}" if name else path]
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


def baseline_of(name, model, directory):
    """The folder in the baseline's directory that stands against a model: another of the same name, or one without .STYLE."""
    for candidate in (name, name.rsplit(".", 1)[0]):
        folder = os.path.join(directory, candidate)
        is_itself = os.path.exists(folder) and os.path.samefile(folder, model)
        if os.path.exists(os.path.join(folder, "model.onnx")) and not is_itself:
            return folder
    return None


def bench(sinter, model, common, given):
    return [sinter, "bench", os.path.join(model, "model.onnx"), *inputs(model), *common, *given.split(), "--json"]


def commands_of(name, options):
    """What each program is started with, or None where there is nothing to start it on."""
    model = os.path.join(options.directory, name)
    common = ["--threads", str(options.threads), "--seconds", str(options.seconds)]
    made = {"sinter": bench(options.sinter, model, common, options.options)}
    for peer in options.peers:
        if peer == "before":
            made[peer] = bench(options.before, model, common, options.peer_options)
        elif peer == "baseline":
            folder = baseline_of(name, model, options.baseline)
            made[peer] = bench(options.sinter, folder, common, options.peer_options) if folder else None
        else:
            made[peer] = ["node", os.path.join(HERE, "ort_bench.js"), model, *common]
    return {peer: command for peer, command in made.items() if options.only in (None, peer)}


def race(name, options):
    """All rounds of one model: {'model', 'sinter': [..], 'onnxruntime', 'before' or 'baseline': [..]}."""
    commands = commands_of(name, options)
    runs = {peer: [] for peer in commands}
    for number in range(options.rounds):
        peers = list(commands) if number % 2 == 0 else list(commands)[::-1]
        for peer in peers:
            if commands[peer] is None:
                runs[peer] = [{"error": f"no model {name} in {options.baseline}"}]
            elif not any("error" in run for run in runs[peer]):
                runs[peer].append(measure(commands[peer]))
    result = {"model": name, **runs}
    if "sinter" in runs and not any("error" in run for run in runs["sinter"]):
        result["sinter_cosine"] = cosine(os.path.join(options.directory, name), options)
    return result


def cosine(model, options):
    """The least cosine of an output of Sinter's with what is expected; None where nothing is, or where it cannot be read."""
    expected = tensor_file.numbered(os.path.join(model, DATA), "output")
    if not expected:
        return None
    command = [options.sinter, "run", os.path.join(model, "model.onnx"), *inputs(model), "--threads", str(options.threads), *options.options.split(), "--json"]
    with tempfile.TemporaryDirectory() as folder:
        told = measure([*command, "--output-dir", folder])
        names = [each["name"] for each in told.get("outputs", [])]
        least = 1.0 if names else None
        for number, path in enumerate(expected):
            name, values = tensor_file.read_proto(path)
            name = name if name in names else names[number] if number < len(names) else ""
            file = os.path.join(folder, tensor_file.written_name(name) + ".npy")
            if not os.path.exists(file):
                return None
            least = min(least, tensor_file.cosine(values, tensor_file.read_npy(file)))
    return least


def summary(result, peers, statistic):
    """One model's figures: times in ms of each program (or None), ratios, compile time, memory, spread, cosines, errors."""
    row = {"model": result["model"], "errors": [], "sinter_cosine": result.get("sinter_cosine")}
    times = {}
    for peer in ("sinter", *peers):
        runs = result.get(peer, [])
        row["errors"] += [f"{peer}: {run['error']}" for run in runs if "error" in run]
        good = [run for run in runs if "error" not in run]
        times[peer] = [run["latency_ms"][statistic] for run in good] if len(good) == len(runs) else []
        row[peer] = statistics.median(times[peer]) if times[peer] else None
        row[f"{peer}_spread"] = spread(times[peer])
        row[f"{peer}_rss_mb"] = max((run.get("peak_rss_mb") or 0 for run in good), default=None)
        row[f"{peer}_start_ms"] = (good[0].get("load_ms") or 0) + (good[0].get("compile_ms") or 0) if good else None
        if peer == "onnxruntime" and good:
            row[f"{peer}_cosine"] = good[0].get("cosine")
    for peer in peers:
        ratios = [ours / theirs for ours, theirs in zip(times["sinter"], times[peer])]
        row[f"{peer}_ratio"] = statistics.median(ratios) if ratios else None
        row[f"{peer}_ratio_spread"] = spread(ratios)
    return row


def spread(values):
    return (max(values) - min(values)) / min(values) if values else None


def columns(peers):
    """(heading, key of a summary, format) of each column behind the model's name."""
    found = [("Sinter ms", "sinter", "{:.3f}")]
    for peer in peers:
        name, short = NAMES[peer]
        suffix = f" ({short})" if len(peers) > 1 else ""
        found += [(f"{name} ms", peer, "{:.3f}"), ("ratio" + suffix, f"{peer}_ratio", "{:.2f}"),
                  ("spread of ratios" + suffix, f"{peer}_ratio_spread", "{:.0%}")]
    for heading, key, form in [("spread", "spread", "{:.0%}"), ("cosine", "cosine", "{:.5f}"), ("load + compile ms", "start_ms", "{:.0f}"),
                               ("peak MB", "rss_mb", "{:.0f}")]:
        found.append((heading, "sinter_" + key, form))
        found += [(f"{heading} ({NAMES[peer][1]})", f"{peer}_{key}", form) for peer in peers if key != "cosine" or peer == "onnxruntime"]
    return found


def line(row, peers):
    cells = [row["model"]]
    cells += ["-" if row.get(key) is None else form.format(row[key]) for _, key, form in columns(peers)]
    return "| " + " | ".join(cells) + " |" + "".join(f" {error}" for error in row["errors"][:1])


def header(peers):
    headings = ["model"] + [heading for heading, _, _ in columns(peers)]
    return f"| {' | '.join(headings)} |\n|---|{'---:|' * len(columns(peers))}"


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
    chosen = [name for name in found if not options.models or any(fnmatch.fnmatchcase(name, each) for each in options.models)]
    unknown = [each for each in options.models if not fnmatch.filter(found, each)]
    if unknown or not found:
        sys.exit(f"race.py: no model {', '.join(sorted(unknown)) or 'at all'} in {options.directory}")
    return chosen


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="folders in DIR, or patterns such as '*.around' (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs a model (default: 5)")
    parser.add_argument("--seconds", type=float, default=2, help="how long each program runs a model in a round")
    parser.add_argument("--statistic", choices=["median", "min"], default="median",
                        help="a round's figure: the median of its runs, or the fastest, which other work on the machine disturbs less")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    parser.add_argument("--before", metavar="SINTER", help="race this build of Sinter instead of ONNX Runtime")
    parser.add_argument("--baseline", metavar="DIR2", help="race Sinter on the models there instead of ONNX Runtime")
    parser.add_argument("--options", metavar="TEXT", default="", help="further options of `sinter bench` and `sinter run`, as in '--precision f32-exact'")
    parser.add_argument("--peer-options", metavar="TEXT", default="", help="the same for Sinter in ONNX Runtime's place")
    parser.add_argument("--onnxruntime", action="store_true", help="with --before or --baseline: race ONNX Runtime, too")
    parser.add_argument("--only", choices=["sinter", "onnxruntime"], help="no race: just this one's figures")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there too")
    parser.add_argument("--json", metavar="FILE", help="write everything measured there")
    options = parser.parse_intermixed_args()
    options.peers = [peer for peer in ("before", "baseline") if getattr(options, peer)]
    if options.onnxruntime or not options.peers:
        options.peers.insert(0, "onnxruntime")
    if options.only == "sinter":
        options.peers = []
    if options.only == "onnxruntime" and options.only not in options.peers:
        parser.error("--only onnxruntime goes with neither --before nor --baseline")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    for directory in (options.directory, options.baseline or "."):
        if not os.path.isdir(directory):
            parser.error(f"there is no folder {directory}")
    return options


def main():
    options = parse()
    peers = options.peers
    if "onnxruntime" in peers and not os.path.isdir(os.path.join(HERE, "node_modules", "onnxruntime-node")):
        sys.exit(f"race.py: ONNX Runtime is missing; run: cd {HERE} && npm install --ignore-scripts")
    date = datetime.date.today().isoformat()
    if os.getloadavg()[0] > (os.cpu_count() or 1) and options.statistic != "min":
        print(f"note: the load of this machine is {os.getloadavg()[0]:.1f}, and it has {os.cpu_count()} processors: the times mean little; "
              "--statistic min means more", file=sys.stderr)
    title = f"{cpu_name()}; {options.threads} thread(s); {options.rounds} rounds of {options.seconds:g} s, {options.statistic} of each; {date}"
    table = [title, "", *header(peers).splitlines()]
    print("\n".join(table), flush=True)
    results, rows = [], []
    for name in find_models(options):
        results.append(race(name, options))
        rows.append(summary(results[-1], peers, options.statistic))
        table.append(line(rows[-1], peers))
        print(table[-1], flush=True)
    for peer in peers:
        key = f"{peer}_ratio"
        ratios = [row[key] for row in rows if row[key]]
        if ratios:
            worst = max(rows, key=lambda row: row[key] or 0)
            table += ["", f"{NAMES[peer][0][0].upper() + NAMES[peer][0][1:]}: geometric mean of {len(ratios)} ratios {geometric_mean(ratios):.2f}; "
                          f"worst: {worst[key]:.2f} ({worst['model']})."]
            print("\n".join(table[-2:]))
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(table) + "\n")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": cpu_name(), "date": date, "threads": options.threads, "rounds": options.rounds, "seconds": options.seconds,
                       "statistic": options.statistic, "summary": rows, "runs": results}, file, indent=1)
    sys.exit(1 if any(row["errors"] for row in rows) else 0)


if __name__ == "__main__":
    main()
