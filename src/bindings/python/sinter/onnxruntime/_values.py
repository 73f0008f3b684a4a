"""Tensors that outlive calls, and inputs and outputs that are bound once."""
import ctypes

import numpy

from .._session import as_array
from .._sinter import Tensor, view
from ._errors import InvalidArgument, translated
from ._types import dtype_of, element_of, element_of_number, name_of, number_of


def check_device(device_type, device_id=0):
    if str(device_type).lower() != "cpu":
        raise InvalidArgument(f"there is no device '{device_type}', but 'cpu'")


def _at(address, element_type, shape):
    """An array over the memory at an address."""
    dtype = dtype_of(element_type)
    shape = tuple(shape)
    count = 1
    for size in shape:
        if size < 0:
            raise InvalidArgument(f"a size is negative: {list(shape)}")
        count *= size
    if not count:
        return numpy.empty(shape, dtype)
    memory = (ctypes.c_byte * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype).reshape(shape)


class OrtValue:
    """A tensor in memory of the CPU: an array of numpy, or a sinter.Tensor if numpy lacks its elements."""

    def __init__(self, data):
        self._data = data

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        """A tensor in the memory of the array."""
        check_device(device_type, device_id)
        element_of(array.dtype)
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data, onnx_element_type):
        """A tensor in the memory of an array, whose elements are the bits of ones of a number of ONNX's TensorProto."""
        element = element_of_number(onnx_element_type)
        with translated():
            try:
                return OrtValue(view(data, element))
            except ValueError as error:
                raise InvalidArgument(str(error)) from error

    @staticmethod
    def ortvalue_from_shape_and_type(shape=None, element_type=None, device_type="cpu", device_id=0):
        """A new tensor, whose elements are not set, of a dtype of numpy or a number of ONNX's TensorProto."""
        check_device(device_type, device_id)
        if shape is None or element_type is None:
            raise ValueError("`element_type` and `shape` are to be provided")
        return OrtValue(numpy.empty(tuple(shape), dtype_of(element_type)))

    def _element(self):
        return self._data.dtype if isinstance(self._data, Tensor) else element_of(self._data.dtype)

    def numpy(self):
        """The array."""
        array = as_array(self._data)
        if isinstance(array, Tensor):
            raise InvalidArgument(f"numpy has no elements of type {array.dtype}: use __dlpack__, or sinter.view()")
        return array

    def shape(self):
        return list(self._data.shape)

    def data_type(self):
        """"tensor(float)"."""
        return name_of(self._element())

    def element_type(self):
        """The number in ONNX's TensorProto."""
        return number_of(self._element())

    def data_ptr(self):
        """The address of the first element."""
        return self.numpy().ctypes.data

    def tensor_size_in_bytes(self):
        return self.numpy().nbytes

    def device_name(self):
        return "cpu"

    def has_value(self):
        return True

    def is_tensor(self):
        return True

    def is_sparse_tensor(self):
        return False

    def is_tensor_sequence(self):
        return False

    def update_inplace(self, array):
        """Copies the elements of ARRAY, of the same shape and type, to this tensor."""
        own, array = self.numpy(), numpy.asarray(array)
        if array.shape != own.shape or array.dtype != own.dtype:
            raise InvalidArgument(f"expected {own.dtype}{list(own.shape)}, given {array.dtype}{list(array.shape)}")
        own[...] = array

    def __dlpack__(self, **given):
        return self._data.__dlpack__(**given)

    def __dlpack_device__(self):
        return self._data.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy() if dtype is None else self.numpy().astype(dtype)
        return numpy.array(array) if copy and array is self._data else array


class IOBinding:
    """Inputs and outputs for InferenceSession.run_with_iobinding."""

    def __init__(self, session):
        self._session = session
        self._inputs = {}
        self._outputs = {}
        self._results = []

    def _set(self, arrays, known, name, value):
        if name not in known:
            raise InvalidArgument(f"there is no '{name}'; there are " + ", ".join(map(repr, known)))
        arrays[name] = value

    def _set_input(self, name, value):
        self._set(self._inputs, self._session._input_names, name, value)

    def _set_output(self, name, value):
        self._set(self._outputs, self._session._output_names, name, value)

    def bind_cpu_input(self, name, array):
        """Binds an input to an array, whose memory is read by each run."""
        self._set_input(name, array)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds an input to the memory at an address."""
        check_device(device_type, device_id)
        self._set_input(name, _at(buffer_ptr, element_type, shape))

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Binds an output to the memory at an address, or to memory that each run makes."""
        check_device(device_type, device_id)
        self._set_output(name, None if buffer_ptr is None else _at(buffer_ptr, element_type, shape))

    def bind_ortvalue_input(self, name, ortvalue):
        self._set_input(name, ortvalue._data)

    def bind_ortvalue_output(self, name, ortvalue):
        self._set_output(name, ortvalue.numpy())

    def get_outputs(self):
        """The outputs of the last run, a list of OrtValue, in the order in which they were bound."""
        return list(self._results)

    def copy_outputs_to_cpu(self):
        """The outputs of the last run, arrays of their own."""
        return [numpy.array(each.numpy()) for each in self._results]

    def clear_binding_inputs(self):
        self._inputs = {}

    def clear_binding_outputs(self):
        self._outputs, self._results = {}, []

    def synchronize_inputs(self):
        """Nothing: all memory is that of the CPU."""

    def synchronize_outputs(self):
        """Nothing: all memory is that of the CPU."""

    def _run(self, options):
        with translated():
            results = self._session._results(self._inputs, self._outputs, options)
        self._results = [OrtValue(results[name]) for name in self._outputs]
