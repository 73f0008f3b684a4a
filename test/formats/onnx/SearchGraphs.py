"""Small models as ONNX Runtime's searches for text hold them in attributes: layers of attention without anything between them."""
import numpy as np
from onnx import TensorProto, helper, mapping, numpy_helper

TOKENS, WIDTH, HEADS, LAYERS, PLACES = 13, 8, 2, 2, 24
SIZE = WIDTH // HEADS
I32 = TensorProto.INT32


class Graph:
    """A graph that grows node by node; its weights are drawn, in the order of their names' first use."""

    def __init__(self, random, element=np.float32, spread=1.5):
        self.spread = spread
        self.random, self.element, self.type = random, element, mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(element)]
        self.constants, self.nodes = {}, []

    def weight(self, name, *shape):
        if name not in self.constants:
            self.constants[name] = self.random.uniform(-self.spread, self.spread, shape).astype(self.element)
        return name

    def constant(self, name, value):
        self.constants[name] = np.array(value)
        return name

    def __call__(self, op_type, *inputs, outputs=1, domain="", **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, names, domain=domain, **attributes))
        return names if outputs > 1 else names[0]

    def rename(self, value, name):
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def finish(self, name, inputs, outputs):
        infos = [[helper.make_tensor_value_info(each, kind, shape) for each, kind, shape in some] for some in (inputs, outputs)]
        return helper.make_graph(self.nodes, name, *infos, [numpy_helper.from_array(value, each) for each, value in self.constants.items()])

    def embedded(self, tokens):
        return self("Gather", self.weight("words", TOKENS, WIDTH), tokens)

    def scores(self, x):
        return self("MatMul", x, self.weight("scores", WIDTH, TOKENS))

    def heads(self, x, name):
        """[B, S, width] times a weight, as [B, heads, S, size]."""
        split = self("Reshape", self("MatMul", x, self.weight(name, WIDTH, WIDTH)), self.constant("split", [0, -1, HEADS, SIZE]))
        return self("Transpose", split, perm=[0, 2, 1, 3])

    def attended(self, x, name, key, value, bias=None):
        products = self("MatMul", self.heads(x, name), self("Transpose", key, perm=[0, 1, 3, 2]))
        rows = self("MatMul", self("Softmax", self("Add", products, bias) if bias else products, axis=-1), value)
        joined = self("Reshape", self("Transpose", rows, perm=[0, 2, 1, 3]), self.constant("join", [0, -1, WIDTH]))
        return self("Add", x, joined)


def decoder(random, name="decoder", layers=LAYERS, element=np.float32, tokens=TOKENS, row=None):
    """A decoder alone (GPT-2): it reads tokens, their positions, a mask, and the past of each layer. With `row` these are the
    scores, whatever the tokens are."""
    g = Graph(random, element)
    h = g("Add", g.embedded("input_ids"), g("Gather", g.weight("places", PLACES, WIDTH), "position_ids"))
    for i in range(layers):
        a, present = g("Attention", h, g.weight(f"w{i}", WIDTH, 3 * WIDTH), g.weight(f"b{i}", 3 * WIDTH), "attention_mask", f"past_{i}",
                       outputs=2, domain="com.microsoft", num_heads=HEADS, unidirectional=1)
        g.rename(present, f"present_{i}")
        h = g("Add", a, h)
    scores = g.scores(h)
    # The scores of all are drawn, so that fewer tokens have the same.
    g.constants["scores"] = g.constants["scores"][:, :tokens]
    if row is not None:
        scores = g("Add", g("Mul", scores, g.constant("none", element(0))), g.constant("row", np.asarray(row, element)))
    g.rename(scores, "logits")
    past = lambda length: [2, "B", HEADS, length, SIZE]
    return g.finish(name, [("input_ids", I32, ["B", "S"]), ("position_ids", I32, ["B", "S"]), ("attention_mask", I32, ["B", "T"])] +
                    [(f"past_{i}", g.type, past("P")) for i in range(layers)],
                    [("logits", g.type, ["B", "S", tokens])] + [(f"present_{i}", g.type, past("T")) for i in range(layers)])


def decoded(g, tokens, pasts, crosses, layers):
    """One run of the decoder of an encoder: the scores, and the keys and values of each layer so far."""
    hidden = g("Sub", g("Cast", "encoder_attention_mask", to=g.type), g.constant("one", g.element(1)))
    bias = g("Unsqueeze", g("Mul", hidden, g.constant("much", g.element(1e4))), g.constant("axes", [1, 2]))
    h, presents = g.embedded(tokens), []
    for i in range(layers):
        parts = [g.heads(h, f"{each}{i}") for each in "kv"]
        if pasts:
            parts = [g("Concat", past, part, axis=2) for past, part in zip(pasts[2 * i : 2 * i + 2], parts)]
        presents += parts
        h = g.attended(g.attended(h, f"q{i}", *parts), f"c{i}", *crosses[2 * i : 2 * i + 2], bias)
    return g.scores(h), presents


def encoder_and_decoder(seed, form="old", layers=LAYERS):
    """An encoder and a decoder (T5). Forms: "old", where the encoder runs the decoder on the first tokens; "hidden", where the
    decoder reads what the encoder gave, too; "new", where the encoder gives only the keys and values of its tokens."""
    pairs = [(part, i) for i in range(layers) for part in ("key", "value")]
    past = lambda length: ["B", HEADS, length, SIZE]
    selves = lambda of, kind, length: [(f"{of}_{part}_self_{i}", kind, past(length)) for part, i in pairs]
    crosses = lambda of, kind: [(f"{of}_{part}_cross_{i}", kind, past("E")) for part, i in pairs]
    mask = ("encoder_attention_mask", I32, ["B", "E"])

    def weights():
        # Both graphs have the same, so small that no token has all the probability.
        g = Graph(np.random.default_rng(seed), spread=0.7)
        for name, *shape in [("words", TOKENS, WIDTH), ("scores", WIDTH, TOKENS)] + [(f"{each}{i}", WIDTH, WIDTH) for i in range(layers) for each in "kvqcKV"]:
            g.weight(name, *shape)
        return g

    g = weights()
    h = g.embedded("encoder_input_ids")
    keys = [g.heads(h, f"{each}{i}") for i in range(layers) for each in "KV"]
    inputs, outputs, found = [("encoder_input_ids", I32, ["B", "E"]), mask], crosses("present", g.type), keys
    if form != "new":
        scores, presents = decoded(g, "decoder_input_ids", [], keys, layers)
        inputs.append(("decoder_input_ids", I32, ["B", 1]))
        outputs = [("logits", g.type, ["B", 1, TOKENS]), ("encoder_hidden_states", g.type, ["B", "E", WIDTH])] + selves("present", g.type, 1) + outputs
        found = [scores, h] + presents + keys
    for value, (name, _, _) in zip(found, outputs):
        g.rename(value, name)
    encoder = g.finish("encoder", inputs, outputs)

    g = weights()
    ins, outs = selves("past", g.type, "P"), selves("present", g.type, "T")
    scores, presents = decoded(g, "input_ids", [each[0] for each in ins], [each[0] for each in crosses("past", g.type)], layers)
    for value, name in zip([scores] + presents, ["logits"] + [each[0] for each in outs]):
        g.rename(value, name)
    states = [("encoder_hidden_states", g.type, ["B", "E", WIDTH])] if form == "hidden" else []
    return {"encoder": encoder,
            "decoder": g.finish("decoder", [("input_ids", I32, ["B", 1]), mask] + states + ins + crosses("past", g.type),
                                [("logits", g.type, ["B", 1, TOKENS])] + outs)}
