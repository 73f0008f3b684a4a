#include "graph/nn/Pools.h"

#include "llvm/ADT/STLExtras.h"

namespace sinter::nn {

bool meetsElements(MaxPoolOp pool) {
  for (auto [size, dilation, low, high] :
       llvm::zip(pool.getWindow(), pool.getDilations(), pool.getPaddingLow(),
                 pool.getPaddingHigh()))
    if ((low > 0 || high > 0) && (dilation != 1 || low >= size || high >= size))
      return false;
  return true;
}

} // namespace sinter::nn
