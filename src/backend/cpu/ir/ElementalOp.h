//===- ElementalOp.h - how the elements of a result are computed ----------===//

#ifndef SINTER_BACKEND_CPU_IR_ELEMENTALOP_H
#define SINTER_BACKEND_CPU_IR_ELEMENTALOP_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace sinter::cpu {

class Elemental;
struct Coordinate;

/// How an operation's elements are computed.
enum class Kind {
  Constant,
  Alias,
  Control,
  Call, ///< Of a function of the process.
  Elementwise,
  Movement,  ///< Each element is one element of an operand.
  Reduction, ///< reduce
  Window,    ///< reduce_window: operand elements are read several times.
  Product,   ///< convolution, dot_general
  Whole,     ///< sort, scatter, running sums: not element by element
  Unknown
};

} // namespace sinter::cpu

#include "backend/cpu/ir/ElementalOp.h.inc"

#endif // SINTER_BACKEND_CPU_IR_ELEMENTALOP_H
