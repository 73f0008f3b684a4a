//===- LossCurve.h - the losses of a training -----------------------------===//

#ifndef SINTER_TRAIN_LOSSCURVE_H
#define SINTER_TRAIN_LOSSCURVE_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace sinter {

/// Losses of steps and of validations. A run of any length is reduced to at
/// most 512 means over consecutive steps.
class LossCurve {
public:
  /// The loss of the next step.
  void add(double loss);
  /// The loss of a validation after \p step steps.
  void addValidation(uint64_t step, double loss);

  struct Point {
    double step, loss;
  };
  /// The means, each at the middle of its steps, and the validations.
  std::vector<Point> means() const;
  const std::vector<Point> &validationPoints() const { return validations; }
  uint64_t stepCount() const { return steps; }
  /// The number of steps per mean.
  uint64_t meanWidth() const { return width; }

  nlohmann::json asJson() const;
  static LossCurve of(const nlohmann::json &json);

private:
  /// The number of steps per sum; the last may have fewer.
  uint64_t width = 1, steps = 0;
  std::vector<double> sums;
  std::vector<Point> validations;
};

} // namespace sinter

#endif // SINTER_TRAIN_LOSSCURVE_H
