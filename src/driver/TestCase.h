//===- TestCase.h - a model with inputs and what it should give -----------===//
//
// ONNX's test form: a folder with `model.onnx`, or one that is a model itself,
// and in it folders `test_data_set_N` of `input_I.pb` and `output_I.pb`, in the
// order of the model's inputs and outputs, or of `input_NAME.npy` and
// `output_NAME.npy` by their names, in which `/` is `_`. Or a file of programs
// that check themselves, each a case.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_TESTCASE_H
#define SINTER_DRIVER_TESTCASE_H

#include "engine/Session.h"
#include "engine/TestFile.h"
#include "runtime/Comparison.h"

#include <string>
#include <vector>

namespace sinter::driver {

/// What has test cases at and below \p path: folders in ONNX's test form, and
/// .mlir files. Sorted. System errors for a path that is not there.
Result<std::vector<std::string>> findTestCases(const std::string &path);

/// Runs the cases at \p path from number \p first on. The error is of what
/// cannot be opened at all.
Result<void> runTestCases(const std::string &path, size_t first,
                          const SessionOptions &options,
                          const Tolerance &tolerance, TestObserver &observer);

} // namespace sinter::driver

#endif // SINTER_DRIVER_TESTCASE_H
