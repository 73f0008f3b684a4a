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
  /// A tensor of another tool by the name that its file gives.
  Given,
  /// The same name in both files.
  Name,
  /// The same operation of a node of the same name.
  Origin,
  /// The same operations lead to it from the inputs, or from it to the outputs.
  Flow,
};

/// The least SQNR of an output, in dB, where one of two models is quantised and
/// nothing else is asked for: an error of a tenth of the signal.
inline constexpr double quantizedDecibels = 20;

/// What decides whether a tensor agrees with the expected one.
struct CompareCriteria {
  CompareCriteria() = default;
  CompareCriteria(const Tolerance &given)
      : tolerance(given), isToleranceGiven(true) {}

  /// Kernels accumulate in another order than the definitions.
  Tolerance tolerance{1e-3, 1e-7, 1e-4};
  /// Whether the tolerance is the caller's: it then holds beside the others.
  bool isToleranceGiven = false;
  /// The least SQNR, in dB, and the least cosine similarity.
  std::optional<double> minDecibels, minCosine;

  /// Whether the tolerance decides.
  bool isByTolerance() const {
    return isToleranceGiven || (!minDecibels && !minCosine);
  }
  /// Whether nothing is the caller's.
  bool areDefault() const { return isByTolerance() && !isToleranceGiven; }
  /// "an SQNR of at least 20 dB".
  std::string text() const;
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
  Similarity similarity;
  /// Whether the values are beyond what the criteria allow.
  bool isBeyond = false;
  struct Element {
    std::string place, expected, got;
  };
  /// The elements furthest apart, the furthest first.
  std::vector<Element> furthest;

  bool differs() const { return !problem.empty() || isBeyond; }
  /// Whether a difference means that the models differ. Between two models,
  /// which may compute the same in other ways, outputs decide.
  bool counts() const { return by <= MatchedBy::Given; }
};

/// A weight that is not the same in both models.
struct ComparedWeight {
  ComparedTensor values;
  /// The node that uses it in the first model.
  std::string layer;
  /// Whether the weights were compared after what follows was folded into them,
  /// since one of the files has it so.
  bool isFolded = false;
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
  CompareCriteria criteria;
  std::vector<ComparedTensor> outputs;
  /// Weights that differ, in the order of the first model.
  std::vector<ComparedWeight> weights;
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
  /// "ok: ..." or "DIFFER: ..." with the reason, as agrees() says.
  std::string verdict() const;
};

/// Compares \p got with \p expected, of any types and shapes; if called several
/// times, the first largest difference counts, and the similarity of all.
void compareInto(ComparedTensor &tensor, const Tensor &expected,
                 const Tensor &got, const CompareCriteria &criteria);

/// The whole report.
nlohmann::json reportJson(const CompareReport &report);

/// "N = 3, W = 7".
std::string sizesText(const ComparedSizes &of);
/// "by 0.5 at most, 0.1 of its range, SQNR 23.1 dB", or the problem.
std::string differenceText(const ComparedTensor &tensor);
/// "23.1 dB", "exact", or "no signal".
std::string decibelsText(const Similarity &similarity);
/// "'conv1.weight' of '/conv1/Conv'".
std::string titleOf(const ComparedWeight &weight);
/// "'conv1' (stablehlo.convolution)".
std::string titleOf(const ComparedTensor &tensor);
const char *textOf(MatchedBy by);

} // namespace sinter

#endif // SINTER_COMPARE_COMPAREREPORT_H
