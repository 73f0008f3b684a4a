//===- Losses.h - loss functions ------------------------------------------===//
//
//   cross-entropy                     of the first output and `target`
//   file.mlir                         a function of them
//   logits=cross-entropy, box=huber:0.3
//                                     outputs with targets of their own
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TRAIN_LOSSES_H
#define SINTER_TRAIN_LOSSES_H

#include "autodiff/Options.h"
#include "data/TrainingData.h"
#include "engine/Session.h"
#include "runtime/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// A loss as given by the user.
struct GivenLoss {
  /// A name or an index; empty: the output of losses without one.
  std::string output;
  autodiff::Loss kind = autodiff::Loss::CrossEntropy;
  std::string file;
  double weight = 1;
};

/// The names of losses in options.
std::vector<std::string> lossNames();

/// Parses "[OUTPUT=]LOSS[:WEIGHT]"; Usage error for other texts.
Result<GivenLoss> parseLoss(const std::string &text);

/// Finds the outputs of the model of \p session for \p given; losses without an
/// output get \p output. \p how has the settings of all losses. Fills in losses
/// and targets of \p training. \p what names a loss in errors.
Result<std::vector<TargetArray>>
resolveLosses(const Session &session, const std::vector<GivenLoss> &given,
              const std::string &output, const autodiff::LossOptions &how,
              autodiff::TrainingOptions &training, const std::string &what);

} // namespace sinter

#endif // SINTER_TRAIN_LOSSES_H
