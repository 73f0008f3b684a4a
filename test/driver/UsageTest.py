#!/usr/bin/env python3
"""What `sinter` says of wrong arguments, and its help."""
from SinterCommand import CommandTest, DONE, SYSTEM, USAGE, main


class Usage(CommandTest):
    def test_help(self):
        done = self.sinter("--help")
        self.assertEqual(done.returncode, DONE)
        self.assertLess(done.stdout.index("sinter run resnet50.onnx"), done.stdout.index("Usage"))
        for command in ["run", "bench", "optimize", "convert", "test", "inspect"]:
            done = self.sinter(command, "--help")
            self.assertEqual(done.returncode, DONE)
            self.assertIn(f"  sinter {command} ", done.stdout)

    def test_version(self):
        self.assertRegex(self.sinter("--version").stdout, r"^sinter \d+\.\d+\.\d+$")

    def test_near_misses(self):
        self.expect_error(USAGE, "rnu", mentions=["did you mean 'run'?"])
        self.expect_error(USAGE, "run", "--bakend", "cpu", mentions=["did you mean '--backend'?"])
        model = self.good_model()
        self.expect_error(USAGE, "run", model, "--shape", "xx:1x2", mentions=["no input 'xx'", "'x'"])
        self.expect_error(USAGE, "run", model, "--input", "z=a.npy", mentions=["no input 'z'", "'x'"])

    def test_wrong_values(self):
        model = self.good_model()
        self.expect_error(USAGE, "run", model, "--backend", "gpu", mentions=["--backend"])
        self.expect_error(USAGE, "run", model, "--threads", "none", mentions=["--threads"])
        for shape in ["x", ":1x2", "x:1xx2", "x:-1", "x:1x2x", "x:99999999999999999999"]:
            self.expect_error(USAGE, "run", model, "--shape", shape, mentions=["--shape"])
        self.expect_error(USAGE, "run", mentions=["MODEL"])
        self.expect_error(USAGE, "optimize", model, mentions=["-o FILE"])
        self.expect_error(USAGE, "convert", model, "-o", self.path("net.xyz"), mentions=["extension"])

    def test_files_that_are_not_there(self):
        for command in ["run", "bench", "inspect"]:
            self.expect_error(SYSTEM, command, self.path("none.onnx"), mentions=["none.onnx"])
        self.expect_error(SYSTEM, "run", self.folder, mentions=[self.folder])
        self.expect_error(SYSTEM, "test", self.path("none"), mentions=["none"])
        self.expect_error(USAGE, "test", self.folder, mentions=["no tests"])


if __name__ == "__main__":
    main()
