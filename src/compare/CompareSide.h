//===- CompareSide.h - one of two models that are compared ----------------===//

#ifndef SINTER_COMPARE_COMPARESIDE_H
#define SINTER_COMPARE_COMPARESIDE_H

#include "data/Inputs.h"
#include "data/States.h"
#include "engine/Session.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

/// The names of options in messages.
struct CompareNames {
  std::string shapes = "shapes", memory = "mostBytes", backend = "backend",
              passes = "interpretsRewritten", step = "findStep",
              minDecibels = "minDecibels";
};

/// Of a value that is computed more often, this many are compared.
inline constexpr size_t mostTimesObserved = 8;

/// The results of a run: outputs, states, and observed values by number, each
/// as often as it was computed, up to a limit.
struct RunValues {
  std::vector<Tensor> outputs, states;
  std::map<int64_t, std::vector<Tensor>> observed;
};

/// Called with a value, and how often it was computed before.
using RunObserver =
    std::function<void(int64_t number, size_t time, const Tensor &value)>;

class CompareSide {
public:
  /// Opens the model at \p path. Its inputs with a default value in \p inputs
  /// become ordinary inputs; `inputs` are to be set. \p what names the side for
  /// the user: "net.onnx", "cpu".
  static Result<CompareSide> open(std::string path, std::string what,
                                  SessionOptions options,
                                  const InputOptions &inputs);

  /// Runs the model on `inputs`; \p observer, if there is one, gets the values
  /// \p observed, else they are stored. The states are reset first.
  Result<RunValues> run(const StateOptions &states,
                        std::span<const int64_t> observed = {},
                        const RunObserver &observer = {});

  std::string path, what;
  Backend backend = Backend::Cpu;
  /// As in CompileRequest.
  bool interpretsRewritten = false;
  /// As in PassOptions; ends runs, too.
  std::shared_ptr<const Cancellation> cancellation;
  std::unique_ptr<Session> session;
  std::vector<Tensor> inputs;
  /// After a run.
  std::vector<TensorSpec> outputSpecs, stateSpecs;
};

/// Gives \p other the inputs of \p first: those of the same names, or else in
/// order, with a \p note. If one has floats of another width, both get values
/// that both can hold. The Usage error names the input that only one has, or
/// its difference, and by \p names what would help.
Result<void> shareInputs(CompareSide &first, CompareSide &other,
                         const std::function<void(const std::string &)> &note,
                         const CompareNames &names = {});

/// Whether \p other accepts the inputs with these shapes for \p first.
bool accepts(const CompareSide &first, const CompareSide &other,
             const std::vector<Shape> &shapes);

/// The sizes at which to compare \p first with \p second, for dynamic
/// dimensions that neither \p shapes nor \p inputs fix: several that both
/// accept, or one entry without sizes.
Result<std::vector<SampleSizes>> sizesToCompare(CompareSide &first,
                                                const CompareSide &second,
                                                const InputOptions &inputs,
                                                const NamedShapes &shapes);

/// The inputs of \p side at the sizes \p of, those of \p inputs or random ones;
/// \p shapes: the shapes that are given.
Result<std::vector<Tensor>> inputsAt(const CompareSide &side,
                                     const SampleSizes &of,
                                     const InputOptions &inputs,
                                     NamedShapes shapes);

} // namespace sinter

#endif // SINTER_COMPARE_COMPARESIDE_H
