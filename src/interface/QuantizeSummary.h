//===- QuantizeSummary.h - which layers compute with integers -------------===//
//
// The layers of a quantisation counted: matmuls and convolutions, what is
// between them, and what stays float, by reason.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_QUANTIZESUMMARY_H
#define SINTER_INTERFACE_QUANTIZESUMMARY_H

#include "engine/Quantize.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace sinter {

struct QuantizeSummary {
  /// How many of them compute with integers (or have weights that are).
  struct Share {
    size_t integer = 0, all = 0;
  };
  Share convolutions, matmuls, others;

  /// Layers that stay float for one reason.
  struct Group {
    std::string reason, remedy;
    size_t count = 0;
    /// By the file's operators.
    std::map<std::string, size_t> operations;
  };
  /// The largest ones first.
  std::vector<Group> stayFloat;

  static QuantizeSummary of(const QuantizeReport &report);

  /// "all 11 convolutions and 2 of 3 matrix multiplications compute with
  /// integers, and 4 other operations"; \p isWeightsOnly: "have weights that
  /// are integers".
  std::string text(bool isWeightsOnly) const;
  /// A line for each group: "it has no form with integers (5 Softmax); nothing
  /// would make them integer".
  static std::string text(const Group &group);
};

/// {"convolutions", "matmuls", "others": {"integer", "all"}, "stay_float":
/// [{"reason", "remedy", "count", "operations"}]}.
nlohmann::json asJson(const QuantizeSummary &summary);

/// "ranges from 10 samples of images/, compared with the float model on 2
/// others".
std::string samplesText(const QuantizeReport &report);

} // namespace sinter

#endif // SINTER_INTERFACE_QUANTIZESUMMARY_H
