#!/usr/bin/env python3
"""Models with a symbolic batch are optimised as well as with a fixed one.

    symbolic_batch.py FOLDER --sinter build/bin/sinter [--filter NAME] [--backend cpu] [--type f16]
                      [--stablehlo]

FOLDER holds models in ONNX's test form (NAME/model.onnx). Each is rewritten so
that the first dimension of its inputs is called "batch", and where a Reshape or
an Expand holds the batch as a number, that becomes what leaves it open.
`sinter optimize` is run on both; the symbolic one must end with as few nodes as
with a fixed batch of more than one (dimensions of one element go away, so a
batch of one would be easier), and compute the same for the batch that the file
had and for another. With --type the model is first brought to half precision
(half_precision.py), and results may differ as far as that script lets them.

With --stablehlo the symbolic model is converted to StableHLO instead, as text
and as a portable artifact, which must hold public operations only; that, and
what `sinter optimize` makes of the text, must compute the same for both batches.

Needs the Python packages onnx and numpy. The last line is
`N passed, N failed`; the exit code is 1 if something failed.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, numpy_helper

import half_precision
from quantizer import half


def batched_inputs(graph):
    """The inputs whose first dimension is the batch, and the batch."""
    constants = {each.name for each in graph.initializer}
    inputs = [each for each in graph.input if each.name not in constants]
    sizes = [
        each.type.tensor_type.shape.dim[0].dim_value
        for each in inputs
        if len(each.type.tensor_type.shape.dim) > 0
    ]
    if not sizes or sizes[0] < 1:
        return [], 0
    batch = sizes[0]
    return [
        each
        for each in inputs
        if len(each.type.tensor_type.shape.dim) > 0
        and each.type.tensor_type.shape.dim[0].dim_value == batch
    ], batch


def computed_tensors(graph, inputs):
    """The tensors that depend on the inputs."""
    known = {each.name for each in inputs}
    for node in graph.node:
        if any(name in known for name in node.input):
            known.update(node.output)
    return known


def open_shape(shape, batch):
    """The numbers of a shape operand without the batch: -1 where no other size
    is left open, else 0, which takes the size of the operand."""
    if len(shape) == 0 or shape[0] != batch:
        return shape
    return [0 if -1 in shape[1:] else -1, *shape[1:]]


def set_symbolic(model):
    """Calls the batch "batch" in place; the batch, or 0 if there is none."""
    graph = model.graph
    inputs, batch = batched_inputs(graph)
    if not inputs:
        return 0
    for each in inputs:
        each.type.tensor_type.shape.dim[0].dim_param = "batch"
    del graph.value_info[:]
    for each in graph.output:
        for dim in each.type.tensor_type.shape.dim:
            dim.Clear()

    computed = computed_tensors(graph, inputs)
    constants = {each.name: each for each in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    constants[node.output[0]] = attribute.t
    added = 0
    for node in graph.node:
        if node.op_type not in ("Reshape", "Expand"):
            continue
        if node.input[0] not in computed or node.input[1] not in constants:
            continue
        shape = numpy_helper.to_array(constants[node.input[1]]).tolist()
        if node.op_type == "Reshape":
            opened = open_shape(shape, batch)
        else:
            opened = [1, *shape[1:]] if shape[:1] == [batch] else shape
        if opened == shape:
            continue
        # A constant may have other readers.
        name = f"symbolic_batch_shape_{added}"
        added += 1
        graph.initializer.append(
            numpy_helper.from_array(numpy.array(opened, numpy.int64), name)
        )
        node.input[1] = name
    return batch


class Failure(Exception):
    pass


def sinter(arguments, options):
    done = subprocess.run(
        [options.sinter, *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise Failure(f"sinter {arguments[0]}: {done.stderr.strip()[-400:]}")


def outputs_of(model, inputs, folder, options):
    arguments = ["run", model, "--backend", options.backend, "--output-dir", folder]
    for name, path in inputs.items():
        arguments += ["--input", f"{name}={path}"]
    sinter([*arguments, "--no-cache"], options)
    outputs = [
        numpy.load(path) for path in sorted(pathlib.Path(folder).glob("*.npy"))
    ]
    # NumPy has no bf16: a file has its bits.
    return [
        (each.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
        if each.dtype.kind == "V"
        else each
        for each in outputs
    ]


def as_stored(array, kind):
    """An array of f32 as a file has the numbers of an input of this type."""
    if kind == TensorProto.FLOAT16:
        return numpy.frombuffer(
            half.rounded(array, "f16"), numpy.float16
        ).reshape(array.shape)
    if kind == TensorProto.BFLOAT16:
        return numpy.frombuffer(
            half.rounded(array, "bf16"), "V2"
        ).reshape(array.shape)
    return array


def made_inputs(model, path, folder, batch, wanted, options):
    """Files with the values of the test data, or others, for a batch of
    `wanted`."""
    constants = {each.name for each in model.graph.initializer}
    random = numpy.random.default_rng(1)
    files = {}
    inputs = [each for each in model.graph.input if each.name not in constants]
    for index, each in enumerate(inputs):
        data = path.parent / "test_data_set_0" / f"input_{index}.pb"
        if data.exists():
            value = numpy_helper.to_array(onnx.load_tensor(str(data)))
        else:
            tensor = each.type.tensor_type
            shape = [dim.dim_value for dim in tensor.shape.dim]
            kind = onnx.helper.tensor_dtype_to_np_dtype(
                TensorProto.FLOAT if options.type else tensor.elem_type
            )
            value = random.normal(size=shape).astype(kind)
        if value.ndim and value.shape[0] == batch:
            value = numpy.concatenate([value] * wanted)[:wanted]
        files[each.name] = pathlib.Path(folder) / f"in{wanted}_{index}.npy"
        numpy.save(
            files[each.name], as_stored(value, each.type.tensor_type.elem_type)
        )
    return files


def expect_same(got, expected, what, limit):
    if len(got) != len(expected):
        raise Failure(f"{what}: {len(got)} outputs, not {len(expected)}")
    for index, (a, b) in enumerate(zip(got, expected)):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise Failure(
                f"{what}: output {index} is {a.dtype}{a.shape}, not {b.dtype}{b.shape}"
            )
        if not a.size or a.dtype.kind not in "fc":
            if not numpy.array_equal(a, b):
                raise Failure(f"{what}: output {index} differs")
            continue
        wide = numpy.result_type(a.dtype, numpy.float64)
        a, b = a.astype(wide), b.astype(wide)
        scale = max(1.0, float(numpy.abs(b).max()))
        distance = float(numpy.abs(a - b).max())
        if not distance <= limit * scale:
            raise Failure(f"{what}: output {index} differs by {distance:.3g}")


def fix_batch(model, size):
    """The symbolic batch as a number, in place."""
    for each in model.graph.input:
        for dim in each.type.tensor_type.shape.dim:
            if dim.dim_param == "batch":
                dim.dim_value = size


def optimized(model, result, options):
    sinter(["optimize", model, "-o", result], options)
    return counts(result)


def counts(path):
    graph = onnx.load(str(path), load_external_data=False).graph
    return collections.Counter(node.op_type for node in graph.node)


# What other tools know, at the start of a line behind the results' names.
PORTABLE = {"stablehlo", "chlo", "func", "builtin"}
OPERATION = re.compile(
    r'^\s*(?:%[\w:#]+(?:, %[\w:#]+)* = )?"?([a-z]\w*)\.[a-z]\w*"?[ (<@]',
    re.MULTILINE,
)


def check_stablehlo(path, options):
    """What is said of a model that is the same in StableHLO."""
    fixed = onnx.load(str(path))
    symbolic = onnx.load(str(path))
    batch = set_symbolic(symbolic)
    if batch == 0:
        raise Failure("no input has a first dimension of known size")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        given, text, artifact, again = (
            folder / each
            for each in ("given.onnx", "text.mlir", "artifact.mlir.bc", "again.mlir")
        )
        onnx.save(symbolic, str(given))
        sinter(["convert", given, "-o", text], options)
        sinter(["convert", given, "-o", artifact], options)
        sinter(["optimize", text, "-o", again], options)
        for each in (text, again):
            content = each.read_text()
            strange = set(OPERATION.findall(content)) - PORTABLE
            if strange:
                raise Failure(f"{each.name} holds {', '.join(sorted(strange))}")
            if "custom_call" in content:
                raise Failure(f"{each.name} holds a custom_call")
        said = f"{text.stat().st_size >> 20} MB of text"
        for wanted in (batch, 2 * batch):
            inputs = made_inputs(fixed, path, folder, batch, wanted, options)
            try:
                expected = outputs_of(
                    path if wanted == batch else given,
                    inputs,
                    folder / f"expected{wanted}",
                    options,
                )
            except Failure:
                if wanted == batch:
                    raise
                said += f"; only batch {batch}, to which the file is bound"
                continue
            for each in (text, artifact, again):
                got = outputs_of(
                    each, inputs, folder / f"{each.name}{wanted}", options
                )
                expect_same(got, expected, f"{each.name}, batch {wanted}", 1e-3)
    return said


def check(path, options):
    """What is said of a model that passes."""
    fixed, symbolic = onnx.load(str(path)), onnx.load(str(path))
    if options.type:
        for model in fixed, symbolic:
            half.convert_graph(model.graph, options.type)
    batch = set_symbolic(symbolic)
    if batch == 0:
        raise Failure("no input has a first dimension of known size")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        given, several, best, opened, unchanged = (
            folder / f"{each}.onnx"
            for each in ("given", "several", "best", "opened", "unchanged")
        )
        onnx.save(fixed, str(unchanged))
        onnx.save(symbolic, str(given))
        fix_batch(symbolic, 3)
        onnx.save(symbolic, str(several))
        try:
            few = optimized(several, best, options)
        except Failure:
            # A constant holds the batch elsewhere (a class token, say).
            few = optimized(unchanged, best, options)
        got = optimized(given, opened, options)
        said = f"{got.total()} nodes, {few.total()} with a fixed batch"
        for wanted in (batch, 2 * batch):
            inputs = made_inputs(fixed, path, folder, batch, wanted, options)
            reference = unchanged if wanted == batch else given
            try:
                expected = outputs_of(
                    reference, inputs, folder / f"expected{wanted}", options
                )
            except Failure:
                if wanted == batch:
                    raise
                said += f"; only batch {batch}, to which the file is bound"
                continue
            expect_same(
                outputs_of(opened, inputs, folder / f"got{wanted}", options),
                expected,
                f"batch {wanted}",
                half_precision.LIMITS[options.type] if options.type else 1e-3,
            )
    if got.total() > few.total():
        raise Failure(f"{said}; more: {dict(got - few)}, fewer: {dict(few - got)}")
    return said


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=__doc__,
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="", help="only models of such a name")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "interpreter"])
    parser.add_argument(
        "--type", choices=list(half_precision.LIMITS), help="half precision: which"
    )
    parser.add_argument(
        "--stablehlo", action="store_true", help="convert to StableHLO instead"
    )
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    if options.stablehlo and options.type:
        parser.error("--stablehlo is for the model as it is, without --type")
    models = [
        path
        for path in sorted(options.folder.glob("*/model.onnx"))
        if options.filter in path.parent.name
    ]
    if not models:
        print(f"{options.folder}: no NAME/model.onnx here", file=sys.stderr)
        return 2
    failed = 0
    for path in models:
        try:
            said = (check_stablehlo if options.stablehlo else check)(path, options)
            if options.verbose:
                print(f"{path.parent.name}: {said}", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED {path.parent.name}: {failure}", flush=True)
    print(f"{len(models) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
