//===- NodeContext.h - interface for operator importers -------------------===//
//
// One node of the file during its translation: a GraphBuilder with access to
// the node's inputs and attributes. A wrong attribute is a sticky error like
// any other, so an importer is straight-line code that ends with `return
// node.result(v)`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_NODECONTEXT_H
#define SINTER_FORMATS_ONNX_NODECONTEXT_H

#include "formats/import/GraphBuilder.h"
#include "formats/onnx/Importer.h"

namespace sinter::onnx {

using formats::Dim;
using formats::Dims;
using formats::Failure;
using formats::Ints;
using formats::MaybeValue;

class NodeContext : public formats::GraphBuilder {
public:
  NodeContext(Importer &importer, Frame &frame, const NodeProto &proto,
              int64_t version, int64_t index);

  //===--- The node -------------------------------------------------------===//

  llvm::StringRef opType() const;
  llvm::StringRef domain() const;
  /// The opset version of the node's domain.
  int64_t version() const { return opsetVersion; }
  /// Inputs and outputs as listed; one with an empty name is absent.
  int64_t inputCount() const;
  int64_t outputCount() const;
  bool has(int64_t input);
  bool wants(int64_t output) const;
  /// The input, or null if it is absent. Inputs that the registry requires are
  /// present.
  mlir::Value operand(int64_t input);
  /// Lets operand() return codes (ops/Minifloats.h), which it refuses else.
  void allowCodes() { takesCodes = true; }
  /// Makes the outputs that have the element type of codes such codes.
  void makeCoded(int32_t dataType);
  /// All inputs from \p first on; fails if one is absent.
  Values operands(int64_t first = 0);
  /// The input of any kind: a tensor, a sequence, none.
  const Bound &bound(int64_t input);

  //===--- Results ----------------------------------------------------===//

  /// The node's outputs, in order. Null Values fail, except for outputs that
  /// are absent.
  mlir::LogicalResult result(mlir::Value value);
  mlir::LogicalResult results(llvm::ArrayRef<mlir::Value> values);
  mlir::LogicalResult boundResults(std::vector<Bound> values);
  /// The outputs so far.
  llvm::ArrayRef<Bound> given() const { return outputs; }
  const ReadOptions &readOptions() const override { return importer.options; }
  /// Notes that the node draws random values.
  void noteDraw() { importer.hasDrawn = true; }

  //===--- Attributes -----------------------------------------------------===//
  // A missing attribute gives the default; one of another type fails.

  const AttributeProto *attribute(llvm::StringRef name);
  bool hasAttribute(llvm::StringRef name) { return attribute(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  bool getBool(llvm::StringRef name, bool otherwise) {
    return getInt(name, otherwise) != 0;
  }
  double getFloat(llvm::StringRef name, double otherwise);
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise);
  Ints getInts(llvm::StringRef name, Ints otherwise = {});
  llvm::SmallVector<double> getFloats(llvm::StringRef name);
  std::vector<std::string> getStrings(llvm::StringRef name);
  std::optional<Tensor> getTensor(llvm::StringRef name);
  /// TensorProto.DataType of the tensor in an attribute; 0 if there is none.
  int32_t dataTypeOf(llvm::StringRef name);
  const GraphProto *getGraph(llvm::StringRef name);
  /// TensorProto.DataType \p dataType as an element type; fails if it has
  /// none.
  mlir::Type elementType(int64_t dataType);
  /// The same for an operator that makes numbers; fails for strings.
  mlir::Type numberType(int64_t dataType);

  /// A list that is attribute \p name in old opsets and input \p input in new
  /// ones; fails if the input is there and not known. \p given is set to
  /// whether there was one at all.
  std::optional<Ints> integersFrom(int64_t input, llvm::StringRef name,
                                   bool *given = nullptr);

  /// Erases an op without uses, and the ops in its regions. It was made for the
  /// node's graphs, which are then imported again or not at all.
  void erase(mlir::Operation *op);

  Importer &importer;
  Frame &frame;
  const NodeProto &proto;

private:
  friend class Importer;
  int64_t opsetVersion;
  /// The node's index (graph/Source.h).
  int64_t index;
  std::vector<Bound> outputs;
  bool takesCodes = false;
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_NODECONTEXT_H
