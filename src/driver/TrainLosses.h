//===- TrainLosses.h - what sinter train makes small ----------------------===//
//
//   --loss cross-entropy                  of the first output and `target`
//   --loss file.mlir                      a function of them
//   --loss logits=cross-entropy --loss box=huber:0.3
//                                         outputs with targets of their own
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_TRAINLOSSES_H
#define SINTER_DRIVER_TRAINLOSSES_H

#include "autodiff/Options.h"
#include "engine/Session.h"
#include "runtime/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter::driver {

/// A --loss as it was given.
struct GivenLoss {
  /// A name or a number; empty: what --loss-output says.
  std::string output;
  autodiff::Loss kind = autodiff::Loss::CrossEntropy;
  std::string file;
  double weight = 1;
};

/// The names of losses, as options have them.
std::vector<std::string> lossNames();

/// Reads "[OUTPUT=]LOSS[:WEIGHT]"; a text that is no such thing is a Usage
/// error.
Result<GivenLoss> parseLoss(const std::string &text);

/// An array that outputs are compared with: what a step calls it, what else an
/// archive may call it, and the output, if it is not what a function of a file
/// takes besides.
struct TargetArray {
  std::string name, otherName;
  std::optional<unsigned> output = std::nullopt;
};

/// Finds the outputs of the model of \p session that \p given speak of; those
/// without a name are \p output's. \p how has what is the same for all losses.
/// Fills in losses and targets of \p training.
Result<std::vector<TargetArray>>
resolveLosses(const Session &session, const std::vector<GivenLoss> &given,
              const std::string &output, const autodiff::LossOptions &how,
              autodiff::TrainingOptions &training);

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAINLOSSES_H
