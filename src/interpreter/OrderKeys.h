//===- OrderKeys.h - comparing elements of any real type ------------------===//

#ifndef SINTER_INTERPRETER_ORDERKEYS_H
#define SINTER_INTERPRETER_ORDERKEYS_H

#include "runtime/Tensor.h"

#include <vector>

namespace sinter::interpreter {

/// Integers in the order of the tensor's real elements: equal elements (-0 and
/// 0, too) have equal keys, and NaN's is the greatest.
std::vector<int64_t> orderKeys(const Tensor &tensor);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_ORDERKEYS_H
