//===- TestData.h - tensors in files of model tests -----------------------===//
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
  /// The element shapes of sequences and optionals, by their names.
  std::map<std::string, Shape> elements;
};

class TestData {
public:
  /// Data for the model at \p path. If its format has more than tensors, the
  /// model declares whether inputs and outputs are tensors, sequences or
  /// optionals.
  static Result<TestData> open(const std::string &path);

  /// The values in folder \p set.
  Result<TestTensors> inputs(const std::string &set) const;
  Result<TestTensors> outputs(const std::string &set) const;

private:
  struct Declared;
  explicit TestData(std::shared_ptr<const Declared> declared)
      : declared(std::move(declared)) {}

  /// Null if all are tensors.
  std::shared_ptr<const Declared> declared;
};

/// Reads the tensor in the file \p path, such as input_0.pb.
Result<Tensor> readTestTensor(const std::string &path);

} // namespace sinter

#endif // SINTER_FORMATS_TESTDATA_H
