"""What an ONNX file says besides the graph: its metadata, and names of its outputs' dimensions.

It reads the few fields of ONNX's messages that this takes, so that no package of ONNX is needed. A file of another format, or
one that is damaged, has none of them.
"""
import mmap


class ModelMetadata:
    """Who made the model, what it is called, and what else its file says."""

    def __init__(self):
        self.producer_name = self.graph_name = self.domain = self.description = self.graph_description = ""
        self.version = 0
        self.custom_metadata_map = {}


def _number(data, at):
    """A number of variable length, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _fields(data):
    """(field, value) of each field of a message: a number, or bytes."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _number(data, at)
        else:
            if kind == 2:
                size, at = _number(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise ValueError("a field has an unknown form")
            if size > len(data) - at:
                raise ValueError("a field is longer than the message")
            value = data[at:at + size]
            at += size
        yield tag >> 3, value


def _text(value):
    return bytes(value).decode("utf-8", "replace")


def _within(messages, field):
    """The contents of FIELD in each of the messages."""
    return [value for each in messages for number, value in _fields(each) if number == field]


def _dimension_names(value):
    """(name, [the name of each dimension or None]) of a ValueInfoProto."""
    # TypeProto, its tensor_type, the shape, its dimensions.
    dimensions = [value]
    for field in (2, 1, 2, 1):
        dimensions = _within(dimensions, field)
    names = [_within([each], 2) for each in dimensions]
    return _text(b"".join(_within([value], 1))), [_text(each[0]) if each else None for each in names]


def _read(data):
    metadata, outputs = ModelMetadata(), {}
    for field, value in _fields(data):
        if field == 2:
            metadata.producer_name = _text(value)
        elif field == 4:
            metadata.domain = _text(value)
        elif field == 5:
            metadata.version = value - (1 << 64) if value >> 63 else value
        elif field == 6:
            metadata.description = _text(value)
        elif field == 14:
            pair = dict(_fields(value))
            metadata.custom_metadata_map[_text(pair.get(1, b""))] = _text(pair.get(2, b""))
        elif field == 7:
            for inner, content in _fields(value):
                if inner == 2:
                    metadata.graph_name = _text(content)
                elif inner == 10:
                    metadata.graph_description = _text(content)
                elif inner == 12:
                    name, dimensions = _dimension_names(content)
                    outputs[name] = dimensions
    return metadata, outputs


def described(source):
    """(ModelMetadata, {output: [dimension's name or None]}) of a path, or of the contents of a file."""
    try:
        if not isinstance(source, str):
            return _read(memoryview(source))
        with open(source, "rb") as file:
            return _read(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
    except (OSError, ValueError, IndexError, TypeError, AttributeError):
        return ModelMetadata(), {}
