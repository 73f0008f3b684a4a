//===- WeightsText.h - weights as an array of C ---------------------------===//

#ifndef SINTER_BUNDLE_WEIGHTSTEXT_H
#define SINTER_BUNDLE_WEIGHTSTEXT_H

#include "runtime/Bundle.h"

#include <string>

namespace sinter {

/// NAME_weights.c: the weights of \p bundle as an array of 32-bit integers,
/// which the header declares.
std::string weightsText(const Bundle &bundle);

} // namespace sinter

#endif // SINTER_BUNDLE_WEIGHTSTEXT_H
