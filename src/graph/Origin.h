//===- Origin.h - the node of the user's file behind an operation ---------===//

#ifndef SINTER_GRAPH_ORIGIN_H
#define SINTER_GRAPH_ORIGIN_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace sinter {

/// The first name in \p location, that of a node of the file; "" if there is
/// none.
std::string originOf(mlir::Location location);

/// The same for \p op's location, or else the operation's name without its
/// dialect.
std::string originOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_ORIGIN_H
