#!/usr/bin/python3
"""What the Python package costs beside the kernels: calls, imports, and models that are in the cache.

  bench/python_calls.py [BUILD] [--model FILE ...] [--repeat N] [--markdown OUT.md]

Times are of the processor, which another load disturbs less than those of the clock: the least of N rounds. Bounds are those
that the library promises; FILE (default: a model of one addition) is compiled into a cache before.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError as missing:
    print(f"python_calls.py: skipped: {missing}")
    sys.exit(77)

ADD = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# Without numpy, whose own start takes longer.
RUN = """
import sys
import sinter
session = sinter.compile(sys.argv[1], threads=1)
given = []
for value in session.inputs:
    count = 1
    for size in value.shape:
        count *= size if isinstance(size, int) else 1
    memory = memoryview(bytes(count * (8 if "64" in value.dtype else 4)))
    format = {"f32": "f", "f64": "d", "i64": "q", "i32": "i"}[value.dtype]
    given.append(memory.cast(format, [size if isinstance(size, int) else 1 for size in value.shape]))
session._run(given)
"""


def least(rounds, call, count):
    """Microseconds of a call."""
    times = []
    for _ in range(rounds):
        begin = time.process_time_ns()
        for _ in range(count):
            call()
        times.append((time.process_time_ns() - begin) / count / 1e3)
    return min(times)


def calls(rounds, build):
    """(what, microseconds, the bound or None)."""
    sys.path.insert(0, os.path.join(build, "python"))
    import sinter
    session = sinter.compile(sinter.load(ADD.encode(), name="add.mlir"), threads=1, no_cache=True)
    x, out = numpy.ones(4, numpy.float32), numpy.empty(4, numpy.float32)
    binding = session.bind(x, out)
    [name] = [each.name for each in session.inputs]
    for what, call, bound in (("`session(x)`", lambda: session(x), 5), ("`session(x, out=out)`", lambda: session(x, out=out), 5),
                              ("`session.run({...})`", lambda: session.run({name: x}), None), ("`binding()`", binding, 3)):
        for _ in range(1000):
            call()
        yield what, least(rounds, call, 20000), bound
    large = numpy.zeros(1 << 22, numpy.uint8)
    relu = sinter.compile(sinter.load(b"""func.func @main(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %0 = nn.relu %x : tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}
""", name="relu.mlir"), threads=1, no_cache=True)
    for offset in (0, 4):
        at = -large.ctypes.data % 64 + offset
        view = large[at:at + 4000000].view(numpy.float32)
        bound = relu.bind(view, numpy.empty(1000000, numpy.float32))
        assert bound.copies == [False, False]
        yield f"4 MB read at {offset} bytes behind a multiple of 64", least(rounds, bound, 50), None


def process(command, environment):
    """Milliseconds of a process, of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def starts(rounds, build, models):
    """(what, milliseconds, the bound or None)."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": os.path.join(build, "python"), "XDG_CACHE_HOME": folder}

        def python(*arguments):
            return min(process([sys.executable, "-S", "-c", *arguments], environment) for _ in range(rounds))
        nothing = python("pass")
        imported = python("import sinter")
        yield "`import sinter`", imported - nothing, 60
        if not models:
            models = [os.path.join(folder, "add.mlir")]
            with open(models[0], "w") as file:
                file.write(ADD)
        for model in models:
            command = [os.path.join(build, "bin", "sinter"), "run", model, "--input", "random", "--threads", "1"]
            process(command, environment)
            python(RUN, model)
            theirs = min(process(command, environment) for _ in range(rounds))
            name = os.path.basename(model)
            yield f"{name} in the cache, read and run: the command", theirs, None
            yield f"{name} in the cache, read and run: Python, once sinter is imported", python(RUN, model) - imported, 1.2 * theirs


def table(rows, unit):
    yield f"| what | {unit} | bound | |"
    yield "|---|---|---|---|"
    for what, value, bound in rows:
        yield f"| {what} | {value:.2f} | {'' if bound is None else f'{bound:.2f}'} | {'' if bound is None or value <= bound else 'missed'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--markdown")
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    lines = [*table(calls(given.repeat, build), "us"), "", *table(starts(given.repeat, build, given.model), "ms")]
    print("\n".join(lines))
    if given.markdown:
        with open(given.markdown, "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
