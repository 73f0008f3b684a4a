//===- Executor.h - a model that is ready to run --------------------------===//
//
// What every backend hands out, the interpreter included: give it tensors, get
// tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_EXECUTOR_H
#define SINTER_RUNTIME_EXECUTOR_H

#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include "runtime/ValueObserver.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// An input or output as the model declares it. A dimension of -1 is unknown.
struct TensorSpec {
  std::string name;
  ElementType type = ElementType::F32;
  Shape shape;

  bool operator==(const TensorSpec &) const = default;
};

/// One execution of one layer. The texts live as long as the executor.
struct LayerTime {
  std::string_view name;   ///< The name in the user's file.
  std::string_view op;     ///< What it computes: "convolution+relu".
  std::string_view kernel; ///< How: "direct14x32"; empty if there is no choice.
  double start = 0;        ///< Seconds since the run began.
  double seconds = 0;
  double flops = 0; ///< Floating-point (or integer) operations; 0: not known.
  double bytes = 0; ///< Of operands and results; 0: not known.
  /// Whose ceiling the operations have (MachineCeilings.h).
  ElementType arithmetic = ElementType::F32;
  unsigned threads = 1;
};

/// A model ready to run. One run at a time.
class Executor {
public:
  virtual ~Executor() = default;

  virtual std::span<const TensorSpec> inputs() const = 0;
  virtual std::span<const TensorSpec> outputs() const = 0;

  /// Runs the model on one tensor per input, in order. The results are new
  /// tensors, one per output, that later runs leave alone. Errors: Usage where
  /// the inputs are not what inputs() asks for; what the backend documents.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;

  /// The tensors that outlive a run, and what each holds now. A run reads and
  /// replaces them; those that fail leave them undefined until resetStates().
  virtual std::span<const TensorSpec> states() const { return {}; }
  /// A copy, which later runs leave alone.
  virtual Tensor state(size_t index) const { return {}; }
  /// Puts \p value into state \p index. Usage error where there is none, or
  /// the tensor is of another type or shape.
  Result<void> setState(size_t index, const Tensor &value);
  /// Makes every state what it was before the first run.
  virtual void resetStates() {}

  /// From now on runs tell the observer of values; an empty one: nobody.
  virtual void setObserver(const ValueObserver &observer) {}

  /// From now on every run records its layers (or stops doing so).
  virtual void setProfiling(bool enabled) {}
  /// The layers of the last run in the order they ran, if it was recorded and
  /// the backend can.
  virtual std::span<const LayerTime> layerTimes() const { return {}; }

private:
  /// \p value is a tensor of its own, and fits.
  virtual void replaceState(size_t index, Tensor value) = 0;
};

/// Whether \p tensors are what \p specs ask for: their number, and each one's
/// type and shape, of which what is negative may be any size.
bool fit(std::span<const TensorSpec> specs, std::span<const Tensor> tensors);

/// The same. The Usage error names the first input that is not, with what
/// is expected and what was given.
Result<void> checkInputs(std::span<const TensorSpec> specs,
                         std::span<const Tensor> tensors);

} // namespace sinter

#endif // SINTER_RUNTIME_EXECUTOR_H
