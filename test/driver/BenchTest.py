#!/usr/bin/env python3
# Covers: interface KeptCeilings
# Covers: driver LatencyStatistics LayerProfile Machine MachineReport Progress Roofline Streams Sweep Trace
# Covers: graph ArithmeticCount
# Covers: runtime CpuCount CpuFeatures MachineMemory
"""`sinter bench`."""
import json
import os
import re
from xml.etree import ElementTree

from SinterCommand import CommandTest, DONE, USAGE, main, npy


class Bench(CommandTest):
    def test_bench(self):
        done = self.sinter("bench", self.good_model(), "--backend", "interpreter", "--seconds", "0.05", "--layers", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        result = json.loads(done.stdout)
        keys = "model backend threads streams runs cpu isa precision matrix_units batch latency_ms throughput_per_s gflop_per_inference gflops load_ms compile_ms first_ms peak_rss_mb cv layers"
        self.assertEqual(set(result), set(keys.split()))
        self.assertEqual(set(result["latency_ms"]), set("min median mean p90 p99 max".split()))
        self.assertEqual(set(result["layers"][0]), set("name op kernel ms gflops".split()))
        self.assertEqual(result["batch"], 2)
        self.assertGreater(result["gflop_per_inference"], 0)

    def test_sweep(self):
        """Sizes of an unknown dimension in turn; what the file or --shape says of others stays."""
        net = self.write("net.mlir", """
func.func @main(%x: tensor<?x4x?xf32> {sinter.dims = ["N", "", "sequence"]}, %y: tensor<?xf32> {sinter.dims = ["sequence"]}) -> tensor<?x4x?xf32> {
  %0 = stablehlo.tanh %x : tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}
""")
        done = self.sinter("bench", net, "--sweep", "sequence=3,16,3", "--shape", "x:2x4x?", "--seconds", "0.02", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual([row["size"] for row in rows], [3, 16, 3])
        for row in rows:
            self.assertEqual(row["batch"], 2)
            self.assertLessEqual(set("size first_ms latency_ms compile_ms".split()), set(row))
        done = self.sinter("bench", net, "--sweep", "sequence=3,0", "--seconds", "0.02")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["sequence", "3", "0"])
        for options, message in ((["--sweep", "sequenc=3"], "did you mean 'sequence'"),
                                 (["--sweep", "sequence"], "there is no name"),
                                 (["--sweep", "sequence=3,x"], "'x' is no size"),
                                 (["--sweep", "sequence=-3"], "'-3' is no size"),
                                 (["--sweep", "sequence=3,"], "'' is no size"),
                                 (["--sweep", "sequence=3", "--shape", "x:2x4x5"], "no other size"),
                                 (["--sweep", "sequence=3", "--trace", self.path("trace.json")], "--trace is of one size"),
                                 (["--sweep", "sequence=3", "--layers"], "excludes")):
            done = self.sinter("bench", net, "--seconds", "0.02", *options)
            self.assertEqual(done.returncode, USAGE, (options, done.stderr))
            self.assertIn(message, done.stderr)

    def test_streams(self):
        """Concurrent runs, each with a share of the threads; the throughput is that of all of them."""
        for threads, streams in ((2, 2), (5, 3), (1, 1)):
            done = self.sinter("bench", self.good_model(), "--threads", str(threads), "--streams", str(streams), "--seconds", "0.3", "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            result = json.loads(done.stdout)
            self.assertEqual((result["threads"], result["streams"], result["batch"]), (threads, streams, 2))
            self.assertGreaterEqual(result["runs"], streams)
            if streams > 1:
                # All streams run for the time that was asked for, side by side.
                seconds = result["runs"] * result["batch"] / result["throughput_per_s"]
                self.assertGreater(seconds, 0.3)
                self.assertLess(seconds, 10)
                # One after the other, they would take as long as all latencies.
                self.assertGreater(result["runs"] * result["latency_ms"]["mean"] / 1000, 1.5 * seconds)
                self.assertAlmostEqual(result["gflops"], result["gflop_per_inference"] * result["throughput_per_s"] / 2, delta=1e-6 + 0.01 * result["gflops"])
        done = self.sinter("bench", self.good_model(), "--threads", "2", "--streams", "2", "--seconds", "0.1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("2 threads in 2 streams, batch 2", done.stdout)

    def test_streams_have_states_of_their_own(self):
        """Also given ones, and those of a sweep."""
        counter = self.write("counter.mlir", """
func.func @main(%count: tensor<f32> {sinter.state = "count", sinter.initial = dense<5.0> : tensor<f32>}, %x: tensor<?xf32> {sinter.dims = ["N"]}) -> (tensor<f32> {sinter.state = "count"}, tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %next = stablehlo.add %count, %one : tensor<f32>
  %y = stablehlo.tanh %x : tensor<?xf32>
  return %next, %y : tensor<f32>, tensor<?xf32>
}
""")
        given = self.write("count.npy", npy((), [7.0]))
        done = self.sinter("bench", counter, "--threads", "2", "--streams", "2", "--seconds", "0.1", "--sweep", "N=3,70000", "--state", f"count={given}", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual([(row["size"], row["streams"]) for row in json.loads(done.stdout)], [(3, 2), (70000, 2)])

    def test_streams_that_cannot_be(self):
        for options, message in ((["--threads", "2", "--streams", "3"], "3 streams need as many threads, but there are 2"),
                                 (["--threads", "2", "--streams", "2", "--backend", "interpreter"], "the interpreter runs one at a time"),
                                 (["--threads", "2", "--streams", "2", "--layers"], "excludes"),
                                 (["--threads", "2", "--streams", "2", "--plot", self.path("plot.svg")], "excludes"),
                                 (["--threads", "2", "--streams", "2", "--trace", self.path("trace.json")], "--trace is of one run at a time"),
                                 (["--streams", "0"], "--streams"), (["--streams", "two"], "--streams")):
            self.expect_error(USAGE, "bench", self.good_model(), "--seconds", "0.02", *options, mentions=[message])

    def test_trace(self):
        """The stages of compiling, a row for the kernels of each thread, and behind them the layers."""
        trace = self.path("trace.json")
        done = self.sinter("bench", self.good_model(), "--seconds", "0.02", "--no-cache", "--threads", "1", "--trace", trace)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(trace) as file:
            events = json.load(file)["traceEvents"]
        rows = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
        self.assertEqual(set(rows.values()), {"compile", "kernels, thread 0", "layers"})
        found = {}
        for each in events:
            if each["ph"] == "X":
                found.setdefault(rows[each["tid"]], []).append(each)
        self.assertEqual([each["name"] for each in found["compile"]], ["read", "specialise", "simplify", "generate code"])
        stages = [each["cat"] for each in found["kernels, thread 0"]]
        self.assertEqual(stages[:5], ["emit", "lower", "translate", "optimise", "assemble"])
        self.assertGreaterEqual(min(each["ts"] for each in found["layers"]), max(each["ts"] + each["dur"] for each in found["compile"]) - 1)

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

    def test_machine_where_nothing_can_be_stored(self):
        done = self.sinter("bench", "--machine", "--seconds", "0.1", "--cache-dir", self.good_model())
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("is not stored", done.stderr)

    def test_choices(self):
        """The kernels that could compute each product, the fastest first; what was measured of the machine decides."""
        convolution = self.write("convolution.mlir", """
func.func @main(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %i = stablehlo.iota dim = 0 : tensor<36864xf32>
  %s = stablehlo.sine %i : tensor<36864xf32>
  %w = stablehlo.reshape %s : (tensor<36864xf32>) -> tensor<64x64x3x3xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32> loc("conv")
  return %0 : tensor<1x64x28x28xf32>
}""")
        home = self.path("home")
        cache = os.path.join(home, "sinter")
        arguments = ["bench", convolution, "--seconds", "0.02", "--cache-dir", cache, "-v", "--layers", "--json"]

        def choice():
            done = self.sinter(*arguments)
            self.assertEqual(done.returncode, DONE, done.stderr)
            line, = [line for line in done.stderr.splitlines() if line.startswith("estimated")]
            # With matrix units there are more.
            alternative = r"(direct|winograd|winograd-2x4|tiles-split\d) ([0-9.]+) ms"
            self.assertRegex(line, f"^estimated +.*: {alternative}(, {alternative})*$")
            names, times = zip(*re.findall(alternative, line))
            self.assertLessEqual({"direct", "winograd", "winograd-2x4"}, set(names), line)
            self.assertEqual(len(set(names)), len(names), line)
            self.assertEqual(list(times), sorted(times, key=float), line)
            self.assertTrue(any(layer["kernel"] == names[0] for layer in json.loads(done.stdout)["layers"]))
            # What is inspected is the program that runs here.
            inspected = self.sinter("inspect", convolution, "-v", "--json", XDG_CACHE_HOME=home)
            self.assertEqual(inspected.returncode, DONE, inspected.stderr)
            self.assertIn(line, inspected.stderr.splitlines())
            self.assertIn(names[0], [step.get("kernel") for step in json.loads(inspected.stdout)["plan"]["program"]])
            return names[0]

        self.assertEqual(choice(), "winograd")
        # On a machine that multiplies far faster than it reads, fewer products gain nothing.
        self.assertEqual(self.sinter("bench", "--machine", "--seconds", "0.1", "--cache-dir", cache).returncode, DONE)
        kept, = [os.path.join(cache, name) for name in os.listdir(cache) if name.startswith("machine-")]
        with open(kept) as file:
            told = json.load(file)
        for each in told["arithmetic"]:
            each["gops"] *= 1000
        with open(kept, "w") as file:
            json.dump(told, file)
        self.assertEqual(choice(), "direct")

    def test_choices_of_forms(self):
        """What passes choose from is told, too, and the first is what is done."""
        model = self.write("forms.mlir", """
func.func @main(%q: tensor<4x8x32xf32>, %k: tensor<4x1x32xf32>, %x: tensor<2x64xf32>, %b: tensor<2x64xui8>)
    -> (tensor<4x8x32xf32>, tensor<2x128xf32>, tensor<2x128xi32>) {
  %0 = nn.attention %q, %k, %k scale = 1.0
    : (tensor<4x8x32xf32>, tensor<4x1x32xf32>, tensor<4x1x32xf32>) -> tensor<4x8x32xf32> loc("heads")
  %w = stablehlo.constant dense<100> : tensor<64x128xi8>
  %wf = stablehlo.convert %w : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %1 = stablehlo.dot_general %x, %wf, contracting_dims = [1] x [0]
    : (tensor<2x64xf32>, tensor<64x128xf32>) -> tensor<2x128xf32> loc("few bits")
  %wi = stablehlo.convert %w : (tensor<64x128xi8>) -> tensor<64x128xi32>
  %bi = stablehlo.convert %b : (tensor<2x64xui8>) -> tensor<2x64xi32>
  %2 = stablehlo.dot_general %bi, %wi, contracting_dims = [1] x [0]
    : (tensor<2x64xi32>, tensor<64x128xi32>) -> tensor<2x128xi32> loc("bytes")
  return %0, %1, %2 : tensor<4x8x32xf32>, tensor<2x128xf32>, tensor<2x128xi32>
}""")
        done = self.sinter("bench", model, "--seconds", "0.02", "--no-cache", "-v", "--layers", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("estimated")]
        for layer, first, second in (("heads", "products", "attention"), ("few bits", "narrow-weights", "wide-weights"),
                                     ("bytes", "bytes", "f32")):
            # With matrix units there are more.
            told = re.compile(rf"estimated +{layer}: {first} [0-9.]+ ms, {second} [0-9.]+ ms(, tiles\S+ [0-9.]+ ms)*$")
            self.assertEqual(len([line for line in lines if told.match(line)]), 1, (layer, lines))
        kernels = {layer["kernel"] for layer in json.loads(done.stdout)["layers"]}
        self.assertNotIn("attention", kernels)

    def test_plot(self):
        """The picture has a dot for each layer that computes, with its name, and a line for each ceiling."""
        picture, cache = self.path("roof.svg"), self.path("cache")
        for _ in range(2):
            done = self.sinter("bench", self.good_model(), "--seconds", "0.05", "--plot", picture, "--layers", "--json", "--cache-dir", cache)
            self.assertEqual(done.returncode, DONE, done.stderr)
        kept = [name for name in os.listdir(cache) if name.startswith("machine-")]
        self.assertEqual(len(kept), 1)
        with open(os.path.join(cache, kept[0])) as file:
            ceilings = json.load(file)
        layers = [layer for layer in json.loads(done.stdout)["layers"] if layer["gflops"] > 0]
        root = ElementTree.parse(picture).getroot()
        space = "{http://www.w3.org/2000/svg}"
        titles = [dot.find(space + "title").text for dot in root.iter(space + "circle")]
        self.assertEqual(sorted(title.split("\n")[0] for title in titles), sorted(layer["name"] for layer in layers))
        words = " ".join(text.text for text in root.iter(space + "text"))
        for each in ceilings["arithmetic"]:
            self.assertIn("%s %.0f" % (each["name"], each["gops"]), words)
        for each in ceilings["bandwidth"]:
            self.assertIn(each["level"], words)

    def test_plot_uses_what_was_measured(self):
        """A file that somebody else has damaged counts as none."""
        picture, cache = self.path("roof.svg"), self.path("cache")
        arguments = ["bench", self.good_model(), "--seconds", "0.05", "--plot", picture, "--cache-dir", cache]
        self.assertEqual(self.sinter(*arguments).returncode, DONE)
        kept, = [os.path.join(cache, name) for name in os.listdir(cache) if name.startswith("machine-")]
        with open(kept) as file:
            told = json.load(file)
        told["arithmetic"][0]["gops"] = 4242
        with open(kept, "w") as file:
            json.dump(told, file)
        self.assertEqual(self.sinter(*arguments).returncode, DONE)
        with open(picture) as file:
            self.assertIn(" 4242<", file.read())
        with open(kept, "w") as file:
            file.write("{")
        done = self.sinter(*arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(picture) as file:
            self.assertNotIn(" 4242<", file.read())

    def test_usage(self):
        self.expect_error(USAGE, "bench", mentions=["MODEL", "--machine"])
        self.expect_error(USAGE, "bench", self.good_model(), "--plot", self.good_model(), mentions=["--plot"])
        self.expect_error(USAGE, "bench", self.good_model(), "--machine", mentions=["--machine"])


if __name__ == "__main__":
    main()
