#!/usr/bin/env python3
"""Prints docs/python-reference.md: the Python package by its type stubs and docstrings.

    tools/PythonReference.py BUILD/python

Signatures are those of the stubs, texts those of the modules' sources. What the extension module defines is asked for its
texts when it was imported. A public name of the package `sinter` that has no text is an error.
"""
import ast
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import NamedTuple

#: Each module, and what the page says of it first.
MODULES = (("sinter", ""), ("sinter.torch", "Needs PyTorch."), ("sinter.backend", "Needs the package `onnx`."),
           ("sinter.onnxruntime", "The names are those of ONNX Runtime, whose documentation describes them; "
                                  "[python.md](python.md#programs-for-onnx-runtime) says what differs."))
#: What has to have a text.
DOCUMENTED = "sinter"
#: Methods that a caller does not call by name.
HIDDEN = re.compile(r"_(?!_call__$|_init__$|_dlpack__$|_dlpack_device__$|repr_html_$)")


class Texts:
    """What sources and the extension say of names such as "Model.save"."""

    def __init__(self, folder, module):
        self.found, self.module = {}, module
        for path in sorted(folder.glob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]:
            self.read(path.read_text(encoding="utf-8"))

    def read(self, source):
        lines = source.split("\n")

        def comment_above(line):
            above = []
            while line > 0 and lines[line - 1].strip().startswith("#:"):
                line -= 1
                above.insert(0, lines[line].strip()[2:].strip())
            return " ".join(above)

        def visit(node, name):
            if text := ast.get_docstring(node):
                self.found.setdefault(name, text)
            for each in node.body:
                if isinstance(each, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                    visit(each, f"{name}.{each.name}".lstrip("."))
            for each in ast.walk(node) if isinstance(node, ast.ClassDef) else ():
                if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Attribute) and (text := comment_above(each.lineno - 1)):
                    # One comment may be of several lines that follow it.
                    self.found.setdefault(f"{name}.{each.targets[0].attr}", text)

        tree = ast.parse(source)
        for each in tree.body:
            if isinstance(each, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                visit(each, each.name)
            elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and (text := comment_above(each.lineno - 1)):
                self.found.setdefault(each.targets[0].id, text)

    def of(self, name):
        """The text of NAME, or ""."""
        if name in self.found or self.module is None:
            return self.found.get(name, "")
        value = self.module
        for part in name.split("."):
            value = inspect.getattr_static(value, part, None)
        text = getattr(value, "__doc__", None) if getattr(value, "__module__", "").startswith("sinter") or inspect.isroutine(value) \
            or inspect.isgetsetdescriptor(value) else None
        return inspect.cleandoc(text) if text else ""


def signature(node, name):
    """A function of a stub, as it is called."""
    given = ast.unparse(node.args).replace("=...", " = ...")
    given = re.sub(r"^(self|cls)(, )?(/, )?", "", given)
    result = f" -> {ast.unparse(node.returns)}" if node.returns and ast.unparse(node.returns) != "None" else ""
    head = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    flat = f"{head}{name}({given}){result}"
    if len(flat) <= 110:
        return flat
    parts = re.split(r", (?![^\[]*\])", given)
    return f"{head}{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def prose(text):
    """A docstring as text of a page: its examples are code."""
    lines, code = [], []

    def close():
        while code and not code[-1].strip():
            code.pop()
        if code:
            indent = min(len(each) - len(each.lstrip()) for each in code if each.strip())
            lines.extend(["```pycon", *(each[indent:] for each in code), "```", ""])
            code.clear()

    for line in text.split("\n"):
        # A docstring of examples alone behind its first line is not indented.
        if line.startswith(("    ", ">>> ")) or code and code[-1].strip() and line.strip():
            code.append(line)
            continue
        if code and not line.strip():
            code.append(line)
            continue
        close()
        lines.append(line)
    close()
    return "\n".join(lines).strip()


def attribute(name, kind, text):
    return f"- `{name}`: `{kind}`" + (f". {text}" if text else "")


class Missing(Exception):
    pass


def is_property(node):
    return any(ast.unparse(each) in ("property", "cached_property") for each in node.decorator_list)


def class_text(node, texts, needs_text):
    bases = [ast.unparse(each) for each in node.bases if ast.unparse(each) not in ("NamedTuple", "_Attributes")]
    lines = [f"### class `{node.name}`", ""]
    if bases:
        lines += ["Bases: " + ", ".join(f"`{each}`" for each in bases) + ".", ""]
    text = texts.of(node.name)
    if needs_text and not text:
        raise Missing(node.name)
    if text:
        lines += [prose(text), ""]
    attributes, methods = [], []
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and not HIDDEN.match(each.target.id):
            attributes.append(attribute(each.target.id, ast.unparse(each.annotation), texts.of(f"{node.name}.{each.target.id}")))
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not HIDDEN.match(each.name):
            own = texts.of(f"{node.name}.{each.name}")
            if any("setter" in ast.unparse(one) for one in each.decorator_list):
                continue
            if is_property(each):
                first, _, rest = own.partition("\n")
                attributes.append(attribute(each.name, ast.unparse(each.returns), " ".join(first.split())))
                if rest.strip():
                    attributes += ["", *("  " + line if line else "" for line in prose(rest).split("\n")), ""]
            else:
                methods.append((each, own))
    if attributes:
        lines += [*attributes, ""]
    for each, own in methods:
        if each.name == "__init__" and not own:
            continue
        shown = {"__init__": node.name, "__call__": node.name.lower()}.get(each.name, each.name)
        lines += [f"#### {node.name}.{each.name}", "", "```python", signature(each, shown), "```", ""]
        if needs_text and not own and not each.name.startswith("__"):
            raise Missing(f"{node.name}.{each.name}")
        if own:
            lines += [prose(own), ""]
    return lines


def module_text(package, name, remark):
    folder = package.joinpath(*name.split("."))
    stub = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    needs_text = name == DOCUMENTED
    texts = Texts(folder, importlib.import_module(name) if needs_text else None)
    lines = [f"## `{name}`", ""]
    if remark:
        lines += [remark, ""]
    if text := ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))):
        lines += [prose(text), ""]
    classes, functions = [], []
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not HIDDEN.match(node.name):
            classes += class_text(node, texts, needs_text)
        elif isinstance(node, ast.FunctionDef) and not HIDDEN.match(node.name):
            text = texts.of(node.name)
            if needs_text and not text:
                raise Missing(node.name)
            functions += [f"### `{node.name}`", "", "```python", signature(node, f"{name}.{node.name}"), "```", ""]
            functions += [prose(text), ""] if text else []
    return lines + functions + classes


INTRODUCTION = """# Reference of the Python package

Made from the stubs and docstrings of the package by `tools/PythonReference.py`; `cmake --build build --target pages`
writes it anew. [python.md](python.md) is the tutorial. Types that begin with `_` are those of the stubs: `_Array` is what
has the buffer protocol or `__dlpack__`, `_Source` what `sinter.load` takes, `_Shapes` a dictionary of shapes by input,
`_Outputs` memory for outputs.
"""


def main(package):
    sys.path.insert(0, str(package))
    lines = [INTRODUCTION, *(f"- [`{name}`](#{name.replace('.', '')})" for name, _ in MODULES), ""]
    try:
        for name, remark in MODULES:
            lines += module_text(package, name, remark)
    except Missing as name:
        print(f"{DOCUMENTED}.{name} has no docstring", file=sys.stderr)
        return 1
    print(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip())
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
