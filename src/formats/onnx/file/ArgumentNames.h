//===- ArgumentNames.h - sequences and optionals as tensors ---------------===//
//
// Arguments and results of a program are tensors. A sequence input becomes one
// argument for each element, called name[0], name[1], ...; an optional one of
// its own name, or none. The shapes that a model is imported with determine
// which exist: an element without a shape does not.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_ARGUMENTNAMES_H
#define SINTER_FORMATS_ONNX_FILE_ARGUMENTNAMES_H

#include "formats/onnx/file/TensorFile.h"

#include <map>
#include <string>
#include <vector>

namespace sinter::onnx {

class TypeProto;
class ValueInfoProto;

/// "name[index]".
std::string elementName(const std::string &sequence, size_t index);

/// The form of a value of \p type in a file of test data.
ValueForm formOf(const TypeProto &type);

/// Whether the value is a sequence, perhaps an optional one.
bool isSequence(const TypeProto &type);

/// The element type of \p type: a tensor type, or an unsupported one (a map, a
/// sequence in a sequence).
const TypeProto &innerType(const TypeProto &type);

/// The arguments that \p input becomes if \p shapes are known.
std::vector<std::string>
argumentNames(const ValueInfoProto &input,
              const std::map<std::string, std::vector<int64_t>> &shapes);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_ARGUMENTNAMES_H
