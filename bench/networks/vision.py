"""torchvision's classifiers, segmentation, video and optical flow, and networks for pictures that it lacks."""
import torch
import torchvision.models as tv
from torch import nn
from torch.nn import functional as F
from torchvision.models import optical_flow, segmentation, video

from .registry import built, network, picture

BATCH = {"input": {0: "batch"}}
PIXELS = {"input": {2: "height", 3: "width"}}

# Name: (function of torchvision, size of the picture, dynamic dimensions).
CLASSIFIERS = {
    "resnext50": (tv.resnext50_32x4d, 224, BATCH),
    "wide_resnet50": (tv.wide_resnet50_2, 224, BATCH),
    "regnet_x": (tv.regnet_x_800mf, 224, BATCH),
    "regnet_y": (tv.regnet_y_800mf, 224, BATCH),
    "efficientnet_v2": (tv.efficientnet_v2_s, 224, BATCH),
    "mnasnet": (tv.mnasnet1_0, 224, BATCH),
    "convnext": (tv.convnext_tiny, 224, BATCH),
    "swin": (tv.swin_t, 224, {}),
    "swin_v2": (tv.swin_v2_t, 256, {}),
    "maxvit": (tv.maxvit_t, 224, {}),
}
SEGMENTATION = {"fcn": segmentation.fcn_resnet50, "deeplab": segmentation.deeplabv3_resnet50, "lraspp": segmentation.lraspp_mobilenet_v3_large}
VIDEO = {"r3d": video.r3d_18, "mc3": video.mc3_18, "r2plus1d": video.r2plus1d_18}


def classifier(name, build, size, dynamic):
    @network(name, dynamic)
    def make():
        return built(build(weights=None), {"input": picture(1, 3, size, size)})


class OnlyOut(nn.Module):
    """torchvision's segmentation gives a dictionary."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)["out"]


def segmenter(name, build):
    @network(name, PIXELS)
    def make():
        return built(OnlyOut(build(weights=None, weights_backbone=None, num_classes=21)), {"input": picture(1, 3, 256, 320)})


def clip(name, build):
    @network(name, BATCH)
    def make():
        return built(build(weights=None), {"input": picture(1, 3, 8, 112, 112)})


for key, (function, side, axes) in CLASSIFIERS.items():
    classifier(key, function, side, axes)
for key, function in SEGMENTATION.items():
    segmenter(key, function)
for key, function in VIDEO.items():
    clip(key, function)


class LastFlow(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = optical_flow.raft_small(weights=None)

    def forward(self, first, second):
        return self.inner(first, second, num_flow_updates=4)[-1]


@network("raft")
def raft():
    return built(LastFlow(), {"first": picture(1, 3, 128, 160), "second": picture(1, 3, 128, 160, seed=5)}, ["flow"])


def padded_convolution(inputs, outputs, kernel, stride=1):
    return nn.Sequential(nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inputs, outputs, kernel, stride))


class StyleTransfer(nn.Module):
    """Johnson et al., https://arxiv.org/abs/1603.08155, with instance norms and reflecting padding."""

    class Residual(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.body = nn.Sequential(padded_convolution(channels, channels, 3), nn.InstanceNorm2d(channels, affine=True), nn.ReLU(),
                                      padded_convolution(channels, channels, 3), nn.InstanceNorm2d(channels, affine=True))

        def forward(self, x):
            return x + self.body(x)

    def __init__(self):
        super().__init__()

        def stage(inputs, outputs, kernel, stride):
            return [padded_convolution(inputs, outputs, kernel, stride), nn.InstanceNorm2d(outputs, affine=True), nn.ReLU()]

        self.down = nn.Sequential(*stage(3, 32, 9, 1), *stage(32, 64, 3, 2), *stage(64, 128, 3, 2), *(self.Residual(128) for _ in range(5)))
        self.first = nn.Sequential(*stage(128, 64, 3, 1))
        self.second = nn.Sequential(*stage(64, 32, 3, 1))
        self.last = padded_convolution(32, 3, 9)

    def forward(self, x):
        x = self.first(F.interpolate(self.down(x), scale_factor=2.0))
        return self.last(self.second(F.interpolate(x, scale_factor=2.0)))


@network("style_transfer", PIXELS)
def style_transfer():
    return built(StyleTransfer(), {"input": picture(1, 3, 224, 224)})


class Inverted(nn.Module):
    """MobileNetV2's block, https://arxiv.org/abs/1801.04381."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        wide = 4 * inputs
        self.body = nn.Sequential(nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.SiLU(),
                                  nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.SiLU(),
                                  nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.is_residual else self.body(x)


class Encoder(nn.Module):
    """A layer of a transformer, norms first, written with matmuls."""

    def __init__(self, width, heads, factor=4):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, factor * width), nn.Linear(factor * width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.before(x)).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, n, c))
        return x + self.narrow(F.silu(self.wide(self.after(x))))


class MobileVit(nn.Module):
    """Convolutions, and transformers over patches of 2 x 2: after MobileViT-XS, https://arxiv.org/abs/2110.02178."""

    class Patches(nn.Module):
        def __init__(self, channels, width, depth):
            super().__init__()
            self.into = nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1), nn.SiLU(), nn.Conv2d(channels, width, 1, bias=False))
            self.layers = nn.Sequential(*(Encoder(width, 4, 2) for _ in range(depth)), nn.LayerNorm(width))
            self.back = nn.Conv2d(width, channels, 1)
            self.merge = nn.Conv2d(2 * channels, channels, 3, 1, 1)

        def forward(self, x):
            y = self.into(x)
            b, c, h, w = y.shape
            patches = y.reshape(b, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 2, 4, 1).reshape(b * 4, h * w // 4, c)
            y = self.layers(patches).reshape(b, 2, 2, h // 2, w // 2, c).permute(0, 5, 3, 1, 4, 2).reshape(b, c, h, w)
            return self.merge(torch.cat([x, self.back(y)], 1))

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), Inverted(16, 32, 1), Inverted(32, 48, 2), Inverted(48, 48, 1), Inverted(48, 64, 2),
            self.Patches(64, 96, 2), Inverted(64, 80, 2), self.Patches(80, 120, 4), Inverted(80, 96, 2), self.Patches(96, 144, 3),
            nn.Conv2d(96, 384, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(384, 1000))

    def forward(self, x):
        return self.body(x)


@network("mobilevit")
def mobilevit():
    return built(MobileVit(), {"input": picture(1, 3, 256, 256)})


class Detr(nn.Module):
    """Boxes by a transformer over a ResNet's features, https://arxiv.org/abs/2005.12872."""

    def __init__(self, width=256, queries=100):
        super().__init__()
        layers = list(tv.resnet18(weights=None).children())[:-2]
        self.backbone, self.project = nn.Sequential(*layers), nn.Conv2d(512, width, 1)
        self.transformer = nn.Transformer(width, 8, 3, 3, 1024, dropout=0.0)
        self.queries = nn.Parameter(torch.randn(queries, width) * 0.5)
        self.rows, self.columns = nn.Parameter(torch.randn(32, width // 2) * 0.5), nn.Parameter(torch.randn(32, width // 2) * 0.5)
        self.classes, self.boxes = nn.Linear(width, 92), nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))

    def forward(self, x):
        x = self.project(self.backbone(x))
        h, w = x.shape[-2:]
        places = torch.cat([self.columns[:w].unsqueeze(0).repeat(h, 1, 1), self.rows[:h].unsqueeze(1).repeat(1, w, 1)], -1).flatten(0, 1)
        queries = self.queries.unsqueeze(1).expand(-1, x.shape[0], -1)
        found = self.transformer(places.unsqueeze(1) + x.flatten(2).permute(2, 0, 1), queries).transpose(0, 1)
        return self.classes(found), self.boxes(found).sigmoid()


@network("detr")
def detr():
    return built(Detr(), {"input": picture(1, 3, 320, 320)}, ["logits", "boxes"])


class LatentUnet(nn.Module):
    """A small UNet of latent diffusion, https://arxiv.org/abs/2112.10752: residual blocks with group norms that a time
    step shifts, and attention to a text."""

    class Block(nn.Module):
        def __init__(self, inputs, outputs, time):
            super().__init__()
            self.first = nn.Sequential(nn.GroupNorm(32, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, 1, 1))
            self.time = nn.Linear(time, outputs)
            self.second = nn.Sequential(nn.GroupNorm(32, outputs), nn.SiLU(), nn.Conv2d(outputs, outputs, 3, 1, 1))
            self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

        def forward(self, x, time):
            y = self.first(x) + self.time(F.silu(time))[:, :, None, None]
            return self.skip(x) + self.second(y)

    class Cross(nn.Module):
        def __init__(self, width, context, heads=4):
            super().__init__()
            self.heads = heads
            self.norm, self.inner = nn.GroupNorm(32, width), nn.LayerNorm(width)
            self.own, self.q = Encoder(width, heads), nn.Linear(width, width, bias=False)
            self.k, self.v = nn.Linear(context, width, bias=False), nn.Linear(context, width, bias=False)
            self.out = nn.Linear(width, width)

        def forward(self, x, context):
            b, c, h, w = x.shape
            y = self.own(self.norm(x).flatten(2).transpose(1, 2))
            split = lambda each: each.reshape(b, -1, self.heads, c // self.heads).transpose(1, 2)
            q, k, v = split(self.q(self.inner(y))), split(self.k(context)), split(self.v(context))
            weights = (q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5).softmax(-1)
            y = y + self.out((weights @ v).transpose(1, 2).reshape(b, h * w, c))
            return x + y.transpose(1, 2).reshape(b, c, h, w)

    def __init__(self, width=64, context=128):
        super().__init__()
        time = 4 * width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.width, self.into = width, nn.Conv2d(4, width, 3, 1, 1)
        sizes = [width, 2 * width, 4 * width]
        self.down = nn.ModuleList(self.Block(i, o, time) for i, o in zip([width, *sizes], sizes))
        self.crossed = nn.ModuleList(self.Cross(each, context) for each in sizes)
        self.shrink = nn.ModuleList(nn.Conv2d(each, each, 3, 2, 1) for each in sizes[:-1])
        self.middle = self.Block(sizes[-1], sizes[-1], time)
        self.up = nn.ModuleList(self.Block(2 * o, max(o // 2, width), time) for o in reversed(sizes))
        self.last = nn.Sequential(nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, 4, 3, 1, 1))

    def forward(self, x, step, context):
        frequency = torch.exp(torch.arange(self.width // 2) * (-9.2 / (self.width // 2)))
        angle = step[:, None].float() * frequency[None]
        time = self.time(torch.cat([angle.cos(), angle.sin()], -1))
        x, kept = self.into(x), []
        for i, (block, cross) in enumerate(zip(self.down, self.crossed)):
            x = cross(block(x, time), context)
            kept.append(x)
            x = self.shrink[i](x) if i < len(self.shrink) else x
        x = self.middle(x, time)
        for i, block in enumerate(self.up):
            x = block(torch.cat([x, kept.pop()], 1), time)
            x = F.interpolate(x, scale_factor=2.0) if i + 1 < len(self.up) else x
        return self.last(x)


@network("diffusion_unet", {"context": {1: "length"}})
def diffusion_unet():
    given = {"input": picture(1, 4, 32, 32), "step": torch.tensor([400]), "context": picture(1, 128, 77).transpose(1, 2).contiguous()}
    return built(LatentUnet(), given)


class VaeDecoder(nn.Module):
    """Latents to pixels, as in latent diffusion."""

    def __init__(self, width=128):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.GroupNorm(32, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, 1, 1))

        self.into = nn.Conv2d(4, width, 3, 1, 1)
        self.stages = nn.ModuleList(block(i, o) for i, o in ((width, width), (width, width // 2), (width // 2, width // 2)))
        self.last = block(width // 2, 3)

    def forward(self, x):
        x = self.into(x)
        for stage in self.stages:
            x = F.interpolate(stage(x), scale_factor=2.0)
        return self.last(x)


@network("vae", {"input": {2: "height", 3: "width"}})
def vae():
    return built(VaeDecoder(), {"input": picture(1, 4, 32, 32)})
