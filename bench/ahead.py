#!/usr/bin/python3
"""Bundles of `sinter compile` against the same models compiled just in time, and against the C of onnx2c.

    bench/ahead.py --sinter build/bin/sinter [--peer onnx2c] [--models FOLDER] [--seconds 2] [--rounds 7] [--markdown OUT] [MODEL.onnx ...]
    bench/ahead.py ... --count            instructions of a run, by valgrind, in place of times
    bench/ahead.py ... --small            both compiled with -Os
    bench/ahead.py ... --memory           weights and workspace, and what temporaries need at least
    bench/ahead.py ... --readme           also writes the table into bench/README.md

Without models, those of tiny_models.py, which it writes to FOLDER. Times are medians over rounds that take turns: the bundle
alone, on two threads of a pool that spins (--parallel), the command on one and two threads, and the peer's C, compiled by GCC at
-O3 -march=native. Bytes are those of code and constants, weights included, and of the workspace; of the peer's object, its
sections, where memory is static. The values of both are held against each other.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import tiny_models

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, "README.md")
END = "<!-- end of ahead.py -->"
TYPES = {"f32": "float", "f64": "double", "i8": "int8_t", "ui8": "uint8_t", "i32": "int32_t", "i64": "int64_t"}

# Runs a model for some time, and prints nanoseconds of a run, then values of the first output. A count of runs is exact.
HARNESS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
@include@

@memory@

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const long exactly = argc > 2 ? atol(argv[2]) : 0;
  long runs = 0, some = 1, i;
  double begin, spent = 0;
@fill@
@start@
  for (i = 0; i < exactly; ++i) {
@run@
  }
  if (!exactly) {
@run@
    while (spent < seconds * 1e9) {
      begin = now();
      for (i = 0; i < some; ++i) {
@run@
      }
      spent += now() - begin;
      runs += some;
      some *= 2;
    }
    printf("%.1f\n", spent / (double)runs);
  }
@print@
  return 0;
}
"""

# Workers that spin for the next step, as the pool of the command does.
POOL = r"""
#include <pthread.h>
#include <stdatomic.h>

static void (*pool_task)(void *context, size_t index);
static void *pool_context;
static atomic_uint pool_ticket, pool_left;

static void *pool_work(void *unused) {
  unsigned seen = 0;
  (void)unused;
  for (;;) {
    while (atomic_load_explicit(&pool_ticket, memory_order_acquire) == seen)
      ;
    ++seen;
    pool_task(pool_context, 1);
    atomic_fetch_sub_explicit(&pool_left, 1, memory_order_release);
  }
  return NULL;
}

static void pool_run(void *pool, void (*task)(void *context, size_t index), void *context, size_t count) {
  (void)pool;
  (void)count;
  pool_task = task;
  pool_context = context;
  atomic_store_explicit(&pool_left, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&pool_ticket, 1, memory_order_release);
  task(context, 0);
  while (atomic_load_explicit(&pool_left, memory_order_acquire))
    ;
}
"""


def run(*command, **also):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, **also)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    return done.stdout


def harness(include, memory, fill, start, call, show):
    return (HARNESS.replace("@include@", include).replace("@memory@", memory).replace("@fill@", fill).replace("@start@", start)
            .replace("@run@", call).replace("@print@", show))


def filled(tensor, name):
    """Values that are the same for both: from 0 to 1, or small integers."""
    count = tensor["bytes"] // {"float": 4, "double": 8, "int8_t": 1, "uint8_t": 1, "int32_t": 4, "int64_t": 8}[TYPES[tensor["type"]]]
    value = f"(float)((i * 2654435761u >> 7) % 1000) / 1000" if tensor["type"][0] == "f" else "i % 7"
    return count, f"  for (i = 0; i < {count}; ++i)\n    (({TYPES[tensor['type']]} *){name})[i] = ({TYPES[tensor['type']]})({value});"


def shown(tensor, name):
    count, _ = filled(tensor, name)
    return f'  for (i = 0; i < {min(count, 16)}; ++i)\n    printf("%.6g ", (double)(({TYPES[tensor["type"]]} *){name})[i]);\n  printf("\\n");'


class Bundle:
    """What `sinter compile` makes of MODEL, in FOLDER."""

    def __init__(self, arguments, model, folder, parallel):
        self.folder = os.path.join(folder, "parallel" if parallel else "alone")
        also = ["--parallel"] if parallel else []
        if arguments.count:
            also += ["--cpu", "x86-64-v3"]
        if arguments.small:
            also.append("-Os")
        self.facts = json.loads(run(arguments.sinter, "compile", model, "-o", self.folder, "--name", "net", "--json", *also))
        facts = self.facts
        memory, fills = [], []
        for kind in "input", "output":
            for i, tensor in enumerate(facts[kind + "s"]):
                memory.append(f"static NET_ALIGNED unsigned char {kind}_{i}[{max(1, tensor['bytes'])}];")
                if kind == "input":
                    fills.append(filled(tensor, f"input_{i}")[1])
        threads = 2 if parallel else 1
        size = facts["workspace"]["bytes"] + (threads - 1) * facts["workspace"]["thread_bytes"]
        memory.append(f"static NET_ALIGNED unsigned char workspace[{max(1, size)}];\nstatic net_state state;")
        pointers = {kind: ", ".join(f"(void *){kind}_{i}" for i in range(len(facts[kind + "s"]))) for kind in ("input", "output")}
        memory += [f"static net_inputs inputs = {{{pointers['input']}}};", f"static net_outputs outputs = {{{pointers['output']}}};"]
        start = "  net_state_init(&state);"
        lent = ""
        if parallel:
            memory.append("static const net_threads threads = {2, pool_run, NULL};")
            start += "\n  {\n    pthread_t thread;\n    pthread_create(&thread, NULL, pool_work, NULL);\n  }"
            lent = ", &threads"
        source = os.path.join(self.folder, "harness.c")
        with open(source, "w") as file:
            file.write(harness((POOL if parallel else "") + '#include "net.h"', "\n".join(memory), "\n".join(fills), start,
                               f"      if (net_run(&inputs, &outputs, &state, workspace{lent}))\n        abort();", shown(facts["outputs"][0], "output_0")))
        self.program = os.path.join(self.folder, "harness")
        run("cc", "-O2", "-w", source, os.path.join(self.folder, "net.o"), "-lm", "-pthread", "-o", self.program)

    @property
    def constants(self):
        return self.facts["code_bytes"] + self.facts["data_bytes"] + self.facts["weights"]["bytes"]

    @property
    def memory(self):
        return self.facts["workspace"]["bytes"]


class Peer:
    """The C that onnx2c makes of MODEL; OSError or RuntimeError if it makes none."""

    def __init__(self, arguments, model, folder, facts):
        text = run(arguments.peer, model)
        entry = re.search(r"^(?:FUNC_PREFIX )?void entry\(([^)]*)\)", text, re.M)
        if not entry:
            raise RuntimeError("no entry")
        source = os.path.join(folder, "peer.c")
        with open(source, "w") as file:
            file.write(text)
        self.object, self.program = os.path.join(folder, "peer.o"), os.path.join(folder, "peer")
        run("gcc", "-Os" if arguments.small else "-O3", "-march=x86-64-v3" if arguments.count else "-march=native", "-w", "-c", source, "-o", self.object)
        tensors = [("input", i, each) for i, each in enumerate(facts["inputs"])] + [("output", i, each) for i, each in enumerate(facts["outputs"])]
        memory = [f"static unsigned char {kind}_{i}[{max(1, each['bytes'])}] __attribute__((aligned(64)));" for kind, i, each in tensors]
        fills = [filled(each, f"{kind}_{i}")[1] for kind, i, each in tensors if kind == "input"]
        given = ", ".join(f"{kind}_{i}" for kind, i, _ in tensors)
        types = ", ".join("void *" for _ in tensors)
        path = os.path.join(folder, "peer_harness.c")
        with open(path, "w") as file:
            file.write(harness(f"void entry({types});", "\n".join(memory), "\n".join(fills), "", f"      entry({given});", shown(facts["outputs"][0], "output_0")))
        run("cc", "-O2", "-w", path, self.object, "-lm", "-o", self.program)
        sizes = {name: int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", run("size", "-A", self.object), re.M)}
        self.memory = sum(size for name, size in sizes.items() if name.startswith(".bss"))
        self.constants = sum(size for name, size in sizes.items() if name.startswith((".text", ".rodata", ".data", ".lrodata", ".ldata")))


def measured(program, seconds):
    lines = run(program, seconds).splitlines()
    return float(lines[0]) / 1e3, [float(each) for each in lines[1].split()]


def counted(program, folder):
    """Instructions of a run."""
    counts = []
    for runs in 2, 12:
        out = os.path.join(folder, "counts")
        run("valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out}", program, 0, runs)
        with open(out) as file:
            counts.append(int(re.search(r"^summary: (\d+)", file.read(), re.M)[1]))
    return (counts[1] - counts[0]) / 10


def jit(sinter, model, threads, seconds):
    return json.loads(run(sinter, "bench", model, "--threads", threads, "--seconds", seconds, "--json"))["latency_ms"]["median"] * 1e3


def close(ours, theirs):
    scale = max(map(abs, ours)) or 1
    return max(abs(a - b) for a, b in zip(ours, theirs)) / scale < (1e-3 if len(set(ours)) > 1 else 1)


class Row:
    """The figures of MODEL."""

    def __init__(self, arguments, model):
        self.name = os.path.basename(model).removesuffix(".onnx")
        with tempfile.TemporaryDirectory() as folder:
            alone, lent = Bundle(arguments, model, folder, False), Bundle(arguments, model, folder, True)
            try:
                peer = Peer(arguments, model, folder, alone.facts) if arguments.peer else None
            except RuntimeError as error:
                print(f"{self.name}: the peer: {error}", file=sys.stderr)
                peer = None
            self.constants, self.memory = alone.constants, alone.memory
            self.peer_constants, self.peer_memory = (peer.constants, peer.memory) if peer else (None, None)
            self.code = alone.facts["code_bytes"]
            if arguments.count:
                self.instructions = counted(alone.program, folder)
                self.peer_instructions = counted(peer.program, folder) if peer else None
                return
            times = {"alone": [], "lent": [], "peer": [], "jit": [], "jit2": []}
            for _ in range(arguments.rounds):
                for key, each in ("alone", alone), ("lent", lent), ("peer", peer):
                    if each:
                        time, values = measured(each.program, arguments.seconds / arguments.rounds)
                        times[key].append(time)
                        if key == "alone":
                            expected = values
                        elif not close(expected, values):
                            print(f"{self.name}: {key} gives other values: {values[:4]}, not {expected[:4]}", file=sys.stderr)
                for key, threads in ("jit", 1), ("jit2", 2):
                    times[key].append(jit(arguments.sinter, model, threads, arguments.seconds / arguments.rounds))
            self.times = {key: statistics.median(each) if each else None for key, each in times.items()}


def lower_bound(program):
    """The most bytes of temporaries that are live at once: from the step that writes them to the last one that reads them. A step
    that writes a part of what is live begins a new value there."""
    values, live = [], []
    for number, step in enumerate(program):
        for each in step["operands"]:
            if each["space"] != "arena" or not each["bytes"]:
                continue
            begin, end = each["offset"], each["offset"] + each["bytes"]
            touched = [value for value in live if value["begin"] < end and begin < value["end"]]
            if each["access"] == "out":
                live = [value for value in live if value not in touched] + [{"begin": begin, "end": end, "first": number, "last": number}]
                values.append(live[-1])
            else:
                for value in touched:
                    value["last"] = number
    return max((sum(value["end"] - value["begin"] for value in values if value["first"] <= number <= value["last"]) for number in range(len(program))), default=0)


def memory(sinter, model):
    """What a bundle of MODEL needs, and the bound of its temporaries."""
    with tempfile.TemporaryDirectory() as folder:
        facts = json.loads(run(sinter, "compile", model, "-o", os.path.join(folder, "net"), "--name", "net", "--json"))
    plan = json.loads(run(sinter, "inspect", model, "--steps", "--json"))["plan"]
    bound, size = lower_bound(plan["program"]), facts["workspace"]["bytes"]
    print(f"{os.path.basename(model)}: weights {facts['weights']['bytes']} B, workspace {size} B, live temporaries at most {bound} B: {size / max(1, bound):.3f}")


def cell(value, form="{:.0f}"):
    return form.format(value) if value is not None else "-"


def quotient(first, second):
    return first / second if first is not None and second else None


def table(rows, count):
    if count:
        heads = ["model", "instructions", "peer's", "ratio", "code, B", "code + constants + workspace, B", "peer's", "ratio of bytes"]
        cells = [[row.name, cell(row.instructions), cell(row.peer_instructions), cell(quotient(row.instructions, row.peer_instructions), "{:.2f}"), cell(row.code),
                  cell(row.constants + row.memory), cell(row.peer_constants + row.peer_memory if row.peer_constants else None),
                  cell(quotient(row.constants + row.memory, row.peer_constants + row.peer_memory if row.peer_constants else None), "{:.2f}")] for row in rows]
    else:
        heads = ["model", "bundle, us", "just in time, us", "ratio", "2 threads, us", "just in time, us", "ratio", "onnx2c, us", "ratio", "code + constants, B", "workspace, B",
                 "onnx2c, B", "ratio of bytes"]
        cells = []
        for row in rows:
            time = row.times
            whole = row.peer_constants + row.peer_memory if row.peer_constants else None
            cells.append([row.name, cell(time["alone"], "{:.1f}"), cell(time["jit"], "{:.1f}"), cell(quotient(time["alone"], time["jit"]), "{:.2f}"), cell(time["lent"], "{:.1f}"),
                          cell(time["jit2"], "{:.1f}"), cell(quotient(time["lent"], time["jit2"]), "{:.2f}"), cell(time["peer"], "{:.1f}"),
                          cell(quotient(time["alone"], time["peer"]), "{:.2f}"), cell(row.constants), cell(row.memory), cell(whole),
                          cell(quotient(row.constants + row.memory, whole), "{:.2f}")])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells]) + "\n"


def write_readme(text, options):
    """OPTIONS: those of the command that say which table it is."""
    with open(README) as file:
        page = file.read()
    mark = f"<!-- ahead.py{options} writes this table -->"
    begin = page.index(mark) + len(mark)
    end = page.index(END, begin)
    with open(README, "w") as file:
        file.write(page[:begin] + "\n" + text + page[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--models", dest="folder", default=None)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--readme", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = arguments.models or tiny_models.write(arguments.folder or folder, arguments.sinter)
        if arguments.memory:
            for model in models:
                memory(arguments.sinter, model)
            return
        rows = []
        for model in models:
            rows.append(Row(arguments, model))
            print(f"{rows[-1].name}", file=sys.stderr)
    text = table(rows, arguments.count)
    print(text, end="")
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(text)
    if arguments.readme:
        write_readme(text, "".join(f" --{name}" for name in ("count", "small") if getattr(arguments, name)))


if __name__ == "__main__":
    main()
