#include "bundle/CTypes.h"

#include "runtime/Result.h"

namespace sinter {

std::string_view cType(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::C64:
    return "float";
  case ElementType::F64:
  case ElementType::C128:
    return "double";
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::I8:
    return "int8_t";
  case ElementType::I16:
    return "int16_t";
  case ElementType::I32:
    return "int32_t";
  case ElementType::I64:
    return "int64_t";
  case ElementType::BF16:
  case ElementType::F16:
  case ElementType::UI16:
    return "uint16_t";
  case ElementType::UI32:
    return "uint32_t";
  case ElementType::UI64:
  case ElementType::STRING:
    return "uint64_t";
  case ElementType::I1:
  case ElementType::UI2:
  case ElementType::UI4:
  case ElementType::UI8:
  case ElementType::F8E4M3:
  case ElementType::F8E4M3FN:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E4M3B11FNUZ:
  case ElementType::F8E5M2:
  case ElementType::F8E5M2FNUZ:
    break;
  }
  return "uint8_t";
}

uint64_t cElements(const BundleTensor &tensor) {
  const uint64_t size = byteSize(tensor.spec.type);
  return tensor.bytes / size * (isComplex(tensor.spec.type) ? 2 : 1);
}

std::string typeText(const BundleTensor &tensor) {
  std::string text = std::string(name(tensor.spec.type)) + " [";
  for (size_t i = 0; i < tensor.spec.shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + (tensor.isDynamic()
                                        ? tensor.dimensions[i]
                                        : std::to_string(tensor.spec.shape[i]));
  return text + "]";
}

std::string commentText(std::string_view text) {
  std::string result;
  for (const char c : oneLine(text)) {
    // Neither the ends of comments nor trigraphs.
    const char last = result.empty() ? ' ' : result.back();
    if ((last == '*' && c == '/') || (last == '/' && c == '*') ||
        (last == '?' && c == '?'))
      result += ' ';
    result += c;
  }
  return result;
}

} // namespace sinter
