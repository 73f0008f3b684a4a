//===- TotalOrder.h - floats in the order of TOTALORDER -------------------===//

#ifndef SINTER_INTERPRETER_TOTALORDER_H
#define SINTER_INTERPRETER_TOTALORDER_H

#include "runtime/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sinter::interpreter {

/// IEEE 754's totalOrder (5.10) of floats of \p type as an order of integers,
/// one for each element of \p keys: -NaN < -inf < ... < -0 < +0 < ... < inf <
/// NaN, and NaNs by their payloads: sign and magnitude of the code. Formats
/// without -0 have a NaN with its code, which is negative by its sign.
void totalOrderKeys(ElementType type, const std::byte *elements,
                    std::span<int64_t> keys);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_TOTALORDER_H
