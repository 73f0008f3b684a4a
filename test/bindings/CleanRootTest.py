#!/usr/bin/env python3
"""What README.md shows of programs runs as printed from the Debian packages alone, in a new Debian root. So do the
examples of a model's whole way, in C, C++ and Python, with the same bits.

    test/bindings/CleanRootTest.py BUILD [unittest options]

The root is made by mmdebstrap, which takes Debian's packages from the network, and goes when the test ends. Without the
network the test is skipped.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

BUILD = ""
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = tempfile.TemporaryDirectory()
# Each prints the most probable class of an empty image and its probability.
PROGRAMS = {
    "python": ("program.py", "%s"),
    "c": ("program.c", """#include <sinter.h>
#include <stdio.h>
int main(void) {
  sinter_model *model;
  sinter_session *session;
  sinter_error *error = NULL;
%s
  int best = 0;
  for (int i = 0; i < 36; ++i)
    best = y[i] > y[best] ? i : best;
  printf("%%d %%.8g\\n", best, y[best]);
  return error != NULL;
}
"""),
    "cpp": ("program.cpp", """#include <algorithm>
#include <cstdio>
#include <sinter.hpp>
#include <span>
#include <vector>
int main() {
%s
  const auto best = std::ranges::max_element(y);
  std::printf("%%d %%.8g\\n", int(best - y.begin()), *best);
}
"""),
}
COMMANDS = r"""set -e
echo "== root"
apt-get install -y -q --no-install-recommends /debs/*.deb >/debs/apt.log 2>&1 || { cat /debs/apt.log; exit 1; }
cd /debs
echo "== python"
python3 program.py
echo "== c"
cc -std=c11 -Wall -Werror program.c $(pkg-config --cflags --libs sinter) -o program-c
./program-c
echo "== cpp"
c++ -std=c++20 -Wall -Werror program.cpp $(pkg-config --cflags --libs sinter) -o program-cpp
./program-cpp
echo "== command"
sinter run glyphs.onnx --input zero.npy --output-dir out >/dev/null
python3 -c 'import glob, numpy; y = numpy.load(glob.glob("out/*.npy")[0]); print(y.argmax(), y.max())'
echo "== workflow"
mkdir c-made cpp-made python-made
cc -std=c99 -Wall -Werror workflow.c $(pkg-config --cflags --libs sinter) -o workflow-c
./workflow-c glyphs.onnx c-made
c++ -std=c++20 -Wall -Werror workflow.cpp $(pkg-config --cflags --libs sinter) -o workflow-cpp
./workflow-cpp glyphs.onnx cpp-made
python3 workflow.py glyphs.onnx python-made
sinter optimize glyphs.onnx -o simple.onnx >/dev/null
cmp simple.onnx c-made/simple.onnx
for each in simple int8 trained; do cmp c-made/$each.onnx python-made/$each.onnx; cmp c-made/$each.onnx cpp-made/$each.onnx; done
echo "== packages"
dpkg-query -W -f '${Package} ${Installed-Size}\n' | grep sinter
"""


def blocks():
    """The blocks of code in README.md, by language."""
    with open(os.path.join(SOURCE, "README.md")) as file:
        return dict(re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S))


def write(name, text):
    with open(os.path.join(FOLDER.name, name), "w") as file:
        file.write(text)


class CleanRootTest(unittest.TestCase):
    def test_what_the_readme_shows_is_short(self):
        self.assertEqual(set(blocks()), set(PROGRAMS))
        for language, text in blocks().items():
            self.assertLessEqual(text.count("\n"), 6, language)

    def test_it_runs_from_installed_packages(self):
        subprocess.run(["cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none"], check=True, capture_output=True, cwd=FOLDER.name)
        for each in glob.glob(os.path.join(FOLDER.name, "sinter-mpi_*.deb")):
            os.remove(each)
        for language, (name, text) in PROGRAMS.items():
            write(name, text % textwrap.indent(blocks()[language], "" if language == "python" else "  "))
        for each in "glyphs/glyphs.onnx", "c/workflow.c", "cpp/workflow.cpp", "python/workflow.py":
            shutil.copy(os.path.join(SOURCE, "examples", each), FOLDER.name)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 32, 32), }"
        with open(os.path.join(FOLDER.name, "zero.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117) + b"\n" + bytes(4 * 32 * 32))
        write("commands.sh", COMMANDS)
        done = subprocess.run(
            ["mmdebstrap", "--variant=apt", "--format=null", "--quiet", "--include=python3-numpy,gcc,g++,libc6-dev,pkg-config", f"--customize-hook=copy-in {FOLDER.name} /", f'--customize-hook=mv "$1"/{os.path.basename(FOLDER.name)} "$1"/debs && chroot "$1" bash /debs/commands.sh', "bookworm", "/dev/null"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "== root" not in done.stdout:
            self.skipTest(f"mmdebstrap made no Debian root: {done.stdout[-500:]}")
        self.assertEqual(done.returncode, 0, done.stdout)
        print(done.stdout)
        printed = dict(re.findall(r"^== (\w+)\n([^=]*)", done.stdout, re.M))
        best, most = printed["command"].split()
        for language in PROGRAMS:
            each, probability = printed[language].split()
            self.assertEqual(each, best, language)
            self.assertAlmostEqual(float(probability), float(most), places=7, msg=language)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    if os.geteuid() or not shutil.which("mmdebstrap"):
        print("skipped: making a Debian root needs root and mmdebstrap")
        sys.exit(77)
    unittest.main()
