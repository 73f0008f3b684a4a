"""Writes the models beside it: what PyTorch exports in training mode, with the inputs and results of PyTorch itself.

    python3 test/driver/training-mode/export.py     (PyTorch 1.13, ONNX)
"""
import pathlib
import warnings

import onnx
import torch
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = 9, 13, 17


class Norms(torch.nn.Module):
    """A batch norm behind a convolution and one in front of a linear layer."""

    def __init__(self, dropout):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3, momentum=0.2)
        self.last, self.fc = torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 4)
        self.drop = torch.nn.Dropout(0.5) if dropout else torch.nn.Identity()

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.fc(self.drop(self.last(x.mean((2, 3)))))


def write(path, name, array):
    tensor = numpy_helper.from_array(array.detach().numpy(), name)
    path.write_bytes(tensor.SerializeToString())


def export(version, dropout):
    torch.manual_seed(5)
    model = Norms(dropout).train()
    x = torch.randn(4, 1, 5, 5)
    folder = HERE / f"{'dropout' if dropout else 'norms'}-{version}"
    data = folder / "test_data_set_0"
    (folder if dropout else data).mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, x, str(folder / "model.onnx"), training=torch.onnx.TrainingMode.TRAINING, opset_version=version, do_constant_folding=False,
                          input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
    onnx.checker.check_model(str(folder / "model.onnx"))
    if not dropout:
        write(data / "input_0.pb", "x", x)
        write(data / "output_0.pb", "y", model(x))


for version in VERSIONS:
    for dropout in False, True:
        export(version, dropout)
