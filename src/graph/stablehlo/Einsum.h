//===- Einsum.h - what an einsum's text says ------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_EINSUM_H
#define SINTER_GRAPH_STABLEHLO_EINSUM_H

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace sinter::stablehlo {

/// `ij,jk->ik`: a letter for each dimension of each operand and of the result,
/// and a digit for each that is meant by `...`, 0 the last.
struct Einsum {
  llvm::SmallVector<std::string, 2> operands;
  std::string result;
};

/// Takes an einsum of operands of the ranks \p ranks apart. Nothing if it is
/// not of that form: letters, each of the result once and in some operand, and
/// `...` at most once for each operand, and in the result where it means any.
std::optional<Einsum> parseEinsum(llvm::StringRef text,
                                  llvm::ArrayRef<int64_t> ranks);

/// The ranks of values that are tensors.
llvm::SmallVector<int64_t, 2> ranksOf(mlir::ValueRange values);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_EINSUM_H
