#!/usr/bin/env python3
"""sinter.onnxruntime: programs for ONNX Runtime, with its import replaced, on small models.

    test/bindings/python/OnnxruntimeTest.py BUILD
"""
import os
import sys
import tempfile
import textwrap
import threading
import unittest
import warnings

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"OnnxruntimeTest.py: skipped: {missing}")
    sys.exit(77)

import sinter.onnxruntime as onnxruntime  # noqa: E402

W = np.array([[1, -1], [2, 0.5], [-3, 4]], np.float32)


def dense():
    """y = relu(x @ W), z = x + x; batch N."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"]),
             helper.make_node("Add", ["x", "x"], ["z"])]
    graph = helper.make_graph(nodes, "dense", [value("x", TensorProto.FLOAT, ["N", 3])],
                              [value("y", TensorProto.FLOAT, ["N", 2]), value("z", TensorProto.FLOAT, ["N", 3])],
                              [numpy_helper.from_array(W, "w")], doc_string="a layer")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="OnnxruntimeTest", model_version=7,
                              domain="test", doc_string="for a test")
    helper.set_model_props(model, {"labels": "cat,dog", "size": "3"})
    return model


def tokens():
    """Embedding of ids [B, T], a mean over T, classes; ids and a mask, two inputs."""
    value = helper.make_tensor_value_info
    table = np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["e"]),
             helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
             helper.make_node("Unsqueeze", ["m", "last"], ["m3"]), helper.make_node("Mul", ["e", "m3"], ["masked"]),
             helper.make_node("ReduceSum", ["masked", "one"], ["sum"], keepdims=0), helper.make_node("Softmax", ["sum"], ["probabilities"])]
    inputs = [value(name, TensorProto.INT64, ["batch", "length"]) for name in ("input_ids", "attention_mask")]
    graph = helper.make_graph(nodes, "tokens", inputs,
                              [value("probabilities", TensorProto.FLOAT, ["batch", 4])],
                              [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2]), "last"),
                               numpy_helper.from_array(np.array([1]), "one")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


SCRIPTS = {
    "classify": """
        import onnxruntime
        session = onnxruntime.InferenceSession("dense.onnx", providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        y, z = session.run(None, {name: x})
        check(y, np.maximum(x @ W, 0))
        check(z, x + x)
    """,
    "bytes and one output": """
        import onnxruntime
        with open("dense.onnx", "rb") as file:
            session = onnxruntime.InferenceSession(file.read())
        outputs = session.run(["z"], {"x": x[:1]})
        assert len(outputs) == 1 and outputs[0].dtype == np.float32
        check(outputs[0], 2 * x[:1])
        check(session.run(["z", "y"], {"x": x.tolist()})[0], 2 * x)
    """,
    "what the model is": """
        import onnxruntime
        session = onnxruntime.InferenceSession("dense.onnx")
        meta = session.get_modelmeta()
        labels = meta.custom_metadata_map["labels"].split(",")
        assert labels == ["cat", "dog"] and meta.producer_name == "OnnxruntimeTest" and meta.version == 7
        assert (meta.graph_name, meta.domain, meta.description, meta.graph_description) == ("dense", "test", "for a test", "a layer")
        [given] = session.get_inputs()
        assert (given.name, given.shape, given.type) == ("x", ["N", 3], "tensor(float)")
        assert [(each.name, each.shape) for each in session.get_outputs()] == [("y", ["N", 2]), ("z", ["N", 3])]
        shape = [size if isinstance(size, int) else 1 for size in given.shape]
        assert session.run(None, {given.name: np.zeros(shape, np.float32)})[0].shape == (1, 2)
        assert session.get_overridable_initializers() == []
    """,
    "options": """
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.optimized_model_filepath = "optimised.onnx"
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        options.add_free_dimension_override_by_name("N", 4)
        session = onnxruntime.InferenceSession("dense.onnx", sess_options=options, providers=[("CPUExecutionProvider", {})])
        assert session.get_inputs()[0].shape == [4, 3] and session.get_session_options() is options
        check(session.run(None, {"x": x})[0], np.maximum(x @ W, 0))
        assert len(onnx.load("optimised.onnx").graph.output) == 2
        assert session.get_providers() == ["CPUExecutionProvider"] == onnxruntime.get_available_providers()
        assert session.get_provider_options() == {"CPUExecutionProvider": {}} and onnxruntime.get_device() == "CPU"
    """,
    "a GPU if there is one": """
        import onnxruntime as ort
        ort.set_default_logger_severity(3)
        providers = ["CUDAExecutionProvider", "CPUExecutionProvider"]
        usable = [each for each in providers if each in ort.get_available_providers()]
        session = ort.InferenceSession("dense.onnx", providers=usable)
        session.set_providers(["CPUExecutionProvider"])
        check(session.run(["y"], {"x": x})[0], np.maximum(x @ W, 0))
    """,
    "bindings": """
        import onnxruntime as ort
        session = ort.InferenceSession("dense.onnx")
        binding = session.io_binding()
        value = ort.OrtValue.ortvalue_from_numpy(x, "cpu", 0)
        out = np.empty((4, 2), np.float32)
        binding.bind_input(name="x", device_type=value.device_name(), device_id=0, element_type=np.float32, shape=value.shape(),
                           buffer_ptr=value.data_ptr())
        binding.bind_output("y", "cpu", 0, np.float32, out.shape, out.ctypes.data)
        binding.bind_output("z")
        session.run_with_iobinding(binding)
        check(out, np.maximum(x @ W, 0))
        y, z = binding.copy_outputs_to_cpu()
        check(z, x + x)
        assert binding.get_outputs()[0].data_ptr() == out.ctypes.data
        binding.clear_binding_inputs()
        binding.clear_binding_outputs()
        binding.bind_cpu_input("x", -x)
        target = ort.OrtValue.ortvalue_from_shape_and_type([4, 2], np.float32)
        binding.bind_ortvalue_output("y", target)
        session.run_with_iobinding(binding)
        check(target.numpy(), np.maximum(-x @ W, 0))
    """,
    "values": """
        import onnxruntime as ort
        session = ort.InferenceSession("dense.onnx")
        value = ort.OrtValue.ortvalue_from_numpy(x.copy())
        assert value.is_tensor() and value.has_value() and value.data_type() == "tensor(float)" and value.shape() == [4, 3]
        y, z = session.run_with_ort_values(None, {"x": value})
        check(z.numpy(), x + x)
        value.update_inplace(3 * x)
        check(session.run(["z"], {"x": value})[0], 6 * x)
        check(np.from_dlpack(value), 3 * x)
        ids = ort.OrtValue.ortvalue_from_shape_and_type([2, 0], 7)
        assert (ids.data_type(), ids.element_type(), ids.shape()) == ("tensor(int64)", 7, [2, 0])
    """,
    "asynchronous": """
        import threading
        import onnxruntime
        session = onnxruntime.InferenceSession("dense.onnx")
        done, got = threading.Event(), []
        def callback(results, data, error):
            got.append((results, data, error))
            done.set()
        session.run_async(["y"], {"x": x}, callback, "request 1")
        assert done.wait(60)
        check(got[0][0][0], np.maximum(x @ W, 0))
        assert got[0][1:] == ("request 1", "")
        done.clear()
        session.run_async(["y"], {"x": x.astype(np.float64)}, callback, None)
        assert done.wait(60) and got[1][0] == [] and "f64" in got[1][2]
    """,
    "errors": """
        import onnxruntime as ort
        from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile
        from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Unsupported
        def raises(kind, words, call):
            try:
                call()
            except kind as error:
                assert words in str(error), str(error)
            else:
                raise AssertionError(f"no {kind}")
        raises(NoSuchFile, "missing.onnx", lambda: ort.InferenceSession("missing.onnx"))
        raises(InvalidProtobuf, "model", lambda: ort.InferenceSession(b"no model at all"))
        raises(TypeError, "Unable to load", lambda: ort.InferenceSession(3))
        raises(Unsupported, "Unheard", lambda: ort.InferenceSession("unknown.onnx"))
        session = ort.InferenceSession("dense.onnx")
        raises(InvalidArgument, "f64", lambda: session.run(None, {"x": x.astype(np.float64)}))
        raises(InvalidArgument, "x", lambda: session.run(None, {"x": x[:, :2]}))
        raises(InvalidArgument, "Invalid input name: v", lambda: session.run(None, {"x": x, "v": x}))
        raises(InvalidArgument, "Invalid output name: v", lambda: session.run(["v"], {"x": x}))
        raises(ValueError, "['x']", lambda: session.run(None, {}))
        raises(InvalidArgument, "cuda", lambda: ort.OrtValue.ortvalue_from_numpy(x, "cuda", 0))
        raises(AttributeError, "threads", lambda: setattr(ort.SessionOptions(), "threads", 1))
        stop = ort.RunOptions()
        stop.terminate = True
        raises(Fail, "terminate", lambda: session.run(None, {"x": x}, run_options=stop))
        check(session.run(None, {"x": x}, ort.RunOptions())[1], x + x)
    """,
    "a text classifier": """
        import onnxruntime
        session = onnxruntime.InferenceSession("tokens.onnx", onnxruntime.SessionOptions())
        texts = [[1, 2, 3], [4, 5], [9]]
        longest = max(map(len, texts))
        batch = {"input_ids": np.array([each + [0] * (longest - len(each)) for each in texts], np.int64),
                 "attention_mask": np.array([[1] * len(each) + [0] * (longest - len(each)) for each in texts], np.int64)}
        names = {each.name for each in session.get_inputs()}
        [probabilities] = session.run(["probabilities"], {name: value for name, value in batch.items() if name in names})
        table = np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4)
        sums = np.stack([table[each].sum(0) for each in texts])
        check(probabilities, np.exp(sums) / np.exp(sums).sum(1, keepdims=True))
        for length in (1, 5, 2):
            ids = np.ones((1, length), np.int64)
            assert session.run(None, {"input_ids": ids, "attention_mask": ids})[0].shape == (1, 4)
    """,
}


def check(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


class Scripts(unittest.TestCase):
    """Each of SCRIPTS in a folder with the models."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["XDG_CACHE_HOME"] = cls.folder.name
        cls.before = os.getcwd()
        os.chdir(cls.folder.name)
        onnx.save(dense(), "dense.onnx")
        onnx.save(tokens(), "tokens.onnx")
        unknown = dense()
        unknown.graph.node[1].op_type = "Unheard"
        onnx.save(unknown, "unknown.onnx")

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()

    def test_scripts(self):
        for name, text in SCRIPTS.items():
            with self.subTest(name=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = textwrap.dedent(text).replace("import onnxruntime\n", "import sinter.onnxruntime as onnxruntime\n")
                text = text.replace("import onnxruntime as", "import sinter.onnxruntime as")
                text = text.replace("from onnxruntime.", "from sinter.onnxruntime.")
                x = np.arange(12, dtype=np.float32).reshape(4, 3) / 4 - 1
                exec(compile(text, name, "exec"), {"np": np, "onnx": onnx, "x": x, "W": W, "check": check})  # noqa: S102


class Termination(unittest.TestCase):
    def test_terminate_ends_a_run(self):
        # A loop that does not end within this test.
        graph = helper.make_graph(
            [helper.make_node("Loop", ["n", "", "x"], ["y"], body=helper.make_graph(
                [helper.make_node("Sin", ["a"], ["b"]), helper.make_node("Identity", ["go"], ["on"])], "body",
                [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("a", TensorProto.FLOAT, [2])],
                [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("b", TensorProto.FLOAT, [2])]))],
            "loop", [helper.make_tensor_value_info("n", TensorProto.INT64, []), helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("sinter.no-cache", "true")
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        run = onnxruntime.RunOptions()
        feed = {"n": np.array(1 << 60), "x": np.ones(2, np.float32)}
        threading.Timer(0.5, setattr, (run, "terminate", True)).start()
        fail = onnxruntime.capi.onnxruntime_pybind11_state.Fail
        self.assertRaisesRegex(fail, "terminate flag", session.run, None, feed, run)
        self.assertRaisesRegex(fail, "terminate flag", session.run, None, {**feed, "n": np.array(1)}, run)
        run.terminate = False
        np.testing.assert_allclose(session.run(None, {**feed, "n": np.array(1)}, run)[0], np.sin(feed["x"]), rtol=1e-6)


class Values(unittest.TestCase):
    def test_bits_of_types_that_numpy_lacks(self):
        bits = np.array([0x3f80, 0xc000], np.uint16)
        value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
        self.assertEqual((value.data_type(), value.element_type(), value.shape()), ("tensor(bfloat16)", 16, [2]))
        graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], "cast",
                                  [helper.make_tensor_value_info("x", TensorProto.BFLOAT16, [2])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
        session = onnxruntime.InferenceSession(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString())
        self.assertEqual(session.run(None, {"x": value})[0].tolist(), [1, -2])
        invalid = onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument
        with self.assertRaisesRegex(invalid, "one size"):
            onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.FLOAT)
        with self.assertRaisesRegex(invalid, "element type 99"):
            onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 99)


class Warnings(unittest.TestCase):
    def told(self, call):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        return [str(each.message) for each in told]

    def test_what_has_no_effect_warns_once(self):
        def profile():
            options = onnxruntime.SessionOptions()
            options.profile_file_prefix = "prefix"
            options.intra_op_num_threads = 2
        self.assertEqual(self.told(profile), ["SessionOptions.profile_file_prefix: it is accepted, and has no effect in Sinter"])
        self.assertEqual(self.told(profile), [])

    def test_each_name_without_effect_warns_once(self):
        options, run = onnxruntime.SessionOptions(), onnxruntime.RunOptions()
        session = onnxruntime.InferenceSession(dense().SerializeToString())
        calls = {
            "SessionOptions.inter_op_num_threads": lambda: setattr(options, "inter_op_num_threads", 3),
            "SessionOptions.graph_optimization_level": lambda: setattr(options, "graph_optimization_level",
                                                                       onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL),
            "SessionOptions.execution_mode": lambda: setattr(options, "execution_mode", onnxruntime.ExecutionMode.ORT_PARALLEL),
            "SessionOptions.execution_order": lambda: setattr(options, "execution_order", onnxruntime.ExecutionOrder.PRIORITY_BASED),
            "SessionOptions.enable_profiling": lambda: setattr(options, "enable_profiling", True),
            "SessionOptions.enable_mem_pattern": lambda: setattr(options, "enable_mem_pattern", False),
            "SessionOptions.enable_mem_reuse": lambda: setattr(options, "enable_mem_reuse", False),
            "SessionOptions.enable_cpu_mem_arena": lambda: setattr(options, "enable_cpu_mem_arena", False),
            "SessionOptions.log_verbosity_level": lambda: setattr(options, "log_verbosity_level", 2),
            "the session's configuration entry session.x": lambda: options.add_session_config_entry("session.x", "1"),
            "SessionOptions.add_free_dimension_override_by_denotation":
                lambda: options.add_free_dimension_override_by_denotation("DATA_BATCH", 1),
            "SessionOptions.register_custom_ops_library": lambda: options.register_custom_ops_library("ops.so"),
            "SessionOptions.add_provider": lambda: options.add_provider("QNNExecutionProvider", {}),
            "RunOptions.log_severity_level": lambda: setattr(run, "log_severity_level", 0),
            "RunOptions.log_verbosity_level": lambda: setattr(run, "log_verbosity_level", 1),
            "RunOptions.logid": lambda: setattr(run, "logid", "a"),
            "RunOptions.only_execute_path_to_fetches": lambda: setattr(run, "only_execute_path_to_fetches", True),
            "RunOptions.training_mode": lambda: setattr(run, "training_mode", True),
            "the run's configuration entry memory.x": lambda: run.add_run_config_entry("memory.x", "1"),
            "InferenceSession's disabled_optimizers":
                lambda: onnxruntime.InferenceSession(dense().SerializeToString(), disabled_optimizers=["x"]),
            "InferenceSession.end_profiling": session.end_profiling,
            "TensorrtExecutionProvider": lambda: session.set_providers(["TensorrtExecutionProvider", "CPUExecutionProvider"]),
            "set_default_logger_verbosity": lambda: onnxruntime.set_default_logger_verbosity(1),
            "set_seed": lambda: onnxruntime.set_seed(1),
        }
        # What another test of this process has used has warned.
        for name, call in calls.items():
            with self.subTest(name=name):
                told = self.told(call)
                self.assertIn(len(told), (0, 1))
                self.assertTrue(all(each.startswith(f"{name}: ") for each in told), told)
                self.assertEqual(self.told(call), [])
        self.assertEqual(self.told(lambda: setattr(options, "intra_op_num_threads", 2)), [])
        self.assertEqual(self.told(lambda: options.add_session_config_entry("sinter.threads", "1")), [])

    def test_the_line_of_the_program_is_shown(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            onnxruntime.SessionOptions().logid = "a name"
        self.assertEqual([(each.category.__name__, each.filename) for each in told], [("Warning", __file__)])

    def test_what_would_change_results_is_refused(self):
        refused = onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented
        self.assertRaises(refused, onnxruntime.SessionOptions().add_initializer, "w", None)

    def test_options_of_sinter(self):
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("sinter.thread", "1")
        self.assertEqual(options.get_session_config_entry("sinter.thread"), "1")
        with self.assertRaisesRegex(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, "threads"):
            onnxruntime.InferenceSession(dense().SerializeToString(), options)


if __name__ == "__main__":
    unittest.main()
