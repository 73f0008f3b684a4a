#include "formats/import/WriterRule.h"

#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::formats {

std::string unwritten(Operation *op, StringRef reason) {
  std::string what = op->getName().getStringRef().str();
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    what += " " + composite.getName().str();
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    what += " " + call.getCallTargetName().str();
  return reason.empty() ? what : what + " (" + reason.str() + ")";
}

} // namespace sinter::formats
