#!/usr/bin/env python3
# Covers: data States
# Covers: graph/storage DeclareStates
"""What outlives a run."""
import json
import os

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, INVALID, npy, SYSTEM, UNSUPPORTED, USAGE, main


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

    def run_model(self, *arguments, model=None):
        done = self.sinter("run", model or self.model, "--input", "random", "--no-cache", "--json", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def test_given_and_taken(self):
        count = self.write("count.npy", npy((), (40,)))
        for backend in "cpu", "interpreter":
            out = self.path("out-" + backend)
            answer = self.run_model("--backend", backend, "--state", f"count={count}", "--output-dir", out, "--repeat", "2")
            self.assertEqual(answer["state"][0]["max"], 42)
            self.assertEqual(sorted(os.listdir(out)), ["state_count.npy", "y.npy"])
            again = self.run_model("--backend", backend, "--state", f"count={out}/state_count.npy")
            self.assertEqual(again["state"][0]["max"], 43)
        done = self.sinter("bench", self.model, "--state", f"count={count}", "--seconds", "0.01", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.sinter("run", self.model, "--input", "random", "--no-cache")
        self.assertIn("state count: f32 []", done.stdout)

    def test_from_command_to_command(self):
        for backend in "cpu", "interpreter":
            folder = self.path("kept-" + backend)
            for expected in 6, 7, 8:
                self.assertEqual(self.run_model("--backend", backend, "--state-dir", folder)["state"][0]["max"], expected)
            self.assertEqual(os.listdir(folder), ["state_count.npy"])
            # What is named comes before what is kept; bench leaves the files alone.
            done = self.sinter("bench", self.model, "--state-dir", folder, "--seconds", "0.01", "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            count = self.write("count.npy", npy((), (40,)))
            self.assertEqual(self.run_model("--backend", backend, "--state-dir", folder, "--state", f"count={count}")["state"][0]["max"], 41)
            self.assertEqual(self.run_model("--backend", backend, "--state-dir", folder)["state"][0]["max"], 42)

    def test_every_type(self):
        """A state of any element type comes back as it went out."""
        types = "i1 i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64 f16 bf16 f32 f64 f8E4M3FN f8E5M2 complex<f32> complex<f64>".split()
        for element in types:
            value = {"i1": "true", "i2": "-1", "ui2": "3"}.get(element, "(1.5, -2.0)" if "complex" in element else "3" if "i" in element else "1.5")
            tensor = f"tensor<3x{element}>"
            model = self.write("same.mlir", f"""
func.func @main(%x: tensor<1xf32>, %s: {tensor} {{sinter.state = "s", sinter.initial = dense<0{'.0' if 'f' in element and 'complex' not in element else ''}> : {tensor}}},
    %g: {tensor} {{sinter.state = "g", sinter.initial = dense<{value}> : {tensor}}})
    -> (tensor<1xf32>, {tensor} {{sinter.state = "s"}}, {tensor} {{sinter.state = "g"}}) {{
  return %x, %g, %s : tensor<1xf32>, {tensor}, {tensor}
}}
""".replace("dense<0>", {"i1": "dense<false>"}.get(element, "dense<(0.0, 0.0)>" if "complex" in element else "dense<0>")))
            for backend in "cpu", "interpreter":
                folder = self.path(f"kept-{element}-{backend}")
                first = self.run_model("--backend", backend, "--state-dir", folder, model=model)["state"]
                second = self.run_model("--backend", backend, "--state-dir", folder, model=model)["state"]
                self.assertEqual([each["first"] for each in first], [each["first"] for each in reversed(second)], element)
                self.assertNotEqual(first[0]["first"], first[1]["first"], element)

    def test_wrong_states(self):
        count, pair = self.write("count.npy", npy((), (1,))), self.write("pair.npy", npy((2,), (1, 2)))
        for command in ("run", self.model, "--input", "random"), ("bench", self.model):
            for backend in "cpu", "interpreter":
                def refused(*options, mentions):
                    self.expect_error(USAGE, *command, "--backend", backend, *options, mentions=["count.mlir", *mentions])

                refused("--state", f"sum={count}", mentions=["'sum'", "'count'"])
                refused("--state", "count", mentions=["expected", "'count'"])
                refused("--state", f"count={pair}", mentions=["'count'", "2xf32"])
                refused("--state", f"count={self.write('i.npy', onnx.npy((), '<i4'))}", mentions=["'count'", "i32"])
                refused("--state", f"count={count}", "--state", f"count={count}", mentions=["twice"])
                self.expect_error(SYSTEM, *command, "--backend", backend, "--state", f"count={self.write('a.txt', 'hello')}", mentions=["count.mlir", "a.txt"])
        self.expect_error(SYSTEM, "run", self.model, "--input", "random", "--state", "count=none.npy", mentions=["none.npy"])
        self.expect_error(SYSTEM, "run", self.model, "--input", "random", "--state-dir", count, mentions=["--state-dir"])
        self.expect_error(USAGE, "run", self.good_model(), "--input", "random", "--state", f"x={count}", mentions=["this model has no states"])

    def test_names_that_meet(self):
        """An output called like a state's file does not take its place."""
        with open(self.model) as file:
            text = file.read().replace('sinter.name = "y"', 'sinter.name = "state_count"')
        self.run_model("--output-dir", self.path("out"), model=self.write("meet.mlir", text))
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["state_count.npy", "state_count_1.npy"])
        self.assertEqual(self.run_model("--state-dir", self.path("out"))["state"][0]["max"], 7)

    def test_processes(self):
        """Each process of a grid has states of its own."""
        for backend in "cpu", "interpreter":
            for i in range(2):
                self.write(f"count{i}.npy", npy((), (10 * i,)))
            folder = self.path("grid-" + backend)
            for more in 1, 2:
                given = ["--state", "count=" + self.path("count{rank}.npy")] if more == 1 else []
                done = self.sinter("run", self.model, "--input", "random", "--no-cache", "--json", "--backend", backend, "--replicas", "2",
                                   "--state-dir", folder, *given)
                self.assertEqual(done.returncode, DONE, done.stderr)
                answers = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual([each["state"][0]["max"] for each in answers], [more, 10 + more])

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


class Declared(CommandTest):
    """An ONNX model whose metadata makes an output and an input a state: y = x + state, stateN = state + x."""

    def setUp(self):
        super().setUp()
        self.model = self.network((2,))
        self.declared = self.path("declared.onnx")
        self.ones = self.write("ones.npy", npy((2,), [1, 1]))

    def network(self, shape, name="plain.onnx"):
        nodes = [onnx.node("Add", ["x", "state"], ["y"]), onnx.node("Add", ["state", "x"], ["stateN"])]
        return self.write(name, onnx.model(onnx.graph(nodes, [onnx.value_info(each, shape) for each in ("x", "state")], [onnx.value_info(each, shape) for each in ("y", "stateN")])))

    def declare(self, model, output, *more):
        done = self.sinter("optimize", model, "-o", output, *more)
        self.assertEqual(done.returncode, DONE, done.stderr)

    def answer(self, model, *more):
        done = self.sinter("run", model, "--input", self.ones, "--no-cache", "--json", *more)
        self.assertEqual(done.returncode, DONE, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(([each["name"] for each in answer["outputs"]], [each["name"] for each in answer["state"]]), (["y"], ["state"]))
        return answer["outputs"][0]["max"], answer["state"][0]["max"]

    def test_is_a_state(self):
        self.declare(self.model, self.declared, "--state", "stateN=state")
        again = self.path("again.onnx")
        self.declare(self.declared, again)
        converted = self.path("converted.mlir")
        self.assertEqual(self.sinter("convert", again, "-o", converted).returncode, DONE)
        back = self.path("back.onnx")
        self.assertEqual(self.sinter("convert", converted, "-o", back).returncode, DONE)
        for model in self.declared, again, converted, back:
            for backend in "cpu", "interpreter":
                self.assertEqual(self.answer(model, "--repeat", "3", "--backend", backend), (3, 3))
        self.assertEqual(self.answer(self.declared, "--state", "state=" + self.write("five.npy", npy((2,), [5, 5]))), (6, 6))
        for more in 1, 2:
            self.assertEqual(self.answer(self.declared, "--state-dir", self.path("kept")), (more, more))
        facts = json.loads(self.sinter("inspect", self.declared, "--json").stdout)
        self.assertEqual([each["name"] for each in facts["inputs"]], ["x"])
        # The same file as before, for those who know nothing of it.
        with open(self.declared, "rb") as file:
            self.assertEqual(onnx.node_types(file.read()), ["Add", "Add"])

    def test_from_the_cache(self):
        self.declare(self.model, self.declared, "--state", "stateN=state")
        for _ in range(2):
            done = self.sinter("run", self.declared, "--input", self.ones, "--cache-dir", self.path("cache"), "--json", "--repeat", "2")
            self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 2, done.stderr)

    def test_frozen(self):
        self.declare(self.model, self.declared, "--state", "stateN=state")
        frozen = self.path("frozen.onnx")
        self.declare(self.declared, frozen, "--freeze")
        done = self.sinter("run", frozen, "--input", self.ones, "--no-cache", "--json", "--repeat", "2")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["outputs"][0]["max"], answer["state"]), (1, []))

    def test_dynamic_sizes(self):
        """The pair is kept, and fed back where a model runs several times; else the input is zeros."""
        model = self.network(("N",))
        self.declare(model, self.declared, "--state", "stateN=state")
        again, converted = self.path("again.onnx"), self.path("converted.mlir")
        self.declare(self.declared, again)
        self.assertEqual(self.sinter("convert", again, "-o", converted).returncode, DONE)
        threes, frames = self.write("threes.npy", npy((3,), [3] * 3)), self.write("frames.npy", npy((6,), [1] * 6))

        def largest(*arguments):
            done = self.sinter("run", *arguments, "--no-cache", "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            return [json.loads(line)["outputs"][0]["max"] for line in done.stdout.splitlines()]

        for each in self.declared, again, converted:
            for backend in "cpu", "interpreter":
                where = [each, "--backend", backend]
                for x, value in (self.ones, 1), (threes, 3):
                    self.assertEqual(largest(*where, "--input", x), [value])
                    self.assertEqual(largest(*where, "--input", x, "--repeat", "3"), [value, 2 * value, 3 * value])
                self.assertEqual(largest(*where, "--frames", frames, "--frame", "2"), [1, 2, 3])
                self.assertEqual(largest(*where, "--input", self.ones, "--input", "state=" + self.write("five.npy", npy((2,), [5, 5])), "--repeat", "2"), [6, 7])
        done = self.sinter("run", self.declared, "--frames", frames, "--frame", "2", "--no-cache")
        self.assertIn("state that the model keeps: stateN=state", done.stderr)
        self.assertEqual(self.sinter("bench", self.declared, "--shape", "x:2", "--seconds", "0.01", "--no-cache").returncode, DONE)
        program = self.path("paddle/")
        self.assertEqual(self.sinter("convert", model, "-o", program).returncode, DONE)
        self.expect_error(UNSUPPORTED, "optimize", program, "-o", self.path("other/"), "--state", "stateN=state", mentions=["dynamic sizes", "--shape"])

    def test_dynamic_sizes_from_command_to_command(self):
        self.declare(self.network(("N",)), self.declared, "--state", "stateN=state")
        kept = self.path("kept")

        def last(model, *more):
            done = self.sinter("run", model, "--input", "x=" + self.ones, "--state-dir", kept, "--no-cache", "--json", *more)
            self.assertEqual(done.returncode, DONE, done.stderr)
            return json.loads(done.stdout.splitlines()[-1])["outputs"][0]["max"]

        for backend, expected in ("cpu", 2), ("interpreter", 4), ("cpu", 6):
            self.assertEqual(last(self.declared, "--repeat", "2", "--backend", backend), expected)
        self.assertEqual(os.listdir(kept), ["state_state.npy"])
        # Also of one run, and of a pair that no model keeps.
        self.assertEqual(last(self.declared), 7)
        self.assertEqual(last(self.network(("N",)), "--feed", "stateN=state"), 8)
        self.assertEqual(last(self.declared, "--input", "state=" + self.write("five.npy", npy((2,), [5, 5]))), 6)

    def test_a_feed_beside_those_that_are_kept(self):
        """`--feed` replaces the pair of its input, and no other."""
        nodes = [onnx.node("Add", ["x", "a"], ["aN"]), onnx.node("Add", ["x", "b"], ["bN"]), onnx.node("Add", ["a", "b"], ["y"])]
        names = {"inputs": ("x", "a", "b"), "outputs": ("y", "aN", "bN")}
        inputs, outputs = ([onnx.value_info(name, ("N",)) for name in names[kind]] for kind in ("inputs", "outputs"))
        model = self.write("pairs.onnx", onnx.model(onnx.graph(nodes, inputs, outputs)))
        self.declare(model, self.declared, "--state", "aN=a", "--state", "bN=b")
        # What is fed back is not printed.
        for feed, shown, expected in ([], "y", [0, 2, 4]), (["--feed", "aN=a"], "y", [0, 2, 4]), (["--feed", "y=a"], "aN", [1, 1, 2]):
            done = self.sinter("run", self.declared, "--input", f"x={self.ones}", *feed, "--repeat", "3", "--no-cache", "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([[(each["name"], each["max"]) for each in line["outputs"]] for line in lines], [[(shown, value)] for value in expected])
            self.assertIn("state that the model keeps: bN=b", done.stderr)
            self.assertEqual("keeps: aN=a" in done.stderr, not feed)

    def test_sizes_that_are_given(self):
        model = self.network(("N",))
        self.declare(model, self.declared, "--state", "stateN=state", "--shape", "x:2", "--shape", "state:2")
        self.assertEqual(self.answer(self.declared, "--repeat", "2"), (2, 2))

    def test_refusals(self):
        self.expect_error(USAGE, "optimize", self.model, "-o", self.declared, "--state", "state=stateN", mentions=["'state=stateN'", "OUTPUT=INPUT", "'y' and 'stateN'", "'x' and 'state'"])
        self.expect_error(USAGE, "optimize", self.model, "-o", self.declared, "--state", "stateN=state", "--state", "y=state", mentions=["'y=state'", "'x'"])
        inputs, outputs = [onnx.value_info("x", (2,)), onnx.value_info("s", (3,))], [onnx.value_info("y", (2,)), onnx.value_info("t", (3,))]
        nodes = [onnx.node("Neg", ["x"], ["y"]), onnx.node("Neg", ["s"], ["t"])]
        model = self.write("two.onnx", onnx.model(onnx.graph(nodes, inputs, outputs)))
        self.expect_error(USAGE, "optimize", model, "-o", self.declared, "--state", "y=s", mentions=["2xf32", "3xf32"])

    def test_names_with_equals_signs(self):
        """The first sign with an output before it and an input behind."""
        names = {"x": "x", "y": "a", "state": "b=c", "stateN": "a=b"}
        nodes = [onnx.node("Add", ["x", "b=c"], ["a"]), onnx.node("Add", ["b=c", "x"], ["a=b"])]
        shape = (2,)
        model = self.write("signs.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info(names[each], shape) for each in ("x", "state")], [onnx.value_info(names[each], shape) for each in ("y", "stateN")])))
        self.declare(model, self.declared, "--state", "a=b=b=c")
        done = self.sinter("run", self.declared, "--input", self.ones, "--no-cache", "--json", "--repeat", "3")
        self.assertEqual([(each["name"], each["max"]) for each in json.loads(done.stdout)["state"]], [("b=c", 3)], done.stderr)

    def test_broken_metadata(self):
        with open(self.model, "rb") as file:
            content = file.read()
        for pair in "stateN=none", "nothing", "y=y":
            broken = self.write("broken.onnx", content + onnx.data(14, onnx.data(1, "sinter.states") + onnx.data(2, pair)))
            self.expect_error(INVALID, "run", broken, "--input", "random", "--no-cache", mentions=["broken.onnx", "sinter.states", pair])


if __name__ == "__main__":
    main()
