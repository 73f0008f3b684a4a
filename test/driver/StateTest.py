#!/usr/bin/env python3
"""What outlives a run."""
import json

from SinterCommand import CommandTest, DONE, INVALID, UNSUPPORTED, main


class State(CommandTest):
    """A model with a tensor that outlives a run."""

    def setUp(self):
        super().setUp()
        self.model = self.write("count.mlir", """
func.func @main(%x: tensor<2xf32> {sinter.name = "x"},
    %n: tensor<f32> {sinter.state = "count", sinter.initial = dense<5.0> : tensor<f32>})
    -> (tensor<2xf32> {sinter.name = "y"}, tensor<f32> {sinter.state = "count"}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %m = stablehlo.add %n, %one : tensor<f32>
  %b = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<2xf32>
  %s = stablehlo.multiply %x, %z : tensor<2xf32>
  %y = stablehlo.add %s, %b : tensor<2xf32>
  return %y, %m : tensor<2xf32>, tensor<f32>
}
""")

    def test_outlives_a_run(self):
        for backend in ["cpu", "interpreter"]:
            done = self.sinter("run", self.model, "--input", "random", "--backend", backend, "--no-cache", "--json", "--repeat", "3")
            self.assertEqual(done.returncode, DONE, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual([output["max"] for output in answer["outputs"]], [8])
            self.assertEqual([(state["name"], state["max"]) for state in answer["state"]], [("count", 8)])

    def test_cached_program(self):
        for _ in range(2):
            done = self.sinter("run", self.model, "--input", "random", "--cache-dir", self.path("cache"), "--json")
            self.assertEqual(json.loads(done.stdout)["state"][0]["max"], 6, done.stderr)

    def test_inspect(self):
        done = self.sinter("inspect", self.model, "--json")
        self.assertEqual(json.loads(done.stdout)["state"], [{"name": "count", "type": "f32"}], done.stderr)

    def test_freeze(self):
        frozen = self.path("frozen.mlir")
        self.assertEqual(self.sinter("optimize", self.model, "-o", frozen, "--freeze").returncode, DONE)
        done = self.sinter("run", frozen, "--input", "random", "--no-cache", "--json", "--repeat", "3")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 6, done.stderr)
        self.assertEqual(json.loads(done.stdout)["state"], [])

    def test_refusals(self):
        self.expect_error(UNSUPPORTED, "convert", self.model, "-o", self.path("count.onnx"), mentions=["count", "freeze"])
        with open(self.model) as file:
            text = file.read()
        broken = self.write("broken.mlir", text.replace(', sinter.initial = dense<5.0> : tensor<f32>', ""))
        self.expect_error(INVALID, "run", broken, "--input", "random", mentions=["broken.mlir", "count", "no initial value"])


if __name__ == "__main__":
    main()
