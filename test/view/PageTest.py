#!/usr/bin/env python3
# Covers: view ViewModel
"""The page of `sinter inspect --html` in a browser, as someone uses it: models of all formats are opened, searched, clicked and
read. Without a browser all of it is skipped.

    test/view/PageTest.py SINTER [unittest options]

SINTER_PICTURES=DIR: images of the pages, to look at, are written there.
"""
import os
import pathlib
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "driver")]
import Browser  # noqa: E402
import OnnxBytes as onnx  # noqa: E402
import QuantizeModels as models  # noqa: E402
from SinterCommand import CommandTest, DONE, main, USAGE  # noqa: E402

BROWSER = Browser.find()
EVIL = '</script><img src=x onerror="window.evil = 1"><b>&amp;'


def resnet_block(batch=1):
    """Conv, batch norm, Relu twice with a sum: batch norms fold, the rest is fused."""
    weights, nodes = [], []
    for i, source in ((1, "x"), (2, "r1")):
        weights += [models.weight(f"w{i}", [4, 4, 3, 3], i)]
        weights += [models.weight(f"{what}{i}", [4], 10 * i) for what in ("scale", "shift", "mean")]
        weights += [onnx.tensor(f"variance{i}", [4], onnx.floats(1, 2, 3, 4))]
        nodes += [onnx.node("Conv", [source, f"w{i}"], [f"c{i}"], f"/block/conv{i}/Conv", attributes=models.ints("pads", 1, 1, 1, 1)),
                  onnx.node("BatchNormalization", [f"c{i}", f"scale{i}", f"shift{i}", f"mean{i}", f"variance{i}"], [f"b{i}"], f"/block/bn{i}/BatchNormalization")]
        if i == 1:
            nodes += [onnx.node("Relu", ["b1"], ["r1"], "/block/relu/Relu")]
    nodes += [onnx.node("Add", ["b2", "x"], ["s"], "/block/Add"), onnx.node("Relu", ["s"], ["y"], "/block/relu_1/Relu")]
    values = [onnx.value_info(name, [batch, 4, 8, 8]) for name in ("x", "y")]
    return onnx.model(onnx.graph(nodes, values[:1], values[1:], weights))


LOOP = """
func.func @main(%n: tensor<i32> {sinter.name = "n"}, %x: tensor<4xf32> {sinter.name = "x"}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i, %y = stablehlo.while(%at = %zero, %value = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %more = stablehlo.compare LT, %at, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %at, %one : tensor<i32>
    %wave = stablehlo.cosine %value : tensor<4xf32>
    stablehlo.return %next, %wave : tensor<i32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
"""


class Command(CommandTest):
    """What needs no browser."""

    def test_what_it_does_not_go_with(self):
        model = self.write("net.onnx", resnet_block())
        for option in ("--json", "--tensors", "--steps", "--no-plan"):
            self.expect_error(USAGE, "inspect", model, "--html", self.path("page.html"), option)
        self.expect_error(USAGE, "inspect", model, "--measure")
        self.expect_error(USAGE, "inspect", model, "--html", model, mentions=("is the model itself",))

    def test_the_same_page_each_time(self):
        model = self.write("net.onnx", resnet_block())
        pages = []
        for _ in range(2):
            done = self.sinter("inspect", model, "--html", self.path("page.html"))
            self.assertEqual((done.returncode, done.stdout), (DONE, ""), done.stderr)
            pages.append(pathlib.Path(self.path("page.html")).read_bytes())
        self.assertEqual(pages[0], pages[1])


@unittest.skipUnless(BROWSER, "no browser is installed (Debian's package chromium)")
class PageCase(CommandTest):
    LOOK = {}

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser.Browser(BROWSER, **cls.LOOK)
        cls.addClassCleanup(cls.browser.close)

    def show(self, model, *options, notes=None):
        """Opens the page of a model."""
        page = self.path("page.html")
        done = self.sinter("inspect", model, "--html", page, *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, notes if notes else r"\A(note: .*\n)*\Z")
        self.browser.open(page)
        self.assertEqual(self.browser.errors(), [])
        self.assertEqual([each for each in self.browser.requests() if not each.startswith("file://")], [])

    def picture(self, name):
        if folder := os.environ.get("SINTER_PICTURES"):
            self.browser.screenshot(os.path.join(folder, name + ".png"))

    def value(self, expression):
        return self.browser.value(expression)

    def details(self):
        return self.value("document.getElementById('details').innerText")

    def settle(self):
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def graph(self, index):
        self.value(f"page.buttons[{index}].click()")
        self.settle()

    def nodes(self):
        """Of the graph that is shown: operators and names, inputs and outputs too."""
        return [tuple(each) for each in self.value("page.graph.items.map(item => [item.op, item.name])")]

    def click_node(self, name):
        """Clicks in the middle of the box of a node that is in sight."""
        x, y = self.value(f"""(() => {{
            const item = page.graph.items.findIndex(each => each.name === {name!r});
            const box = document.querySelector(`[data-item="${{item}}"] rect.box`).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.browser.click(x, y)
        self.settle()

    def search(self, text):
        self.browser.key("/")
        self.value("document.getElementById('search').select()")
        self.browser.type(text)
        return self.value("[...document.querySelectorAll('#found li')].map(each => each.innerText)")


class Page(PageCase):
    def test_a_network_of_onnx(self):
        self.show(self.write("block.onnx", resnet_block()))
        self.assertIn("block.onnx", self.details())
        self.assertRegex(self.details(), r"Slowest steps\n")
        self.picture("block-compiled")
        self.graph(0)
        names = self.nodes()
        self.assertIn(("BatchNormalization", "/block/bn1/BatchNormalization"), names)
        self.assertIn(("input", "x"), names)
        self.click_node("/block/conv1/Conv")
        text = self.details()
        self.picture("block-conv-as-read")
        for part in ("Conv\n", "/block/conv1/Conv", "stablehlo.convolution", "f32 [1, 4, 8, 8]", "w1 constant", "f32 [4, 4, 3, 3], 576 bytes", "min -0.4",
                     "Became, in the compiled graph"):
            self.assertIn(part, text)
        # To the compiled graph, and back.
        self.click_node("/block/bn1/BatchNormalization")
        self.assertIn("fold-batch-norm-after", self.details())
        self.value("[...document.querySelectorAll('#details h3')].find(each => each.innerText.startsWith('Became')).nextSibling.querySelector('a').click()")
        self.settle()
        self.assertEqual(self.value("page.index"), 1)
        text = self.details()
        self.picture("block-after-compiled")
        for part in ("Kernel", "of the run", "estimated", "together with", "Rewrites that made it", "fold-batch-norm-after", "Made of, in the graph as read"):
            self.assertIn(part, text)
        self.assertNotIn("BatchNormalization", [op for op, _ in self.nodes()])
        self.value("[...document.querySelectorAll('#details h3')].find(each => each.innerText.startsWith('Made of')).nextSibling.querySelector('a').click()")
        self.assertEqual(self.value("page.index"), 0)

    def test_search(self):
        self.show(self.write("block.onnx", resnet_block()))
        self.graph(0)
        self.assertEqual(self.search("conv2")[0], "Conv /block/conv2/Conv")
        self.picture("search")
        self.browser.key("Enter")
        self.assertTrue(self.details().startswith("Conv"))
        self.assertEqual(self.value("document.activeElement.id"), "drawing")
        self.assertRegex("\n".join(self.search("variance2")), r"BatchNormalization /block/bn2/BatchNormalization\s+tensor variance2")
        self.assertEqual(self.search("stablehlo.batch_norm_inference")[-1], "2 nodes")
        self.assertEqual(self.search("no such thing"), ["0 nodes"])
        self.browser.key("Escape")
        self.assertTrue(self.value("document.getElementById('found').hidden"))
        self.graph(1)
        self.assertNotEqual(self.search("fold-batch-norm"), ["0 nodes"])

    def test_keys(self):
        self.show(self.write("block.onnx", resnet_block()))
        self.browser.key("b")
        self.assertEqual(self.value("page.index"), 0)
        self.value("document.getElementById('drawing').focus()")
        seen = []
        for _ in range(4):
            self.browser.key("ArrowDown")
            seen.append(self.value("page.graph.items[page.chosen].name"))
        self.assertEqual(seen[:1] + seen[2:], ["x", "/block/bn1/BatchNormalization", "/block/relu/Relu"])
        self.browser.key("ArrowUp")
        self.assertEqual(self.value("page.graph.items[page.chosen].name"), "/block/bn1/BatchNormalization")
        self.browser.key("Escape")
        self.assertEqual(self.value("page.chosen"), -1)

    def test_zoom_and_pan(self):
        self.show(self.write("block.onnx", resnet_block()))
        view = "[page.drawing.view.x, page.drawing.view.y, page.drawing.view.scale]"
        x, y, scale = self.value(view)
        self.browser.wheel(400, 400, -300)
        self.settle()
        self.assertGreater(self.value(view)[2], scale)
        self.value("document.getElementById('zoom-out').click()")
        before = self.value(view)
        self.browser.drag(30, 600, 130, 650)
        self.settle()
        after = self.value(view)
        self.assertAlmostEqual(after[0] - before[0], 100, delta=1)
        self.assertAlmostEqual(after[1] - before[1], 50, delta=1)
        self.assertEqual(self.value("page.chosen"), -1)
        self.value("document.getElementById('fit').click()")
        self.settle()
        self.assertEqual(self.value("document.querySelectorAll('#drawing .item').length"), len(self.nodes()))

    def test_measured(self):
        self.show(self.write("block.onnx", resnet_block()), "--measure")
        self.assertIn("measured", self.details())
        self.assertGreater(self.value("page.model.total"), 0)

    def test_dynamic_sizes(self):
        self.show(self.write("block.onnx", resnet_block("batch")))
        self.assertIn("f32 [batch, 4, 8, 8]", self.details())
        for index in (0, 1):
            self.graph(index)
            types = self.value("page.graph.tensors.map(tensor => tensor.type)")
            self.assertIn("f32 [batch, 4, 8, 8]", types)
            self.assertEqual([each for each in types if "?" in each], [])
        self.assertGreater(self.value("page.model.steps.length"), 0)
        self.picture("dynamic")

    def test_stablehlo_with_a_loop(self):
        self.show(self.write("loop.mlir", LOOP))
        self.graph(0)
        names = dict((name, op) for op, name in self.nodes())
        self.assertEqual(names["%wave"], "cosine")
        self.click_node("%wave")
        self.assertRegex(self.details(), r"inside while")
        self.picture("loop")

    def test_paddle(self):
        source, program = self.write("net.onnx", resnet_block()), self.path("net.pdmodel")
        done = self.sinter("convert", source, "-o", program)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.show(program)
        self.graph(0)
        ops = [op for op, _ in self.nodes()]
        self.assertIn("conv2d", ops)
        self.assertIn("batch_norm", ops)
        self.picture("paddle")

    def test_quantized(self):
        source, integers = self.write("net.onnx", models.classifier()), self.path("int8.onnx")
        done = self.sinter("quantize", source, "--calibration", "random", "--samples", "4", "-o", integers)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.show(integers)
        self.graph(0)
        self.assertTrue([op for op, _ in self.nodes() if "Quant" in op or "QLinear" in op], self.nodes())
        self.graph(1)
        self.assertTrue(any("quant" in each or "i8" in each for each in self.value("page.graph.tensors.map(tensor => tensor.type)")))
        self.picture("quantized")

    def test_names_are_text(self):
        nodes = [onnx.node("MatMul", [EVIL, "w" + EVIL], ["h" + EVIL], EVIL), onnx.node("Relu", ["h" + EVIL], ["y"], "relu" + EVIL)]
        values = [onnx.value_info(EVIL, [EVIL, 3]), onnx.value_info("y", [EVIL, 2])]
        model = onnx.model(onnx.graph(nodes, values[:1], values[1:], [models.weight("w" + EVIL, [3, 2], 1)]))
        self.show(self.write("evil.onnx", model))
        self.graph(0)
        item = self.value(f"page.graph.items.findIndex(each => each.op === 'MatMul')")
        self.value(f"page.goTo(0, {item})")
        self.assertIn(EVIL, self.details())
        self.search("img")
        self.settle()
        self.assertEqual(self.value("[document.querySelectorAll('img, b').length, window.evil ?? 0, document.scripts.length]"), [0, 0, 2])
        self.picture("evil")

    def test_what_cannot_be_compiled(self):
        model = self.write("custom.mlir", """
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = stablehlo.custom_call @nobody_knows_it(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
""")
        self.show(model, notes="note: there is no program: ")
        self.assertIn("there is no program", self.details())
        self.graph(0)
        self.assertIn("custom_call", [op for op, _ in self.nodes()])

    def test_thousands_of_nodes(self):
        """A long network with wide parts is shown within seconds."""
        nodes, last = [], "x"
        for i in range(1000):
            branches = [f"t{i}_{k}" for k in range(3)]
            nodes += [onnx.node(op, [last], [name], f"/layer{i}/{op}") for op, name in zip(("Sin", "Cos", "Tanh"), branches)]
            nodes += [onnx.node("Add", branches[:2], [f"u{i}"], f"/layer{i}/Add"), onnx.node("Mul", [f"u{i}", branches[2]], [f"v{i}"], f"/layer{i}/Mul")]
            last = f"v{i}"
        values = [onnx.value_info("x", [2, 3]), onnx.value_info(last, [2, 3])]
        self.show(self.write("long.onnx", onnx.model(onnx.graph(nodes, values[:1], values[1:]))))
        start = time.monotonic()
        self.browser.open(self.path("page.html"))
        opened = time.monotonic() - start
        self.graph(0)
        self.assertEqual(len(self.nodes()), 5002)
        self.assertLess(self.value("document.querySelectorAll('*').length"), 5000)
        self.assertEqual(self.search("/layer777/Mul")[0], "Mul /layer777/Mul")
        self.browser.key("Enter")
        self.settle()
        self.assertTrue(self.value("document.querySelector('#drawing .item.chosen') !== null"))
        self.picture("thousands")
        self.value("document.getElementById('fit').click()")
        self.settle()
        self.picture("thousands-all")
        size = os.path.getsize(self.path("page.html"))
        print(f"5,000 nodes: {size / 1e6:.1f} MB, opened in {opened:.2f} s", file=sys.stderr)
        # A quiet core needs one second.
        self.assertLess(opened, 20)


class Small(PageCase):
    """A small window at night."""
    LOOK = {"width": 600, "height": 800, "dark": True}

    def test_click(self):
        self.show(self.write("block.onnx", resnet_block()))
        self.graph(0)
        self.click_node("/block/conv1/Conv")
        self.assertIn("stablehlo.convolution", self.details())
        self.assertGreater(self.value("document.getElementById('drawing').getBoundingClientRect().height"), 200)
        self.picture("small-dark")


if __name__ == "__main__":
    if not BROWSER:
        print("PageTest.py: there is no browser (Debian's package chromium): only the command is tested")
    main()
