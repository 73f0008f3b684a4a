//===- ProgramExecutor.cpp - runs a compiled program ----------------------===//

#include "runtime/ProgramExecutor.h"
#include "runtime/CpuFeatures.h"
#include "runtime/GuardedBuffers.h"
#include "runtime/OutOfMemory.h"
#include "runtime/ProgramMemory.h"
#include "runtime/StepThreads.h"
#include "runtime/Strings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace sinter {

namespace {

constexpr size_t maxBuffersOnStack = 32;

uint64_t scratchBytes(std::span<const Step> steps) {
  uint64_t bytes = 0;
  for (const Step &step : steps) {
    for (const BufferReference &buffer : step.buffers)
      if (buffer.space == BufferSpace::Scratch)
        bytes = std::max(bytes, buffer.bytes);
    for (const std::vector<Step> &body : step.bodies)
      bytes = std::max(bytes, scratchBytes(body));
  }
  return bytes;
}

/// The tasks of \p step between two checks for cancellation: about a
/// millisecond's work.
int64_t tasksBetweenChecks(const Step &step) {
  constexpr double flopsOfCheck = 20e6, bytesOfCheck = 5e6;
  const double checks =
      std::max(step.flops / flopsOfCheck, step.bytesMoved / bytesOfCheck);
  return std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(step.tasks) /
                              std::max(checks, 1.0)));
}

} // namespace

/// An executor per nested program, created with this one.
class ProgramExecutor::Nested : public NestedPrograms {
public:
  explicit Nested(ProgramExecutor &caller) : caller(caller) {}

  Result<void> make() {
    ProgramExecutorOptions options = caller.options;
    // Their sizes differ from the caller's, even under the same names.
    options.most.clear();
    for (const std::shared_ptr<const Program> &each : caller.compiled->nested) {
      auto made = create(each, caller.pool, options);
      if (!made)
        return made.takeError();
      (*made)->isNested = true;
      executors.push_back(std::move(*made));
    }
    return {};
  }

  Result<std::vector<Tensor>> run(size_t number,
                                  std::span<const Tensor> inputs) override {
    if (number >= executors.size())
      return systemError("damaged program: there is no nested program " +
                         std::to_string(number));
    ProgramExecutor &executor = *executors[number];
    executor.random = caller.random;
    executor.lists.swap(caller.lists);
    executor.profiling = caller.profiling;
    executor.runBegin = caller.runBegin;
    auto done = executor.runOn({inputs, {}, caller.cancellation});
    caller.random = executor.random;
    executor.lists.swap(caller.lists);
    if (caller.profiling)
      caller.times.insert(caller.times.end(), executor.times.begin(),
                          executor.times.end());
    return done;
  }

  std::vector<Tensor> &results(int64_t number) override { return kept[number]; }

  void forget() { kept.clear(); }
  std::span<const std::unique_ptr<ProgramExecutor>> all() const {
    return executors;
  }

private:
  ProgramExecutor &caller;
  std::vector<std::unique_ptr<ProgramExecutor>> executors;
  std::map<int64_t, std::vector<Tensor>> kept;
};

ProgramExecutor::~ProgramExecutor() = default;

void ProgramExecutor::setObserver(const ValueObserver &told) {
  observer = told;
  if (nested)
    for (const auto &each : nested->all())
      each->setObserver(told);
}

void ProgramExecutor::setPrinter(const Printer &printing) {
  printer = printing;
  if (nested)
    for (const auto &each : nested->all())
      each->setPrinter(printing);
}

void ProgramExecutor::setHostContext(HostContext *context) {
  hostContext = context;
  if (nested)
    for (const auto &each : nested->all())
      each->setHostContext(context);
}

ProgramExecutor::ProgramExecutor(std::shared_ptr<const Program> program,
                                 std::shared_ptr<ThreadPool> pool,
                                 LoadedCode code,
                                 ProgramExecutorOptions options)
    : compiled(std::move(program)), pool(std::move(pool)),
      code(std::move(code)), options(std::move(options)),
      arena(this->options.allocator), scratch(this->options.allocator) {
  // A pool may grow later; the scratch memory is for this many threads.
  const unsigned most = this->pool->size();
  this->options.threads =
      this->options.threads == 0 ? most : std::min(this->options.threads, most);
}

Result<std::unique_ptr<ProgramExecutor>>
ProgramExecutor::create(std::shared_ptr<const Program> program,
                        std::shared_ptr<ThreadPool> pool,
                        ProgramExecutorOptions options) {
  if (Result<void> fits = checkHost(program->triple, program->features); !fits)
    return fits.takeError();
  const bool isDynamic = program->dynamic != nullptr;
  if (!isDynamic)
    if (Result<void> fits = checkMemoryFor(*program, program->steps); !fits)
      return fits.takeError();
  if (Result<void> sound = verify(*program); !sound)
    return sound.takeError();
  Result<LoadedCode> code = LoadedCode::load(program->code);
  if (!code)
    return code.takeError();
  std::unique_ptr<ProgramExecutor> executor(
      new ProgramExecutor(std::move(program), std::move(pool), std::move(*code),
                          std::move(options)));
  if (!executor->compiled->nested.empty()) {
    executor->nested = std::make_unique<Nested>(*executor);
    if (Result<void> made = executor->nested->make(); !made)
      return made.takeError();
  }
  executor->findAlignments();
  if (isDynamic) {
    // Sizes are set by a run.
    executor->dynamic = executor->compiled;
    if (Result<void> taken = executor->takeLargest(); !taken)
      return taken.takeError();
    if (Result<void> made = executor->makeStates(); !made)
      return made.takeError();
    return executor;
  }
  if (Result<void> memory = executor->allocate(); !memory)
    return memory.takeError();
  if (Result<void> made = executor->makeStates(); !made)
    return made.takeError();
  if (Result<void> prepared = executor->prepareSteps(executor->compiled->steps);
      !prepared)
    return prepared.takeError();
  return executor;
}

Result<void> ProgramExecutor::prepareSteps(std::span<const Step> steps) {
  if (Result<void> found = findHostFunctions(steps); !found)
    return found;
  findStreams(steps, false);
  return {};
}

/// Scratch memory for all threads.
Result<void> ProgramExecutor::growScratch(std::span<const Step> steps) {
  // A page between the threads separates their cache lines.
  const uint64_t perThread = scratchBytes(steps);
  if (perThread != 0)
    scratchStride = std::max<size_t>(scratchStride,
                                     (perThread + 4095) / 4096 * 4096 + 4096);
  return scratch.grow(scratchStride * options.threads);
}

Result<void> ProgramExecutor::allocate() {
  if (Result<void> grown = arena.grow(compiled->arenaBytes); !grown)
    return grown;
  if (Result<void> grown = growScratch(compiled->steps); !grown)
    return grown;
  staging.resize(compiled->inputs.size());
  inputData.resize(compiled->inputs.size());
  return {};
}

std::span<const TensorSpec> ProgramExecutor::inputs() const {
  return dynamic ? dynamic->inputs : compiled->inputs;
}

std::span<const TensorSpec> ProgramExecutor::outputs() const {
  return dynamic ? dynamic->outputs : compiled->outputs;
}

Result<std::vector<Tensor>> ProgramExecutor::runOn(const RunRequest &request) {
  Result<Turns::Turn> turn = turns.take();
  if (!turn)
    return turn.takeError();
  if (std::ranges::find(isUndefined, true) != isUndefined.end())
    return undefinedStates();
  places = request.places;
  cancellation = request.cancellation;
  hasWrittenStates = false;
  std::optional<ThreadPool::Awake> awake;
  if (options.threads > 1)
    awake.emplace(*pool);
  auto results = catchingOutOfMemory("the model's inputs and outputs",
                                     [&] { return runInTurn(request); });
  if (!results && results.error().kind == ErrorKind::Cancelled)
    isUndefined.assign(stateTensors.size(), hasWrittenStates);
  places = {};
  cancellation = nullptr;
  return results;
}

Result<std::vector<Tensor>>
ProgramExecutor::runInTurn(const RunRequest &request) {
  if (dynamic) {
    if (Result<void> set = setSizes(request.inputs); !set)
      return set.takeError();
  } else if (Result<void> fits = checkInputs(compiled->inputs, request.inputs);
             !fits) {
    return fits.takeError();
  }
  const StringScope strings;
  bind(request.inputs);
  beyondLimits = false;
  times.clear();
  if (nested)
    nested->forget();
  if (!isNested) {
    lists.clear();
    random = {};
    runBegin = Clock::now();
  }
  if (Result<void> done =
          dynamic ? runSections() : runSteps(compiled->steps, 0);
      !done)
    return done.takeError();
  std::vector<Tensor> all;
  for (std::optional<Tensor> &result : results)
    all.push_back(holdStrings(std::move(*result)));
  return all;
}

std::byte *ProgramExecutor::address(const BufferReference &buffer,
                                    unsigned thread) const {
  switch (buffer.space) {
  case BufferSpace::Arena:
    return arena.data() + buffer.offset;
  case BufferSpace::Constant:
    return const_cast<std::byte *>(
        compiled->constants[buffer.index].bytes.data() + buffer.offset);
  case BufferSpace::Input:
    return const_cast<std::byte *>(inputData[buffer.index] + buffer.offset);
  case BufferSpace::Output:
    return const_cast<std::byte *>(results[buffer.index]->data()) +
           buffer.offset;
  case BufferSpace::State:
    return const_cast<std::byte *>(stateTensors[buffer.index].data()) +
           buffer.offset;
  case BufferSpace::Scratch:
    return scratch.data() + thread * scratchStride;
  }
  __builtin_unreachable();
}

Result<const HostFunction *>
ProgramExecutor::functionOf(const Step &step) const {
  const auto own = options.functions.find(step.hostFunction);
  const HostFunction *function = own != options.functions.end()
                                     ? &own->second
                                     : findHostFunction(step.hostFunction);
  if (!function)
    return unsupported("the program calls '" + step.hostFunction +
                       "', which is not registered");
  return function;
}

Result<void> ProgramExecutor::findHostFunctions(std::span<const Step> steps) {
  for (const Step &step : steps) {
    if (step.kind == StepKind::HostCall) {
      Result<const HostFunction *> function = functionOf(step);
      if (!function)
        return function.takeError();
      hostFunctions[&step] = *function;
    }
    for (const std::vector<Step> &body : step.bodies)
      if (Result<void> found = findHostFunctions(body); !found)
        return found;
  }
  return {};
}

/// A task that reads this much of its kernel's weights is worth a call of its
/// own.
/// own.
static constexpr uint64_t leastTaskBytes = 16 << 10;

void ProgramExecutor::findStreams(std::span<const Step> steps,
                                  bool isRepeated) {
  const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  for (const Step &step : steps) {
    for (const std::vector<Step> &body : step.bodies)
      findStreams(body, isRepeated || step.kind == StepKind::While);
    if (!isRepeated || step.kind != StepKind::Kernel)
      continue;
    uint64_t bytes = 0;
    for (const BufferReference &buffer : step.buffers)
      if (buffer.space == BufferSpace::Constant)
        bytes += buffer.bytes;
    if (cache > 0 && bytes > static_cast<uint64_t>(cache) / 2 &&
        bytes / step.tasks >= leastTaskBytes)
      goesBack.emplace(&step, false);
  }
}

Result<void> ProgramExecutor::runSteps(std::span<const Step> steps,
                                       unsigned thread) {
  for (const Step &step : steps)
    if (Result<void> done = runStep(step, thread); !done)
      return done;
  return {};
}

Result<void> ProgramExecutor::callHost(const Step &step) {
  std::vector<Tensor> inputs, outputs;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    // A view without an owner: the program owns the memory.
    std::byte *memory = address(step.buffers[i], 0);
    bool isInput = step.buffers[i].access == BufferAccess::In;
    (isInput ? inputs : outputs)
        .push_back(Tensor::share(step.tensors[i].type, step.tensors[i].shape,
                                 memory, nullptr));
  }
  const HostFunction *function;
  if (const auto known = hostFunctions.find(&step);
      known != hostFunctions.end()) {
    function = known->second;
  } else {
    Result<const HostFunction *> found = functionOf(step);
    if (!found)
      return found.takeError();
    function = *found;
  }
  Result<void> done =
      (*function)(HostCall{step.configuration, inputs, outputs, random,
                           hostContext, observer ? &observer : nullptr, &lists,
                           nested.get(), &printer, cancellation, &kept});
  if (done)
    return done;
  return step.layer.empty() ? done.takeError()
                            : atNode("'" + step.layer + "'", step.layer,
                                     /*op=*/"", done.takeError());
}

Result<void> ProgramExecutor::runLoop(const Step &step, unsigned thread) {
  const std::byte *condition = address(step.buffers[0], 0);
  while (true) {
    if (Result<void> goesOn = Cancellation::check(cancellation); !goesOn)
      return goesOn;
    if (Result<void> done = runSteps(step.bodies[0], thread); !done)
      return done;
    if (*condition == std::byte(0))
      return {};
    if (Result<void> done = runSteps(step.bodies[1], thread); !done)
      return done;
  }
}

/// Profiles and guards look at one step at a time.
Result<void> ProgramExecutor::runConcurrently(const Step &step,
                                              unsigned thread) {
  const std::span<const std::vector<Step>> bodies = step.bodies;
  if (profiling || guardsBuffers() || !runAtOnce(bodies, options.threads)) {
    for (const std::vector<Step> &body : bodies)
      if (Result<void> done = runSteps(body, thread); !done)
        return done;
    return {};
  }
  std::vector<Result<void>> results(bodies.size());
  pool->parallelRanges(static_cast<int64_t>(bodies.size()), options.threads,
                       [&](int64_t begin, int64_t end, unsigned each) {
                         for (int64_t i = begin; i < end; ++i)
                           results[i] = runSteps(bodies[i], thread + each);
                       });
  for (Result<void> &result : results)
    if (!result)
      return std::move(result);
  return {};
}

Result<void> ProgramExecutor::runStep(const Step &step, unsigned thread) {
  if (Result<void> goesOn = Cancellation::check(cancellation); !goesOn)
    return goesOn;
  if (step.kind == StepKind::If)
    return runSteps(chosenBody(step), thread);
  if (step.kind == StepKind::While)
    return runLoop(step, thread);
  if (step.kind == StepKind::Concurrent)
    return runConcurrently(step, thread);
  if (cancellation)
    noteStateWrite(step);

  const Clock::time_point begin = profiling ? Clock::now() : runBegin;
  unsigned threads = 1;
  if (step.kind == StepKind::HostCall) {
    if (Result<void> done = callHost(step); !done)
      return done;
  } else if (step.kind == StepKind::Kernel) {
    if (guardsBuffers()) {
      if (Result<void> done = runGuarded(step); !done)
        return done;
    } else {
      Result<unsigned> done = runKernel(step, thread);
      if (!done)
        return done.takeError();
      threads = *done;
    }
  } else if (step.buffers[0].bytes != 0)
    std::memmove(address(step.buffers[1], 0), address(step.buffers[0], 0),
                 step.buffers[0].bytes);
  if (!profiling)
    return {};
  using Seconds = std::chrono::duration<double>;
  times.push_back({step.layer, step.op, step.kernelName,
                   Seconds(begin - runBegin).count(),
                   Seconds(Clock::now() - begin).count(), step.flops,
                   step.bytesMoved, step.arithmetic, threads});
  return {};
}

/// Returns the number of threads used.
Result<unsigned> ProgramExecutor::runKernel(const Step &step, unsigned thread) {
  const unsigned threads = worthwhileThreads(step, options.threads);
  KernelFunction *kernel = code.kernel(step.kernel);
  bool backwards = false;
  if (const auto stream = goesBack.find(&step); stream != goesBack.end())
    backwards = std::exchange(stream->second, !stream->second);
  const int64_t most = backwards      ? 1
                       : cancellation ? tasksBetweenChecks(step)
                                      : step.tasks;
  std::atomic<bool> wasCancelled = false;
  pool->parallelRanges(
      step.tasks, threads, [&](int64_t begin, int64_t end, unsigned each) {
        std::array<void *, maxBuffersOnStack> few;
        std::vector<void *> many;
        void **buffers = few.data();
        if (step.buffers.size() > few.size()) {
          many.resize(step.buffers.size());
          buffers = many.data();
        }
        for (size_t i = 0; i < step.buffers.size(); ++i)
          buffers[i] = address(step.buffers[i], thread + each);
        const FloatMode mode(options.denormals);
        for (int64_t done = 0; done < end - begin; done += most) {
          if (cancellation && cancellation->isCancelled()) {
            wasCancelled.store(true, std::memory_order_relaxed);
            return;
          }
          const int64_t count = std::min(most, end - begin - done);
          const int64_t first = backwards ? end - 1 - done : begin + done;
          kernel(buffers, step.firstTask + first,
                 step.firstTask + first + count);
        }
      });
  // It may have been reset meanwhile.
  if (wasCancelled.load(std::memory_order_relaxed))
    return Cancellation::error();
  return threads;
}

Result<void> ProgramExecutor::runGuarded(const Step &step) const {
  std::vector<void *> buffers;
  for (const BufferReference &buffer : step.buffers)
    buffers.push_back(address(buffer, 0));
  const FloatMode mode(options.denormals);
  Result<void> done = callGuarded(
      compiled->kernels[step.kernel], buffers, [&](void *const *copies) {
        code.kernel(step.kernel)(copies, step.firstTask,
                                 step.firstTask + step.tasks);
      });
  if (done)
    return done;
  return systemError("'" + step.layer + "' (" + step.kernelName +
                     "): " + done.error().message());
}

const std::vector<Step> &ProgramExecutor::chosenBody(const Step &step) const {
  const std::byte *selector = address(step.buffers[0], 0);
  if (step.selector == ElementType::I1)
    return step.bodies[*selector != std::byte(0) ? 0 : 1];
  int32_t index;
  std::memcpy(&index, selector, sizeof(index));
  const auto last = static_cast<int32_t>(step.bodies.size() - 1);
  return step.bodies[index < 0 || index > last ? last : index];
}

} // namespace sinter
