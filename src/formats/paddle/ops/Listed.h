//===- Listed.h - numbers that stand in attributes ------------------------===//

#ifndef SINTER_FORMATS_PADDLE_OPS_LISTED_H
#define SINTER_FORMATS_PADDLE_OPS_LISTED_H

#include "formats/paddle/OperatorContext.h"

namespace sinter::paddle {

/// The operator's list of numbers in the shape that attribute `shape` says:
/// which attribute holds it depends on the element type and on the release.
/// PIR's lists of sizes are vectors, and say no shape. Fails where there is
/// none, or one of another length.
mlir::Value listedValues(OperatorContext &op, mlir::Type element);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPS_LISTED_H
