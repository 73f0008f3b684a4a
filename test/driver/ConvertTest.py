#!/usr/bin/env python3
"""`sinter convert`."""
import json

from SinterCommand import CommandTest, DONE, USAGE, main


class Convert(CommandTest):
    def test_convert(self):
        text = self.path("net.mlir")
        self.assertEqual(self.sinter("convert", self.good_model(), "-o", text).returncode, DONE)
        done = self.sinter("run", text, "--input", "random:3", "--backend", "interpreter", "--json")
        direct = self.sinter("run", self.good_model(), "--input", "random:3", "--backend", "interpreter", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"], json.loads(direct.stdout)["outputs"])

    def test_shapes_of_stablehlo(self):
        """A file that is translated once gets the sizes, too; other dimensions stay dynamic."""
        model = self.write("in.mlir", """
func.func @main(%x: tensor<?x?xf32> {sinter.name = "x"}) -> tensor<?x?xf32> {
  %0 = stablehlo.tanh %x : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
""")
        for command in "convert", "optimize":
            for shape, kind in ("2x3", "tensor<2x3xf32>"), ("?x3", "tensor<?x3xf32>"):
                out = self.path("out.mlir")
                done = self.sinter(command, model, "-o", out, "--shape", "x:" + shape, "--force")
                self.assertEqual(done.returncode, DONE, done.stderr)
                with open(out) as file:
                    text = file.read()
                self.assertIn(f"%arg0: {kind}", text.replace("%x:", "%arg0:"), command)
                self.assertIn(f"-> {kind}" if "-> (" not in text else kind, text, command)
            self.expect_error(USAGE, command, model, "-o", self.path("o.mlir"), "--shape", "x:2x3x4", mentions=["x"])
            self.expect_error(USAGE, command, model, "-o", self.path("o.mlir"), "--shape", "z:2x3", mentions=["z"])


if __name__ == "__main__":
    main()
