//===- QuantizeSummary.cpp - which layers compute with integers -----------===//

#include "interface/QuantizeSummary.h"

#include "runtime/Text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sinter {

QuantizeSummary QuantizeSummary::of(const QuantizeReport &report) {
  QuantizeSummary summary;
  std::map<std::string, Group> groups;
  for (const QuantizedLayer &layer : report.layers) {
    Share &share =
        layer.kind == QuantizedLayer::Kind::Convolution ? summary.convolutions
        : layer.kind == QuantizedLayer::Kind::Matmul    ? summary.matmuls
                                                        : summary.others;
    ++share.all;
    share.integer += !layer.keptFloat;
    if (!layer.keptFloat)
      continue;
    Group &group = groups[layer.commonReason];
    group.reason = layer.commonReason;
    group.remedy = layer.remedy;
    ++group.count;
    ++group.operations[layer.opInFile];
  }
  for (auto &[reason, group] : groups)
    summary.stayFloat.push_back(std::move(group));
  std::ranges::stable_sort(summary.stayFloat, std::ranges::greater(),
                           &Group::count);
  return summary;
}

/// "all 11 convolutions", "2 of 3 convolutions", "the convolution".
static std::string shareText(const QuantizeSummary::Share &share,
                             const std::string &one, const std::string &many) {
  if (share.integer < share.all)
    return text("%zu of %zu ", share.integer, share.all) +
           (share.all == 1 ? one : many);
  return share.all == 1 ? "the " + one : text("all %zu ", share.all) + many;
}

std::string QuantizeSummary::text(bool isWeightsOnly) const {
  std::string line;
  if (convolutions.all)
    line = shareText(convolutions, "convolution", "convolutions");
  if (matmuls.all)
    line +=
        (line.empty() ? "" : " and ") +
        shareText(matmuls, "matrix multiplication", "matrix multiplications");
  const bool isOne = convolutions.all + matmuls.all == 1;
  if (line.empty())
    line = "there is no convolution and no matrix multiplication";
  else
    line += isWeightsOnly ? (isOne ? " has" : " have") +
                                std::string(" weights that are integers")
                          : (isOne ? " computes" : " compute") +
                                std::string(" with integers");
  if (others.integer)
    line += sinter::text(", and so %s %zu other operation%s",
                         others.integer == 1 ? "does" : "do", others.integer,
                         others.integer == 1 ? "" : "s");
  return line;
}

std::string QuantizeSummary::text(const Group &group) {
  std::string operations;
  for (const auto &[name, count] : group.operations)
    operations += (operations.empty() ? "" : ", ") + name +
                  (count == 1 ? "" : sinter::text(" x %zu", count));
  return sinter::text("%8zu  ", group.count) + group.reason + " (" +
         operations + ")" +
         (group.remedy == "nothing" ? "; nothing helps"
                                    : "; would help: " + group.remedy);
}

static nlohmann::json shareJson(const QuantizeSummary::Share &share) {
  return {{"integer", share.integer}, {"all", share.all}};
}

nlohmann::json asJson(const QuantizeSummary &summary) {
  nlohmann::json groups = nlohmann::json::array();
  for (const QuantizeSummary::Group &group : summary.stayFloat)
    groups.push_back({{"reason", group.reason},
                      {"remedy", group.remedy},
                      {"count", group.count},
                      {"operations", group.operations}});
  return {{"convolutions", shareJson(summary.convolutions)},
          {"matmuls", shareJson(summary.matmuls)},
          {"others", shareJson(summary.others)},
          {"stay_float", std::move(groups)}};
}

std::string samplesText(const QuantizeReport &report) {
  const auto counted = [](size_t count) {
    return text("%zu sample%s", count, count == 1 ? "" : "s");
  };
  const std::string of = report.data.empty() ? "" : " of " + report.data;
  if (!report.samples)
    return report.judged ? "compared with the float model on " +
                               counted(report.judged) + of
                         : "no samples";
  std::string line = "ranges from " + counted(report.samples) + of;
  if (report.judged)
    line +=
        ", compared with the float model on " +
        (report.isJudgedOnOthers
             ? text("%zu other%s", report.judged, report.judged == 1 ? "" : "s")
             : std::string(report.judged == 1 ? "the same one"
                                              : "the same ones"));
  return line;
}

} // namespace sinter
