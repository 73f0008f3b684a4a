#include "runtime/TensorText.h"

#include <cstdio>

namespace sinter {

namespace {

std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.6e", value);
  return buffer;
}

std::string element(const Tensor &tensor, int64_t index) {
  switch (classOf(tensor.type())) {
  case ElementClass::Bool:
    return tensor.toInteger(index) != 0 ? "true" : "false";
  case ElementClass::SInt:
    return std::to_string(tensor.toInteger(index));
  case ElementClass::UInt:
    return std::to_string(static_cast<uint64_t>(tensor.toInteger(index)));
  case ElementClass::Float:
    return number(tensor.toDouble(index));
  case ElementClass::Complex:
    break;
  }
  const bool narrow = tensor.type() == ElementType::C64;
  const double imaginary = narrow ? tensor.at<float>(2 * index + 1)
                                  : tensor.at<double>(2 * index + 1);
  return "[" + number(tensor.toDouble(index)) + ", " + number(imaginary) + "]";
}

/// Writes the values of dimension \p axis on; \p next is the first of them.
void append(std::string &text, const Tensor &tensor, size_t axis,
            int64_t &next) {
  const std::string indent(2 * (axis + 1), ' ');
  const bool isInnermost = axis + 1 == tensor.shape().size();
  text += indent + "[";
  for (int64_t i = 0; i < tensor.dim(axis); ++i) {
    text += i == 0 ? "" : isInnermost ? ", " : ",";
    if (isInnermost) {
      text += element(tensor, next++);
      continue;
    }
    text += "\n";
    append(text, tensor, axis + 1, next);
  }
  text += isInnermost ? "]" : "\n" + indent + "]";
}

} // namespace

std::string tensorText(const Tensor &tensor) {
  std::string text =
      "tensor<" + toString(tensor.type(), tensor.shape()) + "> {";
  int64_t next = 0;
  if (tensor.rank() == 0)
    return text + element(tensor, 0) + "}";
  text += "\n";
  append(text, tensor, 0, next);
  return text + "\n}";
}

} // namespace sinter
