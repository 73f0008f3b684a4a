//===- Executor.h - a model that is ready to run --------------------------===//
//
// The interface of every backend, the interpreter included: runs a model on
// tensors. Inputs and outputs may be in the caller's memory, which is used
// without a copy if it is dense, row-major and aligned for its elements.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_EXECUTOR_H
#define SINTER_RUNTIME_EXECUTOR_H

#include "runtime/Cancellation.h"
#include "runtime/Printer.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include "runtime/TensorView.h"
#include "runtime/ValueObserver.h"

#include <optional>
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
  /// The ceiling of the operations (MachineCeilings.h).
  ElementType arithmetic = ElementType::F32;
  unsigned threads = 1;
};

/// Memory of a caller for an output, dense and row-major, that shares no byte
/// with inputs or other outputs of the run.
struct OutputPlace {
  std::byte *data = nullptr; ///< Null: the caller gives none.
  size_t bytes = 0;
};

/// One run of an executor.
struct RunRequest {
  /// One an input, in order.
  std::span<const Tensor> inputs;
  /// One per output, or none at all. An output that fits, and whose alignment
  /// is sufficient, is written there.
  std::span<const OutputPlace> places = {};
  /// May be null.
  const Cancellation *cancellation = nullptr;
};

/// A model ready to run. One run at a time.
class Executor {
public:
  virtual ~Executor() = default;

  virtual std::span<const TensorSpec> inputs() const = 0;
  virtual std::span<const TensorSpec> outputs() const = 0;

  /// Runs the model on one tensor per input, in order. The results are new
  /// tensors, one per output, that later runs leave alone. Errors: Usage where
  /// the inputs are not what inputs() asks for; Cancelled where the run was
  /// cancelled before it was done (see hasDefinedStates); what the backend
  /// documents.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs,
                                  const Cancellation *cancellation = nullptr) {
    return runOn({inputs, {}, cancellation});
  }

  /// The same on a caller's memory: one view per input, and one per output or
  /// nothing for outputs that the executor shall own. Inputs may have any
  /// strides and alignment, and share memory with each other and with outputs;
  /// no two elements of outputs may share a byte. An output whose sizes follow
  /// from values (outputShapes) may have a dense view of any shape if it has
  /// enough bytes.
  ///
  /// A result is the executor's own tensor if the output has no view or a
  /// strided one, else a tensor over the view's memory, which owns nothing. If
  /// the run fails, outputs are undefined. Usage errors name the input or
  /// output; for a view of too few bytes the run has been done.
  Result<std::vector<Tensor>>
  run(std::span<const TensorView> inputs,
      std::span<const std::optional<MutableTensorView>> outputs,
      const Cancellation *cancellation = nullptr);

  /// The implementation of all runs. A result in the caller's memory owns
  /// nothing.
  virtual Result<std::vector<Tensor>> runOn(const RunRequest &request) = 0;

  /// The shapes of the outputs for inputs of these shapes; nothing for those
  /// that depend on values. Errors: Usage if the inputs do not match inputs(),
  /// and those of a run for sizes that contradict each other.
  virtual Result<std::vector<std::optional<Shape>>>
  outputShapes(std::span<const Shape> inputs) const;

  /// The tensors that persist between runs, and their present values. A run
  /// reads and replaces them; after a failed run they are undefined until
  /// resetStates().
  virtual std::span<const TensorSpec> states() const { return {}; }
  /// Whether the states are those of a completed run, or were set. A cancelled
  /// run leaves them as they were, or undefined if it has begun to write them:
  /// further runs are Usage errors then, until each state is set or all are
  /// reset.
  virtual bool hasDefinedStates() const { return true; }
  /// A copy. Throws if there is no memory for it (Tensor).
  virtual Tensor state(size_t index) const { return {}; }
  /// Copies state \p index to \p to. Usage error as for setState(), and if the
  /// states are undefined.
  Result<void> readState(size_t index, const MutableTensorView &to) const;
  /// Sets state \p index to \p value. Usage error if there is none, or the
  /// tensor is of another type or shape.
  Result<void> setState(size_t index, const Tensor &value);
  Result<void> setState(size_t index, const TensorView &value);
  /// Sets every state to its initial value.
  virtual void resetStates() {}

  /// Further runs report values to the observer; an empty one: to nobody.
  virtual void setObserver(const ValueObserver &observer) {}

  /// Further runs print to \p printer; an empty one: to standard output.
  virtual void setPrinter(const Printer &printer) {}

  /// Whether further runs record their layers.
  virtual void setProfiling(bool enabled) {}
  /// The layers of the last run in execution order, if it was recorded and the
  /// backend can record.
  virtual std::span<const LayerTime> layerTimes() const { return {}; }

private:
  Result<void> checkState(size_t index, ElementType type,
                          std::span<const int64_t> shape) const;
  /// \p value is a tensor of its own, and fits.
  virtual void replaceState(size_t index, Tensor value) = 0;
};

/// Checks that \p tensors match \p specs in number, type and shape; negative
/// dimensions match any size.
bool fit(std::span<const TensorSpec> specs, std::span<const Tensor> tensors);
/// The same of one.
bool fits(const TensorSpec &spec, ElementType type,
          std::span<const int64_t> shape);

/// The same; the Usage error names the first input that does not match, with
/// the expected and the given type.
Result<void> checkInputs(std::span<const TensorSpec> specs,
                         std::span<const Tensor> tensors);

/// The error for undefined states (Executor::hasDefinedStates).
Error undefinedStates();

/// Tensors of the inputs' types and these shapes, without readable elements,
/// for code that needs shapes only. Usage error if there are more or fewer.
Result<std::vector<Tensor>> shapesAsTensors(std::span<const TensorSpec> specs,
                                            std::span<const Shape> shapes);

} // namespace sinter

#endif // SINTER_RUNTIME_EXECUTOR_H
