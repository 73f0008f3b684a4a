//===- LayerTimes.h - how long a layer takes in floats and in bytes -------===//
//
// What cost/Estimates says of a product of the graph, without compiling it:
// the same on every machine for a target that is named (x86-64-v3, say), whose
// rates are those typical of its instructions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_LAYERTIMES_H
#define SINTER_BACKEND_CPU_COST_LAYERTIMES_H

#include "backend/cpu/target/Target.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace sinter::cpu {

/// Seconds of one thread, by the fastest kernel of each kind.
struct LayerTimes {
  double f32 = 0;
  /// Activations of bytes by weights of signed ones, into bytes. Channel by
  /// channel these may be read as floats (readsFloatsFaster).
  double bytes = 0;
};

/// Of \p op, a convolution or dot_general of static shapes, whatever types it
/// has now: its right-hand side is taken for weights that are packed as a
/// program is made, but for a dot_general with batching dimensions, which has
/// no kernel of bytes (`bytes` is `f32` then). Counted is what the kernel
/// computes and what it moves: weights, activations and results. Nothing for
/// any other operation.
std::optional<LayerTimes> layerTimes(mlir::Operation *op, const Target &target);

/// Whether \p op, of static shapes, is a convolution channel by channel that is
/// faster where its input of bytes is written as the same numbers in f32, by
/// whoever computes it, than where its kernel widens each for each tap.
bool readsFloatsFaster(stablehlo::ConvolutionOp op, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_LAYERTIMES_H
