"""Latency through an IOBinding, percentiles over many runs."""
import sys
import time

import numpy as np
import onnxruntime as ort

so = ort.SessionOptions()
so.enable_profiling = False
so.add_session_config_entry("session.intra_op.allow_spinning", "0")
sess = ort.InferenceSession(sys.argv[1], so, providers=[("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})])
shape = [dim if isinstance(dim, int) else 4 for dim in sess.get_inputs()[0].shape]
X = ort.OrtValue.ortvalue_from_numpy(np.random.default_rng(2).random(shape, dtype=np.float32), "cpu", 0)
binding = sess.io_binding()
binding.bind_input(name=sess.get_inputs()[0].name, device_type=X.device_name(), device_id=0, element_type=np.float32,
                   shape=X.shape(), buffer_ptr=X.data_ptr())
for output in sess.get_outputs():
    binding.bind_output(output.name, "cpu")
times = []
for _ in range(50):
    start = time.perf_counter()
    sess.run_with_iobinding(binding)
    times.append(time.perf_counter() - start)
result = binding.copy_outputs_to_cpu()[0]
assert np.isfinite(result).all()
print(f"p50 {np.percentile(times, 50) * 1e3:.3f} ms, p99 {np.percentile(times, 99) * 1e3:.3f} ms")
