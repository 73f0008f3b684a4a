#!/usr/bin/env python3
"""`sinter bench`."""
import json

from SinterCommand import CommandTest, DONE, main


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


if __name__ == "__main__":
    main()
