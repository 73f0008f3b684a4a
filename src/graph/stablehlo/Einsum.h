//===- Einsum.h - what an einsum's text says ------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_EINSUM_H
#define SINTER_GRAPH_STABLEHLO_EINSUM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace sinter::stablehlo {

/// `ij,jk->ik`: a letter for each dimension of each operand and of the result.
struct Einsum {
  llvm::SmallVector<llvm::StringRef, 2> operands;
  llvm::StringRef result;
};

/// Takes an einsum of \p count operands apart. Nothing if it is not of that
/// form: letters only, each of the result once and in some operand.
std::optional<Einsum> parseEinsum(llvm::StringRef text, size_t count);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_EINSUM_H
