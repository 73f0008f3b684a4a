//===- StepStates.h - arguments and results of a training step ------------===//

#ifndef SINTER_AUTODIFF_STEPSTATES_H
#define SINTER_AUTODIFF_STEPSTATES_H

#include "autodiff/Weights.h"

namespace sinter::autodiff {

/// The arguments and results of an entry function that becomes a step, and the
/// states among them. The function's type is updated by finish() only: types
/// and attributes are created once, since a context never frees them.
class StepStates {
public:
  /// A tensor that outlives a step.
  struct State {
    std::string name;
    mlir::Value before, after;
    Tensor initial;
    /// Whether the loss or the gradients depend on it.
    bool isRead = false;
  };

  explicit StepStates(mlir::func::FuncOp entry)
      : entry(entry), given(entry.getNumArguments()) {}

  /// Adds an argument behind all others.
  mlir::Value addArgument(llvm::StringRef name, mlir::RankedTensorType type);
  /// Adds a state that is not a weight, and returns its argument. Its value
  /// after the step is set later.
  mlir::Value add(std::string name, Tensor initial);
  /// Sets the function's results: \p outputs with their names, and the states
  /// in the order of their arguments, so that results can be fed back to
  /// arguments.
  void finish(llvm::ArrayRef<std::pair<std::string, mlir::Value>> outputs);
  /// Turns those of \p weights that are not states back into constants; after
  /// finish().
  void makeConstants(llvm::ArrayRef<LiftedWeight> weights);

  std::vector<State> list;

private:
  mlir::func::FuncOp entry;
  /// The original number of arguments, and the names of the others.
  size_t given;
  std::vector<std::string> names;
};

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_STEPSTATES_H
