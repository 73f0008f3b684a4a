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

WindowDimension scanWindow(Dim size, const Scan &scan) {
  const int64_t whole = encodedDims(size).front(),
                far = scan.isExclusive ? whole : whole - 1,
                near = scan.isExclusive ? -1 : 0;
  WindowDimension window;
  window.size = whole;
  window.paddingLow = scan.isReverse ? near : far;
  window.paddingHigh = scan.isReverse ? far : near;
  return window;
}

/// The scan that windows along a dimension of \p dim elements form, if any.
static std::optional<Scan> scanAlong(const WindowDimension &window, Dim dim) {
  if (dim.isNamed())
    for (bool isReverse : {false, true})
      for (bool isExclusive : {false, true})
        if (const Scan scan{0, isReverse, isExclusive};
            window == scanWindow(dim, scan))
          return scan;
  if (dim.isDynamic())
    return std::nullopt;
  const int64_t size = dim.value();
  int64_t padding;
  if (window.stride != 1 || window.baseDilation != 1 ||
      window.windowDilation != 1 || window.size < size || size < 1 ||
      llvm::AddOverflow(window.paddingLow, window.paddingHigh, padding) ||
      padding != window.size - 1)
    return std::nullopt;
  // The window at index i covers i - paddingLow to i + paddingHigh.
  if (window.paddingLow >= size - 1 &&
      (window.paddingHigh == 0 || window.paddingHigh == -1))
    return Scan{0, false, window.paddingHigh == -1};
  if (window.paddingHigh >= size - 1 &&
      (window.paddingLow == 0 || window.paddingLow == -1))
    return Scan{0, true, window.paddingLow == -1};
  return std::nullopt;
}

std::optional<Scan> scanOf(ArrayRef<Dim> shape,
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

std::optional<StringRef> carriedInF32(Region &body, ArrayRef<Dim> shape,
                                      ArrayRef<WindowDimension> windows) {
  return scanOf(shape, windows) ? std::nullopt : carriedInF32(body);
}

} // namespace sinter::stablehlo
