//===- StepStates.h - what a step takes and gives -------------------------===//

#ifndef SINTER_AUTODIFF_STEPSTATES_H
#define SINTER_AUTODIFF_STEPSTATES_H

#include "autodiff/Weights.h"

namespace sinter::autodiff {

/// The arguments and results of an entry function that becomes a step, and the
/// states among them. The function's type is that of its block again once
/// finish() was called: types and attributes of all arguments are made once,
/// since a context keeps each that was ever made.
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

  /// An argument behind all others.
  mlir::Value addArgument(llvm::StringRef name, mlir::RankedTensorType type);
  /// A state that is no weight: an argument. What it is after the step is not
  /// known yet.
  mlir::Value add(std::string name, Tensor initial);
  /// What the function returns: \p outputs by their names, and the states in
  /// the order of their arguments, so that one can be fed from the other.
  void finish(llvm::ArrayRef<std::pair<std::string, mlir::Value>> outputs);
  /// Of \p weights, what is no state is a constant again; after finish().
  void makeConstants(llvm::ArrayRef<LiftedWeight> weights);

  std::vector<State> list;

private:
  mlir::func::FuncOp entry;
  /// How many arguments there were at first, and the names of the others.
  size_t given;
  std::vector<std::string> names;
};

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_STEPSTATES_H
