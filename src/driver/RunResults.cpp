#include "driver/RunResults.h"

#include "driver/Summary.h"
#include "driver/Text.h"

#include <nlohmann/json.hpp>

namespace sinter::driver {

/// "logits[0,3]".
static std::string rowName(const std::string &output,
                           const std::vector<int64_t> &index) {
  std::string text = output + "[";
  for (size_t i = 0; i < index.size(); ++i)
    text += (i ? "," : "") + std::to_string(index[i]);
  return text + "]";
}

void printOutputs(std::span<const TensorSpec> specs,
                  const std::vector<Tensor> &results, const ShownLabels &shown,
                  const std::string &prefix) {
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string name = oneLine(specs[i].name);
    const std::vector<LabelledRow> rows =
        mostProbable(results[i], shown.labels, shown.top);
    for (const LabelledRow &row : rows) {
      if (rows.size() > 1)
        printTo(stdout, "%s%s:\n", prefix.c_str(),
                rowName(name, row.index).c_str());
      for (const LabelScore &score : row.best)
        printTo(stdout, "%s%-24s %.4f\n", prefix.c_str(), score.label.c_str(),
                score.probability);
    }
    if (rows.empty())
      printTo(stdout, "%s%s: %s\n", prefix.c_str(), name.c_str(),
              summaryText(results[i]).c_str());
  }
}

static nlohmann::json labelsJson(const LabelledRow &row) {
  nlohmann::json all = nlohmann::json::array();
  for (const LabelScore &score : row.best)
    all.push_back({{"label", score.label}, {"probability", score.probability}});
  return all;
}

nlohmann::json outputsJson(std::span<const TensorSpec> specs,
                           const std::vector<Tensor> &results,
                           const ShownLabels &shown) {
  nlohmann::json outputs = nlohmann::json::array();
  for (size_t i = 0; i < results.size(); ++i) {
    nlohmann::json entry = summaryJson(results[i]);
    entry["name"] = specs[i].name;
    const std::vector<LabelledRow> rows =
        mostProbable(results[i], shown.labels, shown.top);
    if (!rows.empty())
      entry["labels"] = labelsJson(rows.front());
    for (const LabelledRow &row : rows)
      entry["rows"].push_back(
          {{"index", row.index}, {"labels", labelsJson(row)}});
    outputs.push_back(std::move(entry));
  }
  return outputs;
}

Result<void> checkShown(std::span<const TensorSpec> specs,
                        const std::vector<Tensor> &results,
                        const ShownLabels &shown, const std::string &path) {
  if (path.empty())
    return {};
  std::vector<TensorSpec> known(specs.begin(), specs.end());
  for (size_t i = 0; i < results.size(); ++i)
    known[i].shape = results[i].shape();
  return checkLabels(known, shown.labels, "--labels '" + path + "'");
}

} // namespace sinter::driver
