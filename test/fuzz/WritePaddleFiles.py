#!/usr/bin/env python3
"""Writes small Paddle programs of every era, and their parameters, each to a file of its own: a corpus for the fuzzers. Every
operator that is tested by value is one.

    test/fuzz/WritePaddleFiles.py FOLDER
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats", "paddle"))
from PaddleBytes import (BOOL, INT64, Pir, Program, a, block, double, doubles, i32s, longs, pir_type, scalar, scalars,  # noqa: E402
                         variables, write)
from OperatorCases import CASES  # noqa: E402
from OperatorsByValue import build  # noqa: E402


def classifier():
    program = Program(version=2002002)
    program.input("x", [-1, 3, 8, 8])
    program.parameter("w", [4, 3, 3, 3], [i / 100 for i in range(108)])
    for name in ("scale", "bias", "mean", "variance"):
        program.parameter(name, [4], [1, 2, 3, 4])
    program.op("conv2d", {"Input": "x", "Filter": "w"}, {"Output": "c"}, strides=[2, 2], paddings=[1, 1], dilations=[1, 1], groups=1,
               padding_algorithm="EXPLICIT", data_format="NCHW", op_callstack=["  File \"train.py\""])
    program.op("batch_norm", {"X": "c", "Scale": "scale", "Bias": "bias", "Mean": "mean", "Variance": "variance"},
               {"Y": "y", "MeanOut": "mean", "VarianceOut": "variance"}, epsilon=1e-5, is_test=True, data_layout="NCHW")
    program.op("relu", {"X": "y"}, {"Out": "y"})
    program.op("pool2d", {"X": "y"}, {"Out": "p"}, ksize=[1, 1], adaptive=True, pooling_type="avg")
    program.output("p")
    return program


def attributes():
    """An operator that has an attribute of every newer kind."""
    program = Program(version=0)
    program.input("x", [3], INT64)
    program.op("fill_constant", {"ShapeTensor": "x"}, {"Out": "y"}, value=scalar(0.5), shape=longs(1, -1), l=1 << 40, many=scalars(1, 2.5),
               f=double(0.1), fs=doubles(0.1, 2), at=variables("x"), all=variables("x", "y"))
    program.output("y")
    return program


def loop():
    program = Program()
    program.input("x", [1])
    program.variable("going", [1], BOOL)
    program.op("less_than", {"X": "x", "Y": "x"}, {"Out": "going"})
    body = program.block()
    body.op("increment", {"X": "x"}, {"Out": "x"}, step=1.0)
    body.op("less_than", {"X": "x", "Y": "x"}, {"Out": "going"})
    program.op("while", {"X": ["x"], "Condition": "going"}, {"Out": ["x"]}, sub_block=block(1), is_test=True)
    program.output("x")
    return program


def pir():
    program = Pir()
    weights = program.parameter("w", [4, 3, 1, 1], [0.5] * 12)
    x = program.input("x", [-1, 3, 8, 8])
    conv = program.op("1.conv2d", [x, weights], [pir_type([-1, 4, 8, 8])], strides=i32s(1, 1), paddings=i32s(0, 0),
                      padding_algorithm=a("str", "EXPLICIT"), dilations=i32s(1, 1), groups=a("i32", 1), data_format=a("str", "NCHW"))
    shape = program.ints(0, -1)
    flat = program.op("1.reshape", [conv, shape], [pir_type([-1, 256])])
    whether = program.full(1, element=BOOL)
    then, otherwise = program.block(), program.block()
    then.op("2.yield", [flat], [])
    otherwise.op("2.yield", [flat], [])
    result = program.op("1.if", [whether], [pir_type([-1, 256])], [then, otherwise])
    program.output(result, "out", [-1, 256])
    return program


def main():
    folder = sys.argv[1]
    for name, program in (("classifier", classifier()), ("attributes", attributes()), ("loop", loop()), ("pir", pir())):
        write(os.path.join(folder, name), program.encode_program())
        if program.parameters:
            write(os.path.join(folder, name + "-parameters"), program.combined())
    for i, case in enumerate(CASES):
        write(os.path.join(folder, f"case-{case.type}-{i}"), build([case], i % 4 == 0)[0].encode_program())


if __name__ == "__main__":
    main()
