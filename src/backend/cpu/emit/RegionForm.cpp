//===- RegionForm.cpp - what a region is made of --------------------------===//

#include "backend/cpu/emit/RegionForm.h"

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/ir/RegionUse.h"
#include "graph/Types.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Goes through the regions of one operation.
class Inlinable {
public:
  bool holds(Operation *op) {
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      return llvm::all_of(region.front().without_terminator(),
                          [&](Operation &inner) { return fits(&inner); });
    });
  }

private:
  /// Threads have some hundred times as much.
  static constexpr uint64_t mostStackBytes = 16384;
  /// Tables are part of the code.
  static constexpr uint64_t mostTableBytes = 1 << 20;

  static bool hasElements(Operation *op) {
    switch (kindOf(op)) {
    case Kind::Unknown:
    case Kind::Call:
      return false;
    case Kind::Product:
      return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op);
    default:
      return true;
    }
  }

  static uint64_t bytesOf(Value tensor) {
    RankedTensorType type = tensorOf(tensor);
    std::optional<ElementType> element = elementTypeOf(type.getElementType());
    std::optional<uint64_t> bytes =
        element ? byteCount(*element, type.getShape()) : std::nullopt;
    return bytes.value_or(std::numeric_limits<uint64_t>::max());
  }

  /// Counts the bytes of \p op on the stack.
  bool fits(Operation *op) {
    if (!hasElements(op))
      return false;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      return isa<DenseElementsAttr>(constant.getValue()) &&
             (isSplatConstant(op->getResult(0)) ||
              bytesOf(op->getResult(0)) <= mostTableBytes);
    const RegionUse use = regionUse(op);
    if (use == RegionUse::Value || use == RegionUse::ReadThrough)
      return holds(op);
    for (Value result : op->getResults()) {
      // A loop has its tensors twice.
      const uint64_t bytes = bytesOf(result);
      if (bytes > mostStackBytes)
        return false;
      stackBytes += isa<stablehlo::WhileOp>(op) ? 2 * bytes : bytes;
    }
    if (use == RegionUse::Whole)
      stackBytes += createWholeKernel(op)->scratch().bytes;
    return stackBytes <= mostStackBytes && holds(op);
  }

  uint64_t stackBytes = 0;
};

} // namespace

bool cpu::hasInlinableRegions(Operation *op) {
  SetVector<Value> fromOutside;
  getUsedValuesDefinedAbove(op->getRegions(), fromOutside);
  return fromOutside.empty() && Inlinable().holds(op);
}
