"""Modules of PyTorch, compiled.

    >>> import torch, sinter.torch
    >>> module = torch.nn.Conv2d(3, 8, 3)
    >>> fast = sinter.torch.compile(module, torch.zeros(1, 3, 32, 32))
    >>> fast(torch.randn(1, 3, 32, 32)).shape
    torch.Size([1, 8, 30, 30])
"""
import inspect
import io

import torch

from . import _model
from ._errors import usage_error

__all__ = ["Compiled", "compile"]


def _given(tensor):
    """TENSOR as a session takes it."""
    if not isinstance(tensor, torch.Tensor):
        raise usage_error(f"expected a torch.Tensor, given {type(tensor).__name__}")
    if tensor.device.type != "cpu":
        raise usage_error(f"a tensor is on the device '{tensor.device}', not on the CPU")
    tensor = tensor.detach()
    # Not every release of PyTorch has booleans in DLPack.
    return tensor.numpy() if tensor.dtype == torch.bool else tensor


def _made(result):
    """A result, a sinter.Tensor, as a tensor over its memory."""
    return torch.from_numpy(_numpy(result)) if result.dtype == "i1" else torch.from_dlpack(result)


def _numpy(result):
    import numpy
    return numpy.asarray(memoryview(result))


class Compiled:
    """What sinter.torch.compile() makes: a callable on tensors of the CPU, which computes no gradients."""

    def __init__(self, model, session, options=None):
        #: The module as it was exported, a Model.
        self.model = model
        self.session = session
        self._options = options or {}

    def __call__(self, *tensors):
        """The module's output, or a tuple if there are several, in the order in which the exporter flattens them."""
        arrays = [_given(each) for each in tensors]
        if len(arrays) != len(self.session.inputs):
            raise usage_error(f"the module has {len(self.session.inputs)} inputs; given: {len(arrays)}")
        results = [_made(each) for each in self.session._run(arrays)]
        if self.session._notes:
            self.session._notes.tell()
        return results[0] if len(results) == 1 else tuple(results)

    def to_module(self):
        """A torch.nn.Module whose forward() is this: for torch.nn.Sequential and others that take modules. It has no
        parameters, since the weights are the program's.

            >>> fast = compile(torch.nn.ReLU(), torch.zeros(2), no_cache=True).to_module()
            >>> torch.nn.Sequential(torch.nn.Identity(), fast)(torch.tensor([-1.0, 2.0]))
            tensor([0., 2.])
        """
        return _Module(self)

    def __reduce__(self):
        return _again, (self.model, self._options)

    def __repr__(self):
        return f"<sinter.torch.Compiled {self.model!r}>"


def _again(model, options):
    return Compiled(model, model.compile(**options), options)


class _Module(torch.nn.Module):
    """What Compiled.to_module() gives."""

    def __init__(self, compiled):
        super().__init__()
        self.compiled = compiled

    def forward(self, *tensors):
        return self.compiled(*tensors)

    def extra_repr(self):
        return repr(self.compiled)


def compile(module, example_inputs, *, dynamic=None, opset_version=None, **options):  # noqa: A001
    """MODULE compiled, by PyTorch's exporter to ONNX, in evaluation mode.

    EXAMPLE_INPUTS is a tensor or a tuple of tensors; their shapes are those of all calls. DYNAMIC names dimensions of which
    each call may have another size, by input: `({0: "batch"},)`. Options are those of sinter.compile().

        >>> module = torch.nn.Linear(3, 2)
        >>> compile(module, torch.zeros(1, 3), dynamic=({0: "batch"},), no_cache=True)(torch.zeros(5, 3)).shape
        torch.Size([5, 2])
    """
    examples = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs)
    names = [f"input_{i}" for i in range(len(examples))]
    dynamic = tuple(dynamic or ())
    if len(dynamic) > len(names):
        raise usage_error(f"dynamic has {len(dynamic)} entries, but there are {len(names)} inputs")
    given = {"dynamic_axes": {name: axes for name, axes in zip(names, dynamic) if axes}}
    if opset_version is not None:
        given["opset_version"] = opset_version
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        given["dynamo"] = False
    file = io.BytesIO()
    torch.onnx.export(module, examples, file, input_names=names, **given)
    model = _model.load(file.getvalue(), name="module.onnx")
    return _again(model, options)
