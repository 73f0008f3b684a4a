//===- Listed.h - constants in list attributes ----------------------------===//

#ifndef SINTER_FORMATS_PADDLE_OPS_LISTED_H
#define SINTER_FORMATS_PADDLE_OPS_LISTED_H

#include "formats/paddle/OperatorContext.h"

namespace sinter::paddle {

/// The constant in the operator's list attribute, with the shape in attribute
/// `shape`. Which attribute it is depends on the element type and on the
/// release. PIR's lists of sizes are vectors without attribute `shape`. Fails
/// if there is no list, or one of another length.
mlir::Value listedValues(OperatorContext &op, mlir::Type element);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPS_LISTED_H
