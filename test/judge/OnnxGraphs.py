"""What tests look at in ONNX graphs."""


def bodies(graph):
    """The graphs inside, by the names of their nodes and attributes."""
    found = {}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found[(node.name, attribute.name)] = attribute.g
                found.update(bodies(attribute.g))
    return found


def without_constants(graph):
    """A copy without what the writer puts elsewhere, inside too: constants are initializers of the main graph, and what
    only passes a value on stands last."""
    copy = type(graph)()
    copy.CopyFrom(graph)
    del copy.initializer[:]
    nodes = [node for node in copy.node if node.op_type not in ("Constant", "Identity")]
    nodes += [node for node in copy.node if node.op_type == "Identity"]
    del copy.node[:]
    copy.node.extend(nodes)
    for node in copy.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                attribute.g.CopyFrom(without_constants(attribute.g))
    return copy
