"""Errors and warnings that Python code of the package raises."""
import sys
import warnings

from . import _sinter


class Warning(UserWarning):  # noqa: A001
    """What a user should know, and what did not fail."""

    __module__ = "sinter"


def usage_error(what, hint=""):
    """A UsageError with its fields."""
    error = _sinter.UsageError(f"{what}; {hint}" if hint else what)
    error.what, error.hint = what, hint
    return error


def warn(text):
    """Warns the caller of the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, Warning, stacklevel=level)


class Notes(list):
    """Lines that the library wrote, in any thread, for warnings of the thread that called it."""

    def tell(self):
        """Warns of each, in one thread."""
        while self:
            try:
                line = self.pop(0)
            except IndexError:
                # Another thread has it.
                return
            warn(line)
