//===- Tuples.h - values that are not tensors -----------------------------===//
//
// A tuple, a future and a token are represented by empty tensors of i1; a tuple
// and a future also hold their elements. The type of a value determines which
// it is.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_TUPLES_H
#define SINTER_INTERPRETER_TUPLES_H

#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// A token, which only orders operations.
Tensor token();
/// A tuple or a future of the elements \p elements.
Tensor packed(Tensors elements);
/// The elements of a value that packed() made; it must have such a type.
const Tensors &unpacked(const Tensor &value);

/// Whether the value is one of \p type: for a tensor type with its element
/// type, rank and static dimensions, and within its bounds; for a tuple, its
/// elements likewise.
bool fits(const Tensor &value, mlir::Type type);

/// The values of \p types whose leaves (values other than tuples) are
/// \p leaves, and back. Usage if their number is wrong.
Result<Tensors> packedAs(mlir::TypeRange types, llvm::ArrayRef<Tensor> leaves);
Tensors leavesOf(mlir::TypeRange types, llvm::ArrayRef<Tensor> values);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_TUPLES_H
