//===- Sums.h - sums that are carried in a wider type ---------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_SUMS_H
#define SINTER_GRAPH_STABLEHLO_SUMS_H

#include "mlir/IR/Region.h"

namespace sinter::stablehlo {

/// The name of the one addition or multiplication that \p body, of a reduce or
/// reduce_window, does with two floats narrower than f32. Such a sum or product
/// is carried in f32 and rounded once, by every backend; any other region
/// rounds as it is written.
std::optional<llvm::StringRef> carriedInF32(mlir::Region &body);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_SUMS_H
