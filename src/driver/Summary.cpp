//===- Summary.cpp - one-line summaries of tensors ------------------------===//

#include "driver/Summary.h"

#include "driver/Text.h"
#include "runtime/Json.h"
#include "runtime/Strings.h"
#include "runtime/TensorRange.h"
#include "runtime/TensorText.h"

#include <algorithm>
#include <cstdio>

namespace sinter::driver {

namespace {

constexpr int64_t firstValues = 10;

} // namespace

std::string summaryText(const Tensor &tensor) {
  std::string line(name(tensor.type()));
  line += " [";
  for (int64_t axis = 0; axis < tensor.rank(); ++axis)
    line += (axis ? ", " : "") + std::to_string(tensor.dim(axis));
  line += "]";
  if (tensor.size() == 0)
    return line + "  empty";
  if (!isString(tensor.type())) {
    const TensorRange range = rangeOf(tensor);
    line += "  min " + numberText(range.min) + "  max " +
            numberText(range.max) + "  mean " + numberText(range.mean);
  }
  line += "\n ";
  const int64_t shown = std::min(tensor.size(), firstValues);
  for (int64_t i = 0; i < shown; ++i)
    line += " " + elementText(tensor, i);
  return line + (shown < tensor.size() ? " ..." : "");
}

nlohmann::json summaryJson(const Tensor &tensor) {
  const TensorRange range = rangeOf(tensor);
  nlohmann::json first = nlohmann::json::array();
  for (int64_t i = 0; i < std::min(tensor.size(), firstValues); ++i) {
    if (isString(tensor.type()))
      first.push_back(std::string(stringAt(tensor, i)));
    else if (classOf(tensor.type()) == ElementClass::UInt)
      first.push_back(static_cast<uint64_t>(tensor.toInteger(i)));
    else if (isInteger(tensor.type()))
      first.push_back(tensor.toInteger(i));
    else
      first.push_back(tensor.toDouble(i));
  }
  return {{"type", name(tensor.type())},
          {"shape", tensor.shape()},
          {"min", range.min},
          {"max", range.max},
          {"mean", range.mean},
          {"first", first}};
}

void printJsonLine(const nlohmann::json &value) {
  // Escapes other bytes than ASCII, which a terminal may interpret.
  const std::string line = jsonText(value, -1, /*isAscii=*/true);
  printTo(stdout, "%s\n", line.c_str());
}

} // namespace sinter::driver
