//===- Summary.h - a tensor in a line -------------------------------------===//

#ifndef SINTER_DRIVER_SUMMARY_H
#define SINTER_DRIVER_SUMMARY_H

#include "runtime/Tensor.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sinter::driver {

/// "f32 [1, 10]  min -1  max 2  mean 0.1\n  0.5 0.25 ...".
std::string summaryText(const Tensor &tensor);

/// {"type", "shape", "min", "max", "mean", "first"}; what is not a number is
/// null.
nlohmann::json summaryJson(const Tensor &tensor);

/// One line of JSON on standard output; bytes that are not UTF-8 are replaced.
void printJsonLine(const nlohmann::json &value);

} // namespace sinter::driver

#endif // SINTER_DRIVER_SUMMARY_H
