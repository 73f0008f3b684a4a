#!/usr/bin/env python3
"""Builds copies of the sources of ONNX and ml_dtypes for scoreboard.py, with what Debian has.

    test/conformance/build_onnx.py ONNX NANOBIND ROBIN_MAP ML_DTYPES OUT [--jobs N]

The first four are folders with the sources of these projects; ONNX's C++ sources are compiled against Debian's protobuf
(libprotobuf-dev, protobuf-compiler, python3-protobuf), ml_dtypes 0.5 (later ones need NumPy 2) against its NumPy and Eigen
(libeigen3-dev). OUT gets the packages `onnx` and `ml_dtypes`. Nothing of it belongs into this repository.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import sysconfig

import numpy

# What ml_dtypes takes from a newer Eigen than Debian's.
EIGEN = """#pragma once
#include <cstdint>
#include <Eigen/Core>
namespace Eigen { namespace numext {
template <int> struct get_integer_by_size {};
template <> struct get_integer_by_size<1> { using signed_type = int8_t; using unsigned_type = uint8_t; };
template <> struct get_integer_by_size<2> { using signed_type = int16_t; using unsigned_type = uint16_t; };
template <> struct get_integer_by_size<4> { using signed_type = int32_t; using unsigned_type = uint32_t; };
template <> struct get_integer_by_size<8> { using signed_type = int64_t; using unsigned_type = uint64_t; };
} }
"""
COMMON = ["g++", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-I" + sysconfig.get_paths(vars={"base": "/usr"})["include"]]


def call(*command, cwd=None):
    subprocess.run([str(each) for each in command], check=True, cwd=cwd)


def build(sources, objects, flags, target, libraries, jobs):
    """One shared library of SOURCES."""
    os.makedirs(objects, exist_ok=True)
    names = [os.path.join(objects, f"{i}.o") for i in range(len(sources))]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda pair: call(*COMMON, *flags, "-c", pair[0], "-o", pair[1]), zip(sources, names)))
    call("g++", "-shared", "-o", target, *names, *libraries)


def build_onnx(given):
    package = os.path.join(given.out, "onnx")
    shutil.copytree(os.path.join(given.onnx, "onnx"), package, dirs_exist_ok=True)
    for kind, name in (("onnx-ml", "onnx"), ("onnx-operators-ml", "onnx_operators"), ("onnx-data", "onnx_data")):
        call("protoc", "-I.", "--cpp_out=.", "--python_out=.", f"onnx/{kind}.proto", cwd=given.out)
        with open(os.path.join(package, name + "_pb.py"), "w") as file:
            file.write(f"from .{kind.replace('-', '_')}_pb2 import *  # noqa\n")
    sources = [os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names
               if name.endswith(".cc") and "fuzz" not in folder and os.sep + "test" not in folder]
    sources.append(os.path.join(given.nanobind, "src", "nb_combined.cpp"))
    flags = ["-std=c++20", "-fno-strict-aliasing", "-DONNX_NAMESPACE=onnx", "-DONNX_ML=1", "-DONNX_USE_LITE_PROTO=1",
             "-D__STDC_FORMAT_MACROS", "-DONNX_API=", "-DNB_COMPACT_ASSERTIONS", "-I" + given.out,
             "-I" + os.path.join(given.nanobind, "include"), "-I" + os.path.join(given.robin_map, "include")]
    build(sorted(sources), os.path.join(given.out, "objects", "onnx"), flags,
          os.path.join(package, "onnx_cpp2py_export.so"), ["-lprotobuf"], given.jobs)


def build_ml_dtypes(given):
    package = os.path.join(given.out, "ml_dtypes")
    shutil.copytree(os.path.join(given.ml_dtypes, "ml_dtypes"), package, dirs_exist_ok=True)
    header = os.path.join(given.out, "integers.h")
    with open(header, "w") as file:
        file.write(EIGEN)
    folder = os.path.join(package, "_src")
    sources = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".cc"))
    flags = ["-std=c++17", "-include", header, "-DEIGEN_MPL2_ONLY", "-ftrapping-math", "-I" + numpy.get_include(),
             "-I" + given.out, "-I/usr/include/eigen3"]
    build(sources, os.path.join(given.out, "objects", "ml_dtypes"), flags,
          os.path.join(package, "_ml_dtypes_ext.so"), [], given.jobs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("onnx", "nanobind", "robin_map", "ml_dtypes", "out"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    build_ml_dtypes(given)
    build_onnx(given)
    print(f"SINTER_ONNX={given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
