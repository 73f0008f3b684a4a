//===- ProgramExecutor.h - runs a compiled program ------------------------===//

#ifndef SINTER_RUNTIME_PROGRAMEXECUTOR_H
#define SINTER_RUNTIME_PROGRAMEXECUTOR_H

#include "runtime/Arena.h"
#include "runtime/CodeImage.h"
#include "runtime/Executor.h"
#include "runtime/FloatMode.h"
#include "runtime/HostContextUser.h"
#include "runtime/HostFunctions.h"
#include "runtime/OpenInstance.h"
#include "runtime/Program.h"
#include "runtime/ThreadPool.h"
#include "runtime/Turns.h"

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace sinter {

struct ProgramExecutorOptions {
  /// Threads of the pool that take part at most; 0: all that it has.
  unsigned threads = 0;
  /// What kernels make of denormal numbers. Functions that the program calls by
  /// name compute as the caller of run() does.
  Denormals denormals = Denormals::Flush;
  /// The program finds host functions here before those that everybody knows.
  HostFunctionTable functions;
  /// Of a program of open sizes: the largest size of each parameter, by its
  /// name. Where all have one, memory for them is taken when the executor is
  /// made, and is enough for all others. Nobody is held to them.
  std::map<std::string, int64_t> most;
};

/// Runs a Program on a pool of threads. The results do not depend on how many
/// there are: kernels promise not to care how their tasks are split. Threads
/// may share an executor and take turns then; for runs side by side, each has
/// one of its own of the same program. A program of open sizes is run for the
/// sizes of its inputs and those that it computes, part by part (OpenInstance):
/// what they decide is made when they change, and memory grows with the largest
/// so far.
class ProgramExecutor : public Executor, public HostContextUser {
public:
  /// Checks that \p program is sound and made for this machine, and loads its
  /// code. Errors: Unsupported where processor features are missing, System
  /// where it is damaged or memory is short.
  static Result<std::unique_ptr<ProgramExecutor>>
  create(std::shared_ptr<const Program> program,
         std::shared_ptr<ThreadPool> pool, ProgramExecutorOptions options = {});

  std::span<const TensorSpec> inputs() const override;
  std::span<const TensorSpec> outputs() const override;
  /// Where sizes that are computed are not those that the program is for,
  /// states are left as they were before the run.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override;
  /// Whether the last run failed since the sizes that it computed are not those
  /// that the program is for.
  bool wasBeyondLimits() const { return beyondLimits; }
  std::span<const TensorSpec> states() const override { return stateSpecs; }
  Tensor state(size_t index) const override;
  void resetStates() override;
  void setObserver(const ValueObserver &told) override { observer = told; }
  void setProfiling(bool enabled) override { profiling = enabled; }
  std::span<const LayerTime> layerTimes() const override { return times; }

  void setHostContext(HostContext *context) override { hostContext = context; }

private:
  using Clock = std::chrono::steady_clock;

  ProgramExecutor(std::shared_ptr<const Program> program,
                  std::shared_ptr<ThreadPool> pool, LoadedCode code,
                  ProgramExecutorOptions options);

  void replaceState(size_t index, Tensor value) override;
  Result<void> setSizes(std::span<const Tensor> inputs);
  Result<void> takeLargest();
  Result<void> allocate();
  Result<void> makeStates();
  Result<void> prepareSteps(std::span<const Step> steps);
  Result<void> runParts();
  void findStatesToSave();
  void saveStates();
  Error beyond(Error error);
  Result<void> makeReady(std::span<const Step> steps, size_t part);
  void makeOutputs();
  void bind(std::span<const Tensor> inputs);
  std::byte *address(const BufferReference &buffer, unsigned thread) const;
  Result<const HostFunction *> functionOf(const Step &step) const;
  Result<void> findHostFunctions(std::span<const Step> steps);
  Result<void> runSteps(std::span<const Step> steps);
  Result<void> runStep(const Step &step);
  Result<void> callHost(const Step &step);
  unsigned runKernel(const Step &step);
  Result<void> runGuarded(const Step &step) const;
  void findStreams(std::span<const Step> steps, bool isRepeated);
  const std::vector<Step> &chosenBody(const Step &step) const;

  /// The program of all sizes, if there is one, and what `compiled` is the
  /// program of: itself, or that of the sizes of the last run.
  std::shared_ptr<const Program> open;
  std::unique_ptr<OpenInstance> instance;
  /// Where everything lies at the largest sizes, if they are known.
  std::optional<SlotPlan> largest;
  std::shared_ptr<const Program> compiled;
  std::shared_ptr<ThreadPool> pool;
  LoadedCode code;
  ProgramExecutorOptions options;
  Turns turns;
  Arena arena;
  /// Room for each thread, scratchStride bytes apart.
  Arena scratch;
  size_t scratchStride = 0;

  /// What the current run works on. An input that is not aligned is copied to
  /// its staging tensor, which is made once.
  std::vector<Tensor> staging;
  std::vector<const std::byte *> inputData;
  /// Null until its sizes are known.
  std::vector<std::optional<Tensor>> results;
  /// Of each output, the last two that were made: what a run returns may be an
  /// input of the next one.
  std::vector<std::array<std::optional<Tensor>, 2>> made;
  Tensor outputTensor(size_t number);

  HostContext *hostContext = nullptr;
  ValueObserver observer;
  RandomStream random;
  GatheredLists lists;
  std::unordered_map<const Step *, const HostFunction *> hostFunctions;

  /// Kernels of loops that read more weights than a core's cache holds, and
  /// whether the next call goes from the last task to the first: what was read
  /// last is still there then.
  std::unordered_map<const Step *, bool> goesBack;

  /// One buffer a state, which lives as long as this.
  std::vector<TensorSpec> stateSpecs;
  std::vector<Tensor> stateTensors;
  /// Those that are written before all sizes are known, as they were when the
  /// run began.
  std::vector<std::pair<size_t, Tensor>> savedStates;
  bool beyondLimits = false;

  bool profiling = false;
  Clock::time_point runBegin;
  std::vector<LayerTime> times;
};

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAMEXECUTOR_H
