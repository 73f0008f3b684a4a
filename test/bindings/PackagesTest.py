#!/usr/bin/env python3
"""Debian packages: what is in each, what it depends on, and that the command and the Python package run from them.

    test/bindings/PackagesTest.py BUILD [unittest options]
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = ""
FOLDER = tempfile.TemporaryDirectory()
MODEL = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.add %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
"""


def output(*command, **environment):
    base = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": FOLDER.name}
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, env={**base, **environment}, cwd=FOLDER.name).stdout


def setUpModule():
    # Compressing takes most of the time.
    output("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")


def tearDownModule():
    FOLDER.cleanup()


def package(name):
    file, = glob.glob(os.path.join(FOLDER.name, name + "_*.deb"))
    return file


class PackagesTest(unittest.TestCase):
    def depends(self, name):
        """The packages that NAME depends on, without versions, and those with this version."""
        fields = [each.strip() for each in output("dpkg-deb", "-f", package(name), "Depends").split(",")]
        version = output("dpkg-deb", "-f", package(name), "Version").strip()
        return {each.split()[0] for each in fields}, {each.split()[0] for each in fields if each.endswith(f"(= {version})")}

    def test_what_each_depends_on(self):
        libraries, ours = self.depends("libsinter0")
        self.assertLessEqual({"libc6", "libstdc++6", "zlib1g"}, libraries)
        self.assertEqual(ours, set())
        for name, more in [("libsinter-dev", set()), ("sinter", {"libc6", "libstdc++6"}), ("python3-sinter", {"python3", "libc6"})]:
            needed, ours = self.depends(name)
            self.assertLessEqual(more, needed)
            self.assertEqual(ours, {"libsinter0"})
            self.assertFalse({each for each in needed | libraries if "mpi" in each})

    def test_what_is_in_each(self):
        for name, expected in [("libsinter0", ["lib/libsinter.so.0", "lib/libsinter-runtime.so.0", "lib/libsinter-compiler.so"]),
                               ("libsinter-dev", ["include/sinter.h", "include/sinter.hpp", "lib/libsinter.so ", "lib/pkgconfig/sinter.pc", "lib/cmake/Sinter/SinterConfig.cmake"]),
                               ("sinter", ["bin/sinter", "share/man/man1/sinter.1", "share/man/man1/sinter-run.1", "share/bash-completion/completions/sinter",
                                            "share/zsh/vendor-completions/_sinter"]), ("python3-sinter", ["lib/python3/dist-packages/sinter/__init__.py"])]:
            listed = output("dpkg-deb", "-c", package(name))
            for each in [*expected, f"share/doc/{name}/copyright"]:
                self.assertIn("./usr/" + each, listed + " ")
            self.assertNotIn(BUILD, listed)

    def test_what_is_in_them_runs(self):
        root = os.path.join(FOLDER.name, "root")
        for name in "libsinter0", "sinter", "python3-sinter":
            output("dpkg-deb", "-x", package(name), root)
        with open(os.path.join(FOLDER.name, "twice.mlir"), "w") as file:
            file.write(MODEL)
        self.assertIn("  2 4 6", output(os.path.join(root, "usr", "bin", "sinter"), "run", "twice.mlir", "--input", "1,2,3", "--no-cache"))
        text = 'import sinter; print(sinter.load("twice.mlir").inputs)'
        self.assertIn("(3,)", output(sys.executable, "-c", text, PYTHONPATH=os.path.join(root, "usr", "lib", "python3", "dist-packages")))


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    if not all(shutil.which(each) for each in ("dpkg-deb", "dpkg-shlibdeps", "file")):
        print("skipped: there are no tools for Debian packages")
        sys.exit(77)
    unittest.main()
