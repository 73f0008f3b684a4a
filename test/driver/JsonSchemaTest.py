#!/usr/bin/env python3
"""The schemas of docs/schema: strict, one for each command that has --json, and held to by every test of the command."""
import json
import os
import re
import shutil
import sys

import JsonSchemas
import OnnxBytes as onnx
from SinterCommand import CommandTest, main
from TrainTest import Network, npz
from TrainTest import npy as npy_of


def objects(schema, place=""):
    """Every part of SCHEMA that describes an object, with its place."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" or "properties" in schema:
            yield place, schema
        for key, value in schema.items():
            yield from objects(value, f"{place}/{key}")
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield from objects(value, f"{place}/{i}")


class Schemas(CommandTest):
    def test_they_are_schemas(self):
        for name in JsonSchemas.names():
            JsonSchemas.jsonschema.Draft202012Validator.check_schema(JsonSchemas.schema(name))

    def test_they_are_strict(self):
        """A new key must be described: no object may have others."""
        for name in JsonSchemas.names():
            for place, schema in objects(JsonSchemas.schema(name)):
                if place.endswith("/properties"):
                    continue
                self.assertIn("additionalProperties", schema, f"{name}{place}")
                if "properties" in schema:
                    self.assertIs(schema["additionalProperties"], False, f"{name}{place}")
                    self.assertLessEqual(set(schema.get("required", [])), set(schema["properties"]), f"{name}{place}")

    def test_every_command_has_one(self):
        listed = re.findall(r"^  ([a-z]+) {2,}", self.sinter("help").stdout.split("Commands:")[1], re.M)
        self.assertIn("run", listed)
        for command in listed:
            has = "--json" in self.sinter("help", command).stdout
            self.assertEqual(has, command in JsonSchemas.names(), command)

    def test_a_wrong_value_is_seen(self):
        model = self.good_model()
        value = json.loads(self.sinter("run", model, "--input", "random", "--json").stdout)
        JsonSchemas.check("run", value)
        for change in ({"other": 1}, {"backend": "gpu"}, {"run_ms": "1"}):
            with self.assertRaises(AssertionError):
                JsonSchemas.check("run", {**value, **change})
        del value["state"]
        with self.assertRaises(AssertionError):
            JsonSchemas.check("run", value)

    def test_outputs(self):
        """Each command in several of its forms; `self.sinter` checks what they print."""
        model, labels = self.good_model(), self.write("labels.txt", "a\nb\nc\n")
        dynamic = self.write("dynamic.onnx", onnx.simple([onnx.node("Relu", ["x"], ["y"], "relu")], ("N", 3)))
        several = self.write("several.mlir", "func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n"
                                             "func.func @b(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n")
        network = self.write("net.onnx", Network().onnx())
        data = self.write("data.npz", npz(x=npy_of([6, 3], [0.5] * 18), target=npy_of([6], [0, 1, 2, 3, 0, 1], "i8")))
        wrong = self.write("wrong.onnx", onnx.simple([onnx.node("Neg", ["x"], ["y"], "neg")], (2, 3)))
        nan = self.write("nan.mlir", "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.log %x : tensor<2xf32>\n return %0 : tensor<2xf32> }")
        for code, *command in [
                (0, "run", model, "--input", "random"), (0, "run", model, "--input", "random", "--labels", labels), (0, "run", nan, "--input", "-1,0"),
                (0, "run", model, "--input", "random", "--backend", "interpreter"), (0, "run", model, "--input", "random", "--replicas", "2"),
                (0, "bench", model, "--seconds", "0.01"), (0, "bench", model, "--seconds", "0.01", "--layers"),
                (0, "bench", dynamic, "--seconds", "0.01", "--sweep", "N=1,3"),
                (0, "optimize", model), (0, "optimize", model, "-o", self.path("o.onnx")), (0, "optimize", "--list-patterns"), (0, "optimize", model, "--list-patterns"),
                (0, "inspect", model), (0, "inspect", dynamic), (0, "inspect", model, "--no-plan"), (0, "inspect", several),
                (0, "compare", model), (1, "compare", model, wrong), (1, "compare", model, wrong, "--outputs-only"), (0, "compare", dynamic),
                (0, "quantize", network, "--calibration", "random", "-o", self.path("q.onnx")), (0, "quantize", network, "--weights", "int8", "-o", self.path("w.onnx")),
                (0, "train", network, "--data", data, "-o", self.path("t.onnx"), "--epochs", "2", "--log", self.path("log.jsonl")),
                (0, "train", network, "--data", data, "--validate", data, "-o", self.path("t.onnx"), "--log", self.path("log2.jsonl")),
                (0, "test", self.case(model))]:
            with self.subTest(command):
                done = self.sinter(*command, "--json")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertTrue(done.stdout)
        for log in "log.jsonl", "log2.jsonl":
            with open(self.path(log)) as file:
                for line in file:
                    JsonSchemas.check("train-log", json.loads(line))

    def case(self, model):
        os.makedirs(self.path("case/test_data_set_0"), exist_ok=True)
        shutil.copy(model, self.path("case/model.onnx"))
        for kind in "input", "output":
            self.write(f"case/test_data_set_0/{kind}_0.pb", onnx.tensor("x", [2, 3], onnx.floats(*[1] * 6)))
        return self.path("case")


if __name__ == "__main__":
    if not JsonSchemas.jsonschema:
        print("there is no jsonschema (python3-jsonschema)")
        sys.exit(77)
    main()
