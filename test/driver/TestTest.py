#!/usr/bin/env python3
# Covers: data TestCase
# Covers: driver Isolation
# Covers: engine/compiler CompiledTest TestPrograms
# Covers: formats/onnx/file TensorFile TestData
"""`sinter test`."""
import json
import os

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, WRONG, main, npy


class Test(CommandTest):
    def make_case(self, name, expected):
        folder = self.path(name)
        os.makedirs(os.path.join(folder, "test_data_set_0"))
        self.good_model(os.path.join(name, "model.onnx"))
        self.write(f"{name}/test_data_set_0/input_0.pb", onnx.tensor("x", [2, 3], onnx.floats(-1, 2, 3, -4, 5, float("nan"))))
        self.write(f"{name}/test_data_set_0/output_0.pb", onnx.tensor("y", [2, 3], onnx.floats(*expected)))

    def test_test(self):
        self.make_case("cases/good", [0, 2, 3, 0, 5, float("nan")])
        self.make_case("cases/deeper/bad", [0, 2, 3, 0, 5.5, float("nan")])
        arguments = ["test", self.path("cases"), "--backend", "interpreter"]
        done = self.sinter(*arguments)
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn("cases/deeper/bad: output 'y': 1 of 6 values differ, most at [1, 1]: got 5, expected 5.5", done.stdout)
        self.assertEqual(self.sinter(*arguments, "--atol", "0.5").returncode, DONE)
        self.assertEqual(self.sinter(*arguments, "--rtol", "0.1").returncode, DONE)
        self.assertEqual(self.sinter(*arguments, "--range-atol", "0.1").returncode, DONE)
        self.assertEqual(self.sinter(*arguments, "--filter", "good").stdout, "1 passed, 0 failed\n")
        answers = [json.loads(line) for line in self.sinter(*arguments, "--json").stdout.splitlines()]
        self.assertEqual([(os.path.basename(each["case"]), each["status"]) for each in answers], [("bad", "failed"), ("good", "passed")])

    def test_case_of_stablehlo(self):
        text = "func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {\n  %y = stablehlo.negate %x : tensor<?x3xf32>\n  return %y : tensor<?x3xf32>\n}\n"
        for name, expected in (("good", [1, -2, -3, 4, -5, 6]), ("bad", [1, -2, -3, 4, -5, 7])):
            os.makedirs(self.path(f"cases/{name}/test_data_set_0"))
            self.write(f"cases/{name}/model.mlir", text)
            self.write(f"cases/{name}/test_data_set_0/input_0.pb", onnx.tensor("x", [2, 3], onnx.floats(-1, 2, 3, -4, 5, -6)))
            self.write(f"cases/{name}/test_data_set_0/output_0.pb", onnx.tensor("y", [2, 3], onnx.floats(*expected)))
        for backend in ("interpreter", "cpu"):
            done = self.sinter("test", self.path("cases"), "--backend", backend)
            self.assertEqual(done.returncode, WRONG, done.stderr)
            self.assertIn("1 of 6 values differ", done.stdout)
            self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed")
        alone = self.sinter("test", self.path("cases/good/model.mlir"))
        self.assertEqual(alone.stdout.splitlines()[-1], "1 passed, 0 failed", alone.stderr)

    def test_notes_are_of_their_case(self):
        # All but the last two: one program is for rows of at least two.
        text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %rest = stablehlo.subtract %v, %two : tensor<1xi32>
  %end = stablehlo.maximum %rest, %zero : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %y = stablehlo.real_dynamic_slice %x, %zero, %end, %one :
      (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
        for name, sizes in (("short", (3, 1)), ("long", (3, 2))):
            for i, size in enumerate(sizes):
                os.makedirs(self.path(f"{name}/test_data_set_{i}"))
                for kind, count in (("input", size), ("output", max(size - 2, 0))):
                    numbers = onnx.floats(*[float(k) for k in range(count)])
                    self.write(f"{name}/test_data_set_{i}/{kind}_0.pb", onnx.tensor("x", [count], numbers))
            self.write(f"{name}/model.mlir", text)
        done = self.sinter("test", self.path("short"), self.path("long"), "--json", "--sizes", "1")
        self.assertEqual(done.returncode, DONE, done.stdout)
        short, long = (json.loads(line) for line in done.stdout.splitlines())
        self.assertNotIn("notes", long)
        self.assertEqual(len(short["notes"]), 1)
        self.assertIn("the program for all sizes is not for these", short["notes"][0])

    def test_tensors_by_their_names(self):
        os.makedirs(self.path("case/test_data_set_0"))
        self.good_model("case/model.onnx")
        self.write("case/test_data_set_0/input_x.npy", npy([2, 3], [-1, 2, 3, -4, 5, -6]))
        self.write("case/test_data_set_0/output_y.npy", npy([2, 3], [0, 2, 3, 0, 5, 0]))
        done = self.sinter("test", self.path("case"), "--backend", "interpreter")
        self.assertEqual(done.stdout, "1 passed, 0 failed\n", done.stderr)
        os.rename(self.path("case/test_data_set_0/output_y.npy"), self.path("case/test_data_set_0/output_z.npy"))
        done = self.sinter("test", self.path("case"), "--backend", "interpreter")
        self.assertEqual(done.returncode, WRONG)
        self.assertIn("output_y.npy", done.stdout)


if __name__ == "__main__":
    main()
