//===- Optimizers.h - from gradients to new weights -----------------------===//
//
// Each optimiser is a graph: from a weight, its gradient, the learning rate and
// the optimiser's state for the weight it computes new ones.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_OPTIMIZERS_H
#define SINTER_AUTODIFF_OPTIMIZERS_H

#include "autodiff/Options.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter::autodiff {

/// The names of an optimiser's state tensors for a weight ("momentum"). They
/// have the weight's shape and type, and are zeros at first.
llvm::SmallVector<llvm::StringRef> keptTensors(const OptimizerOptions &options);

/// Whether it counts steps, the first being 1.
bool countsSteps(const OptimizerOptions &options);

/// One weight's update.
struct WeightUpdate {
  mlir::Value weight, gradient;
  /// A scalar of f32.
  mlir::Value rate;
  /// The number of this step, a scalar of f64; null where none is counted.
  mlir::Value step;
  /// Whether weight decay applies to it.
  bool isDecayed = false;
  /// In the order of keptTensors(); updateWeight() replaces them by the new
  /// ones.
  llvm::SmallVector<mlir::Value> kept;
};

/// Clips the gradients of a step by the options.
void clipGradients(nn::TensorBuilder &emit,
                   llvm::MutableArrayRef<mlir::Value> gradients,
                   const OptimizerOptions &options);

/// The new weight; `kept` becomes the state after the step. Sources of the
/// formulas: Sutskever et al. 2013 (momentum), Kingma and Ba 2015 (Adam),
/// Loshchilov and Hutter 2019 (AdamW), Tieleman and Hinton 2012 (RMSprop),
/// Duchi et al. 2011 (Adagrad), You et al. 2020 (LAMB); as in PyTorch.
mlir::Value updateWeight(nn::TensorBuilder &emit, WeightUpdate &update,
                         const OptimizerOptions &options);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_OPTIMIZERS_H
