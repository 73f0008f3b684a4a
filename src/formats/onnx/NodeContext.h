//===- NodeContext.h - what an operator's importer works with -------------===//
//
// One node of the file while it is translated. Errors are sticky: what fails
// (a wrong attribute, an op that its verifier rejects) is recorded with the
// node's name, gives a null Value, and null Values pass through every helper.
// So an importer is straight-line code that ends with `return node.result(v)`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_NODECONTEXT_H
#define SINTER_FORMATS_ONNX_NODECONTEXT_H

#include "formats/onnx/Importer.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::onnx {

/// The result of NodeContext::fail: a failure, whatever is asked for.
struct Failure {
  operator mlir::LogicalResult() const { return mlir::failure(); }
  operator mlir::Value() const { return {}; }
  template <typename T> operator std::optional<T>() const {
    return std::nullopt;
  }
};

/// An operand that an op may lack: null is no error.
struct MaybeValue {
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// The size of a dimension: a number, or a value that holds it.
struct Dim {
  Dim(int64_t size) : size(size) {}
  Dim(int64_t size, mlir::Value extent) : size(size), extent(extent) {}
  bool isStatic() const { return !mlir::ShapedType::isDynamic(size); }
  int64_t size;
  /// tensor<1xi64>, where the size is unknown.
  mlir::Value extent;
};
using Dims = llvm::SmallVector<Dim, 6>;
using Ints = llvm::SmallVector<int64_t>;
using Values = llvm::SmallVector<mlir::Value>;

class NodeContext {
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
  /// The input, or null where it is absent. What the registry requires is
  /// there.
  mlir::Value operand(int64_t input);
  /// All inputs from \p first on; fails where one is absent.
  Values operands(int64_t first = 0);
  /// The input whatever it is: a tensor, a sequence, nothing.
  const Bound &bound(int64_t input);

  //===--- Results and errors ---------------------------------------------===//

  /// The node's outputs, in order. Null Values fail, except for outputs that
  /// nobody wants.
  mlir::LogicalResult result(mlir::Value value);
  mlir::LogicalResult results(llvm::ArrayRef<mlir::Value> values);
  mlir::LogicalResult boundResults(std::vector<Bound> values);
  /// The outputs so far.
  llvm::ArrayRef<Bound> given() const { return outputs; }
  /// The node is not valid: \p reason, without the node's name.
  Failure fail(const llvm::Twine &reason);
  /// The node is valid, but not supported.
  Failure unsupported(const llvm::Twine &reason);
  /// The same, because a size or a value is not known: with all sizes known,
  /// the node may well be supported (see ReadOptions::keepsUnknown).
  Failure unknown(const llvm::Twine &reason);
  bool failed() const { return error.has_value(); }
  /// Whether unknown sizes are to be computed with rather than waited for: see
  /// ReadOptions::spellsUnknown.
  bool spellsUnknown() const { return importer.options.spellsUnknown; }
  /// The node draws random numbers.
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
  const GraphProto *getGraph(llvm::StringRef name);
  /// TensorProto.DataType \p dataType as an element type; fails for strings.
  mlir::Type elementType(int64_t dataType);

  //===--- Types ----------------------------------------------------------===//

  // Of null, or of what is no tensor, they are those of a scalar, and the node
  // fails if it did not yet.

  mlir::RankedTensorType type(mlir::Value value);
  mlir::Type element(mlir::Value value) { return type(value).getElementType(); }
  int64_t rank(mlir::Value value) { return type(value).getRank(); }
  llvm::ArrayRef<int64_t> shape(mlir::Value value) {
    return type(value).getShape();
  }
  bool isStatic(mlir::Value value) { return type(value).hasStaticShape(); }
  bool isFloat(mlir::Value value) {
    return mlir::isa<mlir::FloatType>(element(value));
  }
  bool isBool(mlir::Value value) { return element(value).isInteger(1); }
  bool isUnsigned(mlir::Value value) {
    return element(value).isUnsignedInteger();
  }
  mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape,
                                    mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::Type i64() { return builder().getI64Type(); }
  mlir::Type i1() { return builder().getI1Type(); }
  mlir::Type f32() { return builder().getF32Type(); }
  /// \p axis with a negative one counted from the end; fails if it is not in
  /// [-rank, rank).
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  /// Distinct axes, normalised and sorted; fails like axis().
  std::optional<Ints> axes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  //===--- What is known at import ----------------------------------------===//

  /// The integers that a value is known to hold.
  std::optional<Ints> knownIntegers(mlir::Value value);
  std::optional<Elements> knownElements(mlir::Value value);
  /// The value of a tensor that depends on constants only.
  std::optional<Tensor> knownTensor(mlir::Value value);
  /// A list that is attribute \p name in old opsets and input \p input in new
  /// ones; fails if the input is there and not known. \p given tells whether
  /// there was one at all.
  std::optional<Ints> integersFrom(int64_t input, llvm::StringRef name,
                                   bool *given = nullptr);
  /// The sole element of a known tensor.
  std::optional<double> knownScalar(mlir::Value value);

  //===--- Ops ------------------------------------------------------------===//

  mlir::OpBuilder &builder() { return importer.builder; }
  mlir::MLIRContext *context() { return importer.builder.getContext(); }
  mlir::Location location() const { return loc; }

  /// An op whose result types follow from its operands; the first result.
  /// Arguments are those of the op's builder after the result types.
  template <typename Op, typename... Args> mlir::Value op(Args &&...args) {
    mlir::Operation *op = inferred<Op>(std::forward<Args>(args)...);
    return op ? op->getResult(0) : mlir::Value();
  }
  /// The same; the op, or null.
  template <typename Op, typename... Args>
  mlir::Operation *inferred(Args &&...args);
  /// An op with result types that are given.
  template <typename Op, typename... Args>
  mlir::Value typed(mlir::Type result, Args &&...args) {
    mlir::OperationState state(loc, Op::getOperationName());
    if (anyNull(args...))
      return {};
    Op::build(builder(), state, mlir::TypeRange(result),
              std::forward<Args>(args)...);
    mlir::Operation *op = create(state);
    return op ? op->getResult(0) : mlir::Value();
  }
  /// Creates and verifies an op, marks it as this node's; null if it fails.
  /// Regions are filled before.
  mlir::Operation *create(mlir::OperationState &state);
  /// Takes an op that nothing uses, and what is in its regions, out again. It
  /// came of the node's graphs, which are then read again or not at all.
  void erase(mlir::Operation *op);

  //===--- Constants ------------------------------------------------------===//

  mlir::Value constant(const Tensor &tensor, llvm::StringRef name = "");
  /// A rank-0 constant of an element type, rounded to it.
  mlir::Value scalar(mlir::Type element, double value);
  mlir::Value splat(mlir::Type element, double value,
                    llvm::ArrayRef<int64_t> shape);
  /// A constant of \p like's element type that broadcasts to its shape (by
  /// binary()): all its dimensions are 1.
  mlir::Value one(mlir::Value like, double value);
  /// A tensor<Nxi64>.
  mlir::Value integers(llvm::ArrayRef<int64_t> values);

  //===--- Helpers, static and dynamic ------------------------------------===//

  mlir::Value cast(mlir::Value value, mlir::Type element);
  /// The size of a dimension, all sizes, a product of sizes.
  Dim dim(mlir::Value value, int64_t dimension);
  Dims dims(mlir::Value value);
  Dim product(llvm::ArrayRef<Dim> dims);
  /// The sizes as tensor<Nxi64>.
  mlir::Value extents(llvm::ArrayRef<Dim> dims);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<Dim> dims);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
    return reshape(value,
                   llvm::ArrayRef<Dim>(Dims(shape.begin(), shape.end())));
  }
  mlir::Value unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value squeeze(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  /// Leading unit dimensions up to \p rank.
  mlir::Value alignRank(mlir::Value value, int64_t rank);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// Elements start, start + stride, ... before limit, along one dimension.
  mlir::Value sliceAxis(mlir::Value value, int64_t axis, int64_t start,
                        int64_t limit, int64_t stride = 1);
  mlir::Value concatenate(mlir::ValueRange values, int64_t axis);
  /// stablehlo.pad with a constant.
  mlir::Value pad(mlir::Value value, double filler, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high);
  /// Dimension i becomes dimension `dimensions[i]` of the result.
  mlir::Value broadcastInDim(mlir::Value value, llvm::ArrayRef<Dim> dims,
                             llvm::ArrayRef<int64_t> dimensions);
  /// A vector along dimension \p dimension of a tensor like \p like.
  mlir::Value alongDimension(mlir::Value vector, mlir::Value like,
                             int64_t dimension);
  /// The values broadcast to a common shape by NumPy's rule.
  Values broadcastTogether(llvm::ArrayRef<mlir::Value> values);
  /// An elementwise op of two operands, which are broadcast together.
  template <typename Op> mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    Values both = broadcastTogether({lhs, rhs});
    return both.empty() ? mlir::Value() : op<Op>(both[0], both[1]);
  }
  template <typename Op> mlir::Value unary(mlir::Value value) {
    return op<Op>(value);
  }
  /// Combines the elements along \p axes by \p Op, starting with \p initial;
  /// dimensions of size 1 stay in their place with \p keep.
  template <typename Op>
  mlir::Value reduce(mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     double initial, bool keep) {
    return reduceWith(value, axes, initial, keep, Op::getOperationName());
  }
  mlir::Value reduceWith(mlir::Value value, llvm::ArrayRef<int64_t> axes,
                         double initial, bool keep, llvm::StringRef opName);
  /// The number of elements along \p axes, as a scalar of \p element.
  mlir::Value countAlong(mlir::Value value, llvm::ArrayRef<int64_t> axes,
                         mlir::Type element);
  mlir::Value compare(mlir::Value lhs, mlir::Value rhs,
                      stablehlo::ComparisonDirection direction);

  Importer &importer;
  Frame &frame;
  const NodeProto &proto;

private:
  friend class Importer;
  static bool null(mlir::Value value) { return !value; }
  static bool null(mlir::ValueRange values) {
    return llvm::any_of(values, [](mlir::Value v) { return !v; });
  }
  template <typename T> static bool nullArgument(const T &arg) {
    if constexpr (std::is_same_v<T, MaybeValue>)
      return false;
    else if constexpr (std::is_convertible_v<T, mlir::Value>)
      return null(static_cast<mlir::Value>(arg));
    else if constexpr (std::is_same_v<T, Values> ||
                       std::is_same_v<T, mlir::ValueRange>)
      return null(mlir::ValueRange(arg));
    else
      return false;
  }
  template <typename... Args> static bool anyNull(const Args &...args) {
    return (nullArgument(args) || ...);
  }
  using InferFunction = mlir::LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<mlir::Type> &);
  mlir::Operation *createInferred(mlir::OperationState &state,
                                  InferFunction infer);
  bool needsBroadcast(mlir::Value value, llvm::ArrayRef<mlir::Value> all,
                      int64_t rank);

  mlir::Location loc;
  int64_t opsetVersion;
  /// The node's number in `onnx.nodes`.
  int64_t index;
  std::optional<ErrorInNode> error;
  std::vector<Bound> outputs;
  std::vector<mlir::Operation *> ops;
};

template <typename Op, typename... Args>
mlir::Operation *NodeContext::inferred(Args &&...args) {
  if (anyNull(args...))
    return nullptr;
  constexpr unsigned count =
      Op::template hasTrait<mlir::OpTrait::NResults<4>::Impl>()   ? 4
      : Op::template hasTrait<mlir::OpTrait::NResults<3>::Impl>() ? 3
      : Op::template hasTrait<mlir::OpTrait::NResults<2>::Impl>() ? 2
                                                                  : 1;
  mlir::OperationState state(loc, Op::getOperationName());
  // The types are inferred below, where a failure can be reported.
  mlir::SmallVector<mlir::Type> placeholders(count, builder().getNoneType());
  Op::build(builder(), state, mlir::TypeRange(placeholders),
            std::forward<Args>(args)...);
  return createInferred(state, &Op::inferReturnTypes);
}

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_NODECONTEXT_H
