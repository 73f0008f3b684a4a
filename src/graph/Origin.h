//===- Origin.h - what an operation came of in the user's file ------------===//

#ifndef SINTER_GRAPH_ORIGIN_H
#define SINTER_GRAPH_ORIGIN_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace sinter {

/// The first name in \p location, that of a node of the file; "" without one.
std::string originOf(mlir::Location location);

/// The same of \p op's location, or the operation's own name without its
/// dialect.
std::string originOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_ORIGIN_H
