"""Language models and what reads tables, points and graphs."""
import torch
from torch import nn
from torch.nn import functional as F

from .registry import built, network, noise, tokens

SEQUENCE = {"input": {0: "batch", 1: "sequence"}}


class RootMeanSquare(nn.Module):
    """A norm without a mean, https://arxiv.org/abs/1910.07467."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Llama(nn.Module):
    """Rotary positions, grouped queries and gated layers, https://arxiv.org/abs/2307.09288."""

    class Layer(nn.Module):
        def __init__(self, width, heads, groups):
            super().__init__()
            self.heads, self.groups, self.size = heads, groups, width // heads
            self.before, self.after = RootMeanSquare(width), RootMeanSquare(width)
            self.q, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
            self.k, self.v = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
            self.gate, self.up = (nn.Linear(width, 8 * width // 3, bias=False) for _ in range(2))
            self.down = nn.Linear(8 * width // 3, width, bias=False)

        def rotate(self, x, cosine, sine):
            low, high = x.chunk(2, -1)
            return x * cosine + torch.cat([-high, low], -1) * sine

        def forward(self, x, cosine, sine, mask):
            b, n, c = x.shape
            y = self.before(x)
            q = self.rotate(self.q(y).view(b, n, self.heads, self.size).transpose(1, 2), cosine, sine)
            k = self.rotate(self.k(y).view(b, n, self.groups, self.size).transpose(1, 2), cosine, sine)
            v = self.v(y).view(b, n, self.groups, self.size).transpose(1, 2)
            share = self.heads // self.groups
            k, v = (each[:, :, None].expand(b, self.groups, share, n, self.size).reshape(b, self.heads, n, self.size) for each in (k, v))
            weights = (q @ k.transpose(2, 3) * self.size ** -0.5 + mask).softmax(-1)
            x = x + self.out((weights @ v).transpose(1, 2).reshape(b, n, c))
            y = self.after(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def __init__(self, width=512, heads=8, groups=4, depth=6, vocabulary=8192):
        super().__init__()
        self.size = width // heads
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(self.Layer(width, heads, groups) for _ in range(depth))
        self.norm, self.out = RootMeanSquare(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, x):
        n = x.shape[1]
        place = torch.arange(n, device=x.device)
        angle = place[:, None] * (10000.0 ** (-torch.arange(0, self.size, 2) / self.size))[None]
        angle = torch.cat([angle, angle], -1)
        mask = torch.where(place[None] > place[:, None], torch.tensor(-3e38), torch.tensor(0.0))
        x = self.embedding(x)
        for layer in self.layers:
            x = layer(x, angle.cos(), angle.sin(), mask)
        return self.out(self.norm(x))


@network("llama", SEQUENCE)
def llama():
    return built(Llama(), {"input": tokens(1, 64, count=8192)}, ["logits"])


class T5(nn.Module):
    """Encoder and decoder with biases of relative positions, https://arxiv.org/abs/1910.10683."""

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))

        def forward(self, x, memory, bias=0.0):
            b, n, c = x.shape
            split = lambda each: each.view(b, -1, self.heads, c // self.heads).transpose(1, 2)
            q, k, v = split(self.q(x)), split(self.k(memory)), split(self.v(memory))
            weights = (q @ k.transpose(2, 3) + bias).softmax(-1)
            return self.out((weights @ v).transpose(1, 2).reshape(b, n, c))

    class Layer(nn.Module):
        def __init__(self, width, heads, crosses):
            super().__init__()
            self.norms = nn.ModuleList(RootMeanSquare(width) for _ in range(3))
            self.own = T5.Attention(width, heads)
            self.cross = T5.Attention(width, heads) if crosses else None
            self.wide, self.narrow = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

        def forward(self, x, bias, memory=None):
            y = self.norms[0](x)
            x = x + self.own(y, y, bias)
            if self.cross is not None:
                x = x + self.cross(self.norms[1](x), memory)
            return x + self.narrow(F.relu(self.wide(self.norms[2](x))))

    def __init__(self, width=384, heads=6, depth=4, vocabulary=8192):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.near, self.past = nn.Embedding(65, heads), nn.Embedding(65, heads)
        self.encoder = nn.ModuleList(self.Layer(width, heads, False) for _ in range(depth))
        self.decoder = nn.ModuleList(self.Layer(width, heads, True) for _ in range(depth))
        self.norm, self.last, self.out = RootMeanSquare(width), RootMeanSquare(width), nn.Linear(width, vocabulary, bias=False)

    def bias(self, table, n):
        place = torch.arange(n)
        return table((place[None] - place[:, None]).clamp(-32, 32) + 32).permute(2, 0, 1)[None]

    def forward(self, x, text):
        own, past = self.bias(self.near, x.shape[1]), self.bias(self.past, text.shape[1])
        past = past + torch.full((text.shape[1], text.shape[1]), -1e9).triu(1)
        x = self.embedding(x)
        for layer in self.encoder:
            x = layer(x, own)
        x, y = self.norm(x), self.embedding(text)
        for layer in self.decoder:
            y = layer(y, past, x)
        return self.out(self.last(y))


@network("t5")
def t5():
    return built(T5(), {"input": tokens(1, 48, count=8192), "text": tokens(1, 24, count=8192, seed=1)}, ["logits"])


class Dlrm(nn.Module):
    """Tables of categories and their products, https://arxiv.org/abs/1906.00091."""

    def __init__(self, tables=26, rows=5000, width=64):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.below = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.above = nn.Sequential(nn.Linear(pairs + width, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1), nn.Sigmoid())
        left, right = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", left * (tables + 1) + right)

    def forward(self, x, categories):
        x = self.below(x)
        rows = torch.stack([x] + [table(categories[:, i]) for i, table in enumerate(self.tables)], 1)
        products = (rows @ rows.transpose(1, 2)).flatten(1)
        return self.above(torch.cat([x, products.index_select(1, self.pairs)], 1))


@network("dlrm", {"input": {0: "batch"}, "categories": {0: "batch"}})
def dlrm():
    return built(Dlrm(), {"input": noise(16, 13), "categories": tokens(16, 26, count=5000)})


class PointNet(nn.Module):
    """A class for a set of points, with a learned rotation, https://arxiv.org/abs/1612.00593."""

    class Transform(nn.Module):
        def __init__(self, k):
            super().__init__()
            self.k = k
            self.points = PointNet.stack(k, 64, 128, 1024)
            self.out = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, k * k))

        def forward(self, x):
            matrix = self.out(self.points(x).max(2)[0]).view(-1, self.k, self.k)
            return matrix + torch.eye(self.k)

    @staticmethod
    def stack(*widths):
        layers = []
        for i, o in zip(widths, widths[1:]):
            layers += [nn.Conv1d(i, o, 1), nn.BatchNorm1d(o), nn.ReLU()]
        return nn.Sequential(*layers)

    def __init__(self):
        super().__init__()
        self.input, self.feature = self.Transform(3), self.Transform(64)
        self.first, self.second = self.stack(3, 64), self.stack(64, 128, 1024)
        self.out = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 40))

    def forward(self, x):
        x = self.first((x.transpose(1, 2) @ self.input(x)).transpose(1, 2))
        x = (x.transpose(1, 2) @ self.feature(x)).transpose(1, 2)
        return self.out(self.second(x).max(2)[0])


@network("pointnet", {"input": {2: "points"}})
def pointnet():
    return built(PointNet(), {"input": noise(1, 3, 1024)})


class GraphAttention(nn.Module):
    """Attention along the edges of a graph, https://arxiv.org/abs/1710.10903: gathers, and sums scattered to nodes."""

    class Layer(nn.Module):
        def __init__(self, inputs, outputs, heads):
            super().__init__()
            self.heads, self.width = heads, outputs
            self.project = nn.Linear(inputs, heads * outputs, bias=False)
            self.source, self.target = (nn.Parameter(torch.randn(heads, outputs) * 0.3) for _ in range(2))

        def forward(self, x, edges):
            n = x.shape[0]
            y = self.project(x).view(n, self.heads, self.width)
            score = F.leaky_relu((y * self.source).sum(-1)[edges[0]] + (y * self.target).sum(-1)[edges[1]], 0.2)
            # The softmax over the edges of a node; scores are small, so no maximum is taken off.
            weight = score.exp()
            index = edges[1][:, None].expand(-1, self.heads)
            total = torch.zeros(n, self.heads).scatter_add(0, index, weight)
            message = y[edges[0]] * (weight / total[edges[1]])[:, :, None]
            wide = edges[1][:, None, None].expand(-1, self.heads, self.width)
            return torch.zeros(n, self.heads, self.width).scatter_add(0, wide, message).flatten(1)

    def __init__(self):
        super().__init__()
        self.first, self.second = self.Layer(128, 32, 8), self.Layer(256, 7, 1)

    def forward(self, x, edges):
        return self.second(F.elu(self.first(x, edges)), edges)


@network("gat")
def gat():
    nodes = 1000
    edges = torch.cat([tokens(2, 8000, count=nodes), torch.arange(nodes).repeat(2, 1)], 1)
    module, given, names = GraphAttention(), {"input": noise(nodes, 128), "edges": edges}, ["output"]
    torch.manual_seed(1)
    return module.eval(), given, names
