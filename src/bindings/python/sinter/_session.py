"""Models that run."""
import collections

from . import _sinter

_Value = collections.namedtuple("Value", ["name", "dtype", "shape"])


def _as_array(tensor):
    """A numpy array over the tensor's memory, if there is numpy and it has the type; else the tensor."""
    try:
        import numpy
        return numpy.asarray(memoryview(tensor))
    except (ImportError, BufferError):
        return tensor


class Session:
    """A compiled model. `sinter.compile` makes them. Threads may share it."""

    def __init__(self, handle):
        self._handle = handle
        self.inputs = [_Value(*each) for each in handle.inputs()]
        self.outputs = [_Value(*each) for each in handle.outputs()]
        self._places = {each.name: i for i, each in enumerate(self.inputs)}
        self._output_places = {each.name: i for i, each in enumerate(self.outputs)}

    def _ordered(self, positional, named):
        """The inputs in order."""
        if len(positional) == 1 and not named and isinstance(positional[0], dict):
            positional, named = (), positional[0]
        arrays = list(positional) + [None] * (len(self.inputs) - len(positional))
        for name, value in named.items():
            place = self._places.get(name)
            if place is None:
                raise _sinter.UsageError(f"there is no input '{name}'; there are "
                                         + ", ".join(repr(each) for each in self._places))
            if place < len(positional):
                raise _sinter.UsageError(f"input '{name}' is given twice")
            arrays[place] = value
        missing = [each.name for each, value in zip(self.inputs, arrays) if value is None]
        if missing or len(arrays) != len(self.inputs):
            raise _sinter.UsageError(f"the model has {len(self.inputs)} inputs; "
                                     + (f"missing: {', '.join(missing)}" if missing else f"given: {len(arrays)}"))
        return arrays

    def _outputs(self, out):
        if out is None:
            return None
        if isinstance(out, dict):
            arrays = [None] * len(self.outputs)
            for name, value in out.items():
                if name not in self._output_places:
                    raise _sinter.UsageError(f"there is no output '{name}'")
                arrays[self._output_places[name]] = value
            return arrays
        return list(out) if isinstance(out, (list, tuple)) else [out]

    def __call__(self, *inputs, out=None, **named):
        """Runs the model on arrays: in order, by name, or one dictionary by name.

        `out` is memory for the outputs: an array, a list, or a dictionary by output. Gives the result, or a list if there
        are several: numpy arrays over memory of the library, or what `out` has.

            >>> session = sinter.compile("model.onnx")
            >>> session(x)
            array([[ 0., 12.]], dtype=float32)
            >>> out = numpy.empty((1, 2), numpy.float32)
            >>> session(x=x, out=out) is out
            True
        """
        results = [each if not isinstance(each, _sinter.Tensor) else _as_array(each)
                   for each in self._handle.run(self._ordered(inputs, named), self._outputs(out))]
        return results[0] if len(results) == 1 else results

    def run(self, inputs, out=None):
        """The results by name, a dictionary, of inputs by name.

            >>> list(sinter.compile("model.onnx").run({"x": x}))
            ['y']
        """
        results = self._handle.run(self._ordered((inputs,), {}), self._outputs(out))
        return {each.name: _as_array(result) if isinstance(result, _sinter.Tensor) else result
                for each, result in zip(self.outputs, results)}

    def bind(self, inputs, out):
        """Inputs and outputs in memory of the caller, bound once: call the Binding to run the model on what it holds.

            >>> out = numpy.empty((1, 2), numpy.float32)
            >>> run = sinter.compile("model.onnx").bind({"x": x}, out)
            >>> run()
            >>> out.tolist()
            [[0.0, 12.0]]
        """
        return Binding(self, self._ordered((inputs,) if isinstance(inputs, dict) else _listed(inputs), {}),
                       self._outputs(out))

    @property
    def states(self):
        """The states, a list of (name, dtype, shape)."""
        return [_Value(*each) for each in self._handle.states()]

    def _state(self, name):
        for place, each in enumerate(self._handle.states()):
            if each[0] == name:
                return place
        raise _sinter.UsageError(f"there is no state '{name}'")

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

    def __repr__(self):
        return f"<sinter.Session of {', '.join(each.name for each in self.inputs)}>"


def _listed(values):
    return tuple(values) if isinstance(values, (list, tuple)) else (values,)


class Binding:
    """Arrays that are bound to a session (Session.bind). A call runs the model; it looks up no name."""

    def __init__(self, session, inputs, outputs):
        self.session = session
        self._handle = session._handle.bind()
        for place, each in enumerate(inputs):
            self._handle.set_input(place, each)
        for place, each in enumerate(outputs):
            if each is not None:
                self._handle.set_output(place, each)
        self.run = self._handle.run

    @property
    def copies(self):
        """Whether each input, then each output, has to be copied by every run."""
        return self._handle.copies()

    def __call__(self):
        """Runs the model."""
        self._handle.run()
