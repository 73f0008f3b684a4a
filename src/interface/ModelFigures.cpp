//===- ModelFigures.cpp - operators, weights and FLOPs of a model ---------===//

#include "interface/ModelFigures.h"

#include "runtime/Text.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace sinter {

nlohmann::json flopsJson(const ModelFlops &flops) {
  if (flops.number)
    return *flops.number;
  return flops.formula.empty() ? nlohmann::json()
                               : nlohmann::json(flops.formula);
}

static std::string inUnits(int64_t flops) {
  double number = static_cast<double>(flops);
  const char *unit = "FLOP";
  for (const char *larger : {"kFLOP", "MFLOP", "GFLOP", "TFLOP"}) {
    if (number < 1000)
      break;
    number /= 1000;
    unit = larger;
  }
  return text("%.3g %s", number, unit);
}

std::string flopsText(const ModelFlops &flops) {
  if (flops.number)
    return inUnits(*flops.number);
  const std::string &formula = flops.formula;
  if (formula.empty())
    return "?";
  int64_t factor = 0;
  const char *end = formula.data() + formula.size();
  const auto [rest, error] = std::from_chars(formula.data(), end, factor);
  const bool isOneTerm = error == std::errc() && rest != end && *rest == '*' &&
                         formula.find_first_of(" +-") == std::string::npos;
  return isOneTerm ? inUnits(factor) + " * " + std::string(rest + 1, end)
                   : formula + " FLOP";
}

nlohmann::json operatorsJson(const FileCounts &counts) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto &[name, count] : counts.operators)
    object[name] = count;
  return object;
}

} // namespace sinter
