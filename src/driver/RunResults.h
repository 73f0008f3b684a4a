//===- RunResults.h - prints and writes the results of a run --------------===//

#ifndef SINTER_DRIVER_RUNRESULTS_H
#define SINTER_DRIVER_RUNRESULTS_H

#include "data/Labels.h"
#include "runtime/Executor.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace sinter::driver {

/// The names of classes; none: outputs are summarised.
struct ShownLabels {
  std::vector<std::string> labels;
  /// How many of the most probable ones are shown.
  size_t top = 5;
};

/// Prints the outputs of a run: of those with scores of as many classes as
/// there are names the most probable ones of each row, of others a summary.
/// Lines begin with \p prefix.
void printOutputs(std::span<const TensorSpec> specs,
                  const std::vector<Tensor> &results, const ShownLabels &shown,
                  const std::string &prefix = "");

/// The same as an array of objects: summaryJson with "name"; where there are
/// names, "rows" of "index" and "labels", and the first row's "labels".
nlohmann::json outputsJson(std::span<const TensorSpec> specs,
                           const std::vector<Tensor> &results,
                           const ShownLabels &shown);

/// Checks that one of \p results has scores for \p shown, whose names are those
/// of the file \p path; Usage error. Nothing if the path is empty.
Result<void> checkShown(std::span<const TensorSpec> specs,
                        const std::vector<Tensor> &results,
                        const ShownLabels &shown, const std::string &path);

} // namespace sinter::driver

#endif // SINTER_DRIVER_RUNRESULTS_H
