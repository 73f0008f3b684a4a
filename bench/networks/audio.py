"""Networks for sound: recognition, synthesis, separation."""
import torch
from torch import nn
from torch.nn import functional as F

from .registry import built, network, noise, picture, tokens

LENGTH = {"input": {2: "length"}}


class Wavenet(nn.Module):
    """Dilated causal convolutions with gates, https://arxiv.org/abs/1609.03499."""

    class Layer(nn.Module):
        def __init__(self, channels, dilation):
            super().__init__()
            self.past = dilation
            self.signal, self.gate = (nn.Conv1d(channels, channels, 2, dilation=dilation) for _ in range(2))
            self.residual, self.skip = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, 2 * channels, 1)

        def forward(self, x):
            padded = F.pad(x, (self.past, 0))
            y = torch.tanh(self.signal(padded)) * torch.sigmoid(self.gate(padded))
            return x + self.residual(y), self.skip(y)

    def __init__(self, channels=64, blocks=2, depth=9):
        super().__init__()
        self.into = nn.Conv1d(1, channels, 1)
        self.layers = nn.ModuleList(self.Layer(channels, 2 ** i) for _ in range(blocks) for i in range(depth))
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1d(2 * channels, 2 * channels, 1), nn.ReLU(), nn.Conv1d(2 * channels, 256, 1))

    def forward(self, x):
        x, total = self.into(x), 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.out(total)


@network("wavenet", LENGTH)
def wavenet():
    return built(Wavenet(), {"input": picture(1, 1, 4000)})


class Demucs(nn.Module):
    """A UNet over samples with an LSTM at its bottom, https://arxiv.org/abs/1911.13254."""

    def __init__(self, width=32, depth=4):
        super().__init__()
        self.down, self.up, channels = nn.ModuleList(), nn.ModuleList(), 2
        for _ in range(depth):
            self.down.append(nn.Sequential(nn.Conv1d(channels, width, 8, 4, 2), nn.ReLU(), nn.Conv1d(width, 2 * width, 1), nn.GLU(1)))
            last = [] if channels == 2 else [nn.ReLU()]
            self.up.insert(0, nn.Sequential(nn.Conv1d(width, 2 * width, 3, 1, 1), nn.GLU(1), nn.ConvTranspose1d(width, channels, 8, 4, 2), *last))
            channels, width = width, 2 * width
        self.lstm = nn.LSTM(channels, channels // 2, 2, bidirectional=True, batch_first=True)

    def forward(self, x):
        kept = []
        for stage in self.down:
            x = stage(x)
            kept.append(x)
        x = self.lstm(x.transpose(1, 2))[0].transpose(1, 2)
        for stage in self.up:
            x = stage(x + kept.pop())
        return x


@network("demucs")
def demucs():
    return built(Demucs(), {"input": picture(1, 2, 16384)})


class Conformer(nn.Module):
    """Convolution and attention for speech, https://arxiv.org/abs/2005.08100."""

    class Block(nn.Module):
        def __init__(self, width, heads=4, kernel=31):
            super().__init__()

            def feed():
                return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

            self.first, self.last, self.norm, self.final = feed(), feed(), nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = nn.MultiheadAttention(width, heads)
            self.before = nn.LayerNorm(width)
            self.convolution = nn.Sequential(
                nn.Conv1d(width, 2 * width, 1), nn.GLU(1), nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width),
                nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1))

        def forward(self, x):
            x = x + 0.5 * self.first(x)
            y = self.norm(x).transpose(0, 1)
            x = x + self.attention(y, y, y, need_weights=False)[0].transpose(0, 1)
            x = x + self.convolution(self.before(x).transpose(1, 2)).transpose(1, 2)
            return self.final(x + 0.5 * self.last(x))

    def __init__(self, width=144, depth=6):
        super().__init__()
        self.subsample = nn.Sequential(nn.Conv2d(1, width, 3, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 2), nn.ReLU())
        self.into = nn.Linear(width * 19, width)
        self.blocks = nn.Sequential(*(self.Block(width) for _ in range(depth)))
        self.out = nn.Linear(width, 128)

    def forward(self, x):
        x = self.subsample(x.unsqueeze(1))
        x = self.into(x.transpose(1, 2).flatten(2))
        return self.out(self.blocks(x)).log_softmax(-1)


@network("conformer")
def conformer():
    return built(Conformer(), {"input": noise(1, 256, 80)})


class Whisper(nn.Module):
    """Spectrogram and the text so far to the next tokens, https://arxiv.org/abs/2212.04356."""

    def __init__(self, width=256, heads=4, depth=3, vocabulary=8192):
        super().__init__()
        self.first, self.second = nn.Conv1d(80, width, 3, 1, 1), nn.Conv1d(width, width, 3, 2, 1)
        layer = {"nhead": heads, "dim_feedforward": 4 * width, "dropout": 0.0, "activation": F.gelu, "norm_first": True}
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(width, **layer) for _ in range(depth))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(width, **layer) for _ in range(depth))
        self.sound, self.words = nn.Parameter(torch.randn(1500, width) * 0.1), nn.Parameter(torch.randn(448, width) * 0.1)
        self.embedding = nn.Embedding(vocabulary, width)
        self.norm, self.out = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, text):
        x = F.gelu(self.second(F.gelu(self.first(x)))).transpose(1, 2)
        # PyTorch's fused layers, which its exporter does not know, take the batch first.
        x = (x + self.sound[:x.shape[1]]).transpose(0, 1)
        for layer in self.encoder:
            x = layer(x)
        x = self.norm(x)
        y = (self.embedding(text) + self.words[:text.shape[1]]).transpose(0, 1)
        mask = torch.full((text.shape[1], text.shape[1]), float("-inf")).triu(1)
        for layer in self.decoder:
            y = layer(y, x, tgt_mask=mask)
        return self.out(y.transpose(0, 1)) @ self.embedding.weight.t()


@network("whisper")
def whisper():
    return built(Whisper(), {"input": noise(1, 80, 600), "text": tokens(1, 16, count=8192)}, ["logits"])


class GruSpeech(nn.Module):
    """Convolutions and bidirectional GRUs for speech, https://arxiv.org/abs/1512.02595."""

    def __init__(self, width=256):
        super().__init__()
        self.into = nn.Sequential(nn.Conv2d(1, 32, (11, 5), (2, 2), (5, 2)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20),
                                  nn.Conv2d(32, 32, (11, 5), (2, 1), (5, 2)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20))
        self.gru = nn.GRU(32 * 20, width, 3, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * width, 29)

    def forward(self, x):
        x = self.into(x)
        b, c, f, t = x.shape
        return self.out(self.gru(x.permute(0, 3, 1, 2).reshape(b, t, c * f))[0]).log_softmax(-1)


@network("gru_speech")
def gru_speech():
    return built(GruSpeech(), {"input": noise(1, 1, 80, 200)})
