//===- TrainingHistory.h - metrics of a training so far -------------------===//

#ifndef SINTER_TRAIN_TRAININGHISTORY_H
#define SINTER_TRAIN_TRAININGHISTORY_H

#include "train/Epoch.h"
#include "train/LossCurve.h"

namespace sinter {

/// The epochs of a run and its loss curve, including those before it was
/// resumed.
class TrainingHistory {
public:
  void add(const DoneStep &step);
  void add(const DoneEpoch &epoch);

  /// An object per epoch: `epoch` (from 1), `loss`, `seconds`, and, if they
  /// exist, `losses`, `accuracy`, `validation_loss`, `validation_losses` and
  /// `validation_accuracy`.
  const nlohmann::json &epochs() const { return done; }
  const LossCurve &curve() const { return losses; }

  nlohmann::json asJson() const;
  /// From asJson(); empty for missing fields.
  static TrainingHistory of(const nlohmann::json &json);

private:
  nlohmann::json done = nlohmann::json::array();
  LossCurve losses;
};

} // namespace sinter

#endif // SINTER_TRAIN_TRAININGHISTORY_H
