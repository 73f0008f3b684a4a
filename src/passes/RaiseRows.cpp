//===- RaiseRows.cpp - raises scatters of elements to scatters of rows ----===//

#include "passes/RaiseRows.h"

#include "mlir/IR/IRMapping.h"
#include "passes/Matching.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

namespace {

/// Along which dimensions the elements of a tensor differ, as far as the
/// operations that make it say.
class Variation {
public:
  /// Whether \p value may differ along \p dim.
  bool along(Value value, int64_t dim) {
    auto type = tensorOf(value);
    if (type.getDimSize(dim) == 1 || splatValue(value))
      return false;
    Operation *op = value.getDefiningOp();
    if (!op || ++seen > mostOperations)
      return true;
    if (auto iota = dyn_cast<IotaOp>(op))
      return static_cast<int64_t>(iota.getIotaDimension()) == dim;
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      const ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
      const auto *found = llvm::find(dims, dim);
      return found != dims.end() &&
             along(broadcast.getOperand(), found - dims.begin());
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      const std::optional<int64_t> from = before(reshape, dim);
      return !from || along(reshape.getOperand(), *from);
    }
    if (!isa<AddOp, SubtractOp, MulOp, SelectOp, CompareOp, ConvertOp, MinOp,
             MaxOp, ClampOp>(op))
      return true;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return tensorOf(operand).getRank() == type.getRank() &&
             along(operand, dim);
    });
  }

  /// Whether \p value is 0, 1, 2, ... along \p dim, whatever the others are.
  static bool counts(Value value, int64_t dim) {
    const int64_t size = tensorOf(value).getDimSize(dim);
    if (size == 1)
      return splatValue(value) == 0.0;
    while (Operation *op = value.getDefiningOp()) {
      if (auto iota = dyn_cast<IotaOp>(op))
        return static_cast<int64_t>(iota.getIotaDimension()) == dim;
      std::optional<int64_t> from;
      if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        from = before(reshape, dim);
      } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
        const ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
        if (const auto *found = llvm::find(dims, dim); found != dims.end())
          from = found - dims.begin();
      } else if (isa<ConstantOp>(op) && tensorOf(value).getRank() == 1) {
        const std::optional<Tensor> numbers = constantValue(value);
        for (int64_t i = 0; numbers && i < size; ++i)
          if (numbers->toInteger(i) != i)
            return false;
        return numbers.has_value();
      }
      if (!from || tensorOf(op->getOperand(0)).getDimSize(*from) != size)
        return false;
      value = op->getOperand(0);
      dim = *from;
    }
    return false;
  }

private:
  static constexpr int mostOperations = 64;

  /// The operand's dimension that is dimension \p dim, not of size 1, of what
  /// only gains or loses dimensions of size 1.
  static std::optional<int64_t> before(ReshapeOp op, int64_t dim) {
    SmallVector<int64_t> from, to;
    auto collect = [](RankedTensorType type, SmallVectorImpl<int64_t> &dims) {
      for (int64_t i = 0; i < type.getRank(); ++i)
        if (type.getDimSize(i) != 1)
          dims.push_back(i);
    };
    auto source = tensorOf(op.getOperand()), result = tensorOf(op.getResult());
    collect(source, from);
    collect(result, to);
    if (from.size() != to.size())
      return std::nullopt;
    for (auto [a, b] : llvm::zip(from, to))
      if (source.getDimSize(a) != result.getDimSize(b))
        return std::nullopt;
    const auto *found = llvm::find(to, dim);
    return found == to.end() ? std::nullopt
                             : std::optional(from[found - to.begin()]);
  }

  int seen = 0;
};

} // namespace

/// The indices of \p op along each dimension of its operand, where each element
/// has all of them; else none.
static SmallVector<Value> componentsOf(ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  const auto type = tensorOf(op.getInputs()[0]);
  const int64_t rank = type.getRank();
  auto joined = op.getScatterIndices().getDefiningOp<ConcatenateOp>();
  if (!joined || rank < 2 || !numbers.getUpdateWindowDims().empty() ||
      !numbers.getInputBatchingDims().empty() ||
      numbers.getIndexVectorDim() != rank ||
      !isIota(numbers.getScatterDimsToOperandDims()) ||
      static_cast<int64_t>(joined.getDimension()) != rank ||
      static_cast<int64_t>(joined.getInputs().size()) != rank ||
      !type.hasStaticShape() || !tensorOf(joined).hasStaticShape() ||
      isEmpty(op.getUpdates()[0]))
    return {};
  for (Value each : joined.getInputs())
    if (tensorOf(each).getDimSize(rank) != 1)
      return {};
  return joined.getInputs();
}

static Values raiseRows(ScatterOp op, OpBuilder &builder) {
  const SmallVector<Value> components = componentsOf(op);
  if (components.empty())
    return {};
  const auto type = tensorOf(op.getInputs()[0]),
             updates = tensorOf(op.getUpdates()[0]);
  SmallVector<int64_t> window, inserted;
  for (auto [i, each] : llvm::enumerate(components))
    (updates.getDimSize(i) == type.getDimSize(i) && Variation::counts(each, i)
         ? window
         : inserted)
        .push_back(i);
  if (window.empty() || inserted.empty() || window.back() + 1 != type.getRank())
    return {};
  Variation variation;
  for (int64_t i : inserted)
    for (int64_t dim : window)
      if (variation.along(components[i], dim))
        return {};
  // Their indices, where those along the windows are 0.
  SmallVector<int64_t> sizes;
  for (int64_t i : inserted)
    sizes.push_back(updates.getDimSize(i));
  sizes.push_back(1);
  Values indices;
  for (int64_t i : inserted) {
    auto component = tensorOf(components[i]);
    SmallVector<int64_t> starts(component.getRank(), 0),
        limits(component.getShape()), strides(component.getRank(), 1);
    for (int64_t dim : window)
      limits[dim] = 1;
    Value first = builder.create<SliceOp>(op.getLoc(), components[i], starts,
                                          limits, strides);
    indices.push_back(
        builder.create<ReshapeOp>(op.getLoc(), component.clone(sizes), first));
  }
  const auto last = static_cast<int64_t>(inserted.size());
  Value joined = indices.size() == 1
                     ? indices[0]
                     : builder.create<ConcatenateOp>(op.getLoc(), indices, last)
                           .getResult();
  auto numbers = ScatterDimensionNumbersAttr::get(
      op.getContext(), window, inserted, {}, {}, inserted, last);
  auto rows = builder.create<ScatterOp>(op.getLoc(), op->getResultTypes(),
                                        op.getInputs(), joined, op.getUpdates(),
                                        numbers, /*indices_are_sorted=*/false,
                                        op.getUniqueIndices());
  IRMapping mapping;
  op.getUpdateComputation().cloneInto(&rows.getUpdateComputation(), mapping);
  return Values(rows.getResults());
}

ArrayRef<RewriteRule> raiseRowsRules() {
  static const std::vector<RewriteRule> rules = {
      rule<ScatterOp, raiseRows>(
          "raise-rows",
          "scatter(x, [i, 0:m], u) by elements -> scatter(x, i, u) by rows"),
  };
  return rules;
}

} // namespace sinter
