//===- CollapseDimensions.cpp - merge dimensions of kernels ---------------===//

#include "backend/cpu/fusion/CollapseDimensions.h"

#include "backend/cpu/emit/Elemental.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether \p value is only used as a look-up table.
static bool isTable(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           auto lookup = dyn_cast<LookupOp>(use.getOwner());
           return lookup && &lookup.getTableMutable() == &use;
         });
}

namespace {

class Collapser {
public:
  explicit Collapser(KernelOp kernel)
      : body(kernel.getBody().front()),
        shape(dimsOf(body.getTerminator()->getOperand(0))) {}

  bool run() {
    if (shape.size() < 2 || !isCovered())
      return false;
    findGroups();
    if (groups.size() == shape.size())
      return false;
    for (Operation &op : body.without_terminator())
      rewrite(&op);
    for (Value argument : body.getArguments())
      if (dimsOf(argument) == ArrayRef(shape))
        setShape(argument, groups);
    return true;
  }

private:
  /// Whether every value has the kernel's shape, is a scalar, or is broadcast
  /// from an input without other uses.
  bool isCovered() {
    for (Value value : body.getArguments())
      if (!isBroadcastOnly(value) && !isFull(value) && !isTable(value))
        return false;
    for (Operation &op : body.without_terminator()) {
      if (isa<stablehlo::ConstantOp>(op))
        continue;
      bool isBroadcast = isa<stablehlo::BroadcastInDimOp>(op);
      if (op.getNumResults() != 1 || !isFull(op.getResult(0)) ||
          (!isBroadcast && !isElementwise(&op)))
        return false;
      if (isBroadcast && !dimsOf(op.getOperand(0)).empty() &&
          (!isBroadcastOnly(op.getOperand(0)) ||
           !llvm::is_sorted(
               cast<stablehlo::BroadcastInDimOp>(op).getBroadcastDimensions())))
        return false;
    }
    return llvm::all_of(body.getTerminator()->getOperands(),
                        [&](Value value) { return isFull(value); });
  }
  bool isFull(Value value) const {
    return dimsOf(value) == ArrayRef(shape) || dimsOf(value).empty();
  }
  /// An input whose one user broadcasts it.
  static bool isBroadcastOnly(Value value) {
    return isa<BlockArgument>(value) && value.hasOneUse() &&
           isa<stablehlo::BroadcastInDimOp>(*value.user_begin());
  }

  /// For each dimension of the kernel, whether \p op's operand has it.
  SmallVector<bool> presence(stablehlo::BroadcastInDimOp op) const {
    SmallVector<bool> present(shape.size(), false);
    for (auto [size, dim] :
         llvm::zip(dimsOf(op.getOperand()), op.getBroadcastDimensions()))
      present[dim] = size != 1;
    return present;
  }

  /// Dimension i is merged with its predecessor if every broadcast has both or
  /// neither; a dimension of size 1 always is.
  void findGroups() {
    SmallVector<SmallVector<bool>> broadcasts;
    // What is open stays as it is: its sizes have names, and no product. An
    // operand's may be taken to be the kernel's, which is known.
    SmallVector<bool> opens =
        llvm::map_to_vector(shape, [](Dim size) { return size.isDynamic(); });
    for (auto op : body.getOps<stablehlo::BroadcastInDimOp>()) {
      broadcasts.push_back(presence(op));
      for (auto [size, dim] :
           llvm::zip(dimsOf(op.getOperand()), op.getBroadcastDimensions()))
        opens[dim] = opens[dim] || size.isDynamic();
    }
    std::optional<size_t> last;
    bool isDynamic = false;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const bool joinsDynamic =
          !groups.empty() &&
          ((opens[dim] && (isDynamic || groups.back() != 1)) ||
           (isDynamic && shape[dim] != 1));
      bool joins = !groups.empty() && !joinsDynamic &&
                   (shape[dim] == 1 || !last ||
                    llvm::all_of(broadcasts, [&](ArrayRef<bool> present) {
                      return present[dim] == present[*last];
                    }));
      if (joins)
        groups.back() *= shape[dim];
      else
        groups.push_back(shape[dim]);
      isDynamic = opens[dim] || (joins && isDynamic);
      groupOf.push_back(groups.size() - 1);
      if (shape[dim] != 1)
        last = dim;
    }
  }

  static void setShape(Value value, ArrayRef<Dim> shape) {
    value.setType(typeOfDims(shape, tensorOf(value).getElementType()));
  }

  void rewrite(Operation *op) {
    Value result = op->getResult(0);
    if (dimsOf(result) != ArrayRef(shape))
      return;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(
          value.resizeSplat(tensorOf(result).clone(staticSizes(groups))));
    } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
               broadcast && !dimsOf(op->getOperand(0)).empty()) {
      SmallVector<Dim> sizes;
      SmallVector<int64_t> dims;
      for (auto [size, dim] : llvm::zip(dimsOf(broadcast.getOperand()),
                                        broadcast.getBroadcastDimensions())) {
        int64_t group = groupOf[dim];
        if (size == 1)
          continue;
        if (!dims.empty() && dims.back() == group) {
          sizes.back() *= size;
          continue;
        }
        sizes.push_back(size);
        dims.push_back(group);
      }
      setShape(broadcast.getOperand(), sizes);
      broadcast.setBroadcastDimensions(dims);
    }
    setShape(result, groups);
  }

  Block &body;
  SmallVector<Dim> shape, groups;
  SmallVector<int64_t> groupOf;
};

/// A concatenate or a padding, with element-wise operations before and after
/// it: dimensions after one whose size changes are merged into it, and those
/// before the first such one become one dimension.
class PartCollapser {
public:
  explicit PartCollapser(KernelOp kernel)
      : body(kernel.getBody().front()),
        shape(dimsOf(body.getTerminator()->getOperand(0))) {}

  bool run() {
    if (!isStaticShape(shape) || !findChange() || !isCovered())
      return false;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (dim == 0 || changes[dim])
        starts.push_back(dim);
    if (starts.size() == shape.size())
      return false;
    // The new attributes depend on the old sizes.
    if (auto pad = dyn_cast<stablehlo::PadOp>(change))
      collapsePadding(pad);
    else
      collapseConcatenate(cast<stablehlo::ConcatenateOp>(change));
    for (Value argument : body.getArguments())
      collapse(argument);
    for (Operation &op : body.without_terminator())
      collapse(op.getResult(0));
    return true;
  }

private:
  /// Finds the one operation that changes sizes, and the dimensions that it
  /// changes.
  bool findChange() {
    for (Operation &op : body.without_terminator())
      if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op)) {
        if (change)
          return false;
        change = &op;
      }
    if (!change || body.getTerminator()->getNumOperands() != 1 ||
        dimsOf(change->getResult(0)).size() != shape.size())
      return false;
    changes.assign(shape.size(), false);
    if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(change)) {
      changes[concatenate.getDimension()] = true;
      return true;
    }
    auto pad = cast<stablehlo::PadOp>(change);
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      // Interior padding cannot be scaled by the size of merged dimensions.
      if (pad.getInteriorPadding()[dim] != 0)
        return false;
      changes[dim] = pad.getEdgePaddingLow()[dim] != 0 ||
                     pad.getEdgePaddingHigh()[dim] != 0;
    }
    return true;
  }
  /// Whether \p value is a scalar, or like the result but for what changes, of
  /// sizes that are known.
  bool isPart(Value value) const {
    ArrayRef<Dim> sizes = dimsOf(value);
    if (sizes.empty())
      return true;
    if (sizes.size() != shape.size() || !isStaticShape(sizes))
      return false;
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      if (!changes[dim] && sizes[dim] != shape[dim])
        return false;
    return true;
  }
  bool isCovered() {
    return !shape.empty() &&
           llvm::all_of(
               body.getArguments(),
               [&](Value value) { return isPart(value) || isTable(value); }) &&
           llvm::all_of(body.without_terminator(), [&](Operation &op) {
             const bool isSpread = isa<stablehlo::BroadcastInDimOp>(op) &&
                                   dimsOf(op.getOperand(0)).empty();
             return op.getNumResults() == 1 && isPart(op.getResult(0)) &&
                    (isSpread || isElementwise(&op) || &op == change ||
                     isa<stablehlo::ConstantOp>(op));
           });
  }

  void collapseConcatenate(stablehlo::ConcatenateOp concatenate) {
    concatenate.setDimension(llvm::find(starts, concatenate.getDimension()) -
                             starts.begin());
  }
  void collapsePadding(stablehlo::PadOp pad) {
    SmallVector<int64_t> low, high;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (llvm::is_contained(starts, dim)) {
        low.push_back(pad.getEdgePaddingLow()[dim]);
        high.push_back(pad.getEdgePaddingHigh()[dim]);
        continue;
      }
      low.back() *= shape[dim].value();
      high.back() *= shape[dim].value();
    }
    pad.setEdgePaddingLow(low);
    pad.setEdgePaddingHigh(high);
    pad.setInteriorPadding(SmallVector<int64_t>(starts.size(), 0));
  }
  void collapse(Value value) {
    RankedTensorType type = tensorOf(value);
    if (type.getRank() == 0 || isTable(value))
      return;
    SmallVector<int64_t> sizes;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (llvm::is_contained(starts, dim))
        sizes.push_back(size);
      else
        sizes.back() *= size;
    value.setType(type.clone(sizes));
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>())
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue())
              .resizeSplat(cast<ShapedType>(value.getType())));
  }

  Block &body;
  SmallVector<Dim> shape;
  Operation *change = nullptr;
  SmallVector<bool> changes;
  /// The dimensions that the new ones begin with.
  SmallVector<size_t> starts;
};

} // namespace

bool cpu::collapseDimensions(KernelOp kernel) {
  return Collapser(kernel).run() || PartCollapser(kernel).run();
}
