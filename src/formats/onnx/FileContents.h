//===- FileContents.h - the tensors and nodes of an ONNX file -------------===//

#ifndef SINTER_FORMATS_ONNX_FILECONTENTS_H
#define SINTER_FORMATS_ONNX_FILECONTENTS_H

#include "formats/FileCounts.h"

#include <string>
#include <vector>

namespace sinter::onnx {

class ModelProto;

/// The external files that the tensors of \p model refer to, in order.
std::vector<std::string> externalFilesOf(const ModelProto &model);

/// Nodes by their operators, and the bytes of initializers and of tensors in
/// attributes.
FileCounts countsOf(const ModelProto &model);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILECONTENTS_H
