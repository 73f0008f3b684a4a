//===- CompareReport.h - the differences between two models ---------------===//

#ifndef SINTER_COMPARE_COMPAREREPORT_H
#define SINTER_COMPARE_COMPAREREPORT_H

#include "runtime/Comparison.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// How a tensor of one model was matched with one of the other.
enum class MatchedBy {
  /// Outputs and states.
  Output,
  /// It is the same model.
  Model,
  /// The same name in both files.
  Name,
  /// The same operation of a node of the same name.
  Origin,
  /// The models share no names: the same operation at the same position.
  Position,
};

/// A tensor in both models.
struct ComparedTensor {
  std::string name, otherName, op;
  MatchedBy by = MatchedBy::Output;
  /// "3x4xf32", as they were computed.
  std::string type, otherType;
  int64_t elements = 0;
  /// Whether both computed it; else the other fields are empty.
  bool isCompared = false;
  /// Why the values cannot be compared: their shapes.
  std::string problem;
  Difference difference;
  struct Element {
    std::string place, expected, got;
  };
  /// The elements furthest apart, the furthest first.
  std::vector<Element> furthest;

  bool differs() const { return !problem.empty() || difference.wrong > 0; }
  /// Whether a difference means that the models differ: if a match is only
  /// likely, outputs decide.
  bool counts() const { return by <= MatchedBy::Name; }
};

/// The rewrite that causes the difference.
struct FoundStep {
  uint64_t step = 0, steps = 0;
  std::string pass, label, op, location;
};

/// Sizes of dynamic dimensions at which outputs were compared.
struct ComparedSizes {
  std::vector<std::pair<std::string, int64_t>> sizes;
  bool agree = true;
};

struct CompareReport {
  std::string first, second;
  /// In order; the rest of the report is of the last ones if outputs differ
  /// there, else of the first ones.
  std::vector<ComparedSizes> sizes;
  Tolerance tolerance;
  std::vector<ComparedTensor> outputs;
  /// In the order of the first model.
  std::vector<ComparedTensor> tensors;
  /// The numbers of tensors that only one model has.
  size_t onlyFirst = 0, onlySecond = 0;
  /// Notes for the user.
  std::vector<std::string> notes;
  /// The first pass after which they differ.
  std::string pass;
  std::optional<FoundStep> step;
  /// The smallest model with the difference: its file, its operations.
  std::string reduced;
  int reducedOperations = 0;

  bool agrees() const;
  /// The first tensor that differs, outputs last; null if all agree.
  const ComparedTensor *firstDiffering() const;
};

/// Compares \p got with \p expected, of any types and shapes; if called several
/// times, the first largest difference counts.
void compareInto(ComparedTensor &tensor, const Tensor &expected,
                 const Tensor &got, const Tolerance &tolerance);

/// The whole report.
nlohmann::json reportJson(const CompareReport &report);

/// "N = 3, W = 7".
std::string sizesText(const ComparedSizes &of);
/// "'conv1' (stablehlo.convolution)".
std::string titleOf(const ComparedTensor &tensor);
const char *textOf(MatchedBy by);

} // namespace sinter

#endif // SINTER_COMPARE_COMPAREREPORT_H
