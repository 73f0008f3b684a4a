"""The files that MistakesTest's commands are given: good ones, and one of each kind of broken or unfit."""
import os


import OnnxBytes as onnx
from QuantizeModels import classifier, perceptron, png, two_inputs, weight
from TrainTest import Network, npz
from TrainTest import npy as npy_of

DYNAMIC = """
func.func @main(%x: tensor<?x4x?xf32> {sinter.dims = ["N", "", "L"]}, %y: tensor<?xf32> {sinter.dims = ["L"]}) -> tensor<?x4x?xf32> {
  %0 = stablehlo.tanh %x : tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}
"""


def positions():
    """A sequence of any length up to 8: as many rows of a table of positions as it is long are added to it."""
    nodes = [onnx.node("Add", ["x", "table"], ["y"], "positions")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", "sequence", 4])], [onnx.value_info("y", ["N", "sequence", 4])], [weight("table", [8, 4], 1)]))


def write_all(folder):
    """Writes them into FOLDER."""
    def write(name, content):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    relu = onnx.simple([onnx.node("Relu", ["x"], ["y"], "relu")], (2, 3))
    write("good.onnx", relu)
    write("two.onnx", two_inputs())
    write("image.onnx", classifier(channels=3))
    write("float.onnx", perceptron())
    write("net.onnx", Network().onnx())
    write("dynamic.mlir", DYNAMIC)
    write("positions.onnx", positions())
    write("text.mlir", "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n")
    write("counter.mlir", "func.func @main(%s: tensor<f32> {sinter.state = \"count\"}) -> (tensor<f32> {sinter.state = \"count\"}) { return %s : tensor<f32> }\n")
    write("several.mlir", "func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\nfunc.func @b(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n")
    # Files that are no models.
    write("empty.onnx", b"")
    write("words.onnx", "this is no model\n")
    write("cut.onnx", relu[:len(relu) // 2])
    write("model.xyz", relu)
    write("syntax.mlir", "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = stablehlo.sinus %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n")
    write("shapes.mlir", "func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {\n  %z = stablehlo.add %x, %y : tensor<2xf32>\n  return %z : tensor<2xf32>\n}\n")
    write("concatenate.onnx", onnx.model(onnx.graph([onnx.node("Concat", ["x", "w"], ["y"], "joined", attributes=onnx.data(5, onnx.data(1, "axis") + onnx.number(3, 0) + onnx.number(20, 2)))],
                                                    [onnx.value_info("x", [2, 3])], [onnx.value_info("y", [4, 3])], [weight("w", [2, 4], 1)])))
    write("operator.onnx", onnx.simple([onnx.node("Frobnicate", ["x"], ["y"], "odd")], (2, 3)))
    write("opset.onnx", onnx.simple([onnx.node("Relu", ["x"], ["y"])], (2, 3), version=99))
    write("outside.onnx", onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], (2, 3), [onnx.tensor("w", [2, 3], external=[("location", "../secret")])]))
    write("external.onnx", onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], (2, 3), [onnx.tensor("w", [2, 3], external=[("location", "weights.bin")])]))
    write("short.onnx", onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], (2, 3), [onnx.tensor("w", [2, 3], external=[("location", "short.bin")])]))
    write("short.bin", b"1234")
    write("undefined.onnx", onnx.simple([onnx.node("Relu", ["z"], ["y"], "relu")], (2, 3)))
    os.makedirs(os.path.join(folder, "folder"), exist_ok=True)
    # Data.
    write("x.npy", npy_of([2, 3], [1.0] * 6))
    write("x4.npy", npy_of([2, 4], [1.0] * 8))
    write("i64.npy", npy_of([2, 3], [1] * 6, "i8"))
    write("long.npy", npy_of([1, 9, 4], [1.0] * 36))
    write("cut.npy", npy_of([2, 3], [1.0] * 6)[:-4])
    write("words.npy", "no array\n")
    write("words.txt", "no array\n")
    write("words.bin", "no array\n")
    write("broken.png", png(8, 8, bytes(64))[:-20])
    write("good.png", png(8, 8, bytes(64)))
    write("words.png", "no image\n")
    write("cut.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00")
    write("broken.pb", b"\xff\xff\xff")
    write("x4.pb", onnx.tensor("x", [2, 4], onnx.floats(*[1] * 8)))
    write("labels.txt", "a\nb\n")
    write("nolabels.txt", "")
    write("broken.npz", b"PK\x03\x04 no archive")
    write("one.npz", npz(x=npy_of([6, 3], [0.5] * 18)))
    write("data.npz", npz(x=npy_of([6, 3], [0.5] * 18), target=npy_of([6], [0, 1, 2, 3, 0, 1], "i8")))
    write("class9.npz", npz(x=npy_of([6, 3], [0.5] * 18), target=npy_of([6], [0, 1, 9, 3, 0, 1], "i8")))
    write("counts.npz", npz(x=npy_of([6, 3], [0.5] * 18), target=npy_of([5], [0, 1, 2, 3, 0], "i8")))
    write("width.npz", npz(x=npy_of([6, 2], [0.5] * 12), target=npy_of([6], [0, 1, 2, 3, 0, 1], "i8")))
    write("infinite.npz", npz(x=npy_of([6, 3], [3e38] * 18), target=npy_of([6], [0, 1, 2, 3, 0, 1], "i8")))
    for name in "a", "b":
        write(f"classes/{name}/1.png", png(8, 8, bytes(64)))
    write("badclasses/a/1.png", png(8, 8, bytes(64)))
    write("badclasses/b/2.png", "no image\n")
    write("profile.json", "{}")
    write("kept/notes.txt", "")
    # Tests: one that fails, and one whose data does not fit.
    for name, value in ("passes", 1), ("fails", 2):
        write(f"tests/{name}/model.onnx", relu)
        write(f"tests/{name}/test_data_set_0/input_0.pb", onnx.tensor("x", [2, 3], onnx.floats(*[1] * 6)))
        write(f"tests/{name}/test_data_set_0/output_0.pb", onnx.tensor("y", [2, 3], onnx.floats(*[value] * 6)))
    write("negated.onnx", onnx.simple([onnx.node("Neg", ["x"], ["y"], "neg")], (2, 3)))
    write("other.onnx", onnx.simple([onnx.node("Relu", ["x"], ["y"], "relu")], (2, 5)))
