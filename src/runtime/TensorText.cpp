#include "runtime/TensorText.h"
#include "runtime/Strings.h"
#include "runtime/TraceWriter.h"

#include <cmath>
#include <cstdio>

namespace sinter {

std::string numberText(double value, int digits) {
  if (std::isnan(value))
    return "nan";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

static double imaginaryPart(const Tensor &tensor, int64_t index) {
  return tensor.type() == ElementType::C64 ? tensor.at<float>(2 * index + 1)
                                           : tensor.at<double>(2 * index + 1);
}

std::string elementText(const Tensor &tensor, int64_t index, int digits) {
  switch (classOf(tensor.type())) {
  case ElementClass::Bool:
    return tensor.toInteger(index) ? "true" : "false";
  case ElementClass::SInt:
    return std::to_string(tensor.toInteger(index));
  case ElementClass::UInt:
    return std::to_string(static_cast<uint64_t>(tensor.toInteger(index)));
  case ElementClass::Complex: {
    const double imaginary = imaginaryPart(tensor, index);
    const bool hasSign = std::signbit(imaginary) && !std::isnan(imaginary);
    return numberText(tensor.toDouble(index), digits) + (hasSign ? "" : "+") +
           numberText(imaginary, digits) + "i";
  }
  case ElementClass::Float:
    return numberText(tensor.toDouble(index), digits);
  case ElementClass::String:
    return jsonString(stringAt(tensor, index));
  }
  return "";
}

std::pair<std::string, std::string>
elementTexts(const Tensor &a, const Tensor &b, int64_t index) {
  std::pair<std::string, std::string> texts;
  for (int digits : {6, 9, 17}) {
    texts = {elementText(a, index, digits), elementText(b, index, digits)};
    if (texts.first != texts.second)
      return texts;
  }
  return {elementText(a, index), elementText(b, index)};
}

std::string indexText(const Shape &shape, int64_t index) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    text =
        std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

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
  case ElementClass::String:
    return jsonString(stringAt(tensor, index));
  case ElementClass::Complex:
    break;
  }
  return "[" + number(tensor.toDouble(index)) + ", " +
         number(imaginaryPart(tensor, index)) + "]";
}

/// Writes the values from dimension \p axis on; \p next is the first of them.
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
