"""Sentence embeddings: tokens, a mask, the mean over tokens, cosine similarity."""
import sys

import numpy as np
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions

SENTENCES = ["the cat sat on the mat", "a cat on a mat", "stocks fell sharply today"]
vocabulary = {word: i + 2 for i, word in enumerate(sorted({word for text in SENTENCES for word in text.split()}))}


def encode(texts):
    ids = [[1] + [vocabulary[word] for word in text.split()] for text in texts]
    longest = max(len(each) for each in ids)
    return {
        "input_ids": np.array([each + [0] * (longest - len(each)) for each in ids], dtype=np.int64),
        "attention_mask": np.array([[1] * len(each) + [0] * (longest - len(each)) for each in ids], dtype=np.int64),
        "token_type_ids": np.zeros((len(ids), longest), dtype=np.int64),
    }


options = SessionOptions()
options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
options.intra_op_num_threads = 1
session = InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
batch = encode(SENTENCES)
# Exported models often lack an input that the tokeniser gives.
expected = {each.name for each in session.get_inputs()}
feed = {name: value for name, value in batch.items() if name in expected}
hidden = session.run(None, feed)[0]
mask = batch["attention_mask"][..., None].astype(np.float32)
pooled = (hidden * mask).sum(1) / np.clip(mask.sum(1), 1e-9, None)
pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
print(np.round(pooled @ pooled.T, 3))
