"""Options of Python as those of the library: strings."""
from . import _sinter
from ._errors import Notes
from ._interrupts import interruptible


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _shape(shape):
    return "x".join("?" if size is None or size == -1 else str(size) for size in shape)


class Call:
    """A call of the library with options: keyword arguments GIVEN, of which None means that the option is not set, and SHAPES,
    sizes by input. Callables are callbacks; "log" gets what is a warning otherwise."""

    def __init__(self, given, shapes=None):
        #: What is to become warnings.
        self.notes = Notes()
        #: The dictionary for the extension.
        self.options = {}
        for name, value in given.items():
            if value is None or name == "log":
                continue
            if callable(value):
                self.options[name] = value
                continue
            several = isinstance(value, (list, tuple))
            self.options[name.replace("_", "-")] = [_text(each) for each in value] if several else _text(value)
        if shapes:
            self.options["shape"] = [f"{name}:{_shape(shape)}" for name, shape in shapes.items()]
        self.options["log"] = given.get("log") or self.notes.append
        #: Ends the call.
        self.cancellation = self.options["cancellation"] = _sinter.Cancellation()

    def make(self, method, *arguments):
        """method(*ARGUMENTS), interruptibly: it goes on after a signal."""
        return self._told(lambda: interruptible(lambda: method(*arguments)))

    def make_or_cancel(self, method, *arguments):
        """The same of a call that the options' cancellation ends: a signal cancels it."""
        return self._told(lambda: interruptible(lambda: method(*arguments), self.cancellation.cancel))

    def _told(self, call):
        try:
            return call()
        finally:
            self.notes.tell()
