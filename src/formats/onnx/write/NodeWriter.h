//===- NodeWriter.h - writes one operation as ONNX nodes ------------------===//
//
// The interface for a WriterRule. Tensors are names; helpers add nodes and
// return the names of their outputs. A rule ends with result(), results() or
// alias(), or with a failure, after which the nodes that it added are removed.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_NODEWRITER_H
#define SINTER_FORMATS_ONNX_WRITE_NODEWRITER_H

#include "formats/onnx/write/GraphWriter.h"
#include "graph/Types.h"
#include <type_traits>
#include <variant>

namespace sinter::onnx {

using Names = llvm::SmallVector<Name, 4>;
using Ints = llvm::SmallVector<int64_t>;

/// An attribute of a node.
struct NodeAttribute {
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  NodeAttribute(const char *name, T value)
      : name(name), value(static_cast<int64_t>(value)) {}
  NodeAttribute(const char *name, double value)
      : name(name), value(static_cast<float>(value)) {}
  NodeAttribute(const char *name, llvm::StringRef value)
      : name(name), value(value.str()) {}
  NodeAttribute(const char *name, const char *value)
      : name(name), value(std::string(value)) {}
  NodeAttribute(const char *name, llvm::ArrayRef<int64_t> value)
      : name(name), value(value.vec()) {}
  NodeAttribute(const char *name, std::vector<float> value)
      : name(name), value(std::move(value)) {}
  NodeAttribute(const char *name, std::vector<std::string> value)
      : name(name), value(std::move(value)) {}

  const char *name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>,
               std::vector<float>, std::vector<std::string>>
      value;
};
using NodeAttributes = std::vector<NodeAttribute>;

class NodeWriter {
public:
  /// Writes \p op as part of \p last, whose results it gives.
  NodeWriter(GraphWriter &writer, mlir::Operation *op,
             mlir::Operation *last = nullptr)
      : writer(writer), op(op), last(last ? last : op), origin(originOf(op)) {}

  //===--- Operands -------------------------------------------------------===//

  Name operand(mlir::Value value) { return writer.name(value); }
  Names operands() { return operands(op->getOperands()); }
  Names operands(mlir::ValueRange values);
  /// The operands of an elementwise node whose result is of type \p result:
  /// operands before their broadcast where ONNX's own broadcasting suffices.
  Names broadcast(mlir::ValueRange values, mlir::Type result);

  //===--- Nodes ----------------------------------------------------------===//

  /// Adds a node with one output.
  Name make(llvm::StringRef opType, llvm::ArrayRef<Name> inputs,
            const NodeAttributes &attributes = {});
  /// The same of ONNX Runtime's domain.
  Name makeForRuntime(llvm::StringRef opType, llvm::ArrayRef<Name> inputs,
                      const NodeAttributes &attributes = {});
  /// Adds a node with several outputs, of which \p wanted are present.
  Names makeMany(llvm::StringRef opType, llvm::ArrayRef<Name> inputs,
                 const NodeAttributes &attributes, llvm::ArrayRef<bool> wanted);
  /// Adds the node whose outputs are the op's results.
  mlir::LogicalResult result(llvm::StringRef opType,
                             llvm::ArrayRef<Name> inputs,
                             const NodeAttributes &attributes = {});
  /// The same of ONNX Runtime's domain.
  mlir::LogicalResult runtimeResult(llvm::StringRef opType,
                                    llvm::ArrayRef<Name> inputs,
                                    const NodeAttributes &attributes = {});
  /// Makes \p tensor result \p index of the op.
  mlir::LogicalResult alias(const Name &tensor, unsigned index = 0);
  /// Makes the op's results the outputs of \p node.
  void nameResults(NodeProto &node);
  /// Fails with the reason why the op cannot be written.
  mlir::LogicalResult unsupported(const llvm::Twine &reason) {
    why = reason.str();
    return mlir::failure();
  }
  llvm::StringRef reason() const { return why; }

  int64_t version() const { return writer.version(); }
  /// Requires version \p version of the operator set.
  void need(int64_t version) { writer.need(version); }

  //===--- Constants ------------------------------------------------------===//

  Name constant(const Tensor &tensor, llvm::StringRef wanted = "");
  /// A vector of i64.
  Name integers(llvm::ArrayRef<int64_t> values);
  Name integers(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> shape);
  /// A rank-0 tensor.
  Name scalar(mlir::Type element, double value);
  Name splat(mlir::Type element, double value, llvm::ArrayRef<int64_t> shape);
  /// 0, 1, ..., size - 1 of i64 along dimension \p dim, with size 1 in all
  /// others. Long ones are computed by a Range when the model runs.
  Name count(int64_t size, int64_t dim, int64_t rank);

  //===--- Common nodes; none if nothing would change ----------===//

  // For an initializer, reshape, transpose and reverse return another one.

  Name cast(const Name &x, mlir::Type from, mlir::Type to);
  /// One size may be dynamic.
  Name reshape(const Name &x, llvm::ArrayRef<int64_t> shape);
  Name transpose(const Name &x, llvm::ArrayRef<int64_t> permutation);
  Name unsqueeze(const Name &x, llvm::ArrayRef<int64_t> axes);
  Name squeeze(const Name &x, llvm::ArrayRef<int64_t> axes);
  Name slice(const Name &x, llvm::ArrayRef<int64_t> axes,
             llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> ends,
             llvm::ArrayRef<int64_t> steps);
  Name reverse(const Name &x, llvm::ArrayRef<int64_t> axes);
  /// Pads with a scalar tensor; negative padding removes elements.
  Name pad(const Name &x, const Name &filler, llvm::ArrayRef<int64_t> low,
           llvm::ArrayRef<int64_t> high);
  /// Puts `interior[i]` fillers between neighbours of dimension i.
  Name dilate(const Name &x, const Name &filler, llvm::ArrayRef<int64_t> shape,
              llvm::ArrayRef<int64_t> interior);
  Name reduce(llvm::StringRef opType, const Name &x,
              llvm::ArrayRef<int64_t> axes, bool keep);
  Name where(const Name &condition, const Name &yes, const Name &no) {
    return make("Where", {condition, yes, no});
  }

  GraphWriter &writer;
  mlir::Operation *op;
  mlir::Operation *last;
  /// The bias of a matmul or convolution; "" if none.
  Name bias;

  /// Whether \p x is an initializer, not the output of a node.
  bool isInitializer(const Name &x) const { return initializer(x).has_value(); }

private:
  std::optional<Tensor> initializer(const Name &x) const;
  /// The name for \p result, one of the op's.
  Name named(mlir::Value result);
  Name aligned(mlir::Value value, const struct BroadcastSource &source);
  NodeProto &add(llvm::StringRef opType, llvm::ArrayRef<Name> inputs,
                 const NodeAttributes &attributes);

  std::string origin;
  std::string why;
  /// The last result of make(), which has no other user yet.
  Name lastMade;
};

inline mlir::Type elementOf(mlir::Value value) {
  return tensorOf(value).getElementType();
}
/// 0, 1, ..., rank - 1.
Ints identity(int64_t rank);
Ints inverse(llvm::ArrayRef<int64_t> permutation);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_NODEWRITER_H
