//===- TestCase.h - a model with inputs and expected outputs --------------===//
//
// ONNX's test form: a folder with `model.onnx`, or one that is a model itself,
// with folders `test_data_set_N` of `input_I.pb` and `output_I.pb`, in the
// order of the model's inputs and outputs, or of `input_NAME.npy` and
// `output_NAME.npy` by name, with `_` for `/`. Or a file of self-checking
// programs, each a case.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_TESTCASE_H
#define SINTER_DATA_TESTCASE_H

#include "engine/Session.h"
#include "engine/TestFile.h"
#include "runtime/Comparison.h"

#include <functional>
#include <string>
#include <vector>

namespace sinter {

/// The test cases in \p path: folders in ONNX's test form, and .mlir files.
/// Sorted. System errors if the path does not exist.
Result<std::vector<std::string>> findTestCases(const std::string &path);

/// Runs the cases at \p path from number \p first on. A model of dynamic
/// dimensions runs at \p sizes choices of them at least: besides those of its
/// data at others that it allows, compared with the interpreter. The error is
/// for what cannot be opened at all. \p print gets what self-checking programs
/// print.
Result<void> runTestCases(const std::string &path, size_t first,
                          const SessionOptions &options,
                          const Tolerance &tolerance, size_t sizes,
                          TestObserver &observer,
                          std::function<void(const std::string &)> print);

} // namespace sinter

#endif // SINTER_DATA_TESTCASE_H
