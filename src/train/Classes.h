//===- Classes.h - the classes of a model and of the data -----------------===//

#ifndef SINTER_TRAIN_CLASSES_H
#define SINTER_TRAIN_CLASSES_H

#include "data/TrainingData.h"
#include "engine/ModelDescription.h"
#include "train/TrainOptions.h"

namespace sinter {

/// Compares the number of classes of \p model with that of \p data (null: not
/// known yet), for the first loss of classes. Sets the head that the model gets
/// by \p options, whose losses are resolved, and the names of its classes as
/// metadata. Usage errors: there are no classes where their number is given, or
/// the data has more than the model will have.
Result<void> chooseHead(TrainOptions &options, const ModelDescription &model,
                        const TrainingData *data,
                        const std::function<void(const std::string &)> &note);

} // namespace sinter

#endif // SINTER_TRAIN_CLASSES_H
