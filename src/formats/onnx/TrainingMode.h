//===- TrainingMode.h - nodes that behave as in training ------------------===//

#ifndef SINTER_FORMATS_ONNX_TRAININGMODE_H
#define SINTER_FORMATS_ONNX_TRAININGMODE_H

#include "formats/onnx/file/OnnxFile.h"

#include <string>

namespace sinter::onnx {

/// What users should know of a file with batch norms that normalise by the
/// batch, or dropouts that drop (as PyTorch exports with TrainingMode.TRAINING,
/// or of a model in training): how many there are and what to do. Empty if
/// there are none.
std::string trainingModeNote(const OnnxFile &file);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_TRAININGMODE_H
