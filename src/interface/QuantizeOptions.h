//===- QuantizeOptions.h - options and report of `sinter quantize` --------===//

#ifndef SINTER_INTERFACE_QUANTIZEOPTIONS_H
#define SINTER_INTERFACE_QUANTIZEOPTIONS_H

#include "engine/Quantize.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// What a user chooses: how ranges, activations, weights and layers become
/// integers.
class QuantizeChoices {
public:
  /// --scheme, --activations, --weights, ... \p app must outlive this.
  void add(CLI::App &app);
  /// Whether weights alone become integers.
  bool isWeightsOnly(bool hasSamples) const {
    return activations == "float" ||
           (activations.empty() && !hasSamples && !weights.empty());
  }
  /// Sets them in \p request. \p hasSamples: whether there are samples, or a
  /// profile of them, to quantise activations by. Usage error where choices
  /// exclude each other.
  Result<void> apply(QuantizeRequest &request, bool hasSamples) const;

  quantize::QuantizeOptions options;
  std::string activations, weights;
  std::string target = "native";
  std::optional<double> mostLoss;

private:
  void takeRange(const std::string &text);

  bool hasScheme = false;
  bool perTensor = false, noEqualize = false, noSmooth = false,
       noBiasCorrection = false;
};

/// Notes and warnings.
std::vector<std::string> allNotes(const QuantizeReport &report);

/// \p report of the quantisation of \p model as JSON.
nlohmann::json asJson(const std::string &model, const QuantizeReport &report);

} // namespace sinter

#endif // SINTER_INTERFACE_QUANTIZEOPTIONS_H
