#!/usr/bin/env python3
"""How long it takes to read networks of very many operators, and how much memory: a chain of relu and add, in which an operator reads what the one before gave and
the input, as a program of PaddlePaddle (both eras), as an ONNX file and as StableHLO's text.

    bench/large.py --sinter build/bin/sinter [--operators 250000 500000 1000000] [--form pdmodel json onnx mlir] [--plan] [--command ...]

Prints a row a form and number of operators: the file's size, the seconds of CPU and the largest memory of `sinter inspect --no-plan` (--plan: with the plan,
--operators 20000 40000 or so then), and both by operator, which do not grow where no step is worse than linear. --command is last and takes another command's
arguments, with {model} and {output} in the places of the two. --keep FOLDER writes the files there and leaves them.
"""
import argparse
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test" / "formats" / "paddle"))
import PaddleBytes as paddle  # noqa: E402


def chain(count):
    """(kind, operand, result) of each operator; the first operand is "x"."""
    last = "x"
    for i in range(count):
        yield ("relu" if i % 2 == 0 else "add"), last, f"t{i}"
        last = f"t{i}"


def pdmodel(path, count):
    ops, variables = [], [("x", paddle.var_desc("x", paddle.var_type(paddle.LOD_TENSOR, dims=[-1, 4])))]
    for kind, operand, result in chain(count):
        inputs = [("X", [operand])] + ([("Y", ["x"])] if kind == "add" else [])
        ops.append(paddle.op_desc("relu" if kind == "relu" else "elementwise_add", inputs, [("Out", [result])],
                                  [("axis", -1)] if kind == "add" else []))
        variables.append((result, paddle.var_desc(result, paddle.var_type(paddle.LOD_TENSOR, dims=[-1, 4]))))
    program = paddle.Program()
    program.inputs, program.outputs, program.variables, program.ops = ["x"], [f"t{count - 1}"], variables, ops
    paddle.write(str(path), program.encode_program())


def json_of_pir(path, count):
    program = paddle.Pir()
    dims = [-1, 4]
    values = {"x": program.input("x", dims)}
    x = values["x"]
    for kind, operand, result in chain(count):
        operands = [x if operand == "x" else last] + ([x] if kind == "add" else [])
        last = program.op("1.relu" if kind == "relu" else "1.add", operands, [paddle.pir_type(dims)])
    program.output(last, "y", dims)
    paddle.write(str(path), program.encode_program())


def onnx(path, count):
    """ModelProto, field by field."""
    text, number = paddle.data, paddle.number
    nodes = []
    for kind, operand, result in chain(count):
        inputs = [operand] + (["x"] if kind == "add" else [])
        nodes.append(text(1, b"".join(text(1, each) for each in inputs) + text(2, result) + text(3, "n" + result) +
                          text(4, "Relu" if kind == "relu" else "Add")))
    shape = text(2, text(1, text(2, "n")) + text(1, number(1, 4)))
    port = lambda name: text(1, name) + text(2, text(1, number(1, 1) + shape))
    graph = b"".join(nodes) + text(2, "chain") + text(11, port("x")) + text(12, port(f"t{count - 1}"))
    paddle.write(str(path), number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 17)))


def mlir(path, count):
    kind_of = {"relu": "stablehlo.maximum", "add": "stablehlo.add"}
    with open(path, "w") as file:
        file.write("func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n")
        for kind, operand, result in chain(count):
            file.write(f"  %{result} = {kind_of[kind]} %{operand}, %x : tensor<8x4xf32>\n")
        file.write(f"  return %t{count - 1} : tensor<8x4xf32>\n}}\n")


FORMS = {"pdmodel": pdmodel, "json": json_of_pir, "onnx": onnx, "mlir": mlir}


def measure(command):
    """Seconds of CPU and bytes of memory of a process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {process.returncode}: {said.strip()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default="build/bin/sinter")
    parser.add_argument("--operators", type=int, nargs="+", default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--form", choices=FORMS, nargs="+", default=list(FORMS))
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command or ["inspect", "{model}"] + ["--no-plan"] * (not options.plan)
    print("| form | operators | file, MB | CPU, s | memory, GB | us an operator | bytes an operator |\n" + "|---" * 7 + "|", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        for form in options.form:
            for count in options.operators:
                model = folder / f"chain{count}" / f"chain.{form}"
                model.parent.mkdir(parents=True, exist_ok=True)
                if not model.exists():
                    # In a process of its own: a command that is started counts what this one holds as its own memory.
                    writer = multiprocessing.get_context("spawn").Process(target=FORMS[form], args=(model, count))
                    writer.start()
                    writer.join()
                places = {"model": model, "output": folder / f"out.{form}"}
                seconds, memory = measure([options.sinter, *(each.format(**places) for each in command)])
                cells = [form, count, f"{model.stat().st_size / 1e6:.0f}", f"{seconds:.1f}", f"{memory / 1e9:.2f}",
                         f"{seconds / count * 1e6:.1f}", f"{memory / count:.0f}"]
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
