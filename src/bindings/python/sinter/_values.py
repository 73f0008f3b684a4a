"""What inputs, outputs and states are, and how it is shown."""
import collections

#: An input or output: its name, its element type ("f32") and its shape, in which a dynamic dimension is its name, or None.
Value = collections.namedtuple("Value", ["name", "dtype", "shape"])


def _shape_text(shape):
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def signature(inputs, outputs):
    """"(x: f32[N, 3]) -> (y: f32[?, 2])"."""
    def text(values):
        return ", ".join(f"{each.name}: {each.dtype}{_shape_text(each.shape)}" for each in values)
    return f"({text(inputs)}) -> ({text(outputs)})"


def table(caption, **values):
    """An HTML table of lists of Value, by kind."""
    import html
    rows = "".join(f"<tr><td>{kind}</td>" + "".join(f"<td>{html.escape(text)}</td>" for text in
                                                   (each.name, each.dtype, _shape_text(each.shape))) + "</tr>"
                   for kind, all_values in values.items() for each in all_values)
    return f"<table><caption>{html.escape(caption)}</caption><tr><th></th><th>name</th><th>type</th><th>shape</th></tr>{rows}</table>"
