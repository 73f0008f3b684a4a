//===- CompareSide.h - one of two models that are compared ----------------===//

#ifndef SINTER_DRIVER_COMPARESIDE_H
#define SINTER_DRIVER_COMPARESIDE_H

#include "driver/States.h"
#include "engine/Session.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter::driver {

/// What is computed more often is compared this many times.
inline constexpr size_t mostTimesObserved = 8;

/// What one run computed: outputs, states, and observed values by number, each
/// as often as it was computed, a few times at most.
struct RunValues {
  std::vector<Tensor> outputs, states;
  std::map<int64_t, std::vector<Tensor>> observed;
};

/// Told of a value, and how often it had been computed before.
using RunObserver =
    std::function<void(int64_t number, size_t time, const Tensor &value)>;

class CompareSide {
public:
  /// \p what tells the sides apart for the user: "net.onnx", "cpu".
  static Result<CompareSide> open(std::string path, std::string what,
                                  SessionOptions options);

  /// Runs the model on `inputs`; \p observer, if there is one, is told of
  /// \p observed, else they are kept. The states are set anew.
  Result<RunValues> run(const StateOptions &states,
                        std::span<const int64_t> observed = {},
                        const RunObserver &observer = {});

  std::string path, what;
  Backend backend = Backend::Cpu;
  /// As in CompileRequest.
  bool interpretsRewritten = false;
  std::unique_ptr<Session> session;
  std::vector<Tensor> inputs;
  /// After a run.
  std::vector<TensorSpec> outputSpecs, stateSpecs;
};

/// Gives \p other the inputs of \p first: those of the same names, or else in
/// their order, which \p note is told. Where one takes floats of another width,
/// both get numbers that both can hold. The Usage error says which input the
/// models do not have in common, or what is different about it.
Result<void> shareInputs(CompareSide &first, CompareSide &other,
                         const std::function<void(const std::string &)> &note);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMPARESIDE_H
