#!/usr/bin/env python3
"""The contract between Sinter's libraries is of all headers that the sources of two of them see.

    test/engine/library/ContractTest.py CONTRACT.TXT     those that the contract is of (src/engine/CMakeLists.txt)
    test/engine/library/ContractTest.py --self-test      proves that the check finds what it should
"""
import os
import re
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
# Generated headers, and what they are made of.
MADE_OF = {".pb.h": ".proto", "LibraryContract.h": "LibraryContract.h.in"}
# The headers of the runtime that no library agrees on: its own inside.
RUNTIME = re.compile(r"runtime/(?!mpi/)|engine/(?!compiler/)|formats/onnx/file/|formats/WireReader|formats/import/Unsupported")
SIDES = {"the runtime": RUNTIME, "the command": re.compile(r"(driver|bundle|data|compare|evaluate|post|train|interface|view|bindings)/"), "MPI": re.compile(r"runtime/mpi/")}


def source_of(header):
    for end, made_of in MADE_OF.items():
        if header.endswith(end):
            return header.removesuffix(end) + made_of
    return header


def reached(root, sources):
    """The headers below ROOT/src that SOURCES include, directly or not."""
    found, waiting = set(), list(sources)
    while waiting:
        with open(os.path.join(root, "src", waiting.pop()), encoding="utf-8") as file:
            for header in map(source_of, INCLUDE.findall(file.read())):
                if header not in found and os.path.isfile(os.path.join(root, "src", header)):
                    found.add(header)
                    waiting.append(header)
    return found


def shared(root):
    """{header: the sides that see it} of those that two sides see."""
    sources = [os.path.relpath(os.path.join(folder, name), os.path.join(root, "src"))
               for folder, _, names in os.walk(os.path.join(root, "src")) for name in names if name.endswith(".cpp")]
    sides = {name: {each for each in sources if pattern.match(each)} for name, pattern in SIDES.items()}
    sides["the compiler"] = set(sources).difference(*sides.values())
    seen = {}
    for name, members in sides.items():
        for header in reached(root, members):
            seen.setdefault(header, []).append(name)
    return {header: names for header, names in seen.items() if len(names) > 1}


def problems(root, contract):
    """What is wrong, in lines. The contract itself is compared as it is."""
    lines = [f"src/{header} is seen by {' and '.join(names)}, and the contract is not of it"
             for header, names in sorted(shared(root).items()) if header not in contract and not header.endswith("LibraryContract.h.in")]
    return lines + [f"src/{header} is in the contract, and does not exist" for header in sorted(contract)
                    if not os.path.exists(os.path.join(root, "src", header))]


def self_test():
    with tempfile.TemporaryDirectory() as root:
        def write(name, *includes):
            path = os.path.join(root, "src", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.writelines(f'#include "{each}"\n' for each in includes)

        write("engine/Compiler.h", "formats/OpenOptions.h", "formats/onnx/file/onnx.pb.h")
        write("formats/OpenOptions.h", "graph/Deep.h")
        write("graph/Deep.h")
        write("graph/Own.h")
        write("formats/onnx/file/onnx.proto")
        write("engine/Session.cpp", "engine/Compiler.h")
        write("engine/compiler/Compile.cpp", "engine/Compiler.h", "graph/Own.h")
        write("runtime/mpi/Mpi.cpp", "runtime/Communicator.h")
        write("driver/Run.cpp", "runtime/Communicator.h", "driver/Text.h")
        write("driver/Text.h")
        write("runtime/Communicator.h")
        whole = {"engine/Compiler.h", "formats/OpenOptions.h", "graph/Deep.h", "formats/onnx/file/onnx.proto", "runtime/Communicator.h"}
        assert not problems(root, whole), problems(root, whole)
        for each in whole:
            found = problems(root, whole - {each})
            assert len(found) == 1 and each in found[0], (each, found)
        assert len(problems(root, whole | {"graph/Gone.h"})) == 1
    print("a header that is left out is found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    with open(sys.argv[1]) as file:
        contract = {os.path.relpath(line, os.path.join(ROOT, "src")) for line in file.read().split()}
    found = problems(ROOT, contract)
    print("\n".join(found) if found else f"the contract is of all {len(shared(ROOT))} headers that two sides see")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
