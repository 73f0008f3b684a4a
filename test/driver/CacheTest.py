#!/usr/bin/env python3
# Covers: engine/compiler Compile CompilerEntry Facts MlirCompiler ModelSource LiftConstants
"""Finished programs that are kept."""
import json
import os
import sys

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats", "paddle"))
import PaddleBytes as paddle


class Cache(CommandTest):
    def run_cached(self, model, *arguments, **environment):
        return self.sinter("run", model, "--input", "random", "--json", "--cache-dir", self.path("cache"), *arguments, **environment)

    def result(self, *arguments):
        done = self.run_cached(*arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        answer = json.loads(done.stdout)
        return answer["from_cache"], answer["outputs"]

    def test_second_run(self):
        model = self.good_model()
        first, outputs = self.result(model)
        self.assertFalse(first)
        self.assertEqual(self.result(model), (True, outputs))
        self.assertEqual(self.result(model, "--threads", "1"), (True, outputs))
        self.assertFalse(self.result(model, "--no-cache")[0])
        self.assertFalse(self.result(self.good_model(shape=(3, 2)))[0])

    def test_needs_no_compiler(self):
        model = self.good_model()
        self.assertIn("libsinter-compiler", self.run_cached(model, LD_DEBUG="files").stderr)
        self.assertNotIn("libsinter-compiler", self.run_cached(model, LD_DEBUG="files").stderr)

    def test_damage(self):
        model = self.good_model()
        _, outputs = self.result(model)
        for entry in os.listdir(self.path("cache")):
            with open(os.path.join(self.path("cache"), entry), "r+b") as file:
                file.truncate(os.path.getsize(file.name) // 2)
        self.assertEqual(self.result(model), (False, outputs))
        self.assertEqual(self.result(model), (True, outputs))

    def test_external_data_count(self):
        weight = onnx.tensor("w", [2, 3], external=[("location", "weights")])
        model = self.write("m.onnx", onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]))
        self.write("weights", onnx.floats(*range(6)))
        _, before = self.result(model)
        self.assertTrue(self.result(model)[0])
        self.write("weights", onnx.floats(*range(1, 7)))
        cached, after = self.result(model)
        self.assertFalse(cached)
        self.assertNotEqual(before, after)

    def test_links(self):
        """A snapshot of Hugging Face's cache: its files are links to where the bytes are."""
        snapshot = self.path("snapshots/rev")
        os.makedirs(snapshot)
        program = paddle.Program()
        program.input("x", [2, 3])
        program.parameter("w", [3], [1, 2, 3])
        program.op("elementwise_add", {"X": "x", "Y": "w"}, {"Out": "y"}, axis=-1)
        program.output("y")

        def save():
            program.save(self.path("blobs"))
            for name in os.listdir(self.path("blobs")):
                if not os.path.exists(os.path.join(snapshot, name)):
                    os.symlink("../../blobs/" + name, os.path.join(snapshot, name))

        save()
        # One that leads nowhere hides nothing behind it.
        os.symlink("../../blobs/gone", os.path.join(snapshot, "a"))
        for number, model in enumerate((snapshot, os.path.join(snapshot, "inference.pdmodel"))):
            program.parameters["w"] = paddle.tensor([3], [number, 2, 3])
            save()
            cached, outputs = self.result(model)
            self.assertFalse(cached)
            self.assertEqual(self.result(model), (True, outputs))
            program.parameters["w"] = paddle.tensor([3], [number, 5, 6])
            save()
            cached, other = self.result(model)
            self.assertFalse(cached)
            self.assertNotEqual(other, outputs)
        self.assertEqual(self.run_cached(model).stderr, "")


    def entries(self):
        return [os.path.join(self.path("cache"), name) for name in os.listdir(self.path("cache"))]

    def test_who_may_write(self):
        """Code is run that is found there, so nobody else may have put it there."""
        model = self.good_model()
        _, outputs = self.result(model)
        self.assertEqual(os.stat(self.path("cache")).st_mode & 0o777, 0o700)
        for entry in self.entries():
            self.assertEqual(os.stat(entry).st_mode & 0o777, 0o600)
        for mode, used in (0o777, False), (0o770, False), (0o755, True), (0o1777, True), (0o700, True):
            os.chmod(self.path("cache"), mode)
            done = self.run_cached(model)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual((json.loads(done.stdout)["from_cache"], "can be written to by other users" in done.stderr), (used, not used), oct(mode))
        for entry in self.entries():
            os.chmod(entry, 0o666)
        done = self.run_cached(model)
        self.assertEqual((done.returncode, json.loads(done.stdout)["from_cache"]), (DONE, False), done.stderr)
        self.assertIn("can be written to by other users", done.stderr)
        self.assertEqual(self.result(model), (True, outputs))

    def test_another_user(self):
        if os.getuid() != 0:
            self.skipTest("only the superuser can give files away")
        model, nobody = self.good_model(), 65534
        _, outputs = self.result(model)
        for entry in self.entries():
            os.chown(entry, nobody, nobody)
        done = self.run_cached(model)
        self.assertEqual((done.returncode, json.loads(done.stdout)["from_cache"]), (DONE, False), done.stderr)
        self.assertIn("belongs to another user", done.stderr)
        self.assertEqual(self.result(model), (True, outputs))
        os.chown(self.path("cache"), nobody, nobody)
        done = self.run_cached(model)
        self.assertEqual((done.returncode, json.loads(done.stdout)["from_cache"]), (DONE, False), done.stderr)
        self.assertIn("belongs to another user", done.stderr)

    def test_what_is_no_file(self):
        """A pipe, a folder or a link under the name of an entry: nothing waits, and the run is done."""
        model = self.good_model()
        _, outputs = self.result(model)
        names = self.entries()

        def link(entry):
            os.rename(entry, entry + ".elsewhere")
            os.symlink(entry + ".elsewhere", entry)

        for place in (lambda entry: (os.remove(entry), os.mkfifo(entry)), lambda entry: (os.remove(entry), os.mkdir(entry)), link):
            for entry in names:
                if os.path.lexists(entry):
                    place(entry)
            done = self.run_cached(model)
            self.assertEqual((done.returncode, json.loads(done.stdout)["outputs"]), (DONE, outputs), done.stderr)
            self.assertIn("note: ", done.stderr)
            for entry in self.entries():
                if os.path.isdir(entry):
                    os.rmdir(entry)
            self.result(model)
            self.assertEqual(self.result(model), (True, outputs))


if __name__ == "__main__":
    main()
