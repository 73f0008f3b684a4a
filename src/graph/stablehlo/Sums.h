//===- Sums.h - sums that are carried in a wider type ---------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_SUMS_H
#define SINTER_GRAPH_STABLEHLO_SUMS_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// Whether \p type is that of floats narrower than f32, or a tensor of such.
bool isNarrowFloat(mlir::Type type);

/// Windows that reach from the first element along dimension `dim` to the place
/// itself, or from there to the last: a running sum, say. Sums and products
/// begin with the first or, where `isReverse`, the last element.
struct Scan {
  size_t dim = 0;
  bool isReverse = false;
  /// The place's own element is left out.
  bool isExclusive = false;
};

/// What \p windows over a tensor of the sizes \p shape are, if they are those
/// of a scan along one dimension and single elements along the others. Nothing
/// where a size is unknown.
std::optional<Scan> scanOf(llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<WindowDimension> windows);

/// The name of the one addition or multiplication that \p body, of a reduce,
/// does with two floats narrower than f32. Such a sum or product is carried in
/// f32 and rounded once, by every backend; any other region rounds as it is
/// written.
std::optional<llvm::StringRef> carriedInF32(mlir::Region &body);

/// Likewise of a reduce_window of \p windows over a tensor of the sizes
/// \p shape. Scans are no sums of that kind: each result follows from the one
/// before, rounded.
std::optional<llvm::StringRef>
carriedInF32(mlir::Region &body, llvm::ArrayRef<int64_t> shape,
             llvm::ArrayRef<WindowDimension> windows);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_SUMS_H
