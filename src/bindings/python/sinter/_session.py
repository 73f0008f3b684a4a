"""Models that run."""
import sys

from . import _sinter
from ._errors import usage_error
from ._values import Value, signature, table

#: numpy's types by Sinter's, and its class, once a result was made for numpy.
_dtypes = {}
_ndarray = None


def _fill_dtypes(numpy):
    global _ndarray
    _ndarray = numpy.ndarray
    for ours, name in (("i1", "bool"), ("i8", "int8"), ("i16", "int16"), ("i32", "int32"), ("i64", "int64"), ("ui8", "uint8"),
                       ("ui16", "uint16"), ("ui32", "uint32"), ("ui64", "uint64"), ("f16", "float16"), ("f32", "float32"),
                       ("f64", "float64"), ("complex<f32>", "complex64"), ("complex<f64>", "complex128")):
        _dtypes[ours] = numpy.dtype(name)
    # Who uses its types has imported it.
    if "ml_dtypes" in sys.modules:
        for ours, name in (("bf16", "bfloat16"), ("f8E4M3", "float8_e4m3"), ("f8E4M3FN", "float8_e4m3fn"),
                           ("f8E4M3FNUZ", "float8_e4m3fnuz"), ("f8E4M3B11FNUZ", "float8_e4m3b11fnuz"), ("f8E5M2", "float8_e5m2"),
                           ("f8E5M2FNUZ", "float8_e5m2fnuz"), ("i2", "int2"), ("i4", "int4"), ("ui2", "uint2"), ("ui4", "uint4")):
            if hasattr(sys.modules["ml_dtypes"], name):
                _dtypes[ours] = numpy.dtype(getattr(sys.modules["ml_dtypes"], name))


def as_array(result):
    """A numpy array over the tensor's memory, if there is numpy and it has the type; else RESULT."""
    if type(result) is not _sinter.Tensor:
        return result
    element = result.dtype
    if element == "string":
        try:
            import numpy
        except ImportError:
            return result
        array = numpy.empty(result.shape, object)
        array.reshape(-1)[:] = result.tolist()
        return array
    dtype = _dtypes.get(element)
    if dtype is None:
        try:
            import numpy
        except ImportError:
            return result
        _fill_dtypes(numpy)
        dtype = _dtypes.get(element)
        if dtype is None:
            return result
    return _ndarray(result.shape, dtype, result)


class Session:
    """A compiled model. `sinter.compile` makes them.

    Threads may share it. Its runs happen one at a time; bindings of it (bind) run side by side.

        >>> sinter.compile("model.onnx")
        <sinter.Session (x: f32[N, 3]) -> (y: f32[..., 2])>
    """

    def __init__(self, handle, notes):
        self._handle = handle
        self._notes = notes
        #: The inputs and outputs, lists of Value.
        self.inputs = [Value(*each) for each in handle.inputs()]
        self.outputs = [Value(*each) for each in handle.outputs()]
        self._run = handle.run
        self._count = len(self.inputs)
        self._places = {each.name: i for i, each in enumerate(self.inputs)}
        self._output_places = {each.name: i for i, each in enumerate(self.outputs)}

    def _ordered(self, positional, named):
        """The inputs in order."""
        if len(positional) == 1 and not named and hasattr(positional[0], "keys"):
            positional, named = (), positional[0]
        arrays = list(positional) + [None] * (self._count - len(positional))
        for name, value in named.items():
            place = self._places.get(name)
            if place is None:
                raise usage_error(f"there is no input '{name}'; there are " + ", ".join(repr(each) for each in self._places))
            if place < len(positional):
                raise usage_error(f"input '{name}' is given twice")
            arrays[place] = value
        missing = [each.name for each, value in zip(self.inputs, arrays) if value is None]
        if missing or len(arrays) != self._count:
            raise usage_error(f"the model has {self._count} inputs; "
                              + (f"missing: {', '.join(missing)}" if missing else f"given: {len(arrays)}"))
        return arrays

    def _outputs(self, out):
        if out is None:
            return None
        if hasattr(out, "keys"):
            arrays = [None] * len(self.outputs)
            for name, value in out.items():
                if name not in self._output_places:
                    raise usage_error(f"there is no output '{name}'; there are "
                                      + ", ".join(repr(each) for each in self._output_places))
                arrays[self._output_places[name]] = value
            return arrays
        arrays = list(out) if isinstance(out, (list, tuple)) else [out]
        if len(arrays) != len(self.outputs):
            raise usage_error(f"the model has {len(self.outputs)} outputs; given: {len(arrays)}")
        return arrays

    def __call__(self, *inputs, out=None, **named):
        """Runs the model on arrays: in order, by name, or one dictionary by name.

        `out` is memory for the outputs: an array, a list, or a dictionary by output. Gives the result, or a list if there
        are several: numpy arrays over memory of the library, or what `out` has. UsageError for other types, shapes or names
        than those of `inputs` and `outputs`, TypeError for what is no array.

            >>> session = sinter.compile("model.onnx")
            >>> session(x)
            array([[ 0., 12.]], dtype=float32)
            >>> out = numpy.empty((1, 2), numpy.float32)
            >>> session(x=x, out=out) is out
            True
        """
        if named or len(inputs) != self._count or self._count == 1 and hasattr(inputs[0], "keys"):
            inputs = self._ordered(inputs, named)
        results = self._run(inputs) if out is None else self._run(inputs, self._outputs(out))
        if self._notes:
            self._notes.tell()
        if len(results) == 1:
            return as_array(results[0])
        return [as_array(each) for each in results]

    def run(self, inputs, out=None):
        """The results by name, a dictionary, of inputs by name.

            >>> sinter.compile("model.onnx").run({"x": x})
            {'y': array([[ 0., 12.]], dtype=float32)}
        """
        return self._results(self._ordered((inputs,), {}), self._outputs(out))

    def _results(self, arrays, outputs, cancellation=None):
        """The results by name, of a run that CANCELLATION ends."""
        results = self._run(arrays, outputs, cancellation)
        if self._notes:
            self._notes.tell()
        return {each.name: as_array(result) for each, result in zip(self.outputs, results)}

    def submit(self, inputs, out=None):
        """run(inputs, out) later, in a thread of the session: a concurrent.futures.Future.

        What was submitted runs in its order. The memory of inputs is read, and that of `out` written, until the future is done.
        `cancel()` of the future also ends a run that has begun, soon, with CancelledError.

            >>> session = sinter.compile("model.onnx")
            >>> futures = [session.submit({"x": x * i}) for i in range(3)]
            >>> [future.result()["y"].tolist() for future in futures]
            [[[0.0, 0.0]], [[0.0, 12.0]], [[0.0, 24.0]]]
        """
        from ._future import Worker
        arrays, outputs = self._ordered((inputs,), {}), self._outputs(out)
        # Of two threads that make one, one has it for nothing.
        worker = self.__dict__.get("_worker") or self.__dict__.setdefault("_worker", Worker())
        cancellation = _sinter.Cancellation()
        return worker.submit(cancellation, self._results, arrays, outputs, cancellation)

    async def run_async(self, inputs, out=None):
        """As run(), for `await`: the event loop goes on meanwhile. A task that is cancelled ends the run.

            >>> async def main():
            ...     session = sinter.compile("model.onnx")
            ...     return await session.run_async({"x": x})
            >>> import asyncio
            >>> asyncio.run(main())
            {'y': array([[ 0., 12.]], dtype=float32)}
        """
        from ._future import wait
        return await wait(self.submit(inputs, out))

    def bind(self, inputs, out):
        """Inputs and outputs in memory of the caller, bound once: call the Binding to run the model on what it holds.

            >>> out = numpy.empty((1, 2), numpy.float32)
            >>> run = sinter.compile("model.onnx").bind({"x": x}, out)
            >>> run()
            >>> out.tolist()
            [[0.0, 12.0]]
        """
        return Binding(self, self._ordered((inputs,) if hasattr(inputs, "keys") else _listed(inputs), {}),
                       self._outputs(out))

    @property
    def states(self):
        """The states, a list of Value: tensors whose values stay from run to run. Each binding has states of its own.

            >>> sinter.compile("model.onnx").states
            []
        """
        return [Value(*each) for each in self._handle.states()]

    def _state(self, name):
        names = [each[0] for each in self._handle.states()]
        if name not in names:
            raise usage_error(f"there is no state '{name}'; there are " + (", ".join(map(repr, names)) or "none"))
        return names.index(name)

    def read_state(self, name, to):
        """Copies a state to the array `to`, which is returned."""
        self._handle.read_state(self._state(name), to)
        return to

    def write_state(self, name, value):
        """Makes the array `value` the state."""
        self._handle.write_state(self._state(name), value)

    def reset_states(self):
        """Makes every state what it was before the first run."""
        self._handle.reset_states()

    def __reduce__(self):
        raise TypeError("a sinter.Session is of this process and cannot be pickled: pickle its model, and compile that")

    def __repr__(self):
        return f"<sinter.Session {signature(self.inputs, self.outputs)}>"

    def _repr_html_(self):
        """A table of the inputs, outputs and states, for notebooks."""
        return table("session", input=self.inputs, output=self.outputs, state=self.states)


def _listed(values):
    return tuple(values) if isinstance(values, (list, tuple)) else (values,)


class Binding:
    """Arrays that are bound to a session (Session.bind). A call runs the model; it looks up no name.

        >>> sinter.compile("model.onnx").bind(x, numpy.empty((1, 2), numpy.float32))
        <sinter.Binding of <sinter.Session (x: f32[N, 3]) -> (y: f32[..., 2])>>
    """

    def __init__(self, session, inputs, outputs):
        self.session = session
        self._handle = session._handle.bind()
        for place, each in enumerate(inputs):
            self._handle.set_input(place, each)
        for place, each in enumerate(outputs or ()):
            if each is not None:
                self._handle.set_output(place, each)
        self._notes = session._notes
        self._run = self._handle.run

    @property
    def copies(self):
        """Whether each input, then each output, has to be copied by every run.

            >>> out = numpy.empty((1, 2), numpy.float32)
            >>> sinter.compile("model.onnx").bind(x, out).copies
            [False, False]
        """
        return self._handle.copies()

    def __call__(self):
        """Runs the model."""
        self._run()
        if self._notes:
            self._notes.tell()

    run = __call__

    def __repr__(self):
        return f"<sinter.Binding of {self.session!r}>"
