#include "graph/stablehlo/Sums.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sinter::stablehlo {

std::optional<StringRef> carriedInF32(Region &body) {
  std::optional<StringRef> name = soleOperation(body);
  if (!name || (*name != AddOp::getOperationName() &&
                *name != MulOp::getOperationName()))
    return std::nullopt;
  auto isNarrow = [](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return element && element.getWidth() < 32;
  };
  return llvm::all_of(body.getArgumentTypes(), isNarrow) ? name : std::nullopt;
}

} // namespace sinter::stablehlo
