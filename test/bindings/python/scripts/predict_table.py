"""A classifier of rows, as scikit-learn's converters write it, from the bytes of a file."""
import sys

import numpy
import onnxruntime as rt

with open(sys.argv[1], "rb") as f:
    sess = rt.InferenceSession(f.read(), providers=["CPUExecutionProvider"])
input_name = sess.get_inputs()[0].name
label_name = sess.get_outputs()[0].name
X_test = numpy.random.default_rng(7).normal(size=(150, 4))
pred_onx = sess.run([label_name], {input_name: X_test.astype(numpy.float32)})[0]
probabilities = sess.run(None, {input_name: X_test.astype(numpy.float32)})[1]
assert (probabilities.argmax(axis=1) == pred_onx).all()
print(numpy.bincount(pred_onx, minlength=3))
try:
    sess.run([label_name], {input_name: X_test})
except Exception as e:
    print("Unexpected type:", type(e).__name__)
