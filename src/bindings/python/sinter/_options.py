"""Options of Python as those of the library: strings."""
import warnings


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _shape(shape):
    return "x".join("?" if size is None or size == -1 else str(size) for size in shape)


def _warn(line):
    warnings.warn(line, stacklevel=2)


def options(given, shapes=None):
    """The dictionary for the extension: keyword arguments GIVEN, of which None
    means that the option is not set, and SHAPES, sizes by input. LOG, a
    callable, gets what is a warning otherwise."""
    all_options = {}
    for name, value in given.items():
        if value is None or name == "log":
            continue
        several = isinstance(value, (list, tuple))
        all_options[name.replace("_", "-")] = [_text(each) for each in value] if several else _text(value)
    if shapes:
        all_options["shape"] = [f"{name}:{_shape(shape)}" for name, shape in shapes.items()]
    all_options["log"] = given.get("log") or _warn
    return all_options
