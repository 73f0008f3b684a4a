#!/usr/bin/env python3
"""Portable artifacts with types that MLIR 19 lacks: functions that have them are left out, with those that call them."""
import json

from SinterCommand import CommandTest, DONE, UNSUPPORTED, main

# A type that the writer knows, another one, and one that it does not, by their codes in an artifact.
KNOWN, OTHER, LACKING, NAME = ("f8E5M2", 7), ("f8E4M3FN", 6), 36, "f8E3M4"

PIECES = {
    "lacks": """
        func.func private @lacks(%x: tensor<2xTYPE>) -> tensor<2xTYPE> {
          return %x : tensor<2xTYPE>
        }""",
    "direct": """
        func.func private @direct(%x: tensor<2xf32>) -> tensor<2xf32> {
          %n = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xTYPE>
          %r = call @lacks(%n) : (tensor<2xTYPE>) -> tensor<2xTYPE>
          %y = stablehlo.convert %r : (tensor<2xTYPE>) -> tensor<2xf32>
          return %y : tensor<2xf32>
        }""",
    "caller": """
        func.func @caller(%x: tensor<2xf32>) -> tensor<2xf32> {
          %y = call @direct(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %y : tensor<2xf32>
        }""",
    # From a branch inside of a loop.
    "nested": """
        func.func @nested(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
          %f = stablehlo.constant dense<false> : tensor<i1>
          %r:2 = stablehlo.while(%v = %x, %p = %c) : tensor<2xf32>, tensor<i1>
            cond { stablehlo.return %p : tensor<i1> }
            do {
              %s = "stablehlo.if"(%p) ({
                %y = func.call @caller(%v) : (tensor<2xf32>) -> tensor<2xf32>
                stablehlo.return %y : tensor<2xf32>
              }, {
                stablehlo.return %v : tensor<2xf32>
              }) : (tensor<i1>) -> tensor<2xf32>
              stablehlo.return %s, %f : tensor<2xf32>, tensor<i1>
            }
          return %r#0 : tensor<2xf32>
        }""",
    "composite": """
        func.func @composite(%x: tensor<2xf32>) -> tensor<2xf32> {
          %y = stablehlo.composite "some.thing" %x {decomposition = @direct} : (tensor<2xf32>) -> tensor<2xf32>
          return %y : tensor<2xf32>
        }""",
    "untouched": """
        func.func @untouched(%x: tensor<2xf32>) -> tensor<2xf32> {
          %y = call @helper(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %y : tensor<2xf32>
        }
        func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
          %y = stablehlo.add %x, %x : tensor<2xf32>
          return %y : tensor<2xf32>
        }""",
}


class LeftOut(CommandTest):
    def artifact(self, name, text):
        """An artifact of TEXT in which the element type TYPE is one that we lack.

        Written with two types that we have, artifacts differ where the type's code stands, a number of one byte."""
        written = []
        for type_name, _ in KNOWN, OTHER:
            source, out = self.write("source.mlir", text.replace("TYPE", type_name)), self.path("source.mlir.bc")
            done = self.sinter("convert", source, "-o", out, "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            with open(out, "rb") as file:
                written.append(file.read())
        places = [i for i, (a, b) in enumerate(zip(*written)) if a != b]
        self.assertEqual([len(written[0]), len(places)], [len(written[1]), 1])
        patched = bytearray(written[0])
        self.assertEqual(patched[places[0]], KNOWN[1] * 2 + 1)
        patched[places[0]] = LACKING * 2 + 1
        return self.write(name, bytes(patched))

    def test_callers_go_too(self):
        names = list(PIECES)
        # In whichever order they stand.
        for order in names, names[::-1]:
            model = self.artifact("net.mlir.bc", "\n".join(PIECES[each] for each in order))
            out = self.path("out.mlir")
            for command in ("convert",), ("optimize", "--force"):
                target = out if command[0] == "convert" else self.path("out.mlir.bc")
                done = self.sinter(*command, model, "-o", target)
                self.assertEqual(done.returncode, DONE, done.stderr)
                notes = done.stderr.splitlines()
                self.assertEqual(len(notes), 1, done.stderr)
                self.assertTrue(notes[0].startswith("note: ") and model in notes[0] and NAME in notes[0], notes[0])
                self.assertIn("left out", notes[0])
            with open(out) as file:
                text = file.read()
            for name in names:
                self.assertEqual(f"@{name}(" in text, name == "untouched", name)
            self.assertIn("@helper", text)
            for backend in "cpu", "interpreter":
                # The only public function that is left needs no name.
                done = self.sinter("run", model, "--input", "random:1", "--backend", backend, "--json", "--no-cache")
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertIn(NAME, done.stderr)
                self.assertEqual(len(json.loads(done.stdout)["outputs"]), 1)

    def test_each_way_to_call(self):
        for name in "direct", "caller", "nested", "composite":
            needed = {"direct": [], "caller": ["direct"], "nested": ["direct", "caller"], "composite": ["direct"]}[name]
            model = self.artifact("net.mlir.bc", "\n".join(PIECES[each] for each in ["untouched", name, *needed, "lacks"]))
            done = self.sinter("convert", model, "-o", self.path("out.mlir"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            with open(self.path("out.mlir")) as file:
                text = file.read()
            self.assertNotIn(f"@{name}(", text)
            self.assertIn("@untouched(", text)

    def test_main_is_needed(self):
        """Where @main is left out, or nothing is left, the file is not supported."""
        main_of = """
        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %y = call @caller(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %y : tensor<2xf32>
        }"""
        whole = [PIECES[each] for each in ("untouched", "lacks", "direct", "caller")]
        own = PIECES["lacks"].replace("private @lacks", "@main")
        for number, text in enumerate(("\n".join([*whole, main_of]), "\n".join([main_of, *whole]), own,
                                       "\n".join(whole[1:]), f"{own}\n{PIECES['untouched']}")):
            model = self.artifact(f"net{number}.mlir.bc", text)
            for command in (("run", "--input", "random"), ("inspect",), ("bench", "--input", "random"), ("optimize", "--stats"),
                            ("convert", "-o", self.path("out.mlir"))):
                self.expect_error(UNSUPPORTED, *command, model, mentions=[model, NAME])


if __name__ == "__main__":
    main()
