#!/usr/bin/env python3
# Covers: driver DynamicPlan InspectReport PlanNames ProgramPlan
# Covers: engine/compiler NamedSizes SizedFacts
# Covers: formats/onnx FileContents
# Covers: interface ModelFigures
"""What `sinter inspect` says of a model: its tensors' roles, its program's steps, and what it says where some of that is open."""
import json
import struct

import OnnxBytes as onnx
from SinterCommand import closed, CommandTest, DONE, main, UNSUPPORTED, USAGE


class Inspect(CommandTest):
    def facts(self, model, *options):
        done = self.sinter("inspect", model, "--json", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def two_layers(self, batch=2):
        """x -> Gemm -> h -> Relu -> r -> Gemm -> y, and h -> Tanh -> z."""
        weights = [onnx.tensor("w1", [3, 4], onnx.floats(*range(12))), onnx.tensor("w2", [4, 5], onnx.floats(*range(20)))]
        nodes = [onnx.node("MatMul", ["x", "w1"], ["h"], "first"), onnx.node("Relu", ["h"], ["r"], "relu"),
                 onnx.node("MatMul", ["r", "w2"], ["y"], "second"), onnx.node("Tanh", ["h"], ["z"], "tanh")]
        outputs = [onnx.value_info("y", (batch, 5)), onnx.value_info("z", (batch, 4))]
        return self.write("two.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", (batch, 3))], outputs, weights)))

    STATE = """
func.func @main(%x: tensor<2x3xf32>, %s: tensor<2x3xf32> {sinter.state = "sum", sinter.initial = dense<1.5> : tensor<2x3xf32>})
    -> (tensor<2x3xf32>, tensor<2x3xf32> {sinter.state = "sum"}) {
  %total = stablehlo.add %x, %s : tensor<2x3xf32>
  %half = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %mean = stablehlo.multiply %total, %half : tensor<2x3xf32>
  return %mean, %total : tensor<2x3xf32>, tensor<2x3xf32>
}
"""

    def test_roles(self):
        """By the names in the file, with type and bytes."""
        tensors = self.facts(self.two_layers())["tensors"]
        roles = {each["name"]: (each["role"], each["type"], each["bytes"]) for each in tensors}
        self.assertEqual(roles["x"], ("input", "f32 [2, 3]", 24))
        self.assertEqual(roles["w1"], ("constant", "f32 [3, 4]", 48))
        self.assertEqual(roles["h"], ("temporary", "f32 [2, 4]", 32))
        self.assertEqual(roles["r"], ("temporary", "f32 [2, 4]", 32))
        self.assertEqual(roles["y"], ("output", "f32 [2, 5]", 40))
        self.assertEqual(roles["z"], ("output", "f32 [2, 4]", 32))
        self.assertEqual(next(each["op"] for each in tensors if each["name"] == "r"), "nn.relu")

    def convolution(self, batch="N", size=8):
        """x [batch, 2, size, size] -> Conv of 4 channels, 3x3 -> BatchNormalization -> Relu -> y."""
        weights = [onnx.tensor("w", [4, 2, 3, 3], onnx.floats(*range(72)))]
        weights += [onnx.tensor(name, [4], onnx.floats(1, 2, 3, 4)) for name in ("scale", "offset", "mean", "variance")]
        nodes = [onnx.node("Conv", ["x", "w"], ["c"], "conv"), onnx.node("BatchNormalization", ["c", "scale", "offset", "mean", "variance"], ["b"], "norm"),
                 onnx.node("Relu", ["b"], ["y"], "relu")]
        outputs = [onnx.value_info("y", ("batch_of_y", 4, "height", "width"))]
        graph = onnx.graph(nodes, [onnx.value_info("x", (batch, 2, size, size))], outputs, weights)
        entry = onnx.data(14, onnx.data(1, "author") + onnx.data(2, "A. Nonymous"))
        return self.write("convolution.onnx", onnx.model(graph) + onnx.data(2, "maker") + onnx.data(3, "1.5") + entry)

    def test_file(self):
        """What the file says of itself, in its own operators."""
        model = self.convolution()
        facts = self.facts(model, "--no-plan")
        self.assertEqual(facts["operators"], {"BatchNormalization": 1, "Conv": 1, "Relu": 1})
        self.assertEqual(facts["weight_bytes"], 4 * (72 + 4 * 4))
        self.assertEqual(facts["metadata"]["producer"], "maker")
        text = self.sinter("inspect", model, "--no-plan").stdout
        for line in (r"format      onnx 8", r"opset       ai.onnx 17", r"producer    maker 1.5", r"metadata    author = A. Nonymous",
                     r"operators   3\n       1  BatchNormalization\n       1  Conv\n       1  Relu\n"):
            self.assertRegex(text, "(?m)^" + line)
        # The graph's own operations are for those who want to know more.
        self.assertNotIn("stablehlo", text)
        self.assertIn("stablehlo.convolution", self.sinter("inspect", model, "--no-plan", "-v").stdout)

    def test_file_of_text(self):
        model = self.write("loop.mlir", """
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2x2xf32>
  %s = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %d = chlo.erf %x : tensor<2x2xf32> -> tensor<2x2xf32>
  %y = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
""")
        facts = self.facts(model, "--no-plan")
        self.assertEqual(facts["operators"], {"stablehlo.constant": 3, "stablehlo.reduce": 1, "chlo.erf": 1, "stablehlo.dot_general": 1})
        self.assertEqual(facts["weight_bytes"], 4 * 4 + 4 + 4)
        self.assertEqual(facts["flops"], 2 * 2 * 2 * 2)

    def test_flops(self):
        """Two for each multiply-add: a formula in the symbols of the file, and a number where all sizes are known."""
        each = 2 * 4 * 6 * 6 * 2 * 3 * 3
        model = self.convolution()
        facts = self.facts(model, "--no-plan")
        self.assertEqual(facts["flops"], f"{each}*N")
        self.assertRegex(self.sinter("inspect", model, "--no-plan").stdout, r"FLOPs       5.18 kFLOP \* N\n")
        facts = self.facts(model, "--no-plan", "--shape", "x:5x2x8x8")
        self.assertEqual(facts["flops"], 5 * each)
        self.assertEqual(self.facts(self.convolution(batch=3), "--no-plan")["flops"], 3 * each)
        # A formula of both.
        facts = self.facts(self.convolution(size="S"), "--no-plan", "--shape", "x:1x2xSxS")
        terms = dict(reversed(term.split("*", 1)) for term in facts["flops"].split(" + ") if "*" in term)
        self.assertEqual(terms["S*S"], str(2 * 4 * 2 * 9))

    def test_outputs_by_their_names(self):
        """Those of the input's dimensions that they follow from, else the file's own."""
        output = lambda *options: self.facts(self.convolution(*options), "--no-plan")["outputs"][0]
        self.assertEqual(output()["symbols"], ["N", "", "", ""])
        self.assertEqual(output()["shape"], [-1, 4, 6, 6])
        self.assertRegex(self.sinter("inspect", self.convolution(), "--no-plan").stdout, r"output +y +f32 \[N, 4, 6, 6\]")
        self.assertEqual(output("N", "S")["symbols"][0], "N")
        shaped = self.facts(self.convolution(), "--no-plan", "--shape", "x:7x2x8x8")["outputs"][0]
        self.assertEqual(shaped["shape"], [7, 4, 6, 6])

    def test_flops_of_branches_and_loops(self):
        matmul = "%{0} = stablehlo.dot_general %{1}, %{1}, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
        branch = self.write("branch.mlir", f"""
func.func @main(%p: tensor<i1>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %r = "stablehlo.if"(%p) ({{
    {matmul.format("a", "x")}
    {matmul.format("b", "a")}
    stablehlo.return %b : tensor<4x4xf32>
  }}, {{
    {matmul.format("c", "x")}
    stablehlo.return %c : tensor<4x4xf32>
  }}) : (tensor<i1>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}}
""")
        self.assertEqual(self.facts(branch, "--no-plan")["flops"], 2 * 2 * 4 * 4 * 4)
        loop = self.write("loop.mlir", f"""
func.func @main(%x: tensor<4x4xf32>, %n: tensor<i32>) -> tensor<4x4xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4x4xf32>
   cond {{
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %next = stablehlo.add %i, %one : tensor<i32>
    {matmul.format("z", "y")}
    stablehlo.return %next, %z : tensor<i32>, tensor<4x4xf32>
  }}
  return %r#1 : tensor<4x4xf32>
}}
""")
        facts = self.facts(loop, "--no-plan")
        self.assertEqual(facts["flops"], 2 * 4 * 4 * 4)
        self.assertIn("loop counts once", facts["flops_note"])

    def test_roles_of_a_text(self):
        tensors = self.facts(self.write("state.mlir", self.STATE))["tensors"]
        self.assertEqual([(each["name"], each["role"]) for each in tensors],
                         [("arg0", "input"), ("sum", "state"), ("sum", "state"), ("%half", "constant"), ("result0", "output")])

    def test_unknown_sizes(self):
        facts = self.facts(self.two_layers("N"))
        hidden = next(each for each in facts["tensors"] if each["name"] == "h")
        self.assertEqual((hidden["type"], hidden["bytes"]), ("f32 [?, 4]", None))

        plan = facts["plan"]
        self.assertEqual((plan["parameters"], plan["guards"]), (["N"], []))
        self.assertEqual((plan["input_bytes"], plan["output_bytes"], plan["arena_bytes"]), ("12*N", "36*N", None))
        self.assertEqual(plan["steps"], len(plan["program"]))
        operands = [operand for step in plan["program"] for operand in step["operands"]]
        self.assertIn(("in", "input", "x", "12*N"), {(each["access"], each["role"], each.get("name"), each["bytes"]) for each in operands})
        self.assertTrue(all(isinstance(each["bytes"], int) for each in operands if each["role"] == "constant"))
        self.assertRegex(str(plan["program"][0]["tasks"]), "N")
        done = self.sinter("inspect", self.two_layers("N"), "--steps")
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"one program for all sizes of N\n")
        self.assertRegex(done.stdout, r"in +12\*N bytes  input 'x'")
        # A size that is given is known.
        self.assertEqual(self.facts(self.two_layers("N"), "--shape", "x:5x3")["plan"]["input_bytes"], 60)

    def test_unknown_sizes_that_no_program_keeps_open(self):
        """The plan is of sizes that are taken for granted, which a note says."""
        model = self.write("closed.mlir", """
func.func @main(%x: tensor<?x?xf32> {sinter.name = "x", sinter.dims = ["N", "W"]}) -> tensor<?x?xf32> {
""" + closed("?x?") + """  return %y : tensor<?x?xf32>
}
""")
        done = self.sinter("inspect", model)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, r"note: there is no memory plan: .*convolution")
        self.assertRegex(done.stdout, r"input +x +f32 \[N, W\]")

    def steps(self, steps):
        for step in steps:
            yield step
            for body in step.get("bodies", []):
                yield from self.steps(body)

    def test_steps(self):
        """Every operand is in, out or inout, and lies within its space."""
        plan = self.facts(self.two_layers())["plan"]
        steps = list(self.steps(plan["program"]))
        self.assertEqual(plan["steps"], len(steps))
        self.assertEqual([step["step"] for step in steps], list(range(len(steps))))
        operands = [operand for step in steps for operand in step["operands"]]
        self.assertEqual({each["access"] for each in operands} - {"in", "out", "inout"}, set())
        self.assertIn(("in", "input", "x"), {(each["access"], each["role"], each.get("name")) for each in operands})
        self.assertTrue({("out", "y"), ("out", "z")} <= {(each["access"], each.get("name")) for each in operands})
        self.assertTrue(any(each["role"] == "constant" and each["access"] == "in" for each in operands))
        for each in operands:
            if each["space"] == "arena":
                self.assertLessEqual(each["offset"] + each["bytes"], plan["arena_bytes"])
                self.assertEqual(each["role"], "temporary")

    def test_reuse(self):
        """A long chain of layers that cannot be fused takes turns in the arena, which the steps say."""
        size, count = 64, 6
        weights = [onnx.tensor(f"w{i}", [size, size], onnx.floats(*[0.01] * size * size)) for i in range(count)]
        nodes = [onnx.node("MatMul", [f"t{i}", f"w{i}"], [f"t{i + 1}"], f"layer{i}") for i in range(count)]
        value = lambda name: onnx.value_info(name, (size, size))
        model = self.write("chain.onnx", onnx.model(onnx.graph(nodes, [value("t0")], [value(f"t{count}")], weights)))
        plan = self.facts(model)["plan"]
        self.assertLess(plan["arena_bytes"], (count - 1) * size * size * 4)
        reused = [each for step in plan["program"] for each in step["operands"] if "reuses_step" in each]
        self.assertTrue(reused)
        for step in plan["program"]:
            for each in step["operands"]:
                self.assertLess(each.get("reuses_step", -1), step["step"])
                self.assertEqual(each["access"] == "out" or "reuses_step" not in each, True)

    def test_states(self):
        model = self.write("state.mlir", self.STATE)
        facts = self.facts(model)
        self.assertEqual(facts["state"][0]["name"], "sum")
        self.assertEqual(facts["state"][0]["first"], [1.5] * 6)
        self.assertEqual(facts["plan"]["state_bytes"], 24)
        used = {(each["access"], each["space"]) for step in self.steps(facts["plan"]["program"]) for each in step["operands"]}
        self.assertTrue(("inout", "state") in used or {("in", "state"), ("out", "state")} <= used, used)
        text = self.sinter("inspect", model).stdout
        self.assertRegex(text, r"state   sum +f32 \[2, 3\]  min 1.5")
        self.assertRegex(text, r"states +24 bytes")

    def test_verbose(self):
        """How long compiling took, by its stages, beside what is printed."""
        done = self.sinter("inspect", self.two_layers(), "-v", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        stages = [line.rsplit(maxsplit=2)[0] for line in done.stderr.splitlines() if line.endswith(" ms") and not line.startswith("estimated")]
        self.assertEqual(stages, ["specialise", "simplify", "generate code"])
        json.loads(done.stdout)

    def test_text(self):
        """Short as it is; whole tables where asked for."""
        model = self.two_layers()
        text = self.sinter("inspect", model).stdout
        self.assertRegex(text, r"tensors +2 constant \(128 bytes\), 1 input \(24 bytes\), 2 output \(72 bytes\), 2 temporary \(64 bytes\)")
        self.assertNotIn("'first'", text)
        text = self.sinter("inspect", model, "--tensors", "--no-plan").stdout
        self.assertRegex(text, r"temporary +h +f32 \[2, 4\] +32  stablehlo.dot_general")
        self.assertNotIn("memory plan", text)
        text = self.sinter("inspect", model, "--steps").stdout
        self.assertRegex(text, r"\n  0  '")
        self.assertRegex(text, r"in +24 bytes  input 'x'")
        self.expect_error(USAGE, "inspect", model, "--steps", "--no-plan", mentions=["--no-plan"])

    def test_control_flow(self):
        """Branches are listed with their tensors, and steps with their bodies."""
        model = self.write("branch.mlir", """
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.if"(%p) ({
    %inner = stablehlo.tanh %x : tensor<4xf32>
    stablehlo.return %inner : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""")
        facts = self.facts(model)
        roles = {each["name"]: each["role"] for each in facts["tensors"]}
        self.assertEqual(roles["%inner"], "temporary")
        self.assertIn("if", [step["kind"] for step in facts["plan"]["program"]])
        done = self.sinter("inspect", model, "--steps")
        self.assertIn("body 1", done.stdout)

    def test_sizes_that_depend_on_values(self):
        """What runs on the interpreter only is described all the same, with a note."""
        to = onnx.data(5, onnx.data(1, "dtype") + onnx.number(3, onnx.FLOAT) + onnx.number(20, 2))
        nodes = [onnx.node("NonZero", ["x"], ["y"], "find"), onnx.node("RandomUniformLike", ["y"], ["z"], "noise", attributes=to)]
        outputs = [onnx.value_info("y", (2, "K"), onnx.INT64), onnx.value_info("z", (2, "K"))]
        path = self.write("sizes.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", (2, 3))], outputs)))
        done = self.sinter("inspect", path)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"output  y +i64 \[2, K\]")
        self.assertRegex(done.stderr, r"note: there is no memory plan: .*'noise'")
        self.assertEqual(self.facts(path)["plan"], None)

    def test_steps_that_define_sizes(self):
        """A size that the program computes is read by a step of its own."""
        path = self.write("places.onnx", onnx.model(onnx.graph(
            [onnx.node("NonZero", ["x"], ["y"], "find")], [onnx.value_info("x", (2, 3))], [onnx.value_info("y", (2, "K"), onnx.INT64)])))
        kinds = [step["kind"] for step in self.facts(path)["plan"]["program"]]
        self.assertIn("size", kinds)
        self.assertNotIn("", kinds)

    def test_graphs_that_depend_on_values(self):
        """An If whose branches differ in more than sizes, chosen by an input: inputs and outputs are described."""
        branch = lambda node: onnx.graph([node], [], [onnx.value_info("r", ())])
        graphs = onnx.data(5, onnx.data(1, "then_branch") + onnx.data(6, branch(onnx.node("ReduceSum", ["x"], ["r"], attributes=onnx.data(5, onnx.data(1, "keepdims") + onnx.number(3, 0) + onnx.number(20, 2))))) + onnx.number(20, 5))
        graphs += onnx.data(5, onnx.data(1, "else_branch") + onnx.data(6, branch(onnx.node("Relu", ["x"], ["r"]))) + onnx.number(20, 5))
        nodes = [onnx.node("Equal", ["rate", "wanted"], ["k"], "compare"), onnx.node("If", ["k"], ["y"], "choose", attributes=graphs)]
        wanted = onnx.tensor("wanted", [], struct.pack("<q", 16000), onnx.INT64)
        inputs = [onnx.value_info("x", (2, 3)), onnx.value_info("rate", (), onnx.INT64)]
        path = self.write("choose.onnx", onnx.model(onnx.graph(nodes, inputs, [onnx.value_info("y", ("A", "B"))], [wanted])))
        done = self.sinter("inspect", path)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"input   rate +i64 \[\]")
        facts = self.facts(path)
        self.assertEqual([each["name"] for each in facts["inputs"]], ["x", "rate"])
        rate = self.write("rate.npy", onnx.npy((), "<i8", struct.pack("<q", 16000)))
        ran = self.sinter("run", path, "--input", "random", "--input", f"rate={rate}")
        self.assertEqual(ran.returncode, DONE, ran.stderr)
        # An operator that nobody knows is no matter of values.
        nodes.append(onnx.node("Frobnicate", ["x"], ["other"], "what"))
        path = self.write("unknown.onnx", onnx.model(onnx.graph(nodes, inputs, [onnx.value_info("y", ("A", "B"))], [wanted])))
        self.expect_error(UNSUPPORTED, "inspect", path, mentions=["Frobnicate"])

    def test_assumed_sizes(self):
        """A model is good though not every size is."""
        split = onnx.node("Split", ["x"], ["a", "b"], "halves")
        graph = onnx.graph([split], [onnx.value_info("x", ("N", 4))], [onnx.value_info("a", ("A", 4)), onnx.value_info("b", ("B", 4))])
        path = self.write("halves.onnx", onnx.model(graph))
        done = self.sinter("inspect", path)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"input +x +f32 \[N, 4\]")
        done = self.sinter("inspect", path, "--shape", "x:3x4")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("halves", done.stderr)

    def test_open_sizes(self):
        path = self.good_model(shape=("N", "length"))
        done = self.sinter("inspect", path)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"one program for all sizes of N, length\n")
        self.expect_error(USAGE, "inspect", path, "--shape", "x:1x2x3", mentions=["'x'"])


if __name__ == "__main__":
    main()
