//===- LossCurve.h - the losses of a training as a picture ----------------===//

#ifndef SINTER_DRIVER_LOSSCURVE_H
#define SINTER_DRIVER_LOSSCURVE_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinter::driver {

/// Losses of steps and of validations. A run of any length is kept in at most
/// 512 means over steps that follow each other.
class LossCurve {
public:
  /// The loss of the next step.
  void add(double loss);
  /// That of a validation behind \p step steps.
  void addValidation(uint64_t step, double loss);

  /// A curve of means, and points of validations, over steps.
  std::string svg(const std::string &title) const;

  nlohmann::json asJson() const;
  static LossCurve of(const nlohmann::json &json);

private:
  struct Point {
    double step, loss;
  };
  std::vector<Point> means() const;

  /// How many steps each sum stands for; the last may be of fewer.
  uint64_t width = 1, steps = 0;
  std::vector<double> sums;
  std::vector<Point> validations;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_LOSSCURVE_H
