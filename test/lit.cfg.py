"""lit: every .mlir file below test/ with a RUN line is a test of the tools' text."""
import os

import lit.formats

config.name = "sinter"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "distribution", "fuzz", "rules"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.build_test_folder
config.environment["PATH"] = os.pathsep.join([config.tools_folder, config.llvm_folder, os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
