#include "formats/onnx/file/ArgumentNames.h"

#include "formats/onnx/file/onnx.pb.h"

using namespace sinter::onnx;

static const TypeProto &withoutOptional(const TypeProto &type) {
  return type.has_optional_type() ? type.optional_type().elem_type() : type;
}

std::string sinter::onnx::elementName(const std::string &sequence,
                                      size_t index) {
  return sequence + "[" + std::to_string(index) + "]";
}

ValueForm sinter::onnx::formOf(const TypeProto &type) {
  return type.has_optional_type()   ? ValueForm::Optional
         : type.has_sequence_type() ? ValueForm::Sequence
                                    : ValueForm::Tensor;
}

bool sinter::onnx::isSequence(const TypeProto &type) {
  return withoutOptional(type).has_sequence_type();
}

const TypeProto &sinter::onnx::innerType(const TypeProto &type) {
  const TypeProto &value = withoutOptional(type);
  return value.has_sequence_type() ? value.sequence_type().elem_type() : value;
}

std::vector<std::string> sinter::onnx::argumentNames(
    const ValueInfoProto &input,
    const std::map<std::string, std::vector<int64_t>> &shapes) {
  std::vector<std::string> names;
  if (isSequence(input.type())) {
    while (shapes.contains(elementName(input.name(), names.size())))
      names.push_back(elementName(input.name(), names.size()));
  } else if (!input.type().has_optional_type() ||
             shapes.contains(input.name())) {
    names.push_back(input.name());
  }
  return names;
}
