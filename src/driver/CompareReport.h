//===- CompareReport.h - how two models differ ----------------------------===//

#ifndef SINTER_DRIVER_COMPAREREPORT_H
#define SINTER_DRIVER_COMPAREREPORT_H

#include "runtime/Comparison.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sinter::driver {

/// How it is known which tensor of one model is which of the other.
enum class MatchedBy {
  /// Outputs and states.
  Output,
  /// It is the same model.
  Model,
  /// Both files call it so.
  Name,
  /// It comes from a node of the same name, by the same operation.
  Origin,
  /// The models share no names: the same operation in the same place.
  Position,
};

/// A tensor in both models.
struct ComparedTensor {
  std::string name, otherName, op;
  MatchedBy by = MatchedBy::Output;
  /// "3x4xf32", as they were computed.
  std::string type, otherType;
  int64_t elements = 0;
  /// Whether it was computed in both, so that the rest says something.
  bool isCompared = false;
  /// Why the values cannot be compared: their shapes.
  std::string problem;
  Difference difference;
  struct Element {
    std::string place, expected, got;
  };
  /// The furthest, the furthest first.
  std::vector<Element> furthest;

  bool parts() const { return !problem.empty() || difference.wrong > 0; }
  /// Whether values that differ say that the models do: where a match is only
  /// likely, outputs must tell.
  bool counts() const { return by <= MatchedBy::Name; }
};

/// A rewrite that makes the difference.
struct FoundStep {
  uint64_t step = 0, steps = 0;
  std::string pass, label, op, location;
};

struct CompareReport {
  std::string first, second;
  Tolerance tolerance;
  std::vector<ComparedTensor> outputs;
  /// In the order of the first model.
  std::vector<ComparedTensor> tensors;
  /// Tensors that only one of the models has.
  size_t onlyFirst = 0, onlySecond = 0;
  /// What a user should know.
  std::vector<std::string> notes;
  /// The first pass after which they differ.
  std::string pass;
  std::optional<FoundStep> step;
  /// The smallest model that shows it: its file, its operations.
  std::string reduced;
  int reducedOperations = 0;

  bool agrees() const;
  /// The first tensor that parts, outputs last; null where all agree.
  const ComparedTensor *firstParting() const;
};

/// Compares \p got with what is \p expected, of any types and shapes; of
/// several times the first that differs most counts.
void compareInto(ComparedTensor &tensor, const Tensor &expected,
                 const Tensor &got, const Tolerance &tolerance);

/// A table for people; \p isLong: every tensor.
std::string reportText(const CompareReport &report, bool isLong);
nlohmann::json reportJson(const CompareReport &report);
/// A page that needs nothing beside it.
std::string reportPage(const CompareReport &report);

/// "'conv1' (stablehlo.convolution)".
std::string titleOf(const ComparedTensor &tensor);
const char *textOf(MatchedBy by);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMPAREREPORT_H
