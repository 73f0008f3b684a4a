"""Options of sessions and runs. What has no effect in Sinter is accepted with a warning."""
import enum

from .._sinter import Cancellation
from ._errors import InvalidArgument, NotImplemented  # noqa: A004
from ._once import without_effect


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1


class _Attributes:
    """Attributes that exist in the class alone can be set. Those of _WITHOUT_EFFECT warn if they become anything else."""

    _WITHOUT_EFFECT: frozenset = frozenset()

    def __setattr__(self, name, value):
        if not hasattr(type(self), name) and not name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        if name in self._WITHOUT_EFFECT and value != getattr(type(self), name):
            without_effect(f"{type(self).__name__}.{name}")
        object.__setattr__(self, name, value)


class SessionOptions(_Attributes):
    """How a session is made. A configuration entry "sinter.NAME" is the option NAME of sinter.compile()."""

    intra_op_num_threads = 0
    inter_op_num_threads = 0
    graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
    execution_mode = ExecutionMode.ORT_SEQUENTIAL
    execution_order = ExecutionOrder.DEFAULT
    enable_profiling = False
    profile_file_prefix = "onnxruntime_profile_"
    optimized_model_filepath = ""
    enable_mem_pattern = True
    enable_mem_reuse = True
    enable_cpu_mem_arena = True
    log_severity_level = -1
    log_verbosity_level = 0
    logid = ""
    # The same inputs always give the same bits.
    use_deterministic_compute = False

    _WITHOUT_EFFECT = frozenset((
        "inter_op_num_threads", "graph_optimization_level", "execution_mode", "execution_order", "enable_profiling",
        "profile_file_prefix", "enable_mem_pattern", "enable_mem_reuse", "enable_cpu_mem_arena", "log_verbosity_level", "logid"))
    _ENTRIES = frozenset(("session.set_denormal_as_zero", "session.model_external_initializers_file_folder_path"))

    def __init__(self):
        self._entries = {}
        self._sizes = {}

    def add_session_config_entry(self, key, value):
        """Sets an entry, by strings."""
        if key not in self._ENTRIES and not key.startswith("sinter."):
            without_effect(f"the session's configuration entry {key}")
        self._entries[key] = value

    def get_session_config_entry(self, key):
        if key not in self._entries:
            raise InvalidArgument(f"there is no configuration entry '{key}'")
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name, size):
        """Gives the dynamic dimension NAME a static size."""
        self._sizes[name] = int(size)

    def add_free_dimension_override_by_denotation(self, denotation, size):
        without_effect("SessionOptions.add_free_dimension_override_by_denotation")

    def register_custom_ops_library(self, path):
        without_effect("SessionOptions.register_custom_ops_library")

    def add_provider(self, name, options):
        without_effect("SessionOptions.add_provider")

    def add_initializer(self, name, value):
        raise NotImplemented("SessionOptions.add_initializer: weights are those of the model")

    def add_external_initializers(self, names, values):
        raise NotImplemented("SessionOptions.add_external_initializers: weights are those of the model")

    def has_providers(self):
        return False


def folder_of(options):
    """The folder of external data of a model in memory; None: it is not given."""
    return options._entries.get("session.model_external_initializers_file_folder_path")


def compile_options(options, inputs):
    """Those of sinter.compile() for a model of INPUTS (name, dtype, shape)."""
    given = {key[len("sinter."):]: value for key, value in options._entries.items() if key.startswith("sinter.")}
    if options.intra_op_num_threads > 0:
        given["threads"] = options.intra_op_num_threads
    if options._entries.get("session.set_denormal_as_zero") == "0":
        given["denormals"] = True
    if options.log_severity_level > 2:
        given["log"] = lambda line: None
    shapes = {each.name: [options._sizes.get(size) if not isinstance(size, int) else size for size in each.shape]
              for each in inputs if each.shape is not None and any(size in options._sizes for size in each.shape)}
    return given, shapes or None


class RunOptions(_Attributes):
    """How a run is made."""

    log_severity_level = -1
    log_verbosity_level = 0
    logid = ""
    only_execute_path_to_fetches = False
    training_mode = False

    _WITHOUT_EFFECT = frozenset(("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "training_mode"))

    def __init__(self):
        self._cancellation = Cancellation()
        self._terminate = False

    @property
    def terminate(self):
        """Whether runs with these options fail. Another thread may set it, which ends those that have begun."""
        return self._terminate

    @terminate.setter
    def terminate(self, value):
        self._terminate = bool(value)
        if value:
            self._cancellation.cancel()
        else:
            self._cancellation.reset()

    def add_run_config_entry(self, key, value):
        without_effect(f"the run's configuration entry {key}")
