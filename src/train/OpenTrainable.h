//===- OpenTrainable.h - opens a model for training -----------------------===//

#ifndef SINTER_TRAIN_OPENTRAINABLE_H
#define SINTER_TRAIN_OPENTRAINABLE_H

#include "engine/Session.h"
#include "engine/Train.h"
#include "train/TrainOptions.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

/// The targets of the losses of \p options, of which it fills in those of the
/// step, for the model of \p session. Usage error if the model has no such
/// output.
Result<std::vector<TargetArray>> findTargets(const Session &session,
                                             TrainOptions &options);

/// Opens the model of \p options, whose targets are known, for training by the
/// compiler. \p how: options to read, compile and run it. \p note gets what a
/// user should know, a line a call.
Result<std::unique_ptr<TrainableModel>>
openTrainable(const TrainOptions &options, const SessionOptions &how,
              std::function<void(const std::string &)> note);

} // namespace sinter

#endif // SINTER_TRAIN_OPENTRAINABLE_H
