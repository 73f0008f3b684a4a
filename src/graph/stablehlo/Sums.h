//===- Sums.h - scans, and sums with a wider accumulator ------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_SUMS_H
#define SINTER_GRAPH_STABLEHLO_SUMS_H

#include "graph/Dim.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// Whether \p type is a float narrower than f32, or a tensor of these.
bool isNarrowFloat(mlir::Type type);

/// Windows that cover the elements along dimension `dim` from the first to the
/// current one, or from that to the last: a prefix sum, say. It starts with the
/// first or, if `isReverse`, the last element.
struct Scan {
  size_t dim = 0;
  bool isReverse = false;
  /// Whether the current element is left out.
  bool isExclusive = false;
};

/// The scan of \p windows over a tensor of shape \p shape, if they form one
/// along one dimension and are single elements along the others. Nothing where
/// a size is unknown.
std::optional<Scan> scanOf(llvm::ArrayRef<Dim> shape,
                           llvm::ArrayRef<WindowDimension> windows);

/// A window that forms \p scan along a dimension of that \p size, which is
/// static or named. Of a named one no number has the place of what is one less:
/// scanOf knows it.
WindowDimension scanWindow(Dim size, const Scan &scan);

/// The name of the operation of \p body, of a reduce, if that is one addition
/// or multiplication of two floats narrower than f32. Every backend accumulates
/// it in f32 and rounds once; any other region rounds at each step.
std::optional<llvm::StringRef> carriedInF32(mlir::Region &body);

/// The same for a reduce_window of \p windows over a tensor of shape \p shape.
/// Scans do not count: each result depends on the previous rounded one.
std::optional<llvm::StringRef>
carriedInF32(mlir::Region &body, llvm::ArrayRef<Dim> shape,
             llvm::ArrayRef<WindowDimension> windows);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_SUMS_H
