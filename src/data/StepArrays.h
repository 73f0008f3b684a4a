//===- StepArrays.h - what the steps of a stream give ---------------------===//

#ifndef SINTER_DATA_STEPARRAYS_H
#define SINTER_DATA_STEPARRAYS_H

#include "runtime/Executor.h"

#include <optional>
#include <span>
#include <vector>

namespace sinter {

/// The outputs of all steps as arrays whose first dimension counts steps; of
/// some the last value alone.
class StepArrays {
public:
  /// \p specs: of the outputs. \p areLast: of which the last value is kept.
  /// \p count: how many steps there will be, if that is known.
  StepArrays(std::span<const TensorSpec> specs, std::vector<bool> areLast,
             std::optional<size_t> count)
      : specs(specs.begin(), specs.end()), areLast(std::move(areLast)),
        count(count) {}

  /// Takes what the next step gave. Usage error if an output has another shape
  /// than in the first one, System error if there is not enough memory.
  Result<void> add(const std::vector<Tensor> &results);

  /// What has been given, by output.
  std::vector<Tensor> arrays() const;

private:
  Result<void> makeRoom(const std::vector<Tensor> &results, size_t steps);

  std::vector<TensorSpec> specs;
  std::vector<bool> areLast;
  std::optional<size_t> count;
  /// With room for so many steps.
  std::vector<Tensor> all;
  /// What has been added of strings, which holds them.
  std::vector<Tensor> held;
  size_t room = 0, done = 0;
};

} // namespace sinter

#endif // SINTER_DATA_STEPARRAYS_H
