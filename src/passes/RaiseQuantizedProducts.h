//===- RaiseQuantizedProducts.h - products of quantised types -------------===//
//
// The rules of RaiseQuantized.h about products, the biases that are added to
// them, and integer products that are requantised.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISEQUANTIZEDPRODUCTS_H
#define SINTER_PASSES_RAISEQUANTIZEDPRODUCTS_H

#include "passes/RewriteRule.h"

#include <vector>

namespace sinter {

std::vector<RewriteRule> raiseQuantizedProductRules();

} // namespace sinter

#endif // SINTER_PASSES_RAISEQUANTIZEDPRODUCTS_H
