//===- RescaleTree.h - rescales through trees of operations ---------------===//

#ifndef SINTER_PASSES_RESCALETREE_H
#define SINTER_PASSES_RESCALETREE_H

#include "graph/interfaces/Rescale.h"
#include "mlir/IR/IRMapping.h"
#include "passes/RescaleFunction.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sinter {

/// A value that is another one in other quantised elements.
struct Rescale {
  mlir::Operation *op;
  mlir::Value operand;
  mlir::quant::QuantizedType from, to;
  QuantizedRounding rounding;
  RescaleFunction function;

  /// Nothing for other operations, and where types are not uniform.
  static std::optional<Rescale> of(mlir::Operation *op);
  static std::optional<Rescale> of(mlir::Value value) {
    mlir::Operation *op = value.getDefiningOp();
    return op ? of(op) : std::nullopt;
  }
  /// Whether it rounds or makes accumulators, and so belongs to a product.
  bool isOfSums() const;
};

/// Rescales \p operand to \p to, by an operation like \p like.
mlir::Value makeRescale(mlir::OpBuilder &builder, const Rescale &like,
                        mlir::Value operand, mlir::quant::QuantizedType to);

/// The change of a graph's cost by a step.
struct RescaleCost {
  /// Bits that rescales read and write and bits of quantised values.
  double bits = 0;
  int64_t rescales = 0, readers = 0;

  RescaleCost operator+(const RescaleCost &other) const {
    return {bits + other.bits, rescales + other.rescales,
            readers + other.readers};
  }
  RescaleCost operator-() const { return {-bits, -rescales, -readers}; }
  auto operator<=>(const RescaleCost &) const = default;
  /// Whether a step with this change may be done.
  bool isLess() const { return rescales <= 0 && *this < RescaleCost(); }
  /// The cost of \p count values that are not rescales, of the type of \p value
  /// but with elements of \p type.
  static RescaleCost ofValue(mlir::Value value,
                             mlir::quant::QuantizedType type);
  /// The cost of the users of \p value, where it is a rescale.
  static RescaleCost ofReaders(mlir::Value value);
  /// The cost of a rescale of \p value, which has elements of \p from, to
  /// \p to, with its result.
  static RescaleCost ofRescale(mlir::Value value,
                               mlir::quant::QuantizedType from,
                               mlir::quant::QuantizedType to);
};

/// The way of \p op that takes all of its quantised operands and keeps their
/// order, where it has one result that is quantised as well.
std::optional<RescaleWay> wayThrough(mlir::Operation *op);

/// A value that is a rescale of another one: rescales at the leaves of a tree
/// of operations that they move through, and constants.
class RescaledTree {
public:
  /// The tree of \p value; nothing if it is none.
  static std::optional<RescaledTree> of(mlir::Value value);
  /// The tree that \p op's result would be; its operands are trees.
  static std::optional<RescaledTree> above(mlir::Operation *op);

  /// The rescale needed behind the root, in the root's elements.
  const Rescale &rescale() const { return leaf; }
  mlir::quant::QuantizedType typeBefore() const { return before; }
  mlir::quant::QuantizedType typeAfter() const { return after; }
  /// The change of cost where the root is computed before the rescale and no
  /// rescale is behind it.
  RescaleCost cost() const { return sum; }
  /// The range of all rescaled values, which is that of the root without a
  /// rescale.
  RealRange numbers() const { return range; }
  /// The root in elements of typeBefore().
  mlir::Value build(mlir::OpBuilder &builder) const;

private:
  static std::optional<RescaledTree>
  grown(mlir::Value value,
        llvm::function_ref<bool(RescaledTree &tree, int64_t axis)> add);
  explicit RescaledTree(Rescale leaf) : leaf(std::move(leaf)) {}
  bool add(mlir::Value value, int64_t axis, unsigned depth);
  bool addOperation(mlir::Operation *op, int64_t axis, unsigned depth);
  bool addConstant(mlir::Value value, bool isFloor, bool isCeiling);
  mlir::Value build(mlir::OpBuilder &builder, mlir::Value value,
                    llvm::DenseMap<mlir::Value, mlir::Value> &built) const;

  Rescale leaf;
  mlir::Value root;
  mlir::quant::QuantizedType before, after;
  RescaleCost sum;
  RealRange range{std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity()};
  unsigned left = 256;
  /// For each value on the way: a constant's elements, and the type that an
  /// operation's result gets.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> constants;
  llvm::DenseMap<mlir::Value, mlir::quant::QuantizedType> retyped;
};

/// A value that is wanted in other elements: a rescale moves up a tree of
/// operations to operations that absorb it, or to where it is cheaper.
class WantedTree {
public:
  /// \p isNear: whether it may vanish where results change by one unit.
  /// \p cuts: whether it may also vanish where values have to be clamped to the
  /// range of the type that vanishes.
  WantedTree(const Rescale &rescale, bool isNear, bool cuts)
      : rescale(rescale), isNear(isNear), cuts(cuts) {}
  /// Whether the best plan costs less than before.
  bool find();
  mlir::Value build(mlir::OpBuilder &builder) const;

private:
  enum class Kind { Through, Result, Merged, Constant, Rescaled };
  struct Plan {
    Kind kind;
    RescaleCost cost;
    /// The type that is wanted.
    mlir::quant::QuantizedType type;
    /// The range of the type that vanishes, where values have to be clamped to
    /// it.
    std::optional<IntegerBounds> held;
  };
  RescaleCost plan(mlir::Value value, int64_t axis, unsigned depth,
                   bool isRoot);
  std::optional<RescaleCost> through(mlir::Operation *op, int64_t axis,
                                     unsigned depth);
  bool mayEndIn(mlir::Operation *op, int64_t axis) const;
  void considerEnding(Plan &best, mlir::Value value, Kind kind,
                      RescaleCost cost, RealRange numbers) const;
  mlir::Value cutTo(mlir::OpBuilder &builder, mlir::Value value,
                    IntegerBounds held) const;
  mlir::Value build(mlir::OpBuilder &builder, mlir::Value value,
                    llvm::DenseMap<mlir::Value, mlir::Value> &built) const;
  mlir::Value buildOnce(mlir::OpBuilder &builder, mlir::Value value,
                        llvm::DenseMap<mlir::Value, mlir::Value> &built) const;

  const Rescale &rescale;
  bool isNear, cuts;
  unsigned left = 64;
  llvm::DenseMap<mlir::Value, Plan> plans;
};

/// Whether \p op is a product whose result is its 32-bit accumulators.
bool givesSums(mlir::Operation *op);

/// The quantised \p constant after the rescale \p function, in elements of
/// \p type.
mlir::Value foldRescale(mlir::OpBuilder &builder,
                        const RescaleFunction &function, mlir::Value constant,
                        mlir::quant::QuantizedType type);

/// A copy of \p op with \p operands, whose first result has elements of
/// \p type; with \p from, elements of \p from in its regions become those of
/// \p type, too. Null, and nothing built, where that is not a valid operation.
mlir::Operation *retyped(mlir::OpBuilder &builder, mlir::Operation *op,
                         const mlir::IRMapping &operands,
                         mlir::quant::QuantizedType type,
                         mlir::quant::QuantizedType from = {});
/// A copy of \p op with \p operands. Null, and nothing built, where that is not
/// a valid operation.
mlir::Operation *withOperands(mlir::OpBuilder &builder, mlir::Operation *op,
                              const mlir::IRMapping &operands);

} // namespace sinter

#endif // SINTER_PASSES_RESCALETREE_H
