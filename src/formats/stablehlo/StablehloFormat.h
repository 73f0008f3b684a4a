//===- StablehloFormat.h - StableHLO's row of the table of formats --------===//

#ifndef SINTER_FORMATS_STABLEHLO_STABLEHLOFORMAT_H
#define SINTER_FORMATS_STABLEHLO_STABLEHLOFORMAT_H

#include "formats/Format.h"

namespace sinter {

/// MLIR text, portable artifacts, files of jax.export and PyTorch/XLA.
extern const Format stablehloFormat;

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_STABLEHLOFORMAT_H
