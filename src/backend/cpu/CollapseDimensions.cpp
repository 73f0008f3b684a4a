//===- CollapseDimensions.cpp - loops as long as they can be --------------===//

#include "backend/cpu/CollapseDimensions.h"

#include "backend/cpu/emit/Elemental.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether \p value is looked up in and nothing else.
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
        shape(shapeOf(body.getTerminator()->getOperand(0))) {}

  bool run() {
    if (shape.size() < 2 || !isCovered())
      return false;
    findGroups();
    if (groups.size() == shape.size())
      return false;
    for (Operation &op : body.without_terminator())
      rewrite(&op);
    for (Value argument : body.getArguments())
      if (shapeOf(argument) == ArrayRef(shape))
        setShape(argument, groups);
    return true;
  }

private:
  /// Whether every value has the kernel's shape, is a scalar, or is broadcast
  /// from an input that nothing else reads.
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
      if (isBroadcast && !shapeOf(op.getOperand(0)).empty() &&
          (!isBroadcastOnly(op.getOperand(0)) ||
           !llvm::is_sorted(
               cast<stablehlo::BroadcastInDimOp>(op).getBroadcastDimensions())))
        return false;
    }
    return llvm::all_of(body.getTerminator()->getOperands(),
                        [&](Value value) { return isFull(value); });
  }
  bool isFull(Value value) const {
    return shapeOf(value) == ArrayRef(shape) || shapeOf(value).empty();
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
         llvm::zip(shapeOf(op.getOperand()), op.getBroadcastDimensions()))
      present[dim] = size != 1;
    return present;
  }

  /// Dimension i joins its predecessor if every broadcast has both or neither;
  /// one of size 1 joins whatever stands there.
  void findGroups() {
    SmallVector<SmallVector<bool>> broadcasts;
    // What is open stays as it is: its sizes have names, and no product. An
    // operand's may be taken to be the kernel's, which is known.
    SmallVector<bool> opens =
        llvm::map_to_vector(shape, [](int64_t size) { return isNamed(size); });
    for (auto op : body.getOps<stablehlo::BroadcastInDimOp>()) {
      broadcasts.push_back(presence(op));
      for (auto [size, dim] :
           llvm::zip(shapeOf(op.getOperand()), op.getBroadcastDimensions()))
        opens[dim] = opens[dim] || isNamed(size);
    }
    std::optional<size_t> last;
    bool isOpen = false;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const bool joinsOpen =
          !groups.empty() && ((opens[dim] && (isOpen || groups.back() != 1)) ||
                              (isOpen && shape[dim] != 1));
      bool joins = !groups.empty() && !joinsOpen &&
                   (shape[dim] == 1 || !last ||
                    llvm::all_of(broadcasts, [&](ArrayRef<bool> present) {
                      return present[dim] == present[*last];
                    }));
      if (joins)
        groups.back() *= shape[dim];
      else
        groups.push_back(shape[dim]);
      isOpen = opens[dim] || (joins && isOpen);
      groupOf.push_back(groups.size() - 1);
      if (shape[dim] != 1)
        last = dim;
    }
  }

  static void setShape(Value value, ArrayRef<int64_t> shape) {
    value.setType(typeOfSizes(shape, tensorOf(value).getElementType()));
  }

  void rewrite(Operation *op) {
    Value result = op->getResult(0);
    if (shapeOf(result) != ArrayRef(shape))
      return;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(value.resizeSplat(tensorOf(result).clone(groups)));
    } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
               broadcast && !shapeOf(op->getOperand(0)).empty()) {
      SmallVector<int64_t> sizes, dims;
      for (auto [size, dim] : llvm::zip(shapeOf(broadcast.getOperand()),
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
  SmallVector<int64_t> shape;
  SmallVector<int64_t> groups;
  SmallVector<int64_t> groupOf;
};

/// A joint or a padding, and what is computed element by element before and
/// after: what stands behind a dimension whose size changes becomes one with
/// it, and what stands before the first of these one dimension.
class PartCollapser {
public:
  explicit PartCollapser(KernelOp kernel)
      : body(kernel.getBody().front()),
        shape(llvm::to_vector(shapeOf(body.getTerminator()->getOperand(0)))) {}

  bool run() {
    if (hasNamed(shape) || !findChange() || !isCovered())
      return false;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (dim == 0 || changes[dim])
        starts.push_back(dim);
    if (starts.size() == shape.size())
      return false;
    // What the attributes become follows from the old sizes.
    if (auto pad = dyn_cast<stablehlo::PadOp>(change))
      collapsePadding(pad);
    else
      collapseJoint(cast<stablehlo::ConcatenateOp>(change));
    for (Value argument : body.getArguments())
      collapse(argument);
    for (Operation &op : body.without_terminator())
      collapse(op.getResult(0));
    return true;
  }

private:
  /// The one operation that changes sizes, and of which dimensions.
  bool findChange() {
    for (Operation &op : body.without_terminator())
      if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op)) {
        if (change)
          return false;
        change = &op;
      }
    if (!change || body.getTerminator()->getNumOperands() != 1 ||
        shapeOf(change->getResult(0)).size() != shape.size())
      return false;
    changes.assign(shape.size(), false);
    if (auto joint = dyn_cast<stablehlo::ConcatenateOp>(change)) {
      changes[joint.getDimension()] = true;
      return true;
    }
    auto pad = cast<stablehlo::PadOp>(change);
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      // Between elements, as many would have to stand as lie behind one.
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
    ArrayRef<int64_t> sizes = shapeOf(value);
    if (sizes.empty())
      return true;
    if (sizes.size() != shape.size() || hasNamed(sizes))
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
                                   shapeOf(op.getOperand(0)).empty();
             return op.getNumResults() == 1 && isPart(op.getResult(0)) &&
                    (isSpread || isElementwise(&op) || &op == change ||
                     isa<stablehlo::ConstantOp>(op));
           });
  }

  void collapseJoint(stablehlo::ConcatenateOp joint) {
    joint.setDimension(llvm::find(starts, joint.getDimension()) -
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
      low.back() *= shape[dim];
      high.back() *= shape[dim];
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
  SmallVector<int64_t> shape;
  Operation *change = nullptr;
  SmallVector<bool> changes;
  /// The dimensions that the new ones begin with.
  SmallVector<size_t> starts;
};

} // namespace

bool cpu::collapseDimensions(KernelOp kernel) {
  return Collapser(kernel).run() || PartCollapser(kernel).run();
}
