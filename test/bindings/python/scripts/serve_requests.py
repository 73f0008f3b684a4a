"""Requests of many clients: threads that share a session, batches, asynchronous runs, and one that is cancelled."""
import queue
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
requests = [np.random.default_rng(i).normal(size=(i % 4 + 1, 8)).astype(np.float32) for i in range(16)]


def handle(rows):
    return session.run(None, {name: rows})[0]


with ThreadPoolExecutor(max_workers=4) as pool:
    answers = list(pool.map(handle, requests))
together = handle(np.concatenate(requests))
np.testing.assert_allclose(np.concatenate(answers), together, rtol=1e-5, atol=1e-6)

done = queue.Queue()


def callback(results, user_data, err):
    done.put((user_data, results, err))


for i, rows in enumerate(requests[:4]):
    session.run_async(None, {name: rows}, callback, i)
for _ in range(4):
    i, results, err = done.get(timeout=60)
    assert err == "", err
    np.testing.assert_allclose(results[0], answers[i], rtol=1e-6)

options = onnxruntime.RunOptions()
options.terminate = True
try:
    session.run(None, {name: requests[0]}, options)
except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
    print("cancelled:", error)
print(f"{len(answers)} requests, largest error {np.abs(together - np.concatenate(requests)).max():.3f}")
