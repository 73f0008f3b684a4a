//===- Tuples.h - values that are no tensors ------------------------------===//
//
// A tuple, a future and a token go where tensors go, as empty tensors of i1; a
// tuple and a future carry their parts with them. What a value is, its type
// says.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_TUPLES_H
#define SINTER_INTERPRETER_TUPLES_H

#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// A token: nothing but an order.
Tensor token();
/// A tuple or a future of \p parts.
Tensor packed(Tensors parts);
/// The parts of a value that packed() made; its type must say so.
const Tensors &unpacked(const Tensor &value);

/// Whether the value is one of \p type: of a tensor type the element type, the
/// rank and the known dimensions, and no more than a bound; of a tuple the
/// parts.
bool fits(const Tensor &value, mlir::Type type);

/// The values of \p types whose leaves (what is no tuple) are \p leaves, and
/// back. Usage if their number is wrong.
Result<Tensors> packedAs(mlir::TypeRange types, llvm::ArrayRef<Tensor> leaves);
Tensors leavesOf(mlir::TypeRange types, llvm::ArrayRef<Tensor> values);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_TUPLES_H
