//===- CallerBuffers.h - a run on memory that the caller owns -------------===//
//
// Before a run: dense inputs are used in place, others are copied. Outputs are
// written in place if their memory is dense and the run reads nothing from it.
// After the run: other outputs are copied to the caller.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_CALLERBUFFERS_H
#define SINTER_RUNTIME_CALLERBUFFERS_H

#include "runtime/Executor.h"

namespace sinter {

class CallerBuffers {
public:
  using Outputs = std::span<const std::optional<MutableTensorView>>;

  /// For a run of \p executor. The views must outlive this. Usage errors: see
  /// Executor::run; System if there is no memory for a copy.
  static Result<CallerBuffers> bind(const Executor &executor,
                                    std::span<const TensorView> inputs,
                                    Outputs outputs);

  RunRequest request(const Cancellation *cancellation) const {
    return {inputs, places, cancellation};
  }
  /// Moves the results of the run to the caller's memory.
  Result<std::vector<Tensor>> deliver(std::vector<Tensor> results) const;

private:
  CallerBuffers(std::span<const TensorSpec> specs, Outputs outputs)
      : specs(specs), outputs(outputs) {}

  Result<void> bindInput(const TensorSpec &spec, const TensorView &input);
  Result<void> bindOutput(size_t number, const Shape *shape);
  Result<void> checkApart(size_t number) const;
  Result<void> deliver(size_t number, Tensor &result) const;

  /// Of the outputs.
  std::span<const TensorSpec> specs;
  Outputs outputs;
  std::vector<Tensor> inputs;
  /// The caller's memory that the run reads, and the memory of outputs.
  std::vector<AddressRange> readFrom, writtenTo;
  std::vector<OutputPlace> places;
};

} // namespace sinter

#endif // SINTER_RUNTIME_CALLERBUFFERS_H
