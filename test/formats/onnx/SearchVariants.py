"""Random searches for text, as ONNX Runtime has them: prompts with or without padding, masks, penalties, beams, models."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from SearchGraphs import TOKENS, decoder, encoder_and_decoder

I32, F32 = TensorProto.INT32, TensorProto.FLOAT
# The inputs of each operator that are prompts, or masks of them, and its outputs.
OPERATORS = {"GreedySearch": ((0, 5, 6), [("y", I32, ["B", "L"])]),
             "Sampling": ((0, 5, 6, 7), [("y", I32, ["B", "L"])]),
             "BeamSearch": ((0, 8, 9), [("y", I32, ["B", "N", "L"]), ("best", F32, ["B", "N"]), ("all", F32, ["T", "B", "K", "V"])])}


def one(value, kind=np.int32):
    return np.array([value], kind)


def search(operator, arrays, given=None, shapes=None, **attributes):
    """A model of one search: arrays by input, None for an absent one; all are constants but those in `given`, the prompts and
    masks of them by default."""
    usual, outputs = OPERATORS[operator]
    given = usual if given is None else given
    names = [f"x{i}" if each is not None else "" for i, each in enumerate(arrays)]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(operator, names, [name for name, _, _ in outputs], name="search", domain="com.microsoft", **attributes)
    feeds = {name: arrays[i] for i, name in enumerate(names) if i in given and name}
    constants = [numpy_helper.from_array(arrays[i], name) for i, name in enumerate(names) if i not in given and name]
    infos = [helper.make_tensor_value_info(name, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype], (shapes or {}).get(name, value.shape))
             for name, value in feeds.items()]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info(*each) for each in outputs], constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]), feeds


class Drawn:
    """What all searches draw, by the operator's name and a list of numbers as the seed."""

    def __init__(self, operator, seed):
        self.random = random = np.random.default_rng([len(operator), *seed])
        self.end, self.padding = 3, int(random.integers(0, 2))
        self.batch, self.length = int(random.integers(1, 4)), int(random.integers(1, 6))
        self.prompts = random.integers(2, TOKENS, (self.batch, self.length)).astype(np.int32)
        for row in self.prompts:
            row[: random.integers(0, self.length)] = self.padding
        self.attributes = {"eos_token_id": self.end, "pad_token_id": self.padding, "model_type": 0}
        if operator != "GreedySearch" and self.flag():
            self.attributes["no_repeat_ngram_size"] = int(random.integers(1, 4))

    def flag(self, share=0.4):
        return bool(self.random.random() < share)

    def mask(self, *shape):
        return np.maximum(self.random.random(shape) < 0.7, np.arange(TOKENS) == 5).astype(np.int32)

    def some(self, value):
        return value if self.flag() else None

    def number(self, low, high):
        return one(self.random.uniform(low, high), np.float32)

    def masks(self):
        return [self.some(self.mask(TOKENS)), self.some(self.mask(self.batch, TOKENS)), self.some((self.prompts != self.padding).astype(np.int32))]

    def use_decoder(self):
        self.attributes["decoder"] = decoder(self.random)
        if self.flag(0.3):
            self.attributes["init_decoder"] = self.attributes["decoder"]


def greedy(seed, operator="GreedySearch", **attributes):
    draw = Drawn(operator, seed)
    most = draw.length + int(draw.random.integers(1, 9))
    arrays = [draw.prompts, one(most), draw.some(one(draw.length + int(draw.random.integers(0, 5)))), draw.some(draw.number(0.8, 2))] + draw.masks()
    draw.use_decoder()
    return arrays, {**draw.attributes, **attributes}


def beams(seed):
    draw = Drawn("BeamSearch", seed)
    form = ("decoder", "old", "hidden", "new")[seed[-1] % 4]
    count = int(draw.random.integers(1, 5))
    arrays = [draw.prompts, one(draw.length + int(draw.random.integers(2, 9))), one(0), one(count), one(int(draw.random.integers(1, count + 1))),
              draw.number(-0.5, 2), draw.some(draw.number(0.8, 2))] + draw.masks()
    draw.attributes["early_stopping"] = int(draw.flag())
    if form == "decoder":
        draw.use_decoder()
    else:
        draw.attributes.update(model_type=1, decoder_start_token_id=1, **encoder_and_decoder(seed[-1], form))
    return arrays, draw.attributes


def samples(seed):
    return greedy(seed, "Sampling", top_p=0.8, temperature=0.7)


# What each draws: the arrays and attributes of a search.
FAMILIES = {"GreedySearch": greedy, "Sampling": samples, "BeamSearch": beams}
