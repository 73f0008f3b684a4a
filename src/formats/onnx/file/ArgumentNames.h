//===- ArgumentNames.h - sequences and optionals as tensors ---------------===//
//
// A program takes and gives tensors only. An input that is a sequence stands
// for as many arguments as it has elements, called name[0], name[1], ...; an
// optional for one of its own name, or none. How many there are is said with
// the shapes that a model is read for: what is not named is not there.
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

/// What a value of \p type is in a file of test data.
ValueForm formOf(const TypeProto &type);

/// Whether the value is a sequence, perhaps an optional one.
bool isSequence(const TypeProto &type);

/// The type of what a value of \p type consists of: a tensor's, or what is not
/// supported (a map, a sequence in a sequence).
const TypeProto &innerType(const TypeProto &type);

/// The arguments that \p input becomes where \p shapes are known.
std::vector<std::string>
argumentNames(const ValueInfoProto &input,
              const std::map<std::string, std::vector<int64_t>> &shapes);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_ARGUMENTNAMES_H
