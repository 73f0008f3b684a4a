#!/usr/bin/python3
"""Makes quantised and half-precision forms of ONNX models, as the usual quantisers write them, to measure with.

  quantized.py FOLDER... --styles around,inputs --out OUT [--sinter build/bin/sinter]

A FOLDER holds a model in ONNX test form, or several such folders. OUT/MODEL.STYLE/ gets the model, the inputs and, as
what is expected, the outputs of the float model. Ranges are measured in ONNX Runtime on the inputs of test_data_set_0;
batch norms are folded first. Each model is checked by the onnx package, run by ONNX Runtime and, with --sinter, by Sinter;
the table tells the cosine with the float model's outputs, the least of all outputs. Styles:

  around    QuantizeLinear and DequantizeLinear around every operation that has an 8-bit form
  inputs    QuantizeLinear and DequantizeLinear on what products (Conv, MatMul, Gemm) read; their results stay float
  qlinear   QLinearConv and QLinearMatMul, DequantizeLinear and QuantizeLinear around the rest
  microsoft the same with ONNX Runtime's own operators: QLinearAdd, QLinearMul, QLinearConcat, pools, QGemm
  dynamic   DynamicQuantizeLinear, ConvInteger and MatMulInteger, scales after that
  weights8  s8 weights with a scale per channel, float activations
  weights4  int4 weights of MatMul and Gemm with a scale for a block of 32, float activations (operator set 21)
  f16, bf16 all that is f32 in half precision; inputs and outputs stay f32, with a Cast next to each (--half-borders: they too)

Activations are u8 with a zero point, weights s8 without, per output channel; biases are s32. ONNX Runtime has no kernels of
bf16 for processors: that it refuses such a model is no failure. Needs Python's onnx and numpy, and `npm install
--ignore-scripts` in bench/.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test"))
from judge import Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
import tensor_file
from google.protobuf.message import DecodeError
from judge import OnnxRuntime
from onnx import numpy_helper
from quantizer import around, graph, half, operators, ranges, weights

STYLES = ["around", "inputs", "qlinear", "microsoft", "dynamic", "weights8", "weights4", "f16", "bf16"]
# A protobuf message ends at 2 GB; above this, weights go to a file beside.
EXTERNAL_BYTES = 1_800_000_000


def make(base, measured, style, options):
    """The model in a style, from the folded graph and the function that gives ranges of a graph."""
    made = base.copy()
    made.raise_opset(13)
    if style == "qlinear":
        graph.expand_gemms(made)
    if style in ("around", "qlinear", "microsoft"):
        around.around(made, measured(made), options.float)
        if style != "around":
            operators.qlinear(made, microsoft=style == "microsoft")
    elif style == "inputs":
        around.inputs(made, measured(made))
    elif style == "dynamic":
        operators.dynamic(made)
    elif style == "weights8":
        weights.weights8(made)
    elif style == "weights4":
        weights.weights4(made, options.block)
    else:
        # The first operator set in which convolutions may be of bf16.
        if style == "bf16":
            made.raise_opset(22)
        model = made.model()
        half.convert_graph(model.graph, style)
        if not options.half_borders:
            half.cast_borders(model.graph)
        return model
    return made.model()


def read_set(folder, kind, names):
    """The tensors KIND_0.pb, KIND_1.pb ... of a data set by name: that in the file, or the one at its place."""
    found = {}
    for i, name in enumerate(names):
        path = os.path.join(folder, "test_data_set_0", f"{kind}_{i}.pb")
        if not os.path.exists(path):
            break
        tensor = onnx.load_tensor(path)
        found[tensor.name if tensor.name in names else name] = numpy_helper.to_array(tensor)
    return found


def write(model, target, feeds, expected, style, options):
    """A model in ONNX test form; its size in bytes."""
    shutil.rmtree(target, ignore_errors=True)
    data = os.path.join(target, "test_data_set_0")
    os.makedirs(data)
    path = os.path.join(target, "model.onnx")
    onnx.save(model, path, save_as_external_data=model.ByteSize() > EXTERNAL_BYTES, location="weights.bin")
    for kind, arrays in (("input", feeds), ("output", expected)):
        for i, (name, array) in enumerate(arrays.items()):
            tensor = numpy_helper.from_array(array, name)
            if kind == "input" and options.half_borders and style in half.TYPES:
                half.convert_tensor(tensor, style)
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                file.write(tensor.SerializeToString())
    return sum(os.path.getsize(os.path.join(target, name)) for name in os.listdir(target) if name != "test_data_set_0")


def check(path, model):
    """What the onnx package says against the model, or that it cannot tell, or 'ok'."""
    known = onnx.defs.onnx_opset_version()
    version = max(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
    if version > known:
        return f"knows sets to {known}"
    try:
        onnx.checker.check_model(path)
    except (onnx.checker.ValidationError, RuntimeError) as error:
        return str(error).splitlines()[0][:100]
    return "ok"


def cosine(expected, got):
    """The least cosine of an output with what is expected; NaN where there is none."""
    least = 1.0
    for name, want in expected.items():
        have = got.get(name)
        if have is None or have.shape != want.shape:
            return float("nan")
        a, b = want.astype(np.float64).ravel(), have.astype(np.float64).ravel()
        norms = np.linalg.norm(a) * np.linalg.norm(b)
        least = min(least, float(a @ b / norms) if norms else float(np.array_equal(a, b)))
    return least


def in_runtime(path, feeds, expected):
    """The cosine in ONNX Runtime, or why it does not run the model."""
    with tempfile.TemporaryDirectory() as scratch:
        [task] = OnnxRuntime.run([OnnxRuntime.Task(path, feeds, scratch)])
    return task.error if task.error else cosine(expected, task.outputs)


def in_sinter(sinter, target, feeds, expected):
    """The cosine in Sinter, or why it does not run the model."""
    words = [sinter, "run", os.path.join(target, "model.onnx")]
    for i, name in enumerate(feeds):
        words += ["--input", f"{name}={os.path.join(target, 'test_data_set_0', f'input_{i}.pb')}"]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([*words, "--output-dir", scratch, "--json"], capture_output=True, text=True, errors="replace")
        if done.returncode:
            return f"exit code {done.returncode}: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        files = {name: os.path.join(scratch, tensor_file.written_name(name) + ".npy") for name in expected}
        got = {name: np.load(file) for name, file in files.items() if os.path.exists(file)}
    return cosine(expected, got)


def models_in(folders):
    found = []
    for folder in folders:
        if os.path.exists(os.path.join(folder, "model.onnx")):
            found.append(os.path.normpath(folder))
        elif os.path.isdir(folder):
            found += sorted(os.path.join(folder, name) for name in os.listdir(folder)
                            if os.path.exists(os.path.join(folder, name, "model.onnx")))
    return found


def told(value):
    return f"{value:.5f}" if isinstance(value, float) else "-"


class Progress:
    """One line on standard error that says what is done now, where that is a terminal."""

    def __init__(self):
        self.width = 0

    def say(self, text):
        if sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self.width) + "\r")
            sys.stderr.flush()
            self.width = len(text)


def convert(folder, options, progress):
    """Writes one model in all styles; a row of the table for each."""
    name = os.path.basename(folder)
    progress.say(f"{name}: reading")
    base = graph.Graph(onnx.load(os.path.join(folder, "model.onnx")))
    feeds = read_set(folder, "input", [each.name for each in base.inputs])
    if len(feeds) < len(base.inputs):
        raise graph.Unsupported(f"{folder}/test_data_set_0 has inputs for {len(feeds)} of {len(base.inputs)}: ranges are measured on them")
    expected = read_set(folder, "output", [each.name for each in base.outputs])
    if not expected:
        with tempfile.TemporaryDirectory() as scratch:
            [task] = OnnxRuntime.run([OnnxRuntime.Task(os.path.join(folder, "model.onnx"), feeds, scratch)])
        if task.error:
            raise graph.Unsupported(f"no expected outputs, and ONNX Runtime does not run the model: {task.error}")
        expected = task.outputs
    known = {}

    def measured(made):
        key = tuple(name for node in made.nodes for name in node.output)
        if key not in known:
            progress.say(f"{name}: measuring ranges")
            known[key] = ranges.measure(made, feeds)
        return known[key]

    for style in options.styles:
        start = time.monotonic()
        progress.say(f"{name}.{style}: writing")
        target = os.path.join(options.out, f"{name}.{style}")
        path, row = os.path.join(target, "model.onnx"), {"model": f"{name}.{style}", "errors": []}
        try:
            model = make(base, measured, style, options)
            row["MB"] = write(model, target, feeds, expected, style, options) / 1e6
        except graph.Unsupported as error:
            yield {**row, "errors": [str(error)]}
            continue
        row["checker"] = check(path, model)
        if row["checker"] != "ok" and not row["checker"].startswith("knows"):
            row["errors"].append("onnx.checker: " + row["checker"])
        row["seconds"] = time.monotonic() - start
        half_inputs = {key: value.astype(np.float16) if options.half_borders and style == "f16" and value.dtype == np.float32 else value
                       for key, value in feeds.items()}
        progress.say(f"{name}.{style}: ONNX Runtime")
        row["ort"] = in_runtime(path, half_inputs, expected)
        if isinstance(row["ort"], str) and style != "bf16":
            row["errors"].append("ONNX Runtime: " + row["ort"])
        if options.sinter:
            progress.say(f"{name}.{style}: Sinter")
            row["sinter"] = in_sinter(options.sinter, target, feeds, expected)
            if isinstance(row["sinter"], str):
                row["errors"].append("Sinter: " + row["sinter"])
        yield row


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--styles", default="around", help=f"a list of {', '.join(STYLES)}, or all (default: around)")
    parser.add_argument("--out", required=True, metavar="OUT", help="where the folders MODEL.STYLE go")
    parser.add_argument("--float", default="", metavar="OPS", help="around, qlinear, microsoft: operations that stay float, as in Add,Mul (residuals with outliers)")
    parser.add_argument("--block", type=int, default=32, help="weights4: how many weights have a scale in common")
    parser.add_argument("--half-borders", action="store_true", help="f16, bf16: inputs and outputs in that type, too")
    parser.add_argument("--sinter", metavar="FILE", help="run each model in this build of Sinter, too")
    options = parser.parse_args()
    options.styles = STYLES if options.styles == "all" else options.styles.split(",")
    for style in options.styles:
        if style not in STYLES:
            parser.error(f"--styles: {style} is not one of {', '.join(STYLES)}, all")
    if options.block < 16 or options.block & (options.block - 1):
        parser.error("--block: a power of two from 16 on")
    options.float = {each for each in options.float.split(",") if each}
    if unknown := options.float - around.COMPUTING:
        parser.error(f"--float: {', '.join(sorted(unknown))} is not one of {', '.join(sorted(around.COMPUTING))}")
    options.models = models_in(options.folders)
    if not options.models:
        parser.error("no model.onnx in " + ", ".join(options.folders))
    return options


def main():
    options, progress, failed = parse(), Progress(), 0
    print(f"{'model':28} {'MB':>7} {'made in s':>9}  {'onnx.checker':16} {'cosine ORT':>10} {'cosine Sinter':>13}", flush=True)
    for folder in options.models:
        try:
            for row in convert(folder, options, progress):
                progress.say("")
                failed += bool(row["errors"])
                print(f"{row['model']:28} {row.get('MB', 0):7.1f} {row.get('seconds', 0):9.1f}  {row.get('checker', '-')[:16]:16} "
                      f"{told(row.get('ort')):>10} {told(row.get('sinter')):>13}  {'; '.join(row['errors'])}".rstrip(), flush=True)
        except (graph.Unsupported, DecodeError, OSError) as error:
            failed += 1
            print(f"{os.path.basename(folder):28} {str(error).splitlines()[0]}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
