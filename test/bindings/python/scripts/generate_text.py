"""Greedy decoding with a growing prompt and a cache of what was seen."""
import sys

import numpy
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1])
layers = [each.name for each in session.get_inputs() if each.name.startswith("past_")]
width = session.get_inputs()[1].shape[-1]
past = {name: numpy.zeros((1, 0, width), dtype=numpy.float32) for name in layers}
tokens = numpy.array([[3, 1, 4]], dtype=numpy.int64)
generated = tokens[0].tolist()
for _ in range(8):
    logits, *present = session.run(None, {"input_ids": tokens, **past})
    best = int(numpy.argmax(logits[0, -1]))
    generated.append(best)
    past = dict(zip(layers, present))
    tokens = numpy.array([[best]], dtype=numpy.int64)
    assert all(each.shape[1] == len(generated) - 1 for each in past.values())
print(generated)
