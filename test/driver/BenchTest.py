#!/usr/bin/env python3
"""`sinter bench`."""
import json
import os

from SinterCommand import CommandTest, DONE, USAGE, main


class Bench(CommandTest):
    def test_bench(self):
        done = self.sinter("bench", self.good_model(), "--backend", "interpreter", "--seconds", "0.05", "--layers", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        result = json.loads(done.stdout)
        keys = "model backend threads cpu isa batch latency_ms throughput_per_s gflop_per_inference gflops load_ms compile_ms first_ms peak_rss_mb cv layers"
        self.assertEqual(set(result), set(keys.split()))
        self.assertEqual(set(result["latency_ms"]), set("min median mean p90 p99 max".split()))
        self.assertEqual(set(result["layers"][0]), set("name op kernel ms gflops".split()))
        self.assertEqual(result["batch"], 2)
        self.assertGreater(result["gflop_per_inference"], 0)

    def test_machine(self):
        """What the machine can do is measured, printed and kept, and is as one would expect of any."""
        cache = self.path("cache")
        done = self.sinter("bench", "--machine", "--json", "--seconds", "0.4", "--cache-dir", cache)
        self.assertEqual(done.returncode, DONE, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(set(told), set("cpu isa threads arithmetic bandwidth kept".split()))
        rates = {each["name"]: each["gops"] for each in told["arithmetic"]}
        self.assertLessEqual({"f32", "f64"}, set(rates))
        # More than any processor of this century, and less than one core of any.
        for name, rate in rates.items():
            self.assertTrue(0.5 < rate < 1e5, (name, rate))
        self.assertGreater(rates["f32"], 1.2 * rates["f64"])
        levels = {each["level"]: each["gb_per_s"] for each in told["bandwidth"]}
        self.assertLessEqual({"L1", "L2", "DRAM"}, set(levels))
        self.assertGreater(levels["L1"], levels["DRAM"])
        self.assertEqual(os.path.dirname(told["kept"]), cache)
        with open(told.pop("kept")) as file:
            self.assertEqual(json.load(file), told)

    def test_machine_as_text(self):
        done = self.sinter("bench", "--machine", "--seconds", "0.2", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for word in ("f32", "f64", "L1", "DRAM", "GFLOP/s", "GB/s"):
            self.assertIn(word, done.stdout)
        self.assertNotIn("kept", done.stdout)

    def test_machine_where_nothing_can_be_kept(self):
        done = self.sinter("bench", "--machine", "--seconds", "0.1", "--cache-dir", self.good_model())
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("is not kept", done.stderr)

    def test_usage(self):
        self.expect_error(USAGE, "bench", mentions=["MODEL", "--machine"])
        self.expect_error(USAGE, "bench", self.good_model(), "--machine", mentions=["--machine"])


if __name__ == "__main__":
    main()
