#!/usr/bin/python3
"""Writes torchvision's detectors with random weights in ONNX test form.

    bench/detectors.py --out DIR [--size 320] [--dynamic] [NAME ...]

NAME is one of ssdlite, ssd300, retinanet, fcos, faster_rcnn, mask_rcnn (default: all).
Each goes to DIR/NAME: model.onnx and a test_data_set_0 with one image of SIZE x SIZE
and PyTorch's results. Thresholds are set so that random weights leave a few boxes.
--dynamic makes height and width of the image dynamic.
"""
import argparse
import os
import sys
import warnings

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torchvision.models import detection

warnings.filterwarnings("ignore")

# Where the best boxes of the usual seed are all but equal.
SEEDS = {"retinanet": 8}
BARE = {"weights": None, "weights_backbone": None}
# Name: (how it is made, settings of the model that leave some boxes of random scores).
MODELS = {
    "ssdlite": (detection.ssdlite320_mobilenet_v3_large, {"score_thresh": 0.011, "detections_per_img": 50}),
    "ssd300": (detection.ssd300_vgg16, {"score_thresh": 0.011, "detections_per_img": 50}),
    "retinanet": (detection.retinanet_resnet50_fpn, {"score_thresh": 0.005, "detections_per_img": 50}),
    "fcos": (detection.fcos_resnet50_fpn, {"score_thresh": 0.05, "detections_per_img": 50}),
    "faster_rcnn": (detection.fasterrcnn_resnet50_fpn, {"box_score_thresh": 0.011, "box_detections_per_img": 50}),
    "mask_rcnn": (detection.maskrcnn_resnet50_fpn, {"box_score_thresh": 0.011, "box_detections_per_img": 20}),
}


def calibrate(model, image):
    """Statistics of batch norms as this image has them, so that values neither vanish nor grow."""
    norms = [each for each in model.modules() if isinstance(each, torch.nn.BatchNorm2d)]
    for each in norms:
        each.momentum = None
        each.reset_running_stats()
        each.train()
    with torch.no_grad():
        model([image, image.flip(2)])
    model.eval()


def spread(model, image):
    """Gives scores a spread: those of random weights are all but the same, and rounding would decide which box is best."""
    heads = [each for name, each in model.named_modules() if not list(each.children()) and hasattr(each, "weight")
             and any(part in name for part in ("cls_logits", "classification_head.module_list", "cls_score"))]
    for each in heads:
        outputs = []
        hook = each.register_forward_hook(lambda module, given, output: outputs.append(output))
        with torch.no_grad():
            model([image])
        hook.remove()
        if outputs:
            each.weight.data *= 1.5 / max(float(output.std()) for output in outputs)


def make(name, size):
    torch.manual_seed(SEEDS.get(name, 7))
    build, settings = MODELS[name]
    fixed = {} if name in ("ssdlite", "ssd300") else {"min_size": size, "max_size": size}
    model = build(num_classes=11, **BARE, **settings, **fixed).eval()
    image = torch.rand(3, size, size)
    calibrate(model, image)
    spread(model, image)
    return model, image


def write(name, folder, size, dynamic):
    model, image = make(name, size)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    axes = {"image": {1: "height", 2: "width"}} if dynamic else None
    torch.onnx.export(model, ([image],), path, opset_version=13, input_names=["image"],
                      do_constant_folding=True, dynamic_axes=axes)
    with torch.no_grad():
        [found] = model([image])
    graph = onnx.load(path, load_external_data=False).graph
    results = list(found.values())
    save(image, os.path.join(data, "input_0.pb"))
    # The exporter keeps the order of the dictionary.
    for index, (value, each) in enumerate(zip(graph.output, results)):
        save(each, os.path.join(data, f"output_{index}.pb"), value.name)
    print(f"{name}: {len(graph.node)} nodes, {len(found['boxes'])} boxes of {', '.join(found)}")


def save(tensor, path, name=""):
    proto = numpy_helper.from_array(np.ascontiguousarray(tensor.numpy()), name)
    with open(path, "wb") as file:
        file.write(proto.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *MODELS])
    parser.add_argument("--out", required=True)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--dynamic", action="store_true")
    options = parser.parse_args()
    for name in options.names or MODELS:
        write(name, os.path.join(options.out, name), options.size, options.dynamic)


if __name__ == "__main__":
    sys.exit(main())
