//===- CheckOps.h - the operations of self-checking programs --------------===//
//
// The dialects `check` and `interpreter`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CHECK_CHECKOPS_H
#define SINTER_GRAPH_CHECK_CHECKOPS_H

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "runtime/Comparison.h"

#include "graph/check/CheckDialect.h.inc"
#include "graph/check/InterpreterDialect.h.inc"

#define GET_OP_CLASSES
#include "graph/check/CheckOps.h.inc"
#define GET_OP_CLASSES
#include "graph/check/InterpreterOps.h.inc"

namespace sinter::check {

/// A check operation: one of this dialect's, or a stablehlo.custom_call of a
/// target `check.expect_eq`, `check.expect_almost_eq`, `check.expect_close` or
/// `check.eq` with two operands. The value is its first operand; the values to
/// compare with are the second, or `constant`.
struct Check {
  Expectation expectation;
  /// The expected values of the _const forms; null otherwise.
  mlir::ElementsAttr constant;
  /// Whether the expected values come first, as in check.eq.
  bool expectedFirst = false;
};
std::optional<Check> checkOf(mlir::Operation *op);

} // namespace sinter::check

#endif // SINTER_GRAPH_CHECK_CHECKOPS_H
