#!/usr/bin/env python3
# Covers: engine CompilerLibrary LibraryFiles MpiLibrary
# Covers: driver ThisProgram
"""Sinter's libraries in processes of other kinds: started by the dynamic linker, Python, with another LLVM, moved elsewhere.

    test/engine/library/LibrariesTest.py BUILD LIBRARY... [unittest options]

BUILD is the build folder, each LIBRARY one that a process may have loaded before.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = ""
FOREIGN = []
CONTRACT = re.compile(rb"\d+\.\d+\.\d+\+[0-9a-f]{12}(?=\0)")
RUNTIME, COMPILER, MPI, C = "libsinter-runtime.so", "libsinter-compiler.so", "libsinter-mpi.so", "libsinter.so"
# What is defined in namespace sinter, and for classes of it; what makes messages of protobuf.
OF_SINTER = re.compile(r"_ZT(hn\d+_|[VTIS])?N(K|R|KR|O)?6sinter|_ZN(K|R|KR|O)?6sinter|_ZN6google8protobuf5Arena18CreateMaybeMessageIN6sinter")
MODEL = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
"""
# Loads the runtime as its argument says, from another folder, and then the compiler.
PYTHON = """
import ctypes, os, sys
for path in sys.argv[2:]:
    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(sys.argv[1])
os.chdir("/")
library.sinter_version.restype = ctypes.c_char_p
print(library.sinter_version().decode())
library.sinter_error_message.restype, library.sinter_error_message.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
error = ctypes.c_void_p()
status = library.sinter_load_compiler(ctypes.byref(error))
print(library.sinter_error_message(error).decode() if status else None)
with open("/proc/self/maps") as maps:
    print(*sorted({line.split()[-1] for line in maps if "libsinter" in line}))
"""


def run(*command, folder=None, **environment):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, cwd=folder, env={**os.environ, **environment})


def symbols(path, *options):
    done = run("nm", "-D", *options, path)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()}


class LibrariesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sinter = os.path.join(BUILD, "bin", "sinter")
        self.model = self.write("model.mlir", MODEL)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return path

    def library(self, name):
        return os.path.join(BUILD, "lib", name)

    def copied(self, name, change=lambda content: content):
        """A copy of what NAME names in the build folder, in the same place below a folder of its own."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.path.join(BUILD, name), "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(change(content))
        os.chmod(path, 0o755)
        return path

    def soname(self):
        return re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", self.library(RUNTIME)).stdout)[1]

    def expect_run(self, *command, **environment):
        """The command compiles the model, on nothing that was kept, and runs it."""
        done = run(*command, "run", self.model, "--input", "random:7", "--no-cache", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[2, 2]", done.stdout)
        return done

    def expect_error(self, done, *words):
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def linker(self):
        return re.search(r"interpreter: (\S+)\]", run("readelf", "-l", self.sinter).stdout)[1]

    def test_started_by_the_dynamic_linker(self):
        done = run(self.linker(), self.sinter, "run", "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--input", done.stdout)
        self.expect_run(self.linker(), self.sinter)

    def test_starts_itself_again(self):
        """A model is made smaller by processes that the command starts, however it was started itself."""
        # Rounding to bf16 parts from f32.
        text = MODEL.replace("dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]>", "dense<[[1.1, 2.3], [3.7, 4.9], [5.3, 6.1]]>")
        self.write("model.mlir", text)
        outputs = []
        for prefix in [], [self.linker()]:
            reduced = os.path.join(self.folder, f"small{len(outputs)}.mlir")
            done = run(*prefix, self.sinter, "compare", self.model, "--backend", "interpreter,cpu", "--rtol", "0", "--atol", "0", "--range-atol", "0",
                       "--reduce", reduced, "--force")
            outputs.append((done.returncode, done.stdout.replace(reduced, ""), os.path.exists(reduced)))
        self.assertEqual(outputs[0], outputs[1])
        self.assertTrue(outputs[0][2])

    def python(self, path, *foreign, folder=None, **environment):
        done = run(sys.executable, "-c", PYTHON, path, *foreign, folder=folder, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_python_loads_them(self):
        version = run(self.sinter, "--version").stdout.split()[1]
        # Absolute, and relative to a folder that the process leaves.
        for path, folder in (self.library(C), None), ("./" + C, os.path.join(BUILD, "lib")):
            lines = self.python(path, folder=folder)
            self.assertEqual(lines[:2], [version, "None"])
            # One of each.
            self.assertEqual(sorted(os.path.basename(each).split(".so")[0] for each in lines[2].split()), ["libsinter", "libsinter-compiler", "libsinter-runtime"])

    def test_python_is_told_what_is_missing(self):
        lines = self.python(self.library(C), SINTER_COMPILER_LIBRARY=self.folder + "/none.so")
        self.assertIn("/none.so", lines[1])

    def test_another_llvm_is_loaded(self):
        self.assertTrue(FOREIGN)
        self.assertEqual(self.python(self.library(C), *FOREIGN)[1], "None")
        # Before everything else, and to compile with.
        self.expect_run(self.sinter, LD_PRELOAD=" ".join(FOREIGN))

    def test_the_environment_names_the_compiler(self):
        self.copied("bin/sinter")
        shutil.copy(self.library(RUNTIME), os.path.join(self.folder, self.soname()))
        os.makedirs(self.folder + "/lib")
        shutil.move(os.path.join(self.folder, self.soname()), self.folder + "/lib")
        sinter = self.folder + "/bin/sinter"
        self.expect_error(run(sinter, "run", self.model, "--input", "random"), self.folder + "/lib/" + COMPILER, "cannot be found")
        self.expect_error(run(sinter, "convert", self.model, "-o", self.folder + "/o.mlir"), "cannot be loaded", self.folder + "/lib/" + COMPILER)
        self.expect_run(sinter, SINTER_COMPILER_LIBRARY=self.library(COMPILER))
        self.expect_error(run(sinter, "run", self.model, "--input", "random", SINTER_COMPILER_LIBRARY="none.so"), "none.so")

    def test_what_each_lets_see(self):
        self.assertEqual(symbols(self.library(COMPILER), "--defined-only"), {"sinterCompiler", "sinterCompilerContract"})
        if os.path.exists(self.library(MPI)):
            self.assertEqual(symbols(self.library(MPI), "--defined-only"), {"sinterMpi", "sinterMpiContract"})
        visible = symbols(self.library(RUNTIME), "--defined-only")
        self.assertEqual({each for each in visible if not OF_SINTER.match(each)}, set())
        declared = re.findall(r"\b(sinter_\w+)\(", open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "include", "sinter.h")).read())
        self.assertEqual(symbols(self.library(C), "--defined-only"), set(declared) - {"sinter_log_callback"})
        # Nothing is there twice: what others use of it is not theirs.
        for name in COMPILER, MPI:
            if os.path.exists(self.library(name)):
                needed = {each for each in symbols(self.library(name), "--undefined-only") if OF_SINTER.match(each)}
                self.assertTrue(needed)
                self.assertEqual(needed - visible, set())

    def test_a_runtime_of_another_build_is_refused(self):
        self.copied("bin/sinter")
        os.makedirs(self.folder + "/lib")
        self.copied("lib/" + RUNTIME, lambda content: CONTRACT.sub(b"9.8.7+0123456789ab", content))
        os.rename(self.folder + "/lib/" + RUNTIME, self.folder + "/lib/" + self.soname())
        # A compiler may keep the end of a short text in its code.
        self.expect_error(run(self.folder + "/bin/sinter", "--help"), "9.8.7+01234567", "must come from one build")

    def test_an_mpi_of_another_build_is_refused(self):
        if not os.path.exists(self.library(MPI)):
            self.skipTest("there is no MPI")
        self.copied("bin/sinter")
        for name in RUNTIME, COMPILER:
            self.copied("lib/" + name)
        os.rename(self.folder + "/lib/" + RUNTIME, self.folder + "/lib/" + self.soname())
        self.copied("lib/" + MPI, lambda content: CONTRACT.sub(b"9.8.7+0123456789ab", content))
        done = run(self.folder + "/bin/sinter", "run", self.model, "--input", "random", "--replicas", "2", "--no-cache", OMPI_COMM_WORLD_SIZE="2")
        self.expect_error(done, MPI, "9.8.7+0123456789ab", "must come from one build")

    def test_installed_they_can_be_moved(self):
        prefix = os.path.join(self.folder, "prefix")
        done = run("cmake", "--install", BUILD, "--prefix", prefix)
        self.assertEqual(done.returncode, 0, done.stderr)
        moved = os.path.join(self.folder, "moved")
        os.rename(prefix, moved)
        self.expect_run(os.path.join(moved, "bin", "sinter"))
        for path in [os.path.join(moved, "bin", "sinter"), self.sinter] + [self.library(name) for name in (RUNTIME, COMPILER)]:
            paths = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", path).stdout)
            for each in ":".join(paths).split(":"):
                self.assertTrue(each.startswith("$ORIGIN") or each.startswith("/usr/"), (path, each))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    BUILD = os.path.abspath(arguments.pop(0))
    while arguments and not arguments[0].startswith("-") and os.path.exists(arguments[0]):
        FOREIGN.append(arguments.pop(0))
    unittest.main(argv=sys.argv[:1] + arguments)
