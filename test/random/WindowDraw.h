//===- WindowDraw.h - random windows --------------------------------------===//

#ifndef SINTER_RANDOM_WINDOWDRAW_H
#define SINTER_RANDOM_WINDOWDRAW_H

#include "random/Draft.h"

namespace sinter {

/// Sizes of windows over every dimension, how they step, and how many there
/// are. Padding is low and high in turn.
struct WindowDraw {
  llvm::SmallVector<int64_t> sizes, strides, baseDilations, dilations, padding;
  llvm::SmallVector<int64_t> results;
};

/// Windows over a tensor of \p shape, some reaching beyond it, some leaving
/// part of it out. \p dilates: both dilations are drawn, too.
WindowDraw drawWindow(Draft &draft, llvm::ArrayRef<int64_t> shape,
                      bool dilates);

/// The order in which terms are summed is an implementation's choice.
Rounding sumRounding(mlir::Type element);

} // namespace sinter

#endif // SINTER_RANDOM_WINDOWDRAW_H
