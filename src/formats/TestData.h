//===- TestData.h - tensors in files, as tests of models have them --------===//
//
// Tests of models come in ONNX's form, whatever format the model is in: a model
// and folders with files input_0.pb, input_1.pb, ..., output_0.pb, ... of one
// value each. Needs no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_TESTDATA_H
#define SINTER_FORMATS_TESTDATA_H

#include "runtime/Tensor.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

/// The tensors of a data set, in order: one for a tensor, as many as there are
/// for a sequence or an optional.
struct TestTensors {
  std::vector<Tensor> tensors;
  /// The shapes of those that stand for elements, by their names.
  std::map<std::string, Shape> elements;
};

class TestData {
public:
  /// Data for the model at \p path. What its inputs and outputs are (tensors,
  /// sequences, optionals) is in the model where its format has more than
  /// tensors.
  static Result<TestData> open(const std::string &path);

  /// The values in folder \p set.
  Result<TestTensors> inputs(const std::string &set) const;
  Result<TestTensors> outputs(const std::string &set) const;

private:
  struct Declared;
  explicit TestData(std::shared_ptr<const Declared> declared)
      : declared(std::move(declared)) {}

  /// Null where all are tensors.
  std::shared_ptr<const Declared> declared;
};

/// The tensor in the file \p path, one of those above.
Result<Tensor> readTestTensor(const std::string &path);

} // namespace sinter

#endif // SINTER_FORMATS_TESTDATA_H
