#!/usr/bin/env python3
"""The type stubs and the modules have the same names, members and parameters.

    test/bindings/python/StubsTest.py BUILD
"""
import ast
import enum
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1)
PACKAGE = os.path.abspath(os.path.join(BUILD, "python"))
sys.path.insert(0, PACKAGE)

#: What every class has, or what only the interpreter calls.
UNSAID = {"__init__", "__repr__", "__module__", "__doc__", "__dict__", "__weakref__", "__setattr__", "__slots__", "__reduce__"}


def stubs():
    """(module, path) of each stub."""
    for folder, _, files in os.walk(os.path.join(PACKAGE, "sinter")):
        for name in sorted(files):
            if name.endswith(".pyi"):
                parts = os.path.relpath(os.path.join(folder, name[:-len(".pyi")]), PACKAGE).split(os.sep)
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), os.path.join(folder, name)


def parameters(node):
    """(name, kind, has a default) of a function in a stub, without self and cls."""
    given, kind = node.args, inspect.Parameter
    found = [(each.arg, kind.POSITIONAL_ONLY) for each in given.posonlyargs]
    found += [(each.arg, kind.POSITIONAL_OR_KEYWORD) for each in given.args]
    first_default = len(found) - len(given.defaults)
    result = [(name, of, i >= first_default) for i, (name, of) in enumerate(found)]
    if given.vararg:
        result.append((given.vararg.arg, kind.VAR_POSITIONAL, False))
    result += [(each.arg, kind.KEYWORD_ONLY, default is not None) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    if given.kwarg:
        result.append((given.kwarg.arg, kind.VAR_KEYWORD, False))
    return [each for each in result if each[0] not in ("self", "cls")]


def real_parameters(function):
    return [(each.name, each.kind, each.default is not each.empty) for each in inspect.signature(function).parameters.values()
            if each.name not in ("self", "cls")]


def public(names):
    return {name for name in names if not name.startswith("_") or name in ("_repr_html_",)
            or name.startswith("__") and name not in UNSAID}


class Stubs(unittest.TestCase):
    def check_function(self, where, node, function):
        self.assertEqual(isinstance(node, ast.AsyncFunctionDef), inspect.iscoroutinefunction(function), where)
        try:
            real = real_parameters(function)
        except ValueError:
            # One of C without a signature.
            self.assertTrue(inspect.isroutine(function), where)
            return
        self.assertEqual(parameters(node), real, where)

    def check_class(self, where, node, real):
        said = set()
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                said.add(each.name)
                decorators = {word.id for word in each.decorator_list if isinstance(word, ast.Name)}
                with self.subTest(member=f"{where}.{each.name}"):
                    if each.name == "__buffer__":
                        memoryview(_example(real))
                        continue
                    self.assertTrue(hasattr(real, each.name), f"{where} has no {each.name}")
                    member = inspect.getattr_static(real, each.name)
                    if "property" in decorators:
                        self.assertTrue(inspect.isdatadescriptor(member))
                    else:
                        self.assertEqual("classmethod" in decorators, isinstance(member, classmethod))
                        self.assertEqual("staticmethod" in decorators, isinstance(member, staticmethod))
                        self.check_function(f"{where}.{each.name}", each, getattr(real, each.name))
            elif isinstance(each, ast.AnnAssign):
                said.add(each.target.id)
        own = set(real._fields) if issubclass(real, tuple) else public(vars(real))
        if issubclass(real, enum.Enum):
            own = set(real.__members__)
        own -= {name for base in real.__mro__[1:] for name in getattr(base, "__annotations__", ()) or public(vars(base))
                if not base.__module__ == "builtins"}
        self.assertEqual(own - said, set(), f"{where}: the stub lacks these")
        bases = [getattr(base, "__name__", "") for base in real.__mro__[1:]]
        for base in node.bases:
            name = ast.unparse(base).split(".")[-1]
            self.assertIn(name.replace("NamedTuple", "tuple"), bases, where)

    def test_each(self):
        found = dict(stubs())
        self.assertIn("sinter", found)
        self.assertIn("sinter.onnxruntime", found)
        for module, path in found.items():
            try:
                real = importlib.import_module(module)
            except ImportError as missing:
                print(f"{module}: skipped: {missing}")
                continue
            with open(path) as file:
                tree = ast.parse(file.read())
            said = set()
            for node in tree.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    said.add(node.name)
                    with self.subTest(member=f"{module}.{node.name}"):
                        self.check_function(f"{module}.{node.name}", node, getattr(real, node.name))
                elif isinstance(node, ast.ClassDef):
                    said.add(node.name)
                    with self.subTest(member=f"{module}.{node.name}"):
                        self.check_class(f"{module}.{node.name}", node, getattr(real, node.name))
                elif isinstance(node, ast.AnnAssign):
                    said.add(node.target.id)
                elif isinstance(node, ast.ImportFrom) and any(each.asname == each.name for each in node.names):
                    said |= {each.name for each in node.names}
            with self.subTest(module=module):
                self.assertEqual(set(real.__all__) - said, set(), f"{module}: the stub lacks these")
                self.assertTrue(all(hasattr(real, name) for name in real.__all__))

    def test_what_is_public_has_a_stub(self):
        found = {module for module, _ in stubs()}
        for folder, _, files in os.walk(os.path.join(PACKAGE, "sinter")):
            module = os.path.relpath(folder, PACKAGE).replace(os.sep, ".")
            for name in files:
                # Those of capi only have names of other modules.
                if name.endswith(".py") and not name.startswith("_") and not module.endswith(".capi"):
                    self.assertIn(f"{module}.{name[:-3]}", found)

    def test_what_is_public_is_described(self):
        import sinter
        for name in sinter.__all__:
            value = getattr(sinter, name)
            if name != "__version__":
                self.assertTrue(value.__doc__, name)
            if inspect.isclass(value) and not issubclass(value, tuple):
                for member in public(vars(value)):
                    if callable(getattr(value, member)) and not member.startswith("__"):
                        self.assertTrue(getattr(value, member).__doc__, f"{name}.{member}")


    @unittest.skipUnless(importlib.util.find_spec("mypy"), "there is no mypy")
    def test_by_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            def write(name, text):
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write(text)
                return path
            config = write("mypy.ini", "[mypy]\nignore_missing_imports = True\n[mypy-torch.*,numpy.*,onnx.*]\nfollow_imports = skip\n")
            # Python has __buffer__ since 3.12; levels of IntEnum are literals to mypy.
            allowed = write("allowed", "sinter.Tensor.__buffer__\n" + "".join(
                f"sinter.onnxruntime.SessionOptions.{name}\n" for name in ("execution_mode", "execution_order", "graph_optimization_level")))
            done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "sinter", "--ignore-missing-stub", "--ignore-unused-allowlist",
                                   "--concise", "--mypy-config-file", config, "--allowlist", allowed], capture_output=True, text=True,
                                  cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGE, "MYPYPATH": PACKAGE})
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


def _example(kind):
    import sinter
    return sinter.view(bytes(2), "i8") if kind is sinter.Tensor else kind()


if __name__ == "__main__":
    unittest.main()
