#!/usr/bin/env python3
"""`sinter convert`."""
import json

from SinterCommand import CommandTest, DONE, main


class Convert(CommandTest):
    def test_convert(self):
        text = self.path("net.mlir")
        self.assertEqual(self.sinter("convert", self.good_model(), "-o", text).returncode, DONE)
        done = self.sinter("run", text, "--input", "random:3", "--backend", "interpreter", "--json")
        direct = self.sinter("run", self.good_model(), "--input", "random:3", "--backend", "interpreter", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"], json.loads(direct.stdout)["outputs"])


if __name__ == "__main__":
    main()
