//===- GraphBuilder.h - builds the operations of an importer --------------===//
//
// Translates one operator of a file. Errors are sticky: a failure (an op that
// its verifier rejects, shapes that do not match) is recorded and returns a
// null Value, and null Values pass through every helper. So the translation of
// an operator is straight-line code that checks once, at its end, whether
// something failed. The helpers take static and dynamic dimensions alike.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_GRAPHBUILDER_H
#define SINTER_FORMATS_IMPORT_GRAPHBUILDER_H

#include "formats/import/KnownValues.h"
#include "formats/import/ReadOptions.h"
#include "graph/FirstError.h"
#include "graph/Values.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"
#include "runtime/Result.h"

namespace sinter::formats {

/// Why an operator was not translated.
struct BuildError {
  ErrorKind kind;
  std::string reason;
  /// Whether only a size or a value is missing.
  bool waits = false;
};

/// The result of GraphBuilder::fail: converts to a failure of any type.
struct Failure {
  operator mlir::LogicalResult() const { return mlir::failure(); }
  operator mlir::Value() const { return {}; }
  template <typename T> operator std::optional<T>() const {
    return std::nullopt;
  }
};

/// An optional operand of an op: null is no error.
struct MaybeValue {
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// The size of a dimension: static, or a value that holds it.
struct Dim {
  Dim(int64_t size) : size(size) {}
  Dim(int64_t size, mlir::Value extent) : size(size), extent(extent) {}
  bool isStatic() const { return !mlir::ShapedType::isDynamic(size); }
  int64_t size;
  /// tensor<1xi64>, if the size is dynamic.
  mlir::Value extent;
};
using Dims = llvm::SmallVector<Dim, 6>;
using Ints = llvm::SmallVector<int64_t>;

class GraphBuilder {
public:
  /// Creates ops at the insertion point of \p builder, at \p location;
  /// \p knowledge observes them, and \p diagnostics collects the verifiers'
  /// messages. All but constants are marked with node \p source of the file
  /// (graph/Source.h), if it has an index.
  GraphBuilder(mlir::OpBuilder &builder, KnownValues &knowledge,
               FirstError &diagnostics, mlir::Location location,
               std::optional<int64_t> source = std::nullopt)
      : opBuilder(builder), knowledge(knowledge), diagnostics(diagnostics),
        loc(location), source(source) {}
  virtual ~GraphBuilder() = default;

  /// The options that the file is read with; the defaults if there is no file.
  virtual const ReadOptions &readOptions() const;

  /// ReadOptions::expandsUnknown: whether to emit computations with dynamic
  /// dimensions rather than wait until they are known.
  bool expandsUnknown() const { return readOptions().expandsUnknown; }
  /// ReadOptions::expandsBroadcasts.
  bool expandsBroadcasts() const { return readOptions().expandsBroadcasts; }
  /// ReadOptions::requiresValues. Callers have something to require, so this
  /// also calls ReadOptions::onRequirement.
  bool requiresValues() const;
  /// Requires, in a graph that is compiled, that \p condition, one boolean,
  /// holds when the model runs.
  void require(mlir::Value condition);

  //===--- Errors ---------------------------------------------------------===//

  /// Fails because the model is not valid: \p reason, without the operator's
  /// name.
  Failure fail(const llvm::Twine &reason);
  /// Fails because the model is valid but not supported.
  Failure unsupported(const llvm::Twine &reason);
  /// The same, because a size or a value is not known; with all sizes known the
  /// model may be supported.
  Failure unknown(const llvm::Twine &reason);
  bool failed() const { return problem.has_value(); }
  /// The first failure.
  const std::optional<BuildError> &error() const { return problem; }

  //===--- Types ----------------------------------------------------------===//

  // A null value or one that is no tensor counts as a scalar, and the builder
  // fails unless it already did.

  mlir::RankedTensorType type(mlir::Value value);
  mlir::Type element(mlir::Value value) { return type(value).getElementType(); }
  int64_t rank(mlir::Value value) { return type(value).getRank(); }
  llvm::ArrayRef<int64_t> shape(mlir::Value value) {
    return type(value).getShape();
  }
  /// The size of dimension \p dimension, counted from the end if it is
  /// negative; fails, and is 1, if there is no such dimension.
  int64_t size(mlir::Value value, int64_t dimension);
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

  //===--- What is known while a file is read -----------------------------===//

  KnownValues &known() { return knowledge; }
  /// The integers that a value is known to hold.
  std::optional<Ints> knownIntegers(mlir::Value value);
  std::optional<Elements> knownElements(mlir::Value value);
  /// The value of a tensor that depends only on constants.
  std::optional<Tensor> knownTensor(mlir::Value value);
  /// The sole element of a known tensor.
  std::optional<double> knownScalar(mlir::Value value);

  //===--- Ops ------------------------------------------------------------===//

  mlir::OpBuilder &builder() { return opBuilder; }
  mlir::MLIRContext *context() { return opBuilder.getContext(); }
  mlir::Location location() const { return loc; }

  /// An op whose result types follow from its operands; the first result.
  /// Arguments are those of the op's builder after the result types.
  template <typename Op, typename... Args> mlir::Value op(Args &&...args) {
    mlir::Operation *op = inferred<Op>(std::forward<Args>(args)...);
    return op ? op->getResult(0) : mlir::Value();
  }
  /// The same, but returns the op, or null.
  template <typename Op, typename... Args>
  mlir::Operation *inferred(Args &&...args);
  /// An op with the given result types.
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
  /// Creates, verifies and marks an op; null if it fails. Its regions must be
  /// filled already.
  mlir::Operation *create(mlir::OperationState &state);
  /// Erases an op without uses, and the ops in its regions.
  void erase(mlir::Operation *op);

  //===--- Constants ------------------------------------------------------===//

  mlir::Value constant(const Tensor &tensor, llvm::StringRef name = "");
  /// A rank-0 constant of type \p element; \p value is rounded to it.
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
  /// The size of a dimension, which may be counted from the end; all sizes; a
  /// product of sizes.
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
  /// Slices one dimension, which may be counted from the end: elements start,
  /// start + stride, ... below limit.
  mlir::Value sliceAxis(mlir::Value value, int64_t dimension, int64_t start,
                        int64_t limit, int64_t stride = 1);
  mlir::Value concatenate(mlir::ValueRange values, int64_t axis);
  /// stablehlo.pad with a constant.
  mlir::Value pad(mlir::Value value, double filler, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high);
  /// Dimension i becomes dimension `dimensions[i]` of the result.
  mlir::Value broadcastInDim(mlir::Value value, llvm::ArrayRef<Dim> dims,
                             llvm::ArrayRef<int64_t> dimensions);
  /// Broadcasts a vector along dimension \p dimension of a tensor of the shape
  /// of \p like.
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

  /// The ops made so far, without constants and ops in their regions.
  llvm::ArrayRef<mlir::Operation *> operations() const { return made; }

protected:
  std::optional<BuildError> problem;
  std::vector<mlir::Operation *> made;

private:
  std::string takeDiagnostic();
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

  mlir::OpBuilder &opBuilder;
  KnownValues &knowledge;
  FirstError &diagnostics;
  mlir::Location loc;
  std::optional<int64_t> source;
};

template <typename Op, typename... Args>
mlir::Operation *GraphBuilder::inferred(Args &&...args) {
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

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_GRAPHBUILDER_H
