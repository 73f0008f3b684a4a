#include "graph/stablehlo/Sums.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

bool isNarrowFloat(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

static bool isUnit(const WindowDimension &window) {
  return window.size == 1 && window.stride == 1 && window.baseDilation == 1 &&
         window.paddingLow == 0 && window.paddingHigh == 0;
}

/// What windows along a dimension of \p size elements have of a running sum's.
static std::optional<Scan> scanAlong(const WindowDimension &window,
                                     int64_t size) {
  int64_t padding;
  if (window.stride != 1 || window.baseDilation != 1 ||
      window.windowDilation != 1 || window.size < size || size < 1 ||
      llvm::AddOverflow(window.paddingLow, window.paddingHigh, padding) ||
      padding != window.size - 1)
    return std::nullopt;
  // The window at place i reaches from i - paddingLow to i + paddingHigh.
  if (window.paddingLow >= size - 1 &&
      (window.paddingHigh == 0 || window.paddingHigh == -1))
    return Scan{0, false, window.paddingHigh == -1};
  if (window.paddingHigh >= size - 1 &&
      (window.paddingLow == 0 || window.paddingLow == -1))
    return Scan{0, true, window.paddingLow == -1};
  return std::nullopt;
}

std::optional<Scan> scanOf(ArrayRef<int64_t> shape,
                           ArrayRef<WindowDimension> windows) {
  std::optional<Scan> found;
  for (auto [dim, window] : llvm::enumerate(windows)) {
    if (isUnit(window))
      continue;
    std::optional<Scan> scan = scanAlong(window, shape[dim]);
    if (found || !scan)
      return std::nullopt;
    found = scan;
    found->dim = dim;
  }
  return found;
}

std::optional<StringRef> carriedInF32(Region &body) {
  std::optional<StringRef> name = soleOperation(body);
  if (!name || (*name != AddOp::getOperationName() &&
                *name != MulOp::getOperationName()))
    return std::nullopt;
  return llvm::all_of(body.getArgumentTypes(), isNarrowFloat) ? name
                                                              : std::nullopt;
}

std::optional<StringRef> carriedInF32(Region &body, ArrayRef<int64_t> shape,
                                      ArrayRef<WindowDimension> windows) {
  return scanOf(shape, windows) ? std::nullopt : carriedInF32(body);
}

} // namespace sinter::stablehlo
