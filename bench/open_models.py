#!/usr/bin/python3
"""Rewrites models in ONNX test form, so that dimensions of their inputs are dynamic.

    bench/open_models.py MODEL_DIR ... --out DIR [--dynamic batch] [--dynamic batch,sequence] [--dynamic height,width] [--positions 512]

An exporter that traced a model with one set of sizes left them in the graph as constants. The inputs' dimensions
become symbols: `batch` is the first of each input; `sequence` the second of inputs of rank 2 and 3; `height` and `width` the last two of
those of rank 4. And what holds such a size as a constant follows:

- a Reshape takes the sizes that its operand has in the same place, or else leaves the batch to be counted;
- a constant that stands beside a dynamic batch in a Concat (a class token) is expanded;
- a constant as long as the sequence beside a dynamic one (embeddings of positions), or by which these are gathered, becomes a part of a
  longer one, of --positions; those beyond the ones in the file go on counting where these count, and repeat them otherwise;
- initial states of zeros of an LSTM, GRU or RNN, which say their batch, are left out: zeros are what is taken without them.

A model goes to DIR/MODEL.SYMBOLS (symbols joined by +), with the inputs and outputs that were there. It is run in ONNX Runtime on these, and
what differs from the outputs is an error, as is a symbol that no input has.
"""
import argparse
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "test"), HERE]
from judge import Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import helper, numpy_helper
from quantized import EXTERNAL_BYTES, cosine, read_set

# Of an input's rank: which dimension a symbol is.
PLACES = {"batch": lambda rank: 0 if rank else None, "sequence": lambda rank: 1 if rank in (2, 3) else None,
          "height": lambda rank: 2 if rank == 4 else None, "width": lambda rank: 3 if rank == 4 else None}
ELEMENTWISE = {"Add", "Sub", "Mul", "Div", "Where", "Pow", "Max", "Min"}
RECURRENT = {"LSTM": (5, 6), "GRU": (5,), "RNN": (5,)}


class Unsuitable(Exception):
    pass


def run(model, feeds):
    """A model's outputs in ONNX Runtime."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "model.onnx")
        onnx.save(model, path, save_as_external_data=model.ByteSize() > EXTERNAL_BYTES, location="weights.bin")
        [task] = OnnxRuntime.run([OnnxRuntime.Task(path, feeds, scratch)])
    if task.error:
        raise Unsuitable(f"ONNX Runtime does not run it: {task.error}")
    return task.outputs


def twice(arrays):
    return {name: np.concatenate([array, array]) for name, array in arrays.items()}


def axis_of(node):
    return next(each.i for each in node.attribute if each.name == "axis")


class Rewrite:
    """A model whose inputs' sizes become symbols, in place."""

    def __init__(self, model, symbols, positions):
        self.model, self.graph, self.symbols, self.positions = model, model.graph, symbols, positions
        self.constants = {each.name: each for each in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.constants[node.output[0]] = node.attribute[0].t
        self.inputs = [each for each in self.graph.input if each.name not in self.constants]
        # What depends on an input.
        self.computed = {each.name for each in self.inputs}
        for node in self.graph.node:
            if any(name in self.computed for name in node.input):
                self.computed.update(node.output)
        self.count = 0

    def run(self, feeds):
        self.fold()
        known = self.shapes(feeds)
        lengths = self.open_inputs()
        self.drop_states()
        for node in self.graph.node:
            if node.op_type == "Reshape":
                self.open_reshape(node, known, lengths.get("batch"))
        nodes = []
        for node in self.graph.node:
            nodes += self.before(node, known, lengths)
            nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        self.drop_unused()

    def drop_unused(self):
        used = {name for node in self.graph.node for name in node.input} | {each.name for each in self.graph.output}
        weights = [each for each in self.graph.initializer if each.name in used]
        nodes = [each for each in self.graph.node if each.op_type != "Constant" or each.output[0] in used]
        del self.graph.initializer[:], self.graph.node[:]
        self.graph.initializer.extend(weights)
        self.graph.node.extend(nodes)

    def fold(self):
        """Computes, in ONNX Runtime, what computed nodes take that no input decides, other than tables by constants: those may grow."""
        taken = {name for node in self.graph.node if any(each in self.computed for each in node.input) for name in node.input}
        nodes = [node for node in self.graph.node if not any(name in self.computed for name in node.output)]
        wanted = [node.output[0] for node in nodes if node.output[0] in taken and node.op_type not in ("Constant", "Gather")]
        if not wanted:
            return
        part = onnx.ModelProto()
        part.CopyFrom(self.model)
        del part.graph.node[:], part.graph.input[:], part.graph.output[:]
        part.graph.node.extend(nodes)
        part.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
        for name, array in run(part, {}).items():
            self.constants[name] = numpy_helper.from_array(array, name)
        kept = [node for node in self.graph.node if node.output[0] not in wanted]
        del self.graph.node[:]
        self.graph.node.extend(kept)
        self.graph.initializer.extend(self.constants[name] for name in wanted)

    def open_inputs(self):
        """Names the dimensions; the sizes that the symbols had."""
        lengths = {}
        for each in self.inputs:
            dims = each.type.tensor_type.shape.dim
            for symbol in self.symbols:
                place = PLACES[symbol](len(dims))
                if place is not None:
                    lengths.setdefault(symbol, dims[place].dim_value)
                    dims[place].dim_param = symbol
                    if symbol == "sequence":
                        self.sequence = (each.name, place)
        missing = [each for each in self.symbols if each not in lengths]
        if missing:
            raise Unsuitable(f"no input has a dimension for {', '.join(missing)}")
        for each in self.graph.output:
            for dim in each.type.tensor_type.shape.dim:
                dim.Clear()
        del self.graph.value_info[:]
        return lengths

    def shapes(self, feeds):
        """The shapes of the constants, and of the tensors beside them or reshaped, as ONNX Runtime has them with these inputs."""
        wanted = {name for node in self.graph.node if node.op_type in ELEMENTWISE | {"Reshape", "Concat"} for name in node.input
                  if name in self.computed and name not in feeds}
        part = onnx.ModelProto()
        part.CopyFrom(self.model)
        del part.graph.output[:]
        part.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(wanted))
        found = {name: list(array.shape) for name, array in (run(part, feeds) if wanted else {}).items()}
        found.update({name: list(array.shape) for name, array in feeds.items()})
        found.update({name: list(each.dims) for name, each in self.constants.items()})
        return found

    def constant(self, array):
        self.count += 1
        name = f"open_sizes_{self.count}"
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def drop_states(self):
        for node in self.graph.node:
            for place in RECURRENT.get(node.op_type, ()):
                name = node.input[place] if place < len(node.input) else ""
                if name in self.constants and not numpy_helper.to_array(self.constants[name]).any():
                    node.input[place] = ""

    def open_reshape(self, node, known, batch):
        operand = known.get(node.input[0])
        if operand is None or node.input[1] not in self.constants or node.input[0] in self.constants:
            return
        wanted = numpy_helper.to_array(self.constants[node.input[1]]).tolist()
        opened = [0 if place < len(operand) and operand[place] == size else size for place, size in enumerate(wanted)]
        if opened and opened[0] == batch and batch is not None and -1 not in opened:
            opened[0] = -1
        if opened != wanted:
            node.input[1] = self.constant(np.array(opened, np.int64))

    def before(self, node, known, lengths):
        """What has to stand in front of a node, whose operands it changes."""
        other = next((name for name in node.input if name in self.computed), None)
        beside = known.get(other) or []
        added = []
        for place, name in enumerate(node.input):
            shape = known.get(name)
            if name in self.computed or not shape:
                continue
            axes = [len(shape) - back for back in range(1, len(shape) + 1) if shape[-back] == lengths.get("sequence")]
            if node.op_type == "Concat" and other and shape[0] == lengths.get("batch") and axis_of(node) % len(shape):
                added += self.expand(node, place, shape, other)
            elif node.op_type == "Gather" and name in self.constants and place == 1 and not other and axes:
                added += self.lengthen(node, place, axes[0], self.sequence)
            elif node.op_type in ELEMENTWISE and name in self.constants:
                for axis in axes:
                    like = len(beside) - len(shape) + axis
                    if like >= 0 and beside[like] == lengths["sequence"]:
                        added += self.lengthen(node, place, axis, (other, like))
                        break
        return added

    def size(self, tensor, axis):
        """Nodes for a size of a tensor, as a tensor of one element; and its name."""
        self.count += 1
        whole, part = f"open_sizes_shape_{self.count}", f"open_sizes_size_{self.count}"
        return [helper.make_node("Shape", [tensor], [whole]),
                helper.make_node("Gather", [whole, self.constant(np.array([axis], np.int64))], [part], axis=0)], part

    def expand(self, node, place, shape, other):
        """Gives an operand of a batch of 1 the batch of another tensor."""
        nodes, batch = self.size(other, 0)
        target, wide = f"{batch}_target", f"{batch}_wide"
        nodes += [helper.make_node("Concat", [batch, self.constant(np.array(shape[1:], np.int64))], [target], axis=0),
                  helper.make_node("Expand", [node.input[place], target], [wide])]
        node.input[place] = wide
        return nodes

    def lengthen(self, node, place, axis, like):
        """Makes a constant operand as long in `axis` as a tensor is in one of its dimensions."""
        array = numpy_helper.to_array(self.constants[node.input[place]])
        length = array.shape[axis]
        wanted = np.arange(max(self.positions, length))
        is_count = array.dtype.kind == "i" and (array == np.arange(length).reshape([-1 if each == axis else 1 for each in range(array.ndim)])).all()
        longer = np.take(array, wanted % length, axis=axis)
        if is_count:
            longer += np.array(wanted - wanted % length, array.dtype).reshape([-1 if each == axis else 1 for each in range(array.ndim)])
        nodes, size = self.size(*like)
        part = f"{size}_part"
        bounds = [self.constant(np.array([each], np.int64)) for each in (0, axis)]
        nodes.append(helper.make_node("Slice", [self.constant(longer), bounds[0], size, bounds[1]], [part]))
        node.input[place] = part
        return nodes


def rewrite(folder, options):
    """Writes one model; a line on it."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    change = Rewrite(model, options.dynamic.split(","), options.positions)
    feeds = read_set(folder, "input", [each.name for each in change.inputs])
    expected = read_set(folder, "output", [each.name for each in model.graph.output])
    change.run(feeds)
    name = f"{os.path.basename(os.path.normpath(folder))}.{options.dynamic.replace(',', '+')}"
    target = os.path.join(options.out, name)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(os.path.join(folder, "test_data_set_0"), os.path.join(target, "test_data_set_0"))
    path = os.path.join(target, "model.onnx")
    onnx.save(model, path, save_as_external_data=model.ByteSize() > EXTERNAL_BYTES, location="weights.bin")
    alike = cosine(expected, run(model, feeds))
    if not alike > 0.9999:
        raise Unsuitable(f"what came of it gives other outputs: cosine {alike:.5f}")
    if "batch" in options.dynamic:
        alike = min(alike, cosine(twice(expected), run(model, twice(feeds))))
        if not alike > 0.9999:
            raise Unsuitable(f"two samples give other outputs than one: cosine {alike:.5f}")
    return f"{name}: cosine {alike:.6f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="MODEL_DIR")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--dynamic", default="batch", metavar="SYMBOLS", help="of " + ", ".join(PLACES) + " (default: batch)")
    parser.add_argument("--open", dest="dynamic", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--positions", type=int, default=512, help="the longest sequence (default: 512)")
    options = parser.parse_args()
    unknown = [each for each in options.dynamic.split(",") if each not in PLACES]
    if unknown:
        parser.error(f"--dynamic: no symbol {', '.join(unknown)}")
    failed = 0
    for folder in options.folders:
        try:
            print(rewrite(folder, options), flush=True)
        except (Unsuitable, OSError) as error:
            failed += 1
            print(f"open_models.py: {folder}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
