#!/usr/bin/env python3
"""Runs f16 and bf16 versions of f32 models and compares them with the f32 ones.

  half_precision.py FOLDER... --sinter build/bin/sinter --backend cpu

A FOLDER is searched for models in ONNX test form (model.onnx,
test_data_set_0/input_0.pb, output_0.pb). Weights, inputs, casts and constants
of f32 become f16 or bf16, as other converters do it: what is out of f16's
range, a mask's -3.4e38 say, becomes its greatest number. The outputs are to be
those of the f32 model to 4e-2 (f16) or 2e-1 (bf16) of each output's range.
The last line is `N passed, N failed`.

With --optimized the half-precision model is first simplified and written back.
With --peer, too, ONNX Runtime (node and onnxruntime-node in bench/) runs what
was written in f16, and what it gives is held to the same limit.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnx.numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "bench")]
from judge import OnnxRuntime
from quantizer.half import convert_graph, convert_tensor

# How far outputs may be from those of the f32 model, of each output's range.
LIMITS = {"f16": 4e-2, "bf16": 2e-1}


def write_case(source, kind, folder):
    """The model of folder `source`, and its data, in half precision."""
    model = onnx.load(str(source / "model.onnx"))
    convert_graph(model.graph, kind)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    # A file of this format ends at 2 GB.
    onnx.save(model, str(folder / "model.onnx"), save_as_external_data=model.ByteSize() > 1 << 30)
    for path in sorted((source / "test_data_set_0").glob("*.pb")):
        tensor = onnx.load_tensor(str(path))
        convert_tensor(tensor, kind)
        (data / path.name).write_bytes(tensor.SerializeToString())


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, [line for line in lines if line.strip()]


def peer_outputs(path, data):
    """What ONNX Runtime gives for a model of f16, or the words of its error."""
    graph = onnx.load(str(path), load_external_data=False).graph
    constants = {each.name for each in graph.initializer}
    names = [each.name for each in graph.input if each.name not in constants]
    feeds = {
        name: onnx.numpy_helper.to_array(onnx.load_tensor(str(data / f"input_{index}.pb")))
        for index, name in enumerate(names)
    }
    [task] = OnnxRuntime.run([OnnxRuntime.Task(str(path), feeds, str(data))])
    return task.error if task.error else list(task.outputs.values())


def judge_peer(path, data, limit):
    """Nothing, or how far ONNX Runtime's outputs are from the expected ones."""
    outputs = peer_outputs(path, data)
    if isinstance(outputs, str):
        return "ONNX Runtime: " + outputs
    for index, output in enumerate(outputs):
        expected = onnx.numpy_helper.to_array(onnx.load_tensor(str(data / f"output_{index}.pb")))
        expected, output = expected.astype(numpy.float64), output.astype(numpy.float64)
        if output.shape != expected.shape:
            return f"ONNX Runtime: output {index} is {output.shape}, not {expected.shape}"
        distance, largest = numpy.abs(output - expected).max(), numpy.abs(expected).max()
        if not distance <= limit * largest:
            return f"ONNX Runtime: output {index} differs by {distance:.3g}, the largest is {largest:.3g}"
    return None


def check(source, kind, arguments):
    """Nothing, or what is wrong."""
    with tempfile.TemporaryDirectory(dir=arguments.work) as work:
        folder = pathlib.Path(work) / "case"
        write_case(source, kind, folder)
        if arguments.optimized:
            simple = folder / "simple.onnx"
            code, lines = run([arguments.sinter, "optimize", folder / "model.onnx", "-o", simple])
            if code:
                return lines[-1] if lines else f"optimize ended with {code}"
            if arguments.peer and kind == "f16":
                wrong = judge_peer(simple, folder / "test_data_set_0", LIMITS[kind])
                if wrong:
                    return wrong
            simple.replace(folder / "model.onnx")
        code, lines = run([
            arguments.sinter, "test", folder, "--backend", arguments.backend, "--rtol", "0",
            "--range-atol", str(LIMITS[kind]), "--timeout", str(arguments.timeout),
        ])
        if code == 0 and lines and lines[-1].startswith("1 passed, 0 failed"):
            return None
        return " | ".join(line.strip() for line in lines[-3:]) or f"ended with {code}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--sinter", default="build/bin/sinter")
    parser.add_argument("--backend", choices=("cpu", "interpreter"), default="cpu")
    parser.add_argument("--types", default="f16,bf16", help="f16, bf16 or both")
    parser.add_argument("--filter", default="", help="only models whose folder contains this")
    parser.add_argument("--optimized", action="store_true",
                        help="simplify and write the model before it is run")
    parser.add_argument("--peer", action="store_true",
                        help="with --optimized: let ONNX Runtime run what was written in f16")
    parser.add_argument("--largest", type=float, help="leave out models of more MB")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a model may take")
    parser.add_argument("--work", help="where the models are written (default: the system's)")
    arguments = parser.parse_args()
    for kind in (kinds := arguments.types.split(",")):
        if kind not in LIMITS:
            parser.error(f"--types: {kind} is not one of {', '.join(LIMITS)}")
    models = sorted({
        path.parent
        for folder in arguments.folders
        for path in folder.rglob("model.onnx")
        if arguments.filter in str(path.parent)
    })
    if not models:
        parser.error("no model.onnx in " + ", ".join(map(str, arguments.folders)))
    passed = failed = 0
    for source in models:
        size = sum(each.stat().st_size for each in source.iterdir() if each.is_file()) / 2**20
        if arguments.largest is not None and size > arguments.largest:
            print(f"left out {source.name}: {size:.0f} MB (--largest)", flush=True)
            continue
        for kind in kinds:
            start = time.monotonic()
            wrong = check(source, kind, arguments)
            seconds = time.monotonic() - start
            passed += wrong is None
            failed += wrong is not None
            print(f"{'ok' if wrong is None else 'FAILED'} {source.name} {kind} {seconds:.1f} s" +
                  (f": {wrong}" if wrong else ""), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
