//===- Combining.h - Paddle's names of reductions -------------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_COMBINING_H
#define SINTER_FORMATS_PADDLE_WRITE_COMBINING_H

#include "graph/stablehlo/Combination.h"

namespace sinter::paddle {

/// A reduction, and the binary operator.
struct Combining {
  llvm::StringRef reduce, binary;
};
Combining namesOf(stablehlo::Combination combination);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_COMBINING_H
