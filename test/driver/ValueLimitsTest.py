#!/usr/bin/env python3
# Covers: engine FallbackExecutor
"""Programs that compute sizes, with values that lead beyond the sizes that they are for."""
import json
import os

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, USAGE, npy, main

# The sum of the first k of nine, or of all where there are not so many; and how often it ran.
MODEL = """
func.func @main(%k: tensor<1xi64> {sinter.name = "k"}, %x: tensor<9xf32> {sinter.name = "x"},
    %t: tensor<f32> {sinter.state = "runs", sinter.initial = dense<0.0> : tensor<f32>})
    -> (tensor<f32> {sinter.name = "y"}, tensor<f32> {sinter.state = "runs"}) {
  %zero = stablehlo.constant dense<0> : tensor<1xi64>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %nine = stablehlo.constant dense<9> : tensor<1xi64>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.constant dense<1.0> : tensor<f32>
  %u = stablehlo.add %t, %h : tensor<f32>
  %q = stablehlo.compare LE, %k, %nine : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %p = stablehlo.reshape %q : (tensor<1xi1>) -> tensor<i1>
  %y = "stablehlo.if"(%p) ({
    %s = stablehlo.real_dynamic_slice %x, %zero, %k, %one :
        (tensor<9xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
    %r = stablehlo.reduce(%s init: %f) applies stablehlo.add across dimensions = [0] :
        (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %r : tensor<f32>
  }, {
    %r = stablehlo.reduce(%x init: %f) applies stablehlo.add across dimensions = [0] :
        (tensor<9xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %y, %u : tensor<f32>, tensor<f32>
}
"""
# The same without the question.
NARROW = """
func.func @main(%k: tensor<1xi64> {sinter.name = "k"}, %x: tensor<9xf32> {sinter.name = "x"}) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<1xi64>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %s = stablehlo.real_dynamic_slice %x, %zero, %k, %one :
      (tensor<9xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}
"""


class ValueLimits(CommandTest):
    def run_for(self, count, *more, model=MODEL, code=DONE):
        path = self.write("model.mlir", model)
        x = self.write("x.npy", npy((9,), range(1, 10)))
        done = self.sinter("run", path, "--input", f"k={count}", "--input", "x=" + x, "--json", *more)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_another_program_runs_and_says_so_once(self):
        cache = self.path("cache")
        for count, total, is_beyond in ((3, 6, False), (12, 45, True), (12, 45, True), (9, 45, False)):
            done = self.run_for(count, "--repeat", "3", "--cache-dir", cache)
            answer = json.loads(done.stdout)
            self.assertEqual(answer["outputs"][0]["max"], total)
            self.assertEqual(done.stderr.count("the program for all values is not for these: "), int(is_beyond), done.stderr)
            # A run that was begun twice counts once.
            self.assertEqual(answer["state"][0]["max"], 3)

    def test_values_come_and_go(self):
        for i, (count, total) in enumerate(((12, 45), (2, 3), (12, 45), (15, 45), (9, 45))):
            os.makedirs(self.path(f"case/test_data_set_{i}"))
            self.write(f"case/test_data_set_{i}/input_0.pb", onnx.tensor("k", [1], count.to_bytes(8, "little"), onnx.INT64))
            self.write(f"case/test_data_set_{i}/input_1.pb", onnx.tensor("x", [9], onnx.floats(*range(1, 10))))
            self.write(f"case/test_data_set_{i}/output_0.pb", onnx.tensor("y", [], onnx.floats(total)))
        self.write("case/model.mlir", MODEL)
        done = self.sinter("test", self.path("case"), "--json")
        self.assertEqual(done.returncode, DONE, done.stdout)
        self.assertEqual(len(json.loads(done.stdout.splitlines()[0])["notes"]), 1)

    def test_what_no_program_can_do_is_an_error(self):
        self.run_for(9, model=NARROW)
        done = self.run_for(10, "--no-cache", model=NARROW, code=USAGE)
        self.assertIn("; for these values alone: ", done.stderr)


if __name__ == "__main__":
    main()
