//===- Summary.h - one-line summaries of tensors --------------------------===//

#ifndef SINTER_DRIVER_SUMMARY_H
#define SINTER_DRIVER_SUMMARY_H

#include "runtime/Tensor.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sinter::driver {

/// "f32 [1, 10]  min -1  max 2  mean 0.1\n  0.5 0.25 ...".
std::string summaryText(const Tensor &tensor);

/// {"type", "shape", "min", "max", "mean", "first"}; NaN and infinity are null.
nlohmann::json summaryJson(const Tensor &tensor);

/// Prints one line of JSON on standard output, in ASCII; bytes that are not
/// UTF-8 are replaced.
void printJsonLine(const nlohmann::json &value);

} // namespace sinter::driver

#endif // SINTER_DRIVER_SUMMARY_H
