"""The table of networks, and what gives them sane random weights."""
import math
from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F

# Name: Network. Modules of this folder fill it.
NETWORKS = {}
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


@dataclass
class Network:
    """MAKE gives the module, its inputs by name and the names of its outputs. DYNAMIC says which dimensions users have dynamic:
    {input: {dimension: symbol}}."""
    make: Callable
    dynamic: dict = field(default_factory=dict)
    opset: int = 17


def network(name, dynamic=None, opset=17):
    """Registers the function that makes the network NAME."""
    def register(make):
        NETWORKS[name] = Network(make, dynamic or {}, opset)
        return make
    return register


def initialise(module, seed):
    """Weights drawn so that activations keep their scale: of variance 2 / fan for convolutions, 1 / fan for linear layers
    (He et al., https://arxiv.org/abs/1502.01852)."""
    generator = torch.Generator().manual_seed(seed)

    def draw(tensor, scale, shift=0.0):
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * scale + shift)

    with torch.no_grad():
        for each in module.modules():
            if isinstance(each, CONVOLUTIONS):
                draw(each.weight, math.sqrt(2 / each.weight[0].numel()))
            elif isinstance(each, TRANSPOSED):
                draw(each.weight, math.sqrt(2 / each.weight.shape[0]))
            elif isinstance(each, nn.Linear):
                draw(each.weight, math.sqrt(1 / each.in_features))
            elif isinstance(each, nn.Embedding):
                draw(each.weight, 0.05)
            elif isinstance(each, BATCH_NORMS):
                each.weight.copy_(torch.rand(each.weight.shape, generator=generator) * 0.6 + 0.6)
                draw(each.bias, 0.1)
            elif isinstance(each, nn.LayerNorm) and each.elementwise_affine:
                draw(each.weight, 0.1, 1.0)
                draw(each.bias, 0.05)
            else:
                continue
            if getattr(each, "bias", None) is not None and not isinstance(each, (*BATCH_NORMS, nn.LayerNorm)):
                draw(each.bias, 0.03)


def calibrate(module, *inputs):
    """Statistics of batch norms as these inputs have them, so that values neither vanish nor grow."""
    norms = [each for each in module.modules() if isinstance(each, BATCH_NORMS)]
    for each in norms:
        each.momentum = None
        each.reset_running_stats()
        each.train()
    with torch.no_grad():
        if norms:
            module(*inputs)
    module.eval()


def noise(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1000 + seed))


def picture(*shape, seed=0):
    """Smooth values with a little noise, as pixels are."""
    coarse = [max(2, size // 16) for size in shape[2:]]
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(coarse)]
    return F.interpolate(noise(*shape[:2], *coarse, seed=seed), shape[2:], mode=mode) + 0.2 * noise(*shape, seed=seed + 1)


def tokens(*shape, count, seed=0):
    return torch.randint(0, count, shape, generator=torch.Generator().manual_seed(2000 + seed))


def built(module, inputs, outputs=("output",), seed=1):
    """MODULE with random weights and calibrated batch norms, as `network` wants it."""
    initialise(module, seed)
    module.eval()
    doubled = [torch.cat([each, each.flip(-1)]) if each.is_floating_point() else torch.cat([each, each]) for each in inputs.values()]
    calibrate(module, *doubled)
    return module, inputs, list(outputs)
