//===- Einsum.h - the equation of an einsum -------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_EINSUM_H
#define SINTER_GRAPH_STABLEHLO_EINSUM_H

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace sinter::stablehlo {

/// `ij,jk->ik`: a letter for each dimension of each operand and of the result,
/// and a digit for each dimension of an ellipsis `...`, 0 for the last.
struct Einsum {
  llvm::SmallVector<std::string, 2> operands;
  std::string result;
};

/// Parses an equation for operands of the ranks \p ranks. Nothing if it is
/// malformed: letters of the result must be unique and in some operand, and
/// `...` at most once in each operand, and in the result if it has dimensions.
std::optional<Einsum> parseEinsum(llvm::StringRef text,
                                  llvm::ArrayRef<int64_t> ranks);

/// The ranks of values that are tensors.
llvm::SmallVector<int64_t, 2> ranksOf(mlir::ValueRange values);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_EINSUM_H
