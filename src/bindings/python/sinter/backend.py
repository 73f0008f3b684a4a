"""ONNX's backend interface (onnx.backend.base), for what is written against it.

    >>> import onnx, sinter.backend
    >>> sinter.backend.run_model(onnx.load("model.onnx"), [x]).y
    array([[ 0., 12.]], dtype=float32)

A sequence is a list of arrays, and an empty optional is None. Results of bfloat16, which numpy lacks, are as
onnx.numpy_helper.to_array() has them.
"""
import os
import sys
import tempfile

import numpy
import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from ._errors import usage_error
from ._model import load
from ._sinter import Error, Tensor, UnsupportedError, view

__all__ = ["Representation", "SinterBackend", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

#: What ONNX has, and numpy has not: of this release.
_NUMBERS = {ours: onnx.TensorProto.DataType.Value(name) for ours, name in
            (("bf16", "BFLOAT16"), ("f8E4M3FN", "FLOAT8E4M3FN"), ("f8E4M3FNUZ", "FLOAT8E4M3FNUZ"), ("f8E5M2", "FLOAT8E5M2"),
             ("f8E5M2FNUZ", "FLOAT8E5M2FNUZ")) if name in onnx.TensorProto.DataType.keys()}


#: What ml_dtypes calls the elements of which the graph has the codes, by their number in ONNX.
_CODES = {onnx.TensorProto.DataType.Value(number): (name, stored) for number, name, stored in
          (("FLOAT4E2M1", "float4_e2m1fn", "ui4"), ("FLOAT8E8M0", "float8_e8m0fnu", "ui8"))
          if number in onnx.TensorProto.DataType.keys()}


def _numpy(result, element=0):
    """What ONNX has for a tensor in Python whose elements have this number, for elements that numpy lacks, too."""
    if element in _CODES:
        name, _ = _CODES[element]
        return numpy.frombuffer(result.tobytes(), numpy.uint8).reshape(result.shape).view(getattr(sys.modules["ml_dtypes"], name))
    if not isinstance(result, Tensor):
        return result
    number = _NUMBERS.get(result.dtype)
    if number is None:
        raise UnsupportedError(f"ONNX {onnx.__version__} has no elements of type {result.dtype}")
    return numpy_helper.to_array(onnx.TensorProto(data_type=number, dims=result.shape, raw_data=result.tobytes()))


def _array(given, element):
    """GIVEN as an array of elements of this number in ONNX. Those of bfloat16 may be f32 or ui16, as releases of
    onnx.numpy_helper.to_array() have it."""
    if isinstance(given, Tensor):
        return given
    array = numpy.asarray(given, order="C")
    if element in _CODES and array.dtype.name == _CODES[element][0]:
        return view(array.view(numpy.uint8), _CODES[element][1])
    if element == onnx.TensorProto.BFLOAT16 and array.dtype == numpy.float32 and not (array.view(numpy.uint32) & 0xffff).any():
        array = (array.view(numpy.uint32) >> 16).astype(numpy.uint16)
    if element == onnx.TensorProto.BFLOAT16 and array.dtype == numpy.uint16:
        return view(array, "bf16")
    return array


def _arguments(value, given):
    """What the arrays of the graph's input VALUE are called, with these: a sequence is an argument for each element."""
    if given is None:
        return {}
    if isinstance(given, (list, tuple)):
        return {f"{value.name}[{i}]": each for i, each in enumerate(given)}
    return {value.name: _array(given, value.type.tensor_type.elem_type)}


class Representation(BackendRep):
    """A model that runs. prepare() makes it."""

    def __init__(self, model, options):
        weights = {each.name for each in model.graph.initializer}
        self._inputs = [each for each in model.graph.input if each.name not in weights]
        self._outputs = list(model.graph.output)
        self._options = options
        self._source = self._session = self._key = None
        if all(each.type.WhichOneof("value") == "tensor_type" for each in self._inputs + self._outputs):
            self._session = load(model).compile(**options)
        else:
            # What arguments and results there are is known with the first inputs.
            self._source = model.SerializeToString()

    def _run(self, arrays):
        """The results by name, of the arrays by argument."""
        if self._source is None:
            return self._session.run(arrays)
        # How many tensors a result has may follow from values: of what counts and decides, which is small.
        bound = {name: each for name, each in arrays.items()
                 if isinstance(each, numpy.ndarray) and each.dtype.kind in "bi" and each.size <= 16 and "[" not in name}
        key = {name: each.shape for name, each in arrays.items()}, {name: each.tolist() for name, each in bound.items()}
        if key != self._key:
            self._session, self._key = self._compile(key[0], bound), key
        return self._session.run({name: each for name, each in arrays.items() if name not in bound})

    def _compile(self, shapes, bound):
        """The session for arguments of these shapes, of which those BOUND are constants."""
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i, (name, each) in enumerate(bound.items()):
                files.append(f"{name}={os.path.join(folder, f'{i}.npy')}")
                numpy.save(files[-1].split("=", 1)[1], each)
            return load(self._source, name="model.onnx", bind=files or None,
                        shapes={name: shape for name, shape in shapes.items() if name not in bound}).compile(**self._options)

    def _grouped(self, results):
        """The results by name as the graph's outputs."""
        for value in self._outputs:
            if value.name in results:
                yield results[value.name]
                continue
            kind = value.type
            if kind.HasField("optional_type"):
                kind = kind.optional_type.elem_type
            elements = [each for name, each in results.items() if name.startswith(value.name + "[")]
            yield elements if kind.HasField("sequence_type") else None

    def run(self, inputs, **kwargs):
        """The outputs, a named tuple, of INPUTS: a list in the graph's order, or a dictionary by name.

        Inputs at the end that are missing are empty optionals."""
        if not isinstance(inputs, dict):
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(given) > len(self._inputs):
                raise usage_error(f"the model has {len(self._inputs)} inputs; given: {len(given)}")
            inputs = {value.name: each for value, each in zip(self._inputs, given)}
        names = {value.name for value in self._inputs}
        for name in inputs:
            if name not in names:
                raise usage_error(f"there is no input '{name}'; there are " + ", ".join(sorted(map(repr, names))))
        arrays = {}
        for value in self._inputs:
            arrays.update(_arguments(value, inputs.get(value.name)))
        results = self._run(arrays)
        elements = {value.name: value.type.tensor_type.elem_type for value in self._outputs}
        outputs = list(self._grouped({name: _numpy(each, elements.get(name, 0)) for name, each in results.items()}))
        return namedtupledict("Outputs", [value.name for value in self._outputs])(*outputs)


class SinterBackend(Backend):
    """The interface as a class. The module has its methods as functions. Keyword arguments are options of sinter.compile()."""

    @classmethod
    def supports_device(cls, device):
        """Whether DEVICE ("CPU", "CUDA:1") is the CPU."""
        return device.split(":")[0].upper() == "CPU"

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether MODEL can be read: False if it uses what is not supported."""
        try:
            load(model)
        except UnsupportedError:
            # An optional input has its value from run() only.
            return any(each.type.HasField("optional_type") for each in model.graph.input)
        except Error:
            # prepare() says what is wrong with it, or it is read once sequences have elements.
            return True
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """MODEL, an onnx.ModelProto, as a Representation."""
        if not cls.supports_device(device):
            raise usage_error(f"there is no device '{device}', but 'CPU'")
        return Representation(model, kwargs)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        """The outputs of MODEL for INPUTS, as Representation.run() has them."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, opset_version=None, **kwargs):
        """The outputs of NODE, an onnx.NodeProto, for INPUTS, arrays in the order of the inputs that it has.

        OUTPUTS_INFO: (dtype, shape) of each output. OPSET_VERSION: of ONNX's own operators; the newest if None."""
        super().run_node(node, inputs, device, outputs_info, **({} if opset_version is None else {"opset_version": opset_version}))
        return cls.run_model(_model_of(node, [numpy.asarray(each) for each in inputs], outputs_info, opset_version),
                             inputs, device, **kwargs)


def _model_of(node, inputs, outputs_info, opset_version):
    """A model of this node alone."""
    def described(name, dtype, shape):
        return helper.make_tensor_value_info(name, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[numpy.dtype(dtype)], shape)
    names = [name for name in node.input if name]
    if len(names) != len(inputs):
        raise usage_error(f"the node has {len(names)} inputs; given: {len(inputs)}")
    values = {name: described(name, each.dtype, each.shape) for name, each in zip(names, inputs)}
    outputs = [name for name in node.output if name]
    if outputs_info is None:
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
    else:
        results = [described(name, *info) for name, info in zip(outputs, outputs_info)]
    graph = helper.make_graph([node], "node", list(values.values()), results)
    version = onnx.defs.onnx_opset_version() if opset_version is None else opset_version
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, version)])


is_compatible = SinterBackend.is_compatible
prepare = SinterBackend.prepare
run_model = SinterBackend.run_model
run_node = SinterBackend.run_node
supports_device = SinterBackend.supports_device
