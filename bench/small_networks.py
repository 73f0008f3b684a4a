#!/usr/bin/python3
"""Small networks with random weights and calibrated norms, in ONNX test form, for accuracy.py and bounds.py.

  SINTER_ZOO=.../zoo.py small_networks.py OUT [SEED ...]      one folder a seed (default: 1)

Convolutions, residuals, branches, dense connections, inverted residuals with and without gates, a detector's trunk, a U, two transformers, an LSTM, matrix
products. How weights are drawn and norms calibrated is zoo.py's (scripts/zoo.sh).
"""
import math
import os
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.environ.get("SINTER_ZOO", "../shared/zoo/zoo.py")))
import torch
import torch.nn as nn
import torch.nn.functional as F
import zoo
from onnx import numpy_helper

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
R = nn.ReLU


def cb(i, o, k=3, s=1, g=1, act=R):
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(o), *([act()] if act else []))


class Res(nn.Module):
    def __init__(s, c, act=R):
        super().__init__()
        s.a, s.b, s.act = cb(c, c, act=act), cb(c, c, act=None), act()
    def forward(s, x): return s.act(x + s.b(s.a(x)))


class Inverted(nn.Module):
    def __init__(s, i, o, st=1, t=4, act=nn.ReLU6, k=3):
        super().__init__()
        s.f = nn.Sequential(cb(i, i*t, 1, act=act), cb(i*t, i*t, k, st, i*t, act=act), cb(i*t, o, 1, act=None))
        s.same = i == o and st == 1
    def forward(s, x): return x + s.f(x) if s.same else s.f(x)


class SE(nn.Module):
    def __init__(s, c):
        super().__init__()
        s.a, s.b = nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)
    def forward(s, x): return x * torch.sigmoid(s.b(F.silu(s.a(x.mean((2, 3), keepdim=True)))))


class Head(nn.Sequential):
    def __init__(s, c, n=20): super().__init__(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, n))


class Block(nn.Module):
    def __init__(s, d, h, f, pre=True):
        super().__init__()
        s.h, s.pre = h, pre
        s.n1, s.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        s.q, s.k, s.v, s.o = (nn.Linear(d, d) for _ in range(4))
        s.a, s.b = nn.Linear(d, f), nn.Linear(f, d)
    def att(s, x):
        b, t, d = x.shape
        r = lambda y: y.reshape(b, t, s.h, d // s.h).transpose(1, 2)
        p = (r(s.q(x)) @ r(s.k(x)).transpose(2, 3) / math.sqrt(d // s.h)).softmax(-1)
        return s.o((p @ r(s.v(x))).transpose(1, 2).reshape(b, t, d))
    def forward(s, x):
        if s.pre:
            x = x + s.att(s.n1(x))
            return x + s.b(F.gelu(s.a(s.n2(x))))
        x = s.n1(x + s.att(x))
        return s.n2(x + s.b(F.gelu(s.a(x))))


class ViT(nn.Module):
    def __init__(s, d=64, p=8, side=32, depth=3):
        super().__init__()
        s.e = nn.Conv2d(3, d, p, p)
        s.pos = nn.Parameter(torch.randn(1, (side // p) ** 2, d) * .1)
        s.b = nn.Sequential(*[Block(d, 4, 4 * d) for _ in range(depth)])
        s.n = nn.LayerNorm(d)
        s.o = nn.Linear(d, 20)
    def forward(s, x):
        x = s.e(x).flatten(2).transpose(1, 2) + s.pos
        return s.o(s.n(s.b(x)).mean(1))


class Text(nn.Module):
    def __init__(s, v=500, d=64, t=24):
        super().__init__()
        s.e = nn.Embedding(v, d)
        s.pos = nn.Parameter(torch.randn(1, t, d) * .05)
        s.n = nn.LayerNorm(d)
        s.b = nn.Sequential(*[Block(d, 4, 4 * d, False) for _ in range(3)])
        s.o = nn.Linear(d, 12)
    def forward(s, ids): return s.o(s.b(s.n(s.e(ids) + s.pos))[:, 0])


class Lstm(nn.Module):
    def __init__(s):
        super().__init__()
        s.i = nn.Linear(24, 48)
        s.l = nn.LSTM(48, 48, 2, batch_first=True)
        s.o = nn.Linear(48, 10)
    def forward(s, x): return s.o(F.relu(s.l(F.relu(s.i(x)))[0])[:, -1])


class UNetS(nn.Module):
    def __init__(s):
        super().__init__()
        s.d1, s.d2, s.m = cb(3, 16), cb(16, 32), cb(32, 64)
        s.u2, s.u1 = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        s.c2, s.c1 = cb(64, 32), cb(32, 16)
        s.o = nn.Conv2d(16, 2, 1)
    def forward(s, x):
        a = s.d1(x)
        b = s.d2(F.max_pool2d(a, 2))
        m = s.m(F.max_pool2d(b, 2))
        y = s.c2(torch.cat([s.u2(m), b], 1))
        return s.o(s.c1(torch.cat([s.u1(y), a], 1)))


class Inception(nn.Module):
    def __init__(s, i):
        super().__init__()
        s.a = cb(i, 16, 1)
        s.b = nn.Sequential(cb(i, 12, 1), cb(12, 24, 3))
        s.c = nn.Sequential(cb(i, 8, 1), cb(8, 16, 5))
        s.d = cb(i, 8, 1)
    def forward(s, x): return torch.cat([s.a(x), s.b(x), s.c(x), s.d(F.max_pool2d(x, 3, 1, 1))], 1)


class Dense(nn.Module):
    def __init__(s, i, g=12, n=4):
        super().__init__()
        s.l = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(i + g * k), nn.ReLU(), nn.Conv2d(i + g * k, g, 3, 1, 1, bias=False)) for k in range(n))
    def forward(s, x):
        for l in s.l: x = torch.cat([x, l(x)], 1)
        return x


I = (1, 3, 32, 32)


NETS = {
 "plain_cnn": lambda: (nn.Sequential(cb(3, 16), cb(16, 32, s=2), cb(32, 32), cb(32, 64, s=2), cb(64, 64), Head(64)), I),
 "residual": lambda: (nn.Sequential(cb(3, 24), Res(24), Res(24), cb(24, 48, s=2), Res(48), Res(48), Head(48)), I),
 "mobile": lambda: (nn.Sequential(cb(3, 16, s=2, act=nn.ReLU6), Inverted(16, 16), Inverted(16, 24, 2), Inverted(24, 24), Inverted(24, 32), Inverted(32, 32), cb(32, 96, 1, act=nn.ReLU6), Head(96)), I),
 "efficient": lambda: (nn.Sequential(cb(3, 16, s=2, act=nn.SiLU), Inverted(16, 24, 2, act=nn.SiLU), SE(24), Inverted(24, 24, act=nn.SiLU, k=5), SE(24), cb(24, 64, 1, act=nn.SiLU), Head(64)), I),
 "vit": lambda: (ViT(), I),
 "text": lambda: (Text(), None),
 "lstm": lambda: (Lstm(), (1, 16, 24)),
 "unet_small": lambda: (UNetS(), I),
 "inception": lambda: (nn.Sequential(cb(3, 32, s=2), Inception(32), Inception(64), nn.MaxPool2d(2), Inception(64), Head(64)), I),
 "dense": lambda: (nn.Sequential(cb(3, 24, s=2), Dense(24), nn.BatchNorm2d(72), nn.ReLU(), nn.Conv2d(72, 36, 1), nn.AvgPool2d(2), Dense(36), nn.BatchNorm2d(84), nn.ReLU(), Head(84)), I),
 "mlp_wide": lambda: (nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 64), nn.LeakyReLU(), nn.Linear(64, 16)), (1, 64)),
 "detect": lambda: (nn.Sequential(cb(3, 16, s=2, act=nn.SiLU), cb(16, 32, s=2, act=nn.SiLU), Res(32, nn.SiLU), cb(32, 32, act=nn.Hardswish), Res(32, nn.Hardswish), nn.Conv2d(32, 21, 1)), I),
}


def export(name, out, seed):
    torch.manual_seed(seed)
    m, shape = NETS[name]()
    zoo.he_init(m, seed)
    m.eval()
    if shape and len(shape) == 4: zoo.calibrate_bn(m, shape)
    if shape is None: x = torch.randint(0, 500, (1, 24))
    elif len(shape) == 4: x = zoo.image(shape)
    else: x = torch.randn(shape)
    d = f"{out}/{name}"
    os.makedirs(d + "/test_data_set_0", exist_ok=True)
    torch.onnx.export(m, x, d + "/model.onnx", opset_version=13, input_names=["input"], output_names=["output"], training=torch.onnx.TrainingMode.PRESERVE if name not in ("lstm","vit","text") else torch.onnx.TrainingMode.EVAL, do_constant_folding=name in ("lstm","vit","text"))
    for n, t in (("input", x), ("output", m(x).detach())):
        open(f"{d}/test_data_set_0/{n}_0.pb", "wb").write(numpy_helper.from_array(t.numpy(), n).SerializeToString())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for seed in map(int, sys.argv[2:] or [1]):
        for name in NETS:
            export(name, f"{sys.argv[1]}/s{seed}", seed)
