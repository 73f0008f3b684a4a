//===- ProgramExecutor.h - runs a compiled program ------------------------===//

#ifndef SINTER_RUNTIME_PROGRAMEXECUTOR_H
#define SINTER_RUNTIME_PROGRAMEXECUTOR_H

#include "runtime/Allocator.h"
#include "runtime/Arena.h"
#include "runtime/CodeImage.h"
#include "runtime/DynamicInstance.h"
#include "runtime/Executor.h"
#include "runtime/FloatMode.h"
#include "runtime/HostContextUser.h"
#include "runtime/HostFunctions.h"
#include "runtime/Program.h"
#include "runtime/ThreadPool.h"
#include "runtime/Turns.h"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace sinter {

struct ProgramExecutorOptions {
  /// The maximum number of threads of the pool; 0: all.
  unsigned threads = 0;
  /// How kernels treat denormal numbers. Host functions compute in the mode of
  /// the caller of run().
  Denormals denormals = Denormals::Flush;
  /// Host functions of this program, which take precedence over registered
  /// ones.
  HostFunctionTable functions;
  /// For a dynamic program: the largest size of each parameter, by name. If all
  /// have one, memory for them is allocated when the executor is created, and
  /// suffices for smaller sizes. Larger sizes are still possible.
  std::map<std::string, int64_t> most;
  /// Gives memory for results, states, temporaries and copies of inputs; null:
  /// the system does.
  std::shared_ptr<Allocator> allocator;
};

/// Runs a Program on a pool of threads. The results do not depend on the number
/// of threads: kernels must not depend on how their tasks are split. Threads
/// may share an executor, whose runs are serialised; for concurrent runs, each
/// has an executor of the same program. A dynamic program runs for the sizes of
/// its inputs and those that it computes, section by section (DynamicInstance):
/// instances are made when sizes change, and memory grows to the largest so
/// far.
class ProgramExecutor : public Executor, public HostContextUser {
public:
  /// Checks that \p program is valid and compiled for this machine, and loads
  /// its code. Errors: Unsupported if processor features are missing, System if
  /// it is damaged or memory is short.
  static Result<std::unique_ptr<ProgramExecutor>>
  create(std::shared_ptr<const Program> program,
         std::shared_ptr<ThreadPool> pool, ProgramExecutorOptions options = {});
  ~ProgramExecutor() override;

  std::span<const TensorSpec> inputs() const override;
  std::span<const TensorSpec> outputs() const override;
  /// If a guard rejects computed sizes, states are left as they were before the
  /// run.
  Result<std::vector<Tensor>> runOn(const RunRequest &request) override;
  Result<std::vector<std::optional<Shape>>>
  outputShapes(std::span<const Shape> shapes) const override;
  /// Whether the last run failed because a guard rejected computed sizes.
  bool wasBeyondLimits() const { return beyondLimits; }
  std::span<const TensorSpec> states() const override { return stateSpecs; }
  bool hasDefinedStates() const override;
  Tensor state(size_t index) const override;
  void resetStates() override;
  void setObserver(const ValueObserver &told) override;
  void setPrinter(const Printer &printing) override;
  void setProfiling(bool enabled) override { profiling = enabled; }
  std::span<const LayerTime> layerTimes() const override { return times; }

  void setHostContext(HostContext *context) override;

private:
  using Clock = std::chrono::steady_clock;

  ProgramExecutor(std::shared_ptr<const Program> program,
                  std::shared_ptr<ThreadPool> pool, LoadedCode code,
                  ProgramExecutorOptions options);

  void replaceState(size_t index, Tensor value) override;
  Result<std::vector<Tensor>> runInTurn(const RunRequest &request);
  void noteStateWrite(const Step &step);
  Result<void> setSizes(std::span<const Tensor> inputs);
  Result<void> takeLargest();
  Result<void> allocate();
  Result<void> growScratch(std::span<const Step> steps);
  Result<void> makeStates();
  Result<void> prepareSteps(std::span<const Step> steps);
  Result<void> runSections();
  void findStatesToSave();
  void saveStates();
  Error beyond(Error error);
  Result<void> makeReady(std::span<const Step> steps, size_t section);
  void findAlignments();
  void raiseAlignments(std::span<const Step> steps);
  void makeOutputs();
  void bind(std::span<const Tensor> inputs);
  std::byte *address(const BufferReference &buffer, unsigned thread) const;
  Result<const HostFunction *> functionOf(const Step &step) const;
  Result<void> findHostFunctions(std::span<const Step> steps);
  // `thread` is whose scratch memory is used: 0 outside of bodies that run at
  // once.
  Result<void> runSteps(std::span<const Step> steps, unsigned thread);
  Result<void> runStep(const Step &step, unsigned thread);
  Result<void> runLoop(const Step &step, unsigned thread);
  Result<void> runConcurrently(const Step &step, unsigned thread);
  Result<void> callHost(const Step &step);
  Result<unsigned> runKernel(const Step &step, unsigned thread);
  Result<void> runGuarded(const Step &step) const;
  void findStreams(std::span<const Step> steps, bool isRepeated);
  const std::vector<Step> &chosenBody(const Step &step) const;

  /// The dynamic program, if there is one, and the program of `compiled`:
  /// itself, or its instance for the sizes of the last run.
  std::shared_ptr<const Program> dynamic;
  std::unique_ptr<DynamicInstance> instance;
  /// The instance for the largest sizes, if they are given.
  std::optional<SlotPlan> largest;
  std::shared_ptr<const Program> compiled;
  std::shared_ptr<ThreadPool> pool;
  LoadedCode code;
  ProgramExecutorOptions options;
  Turns turns;
  Arena arena;
  /// Scratch memory of each thread, scratchStride bytes apart.
  Arena scratch;
  size_t scratchStride = 0;

  /// The alignment that kernels need of inputs and outputs.
  std::vector<size_t> inputAlignments, outputAlignments;
  /// The buffers of the current run. An input of smaller alignment is copied to
  /// its staging tensor, which is allocated once.
  std::vector<Tensor> staging;
  std::vector<const std::byte *> inputData;
  std::span<const OutputPlace> places;
  const Cancellation *cancellation = nullptr;
  /// Null until its sizes are known.
  std::vector<std::optional<Tensor>> results;
  /// A result, and its memory if it is an allocator's.
  struct MadeTensor {
    std::optional<Tensor> tensor;
    std::weak_ptr<const void> memory;

    /// Whether nobody else has it.
    bool isFree() const;
  };
  /// For each output, the last two results: an input may be the previous run's
  /// result.
  std::vector<std::array<MadeTensor, 2>> made;
  Tensor outputTensor(size_t number);
  Tensor makeTensor(const TensorSpec &spec,
                    std::weak_ptr<const void> *memory = nullptr) const {
    return sinter::makeTensor(options.allocator, spec.type, spec.shape, memory);
  }

  /// Runs nested programs.
  class Nested;
  std::unique_ptr<Nested> nested;
  /// Nested programs share the caller's random state and collected rows.
  bool isNested = false;

  HostContext *hostContext = nullptr;
  ValueObserver observer;
  Printer printer;
  RandomStream random;
  GatheredLists lists;
  KeptValues kept;
  std::unordered_map<const Step *, const HostFunction *> hostFunctions;

  /// Kernels of loops whose weights exceed a core's cache, and whether the next
  /// call runs tasks in reverse order: the weights read last are still in the
  /// cache then.
  std::unordered_map<const Step *, bool> goesBack;

  /// One buffer per state, of the executor's lifetime.
  std::vector<TensorSpec> stateSpecs;
  std::vector<Tensor> stateTensors;
  /// States that a cancelled run may have partly written.
  std::vector<bool> isUndefined;
  /// Whether the current run has begun to write a state.
  std::atomic<bool> hasWrittenStates = false;
  /// Copies of states, from the beginning of the run, that are written before
  /// all sizes are known.
  std::vector<std::pair<size_t, Tensor>> savedStates;
  bool beyondLimits = false;

  bool profiling = false;
  Clock::time_point runBegin;
  std::vector<LayerTime> times;
};

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAMEXECUTOR_H
