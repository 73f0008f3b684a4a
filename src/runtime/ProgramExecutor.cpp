//===- ProgramExecutor.cpp - runs a compiled program ----------------------===//

#include "runtime/ProgramExecutor.h"
#include "runtime/CpuFeatures.h"
#include "runtime/GuardedBuffers.h"
#include "runtime/MachineMemory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <unistd.h>
#include <utility>

namespace sinter {

namespace {

/// The smallest share of work that pays for waking a thread. A wake costs some
/// microseconds; in 20 of them a core does about this much.
constexpr double flopsPerThread = 400e3;
constexpr double bytesPerThread = 100e3;

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

std::string describe(const TensorSpec &spec) {
  std::string text = "'" + spec.name + "', " + std::string(name(spec.type));
  text += " [";
  for (size_t i = 0; i < spec.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(spec.shape[i]);
  return text + "]";
}

/// The step that works on the largest temporary.
void findLargest(std::span<const Step> steps, const Step *&largest,
                 uint64_t &bytes) {
  for (const Step &step : steps) {
    for (const BufferReference &buffer : step.buffers)
      if (buffer.space == BufferSpace::Arena && buffer.bytes > bytes) {
        bytes = buffer.bytes;
        largest = &step;
      }
    for (const std::vector<Step> &body : step.bodies)
      findLargest(body, largest, bytes);
  }
}

/// Whether what \p steps of the program work on can be in memory at once.
Result<void> checkMemory(const Program &program, std::span<const Step> steps) {
  const uint64_t memory = memoryOfMachine();
  const std::string has =
      "; this machine has " + inGigabytes(memory) + " of memory";
  uint64_t left = memory;
  for (const auto *specs : {&program.inputs, &program.outputs})
    for (const TensorSpec &spec : *specs) {
      const uint64_t bytes = byteCount(spec.type, spec.shape).value_or(0);
      if (bytes > left)
        return systemError(describe(spec) + ", takes " + inGigabytes(bytes) +
                           has);
      left -= bytes;
    }
  if (program.arenaBytes <= left)
    return {};
  const Step *step = nullptr;
  uint64_t largest = 0;
  findLargest(steps, step, largest);
  const std::string where = step ? "'" + step->layer + "': " + step->op +
                                       " works on a tensor of " +
                                       inGigabytes(largest) + ", and "
                                 : "";
  return systemError(where + "all temporaries take " +
                     inGigabytes(program.arenaBytes) + has);
}

/// The threads that \p step's work pays for.
unsigned worthwhileThreads(const Step &step, unsigned available) {
  const double threads =
      std::max(step.flops / flopsPerThread, step.bytesMoved / bytesPerThread);
  return static_cast<unsigned>(std::clamp<double>(threads, 1, available));
}

} // namespace

ProgramExecutor::ProgramExecutor(std::shared_ptr<const Program> program,
                                 std::shared_ptr<ThreadPool> pool,
                                 LoadedCode code,
                                 ProgramExecutorOptions options)
    : compiled(std::move(program)), pool(std::move(pool)),
      code(std::move(code)), options(std::move(options)) {
  // A pool may grow later; the scratch memory is for this many.
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
  const bool isOpen = program->open != nullptr;
  if (!isOpen)
    if (Result<void> fits = checkMemory(*program, program->steps); !fits)
      return fits.takeError();
  if (Result<void> sound = verify(*program); !sound)
    return sound.takeError();
  Result<LoadedCode> code = LoadedCode::load(program->code);
  if (!code)
    return code.takeError();
  std::unique_ptr<ProgramExecutor> executor(
      new ProgramExecutor(std::move(program), std::move(pool), std::move(*code),
                          std::move(options)));
  if (isOpen) {
    // What sizes decide waits for a run.
    executor->open = executor->compiled;
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

/// Grows \p arena to \p bytes. Of what it held the first \p kept bytes stay.
static Result<void> growTo(Arena &arena, size_t bytes, size_t kept = 0) {
  if (bytes <= arena.size())
    return {};
  Result<Arena> larger = Arena::allocate(bytes);
  if (!larger)
    return larger.takeError();
  if (kept != 0)
    std::memcpy(larger->data(), arena.data(), kept);
  arena = std::move(*larger);
  return {};
}

/// Scratch memory of \p arena for \p threads, each \p stride bytes.
static Result<void> growScratch(Arena &arena, size_t &stride,
                                std::span<const Step> steps, unsigned threads) {
  // A page between the threads keeps their cache lines apart.
  const uint64_t perThread = scratchBytes(steps);
  if (perThread != 0)
    stride = std::max<size_t>(stride, (perThread + 4095) / 4096 * 4096 + 4096);
  return growTo(arena, stride * threads);
}

Result<void> ProgramExecutor::allocate() {
  if (Result<void> grown = growTo(arena, compiled->arenaBytes); !grown)
    return grown;
  if (Result<void> grown =
          growScratch(scratch, scratchStride, compiled->steps, options.threads);
      !grown)
    return grown;
  staging.resize(compiled->inputs.size());
  inputData.resize(compiled->inputs.size());
  return {};
}

/// Takes the memory of the largest sizes, if all have a bound and follow from
/// inputs.
Result<void> ProgramExecutor::takeLargest() {
  if (std::ranges::any_of(open->steps, [](const Step &step) {
        return step.kind == StepKind::Size;
      }))
    return {};
  std::vector<int64_t> most;
  for (const std::string &name : open->open->parameters) {
    const auto bound = options.most.find(name);
    most.push_back(bound == options.most.end() ? unknownParameter
                                               : bound->second);
  }
  // What follows from sizes grows with them, or else is placed anew.
  if (Result<void> done = setFollowing(*open->open, most); !done)
    return done;
  // For sizes that do not go together there is no program.
  if (std::ranges::any_of(most, [](int64_t size) { return size < 0; }) ||
      !checkLimits(*open, most))
    return {};
  Result<SlotPlan> plan = OpenInstance::planOf(open, std::move(most));
  if (!plan)
    return plan.takeError();
  if (const uint64_t memory = memoryOfMachine(); plan->arenaBytes > memory)
    return systemError("at the largest sizes all temporaries take " +
                       inGigabytes(plan->arenaBytes) + "; this machine has " +
                       inGigabytes(memory) + " of memory");
  if (Result<void> grown = growTo(arena, plan->arenaBytes); !grown)
    return grown;
  largest = std::move(*plan);
  return {};
}

/// Makes `compiled` the program for the sizes of \p inputs.
Result<void> ProgramExecutor::setSizes(std::span<const Tensor> inputs) {
  // The sizes of the last run, of which everything follows.
  if (instance && instance->parts() == 1 && fit(compiled->inputs, inputs))
    return {};
  Result<std::vector<int64_t>> wanted = parametersOf(*open, inputs);
  if (!wanted)
    return wanted.takeError();
  if (instance && *wanted == instance->given()) {
    instance->restart();
    return {};
  }
  auto other = OpenInstance::create(open, std::move(*wanted),
                                    largest ? &*largest : nullptr);
  if (!other)
    return other.takeError();
  // Texts of the last run's layers go with its steps.
  times.clear();
  made.clear();
  hostFunctions.clear();
  goesBack.clear();
  instance = std::move(*other);
  compiled = instance->program();
  staging.resize(compiled->inputs.size());
  inputData.resize(compiled->inputs.size());
  return {};
}

/// Steps of part \p number, which were made anew, can be run after that.
Result<void> ProgramExecutor::makeReady(std::span<const Step> steps,
                                        size_t number) {
  if (Result<void> fits = checkMemory(*compiled, steps); !fits)
    return fits;
  if (Result<void> sound = verifySteps(*compiled, steps); !sound)
    return sound;
  // Temporaries of the parts before stay where they are.
  if (Result<void> grown =
          growTo(arena, compiled->arenaBytes, number == 0 ? 0 : arena.size());
      !grown)
    return grown;
  if (Result<void> grown =
          growScratch(scratch, scratchStride, steps, options.threads);
      !grown)
    return grown;
  // Parts are made anew, and their steps' places given to others: what is known
  // of a step is kept where there is one part.
  hostFunctions.clear();
  goesBack.clear();
  return instance->parts() == 1 ? prepareSteps(steps) : Result<void>();
}

/// Whether \p steps of a program with \p slots write to state \p index.
static bool writesState(std::span<const Step> steps,
                        std::span<const OpenSlot> slots, size_t index) {
  auto isState = [&](const BufferReference &buffer) {
    return buffer.access != BufferAccess::In && buffer.offset < slots.size() &&
           slots[buffer.offset].space == BufferSpace::State &&
           slots[buffer.offset].index == index;
  };
  return std::ranges::any_of(steps, [&](const Step &step) {
    return std::ranges::any_of(step.buffers, isState) ||
           std::ranges::any_of(step.bodies, [&](const auto &body) {
             return writesState(body, slots, index);
           });
  });
}

/// Makes room for states that are written before the last size is known.
void ProgramExecutor::findStatesToSave() {
  std::span<const Step> steps = open->steps;
  while (!steps.empty() && steps.back().kind != StepKind::Size)
    steps = steps.first(steps.size() - 1);
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (writesState(steps, open->open->slots, i))
      savedStates.emplace_back(i,
                               Tensor(stateSpecs[i].type, stateSpecs[i].shape));
}

/// Keeps what may have to be put back.
void ProgramExecutor::saveStates() {
  for (auto &[index, saved] : savedStates)
    if (saved.bytes() != 0)
      std::memcpy(saved.mutableBytes(), stateTensors[index].data(),
                  saved.bytes());
}

/// \p error, with which sizes that were computed end the run.
Error ProgramExecutor::beyond(Error error) {
  beyondLimits = error.kind == ErrorKind::Usage;
  for (const auto &[index, saved] : savedStates)
    if (saved.bytes() != 0)
      std::memcpy(stateTensors[index].mutableBytes(), saved.data(),
                  saved.bytes());
  return error;
}

Result<void> ProgramExecutor::runParts() {
  saveStates();
  for (size_t i = 0; i < instance->parts(); ++i) {
    Result<OpenInstance::Part> part = instance->part(i);
    if (!part)
      return beyond(part.takeError());
    if (part->isNew) {
      if (Result<void> ready = makeReady(part->steps, i); !ready) {
        // Nothing says later that it is not.
        instance.reset();
        return ready;
      }
    }
    makeOutputs();
    if (Result<void> done = runSteps(part->steps); !done)
      return done;
    if (const BufferReference *sizes = instance->sizesFrom(i))
      if (Result<void> done = instance->define(i, address(*sizes, 0)); !done)
        return beyond(done.takeError());
  }
  return {};
}

Result<void> ProgramExecutor::makeStates() {
  try {
    for (const ProgramState &state : compiled->states) {
      stateSpecs.push_back(state.spec);
      stateTensors.emplace_back(state.spec.type, state.spec.shape);
    }
    if (open)
      findStatesToSave();
  } catch (const std::bad_alloc &) {
    return systemError("not enough memory for the model's state");
  }
  resetStates();
  return {};
}

void ProgramExecutor::resetStates() {
  const auto look = turns.look();
  for (size_t i = 0; i < stateTensors.size(); ++i) {
    const auto initial = compiled->constants[compiled->states[i].initial].bytes;
    if (!initial.empty())
      std::memcpy(stateTensors[i].mutableBytes(), initial.data(),
                  initial.size());
  }
}

Tensor ProgramExecutor::state(size_t index) const {
  const auto look = turns.look();
  Tensor copy(stateSpecs[index].type, stateSpecs[index].shape);
  if (copy.bytes() != 0)
    std::memcpy(copy.mutableBytes(), stateTensors[index].data(), copy.bytes());
  return copy;
}

void ProgramExecutor::replaceState(size_t index, Tensor value) {
  const auto look = turns.look();
  if (value.bytes() != 0)
    std::memcpy(stateTensors[index].mutableBytes(), value.data(),
                value.bytes());
}

std::span<const TensorSpec> ProgramExecutor::inputs() const {
  return open ? open->inputs : compiled->inputs;
}

std::span<const TensorSpec> ProgramExecutor::outputs() const {
  return open ? open->outputs : compiled->outputs;
}

Result<std::vector<Tensor>>
ProgramExecutor::run(std::span<const Tensor> inputs) {
  Result<Turns::Turn> turn = turns.take();
  if (!turn)
    return turn.takeError();
  if (open) {
    if (Result<void> set = setSizes(inputs); !set)
      return set.takeError();
  } else if (Result<void> fits = checkInputs(compiled->inputs, inputs); !fits) {
    return fits.takeError();
  }
  try {
    bind(inputs);
  } catch (const std::bad_alloc &) {
    return systemError("not enough memory for the model's inputs and outputs");
  }
  beyondLimits = false;
  times.clear();
  random = {};
  lists.clear();
  runBegin = Clock::now();
  try {
    if (Result<void> done = open ? runParts() : runSteps(compiled->steps);
        !done)
      return done.takeError();
  } catch (const std::bad_alloc &) {
    return systemError("not enough memory for the model's outputs");
  }
  std::vector<Tensor> all;
  for (std::optional<Tensor> &result : results)
    all.push_back(std::move(*result));
  return all;
}

void ProgramExecutor::bind(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputData[i] = inputs[i].data();
    if (inputs[i].isAligned())
      continue;
    if (staging[i].shape() != inputs[i].shape() ||
        staging[i].type() != inputs[i].type())
      staging[i] = Tensor(inputs[i].type(), inputs[i].shape());
    std::memcpy(staging[i].mutableBytes(), inputs[i].data(), inputs[i].bytes());
    inputData[i] = staging[i].data();
  }
  made.resize(compiled->outputs.size());
  results.assign(compiled->outputs.size(), std::nullopt);
  makeOutputs();
}

/// Those whose sizes are known by now.
void ProgramExecutor::makeOutputs() {
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i] && std::ranges::find(compiled->outputs[i].shape, -1) ==
                           compiled->outputs[i].shape.end())
      results[i] = outputTensor(i);
}

/// One of those made before that nobody else has any more, or a new one: its
/// memory would have to be asked for, and cleared, at each run.
Tensor ProgramExecutor::outputTensor(size_t number) {
  auto &tensors = made[number];
  const TensorSpec &spec = compiled->outputs[number];
  for (const std::optional<Tensor> &each : tensors)
    if (each && each->shape() == spec.shape && each->isUnique()) {
      // What whoever had it has read is read before it is written again.
      std::atomic_thread_fence(std::memory_order_acquire);
      return *each;
    }
  tensors[1] = std::move(tensors[0]);
  return tensors[0].emplace(spec.type, spec.shape);
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
                       "', which nobody has registered");
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

/// A task that reads so much of its kernel's weights is worth a call of its
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

Result<void> ProgramExecutor::runSteps(std::span<const Step> steps) {
  for (const Step &step : steps)
    if (Result<void> done = runStep(step); !done)
      return done;
  return {};
}

Result<void> ProgramExecutor::callHost(const Step &step) {
  std::vector<Tensor> inputs, outputs;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    // A view without an owner: the memory is the program's.
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
  Result<void> done = (*function)(
      HostCall{step.configuration, inputs, outputs, random, hostContext,
               observer ? &observer : nullptr, &lists});
  if (done)
    return done;
  Error error = done.takeError();
  error.message = step.layer.empty() ? error.message
                                     : "'" + step.layer + "': " + error.message;
  return error;
}

Result<void> ProgramExecutor::runStep(const Step &step) {
  if (step.kind == StepKind::If)
    return runSteps(chosenBody(step));
  if (step.kind == StepKind::While) {
    const std::byte *condition = address(step.buffers[0], 0);
    while (true) {
      if (Result<void> done = runSteps(step.bodies[0]); !done)
        return done;
      if (*condition == std::byte(0))
        return {};
      if (Result<void> done = runSteps(step.bodies[1]); !done)
        return done;
    }
  }

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
      threads = runKernel(step);
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

/// Returns how many threads were at work.
unsigned ProgramExecutor::runKernel(const Step &step) {
  const unsigned threads = static_cast<unsigned>(
      std::min<int64_t>(worthwhileThreads(step, options.threads), step.tasks));
  KernelFunction *kernel = code.kernel(step.kernel);
  bool backwards = false;
  if (const auto stream = goesBack.find(&step); stream != goesBack.end())
    backwards = std::exchange(stream->second, !stream->second);
  pool->parallelRanges(
      step.tasks, threads, [&](int64_t begin, int64_t end, unsigned thread) {
        std::array<void *, maxBuffersOnStack> few;
        std::vector<void *> many;
        void **buffers = few.data();
        if (step.buffers.size() > few.size()) {
          many.resize(step.buffers.size());
          buffers = many.data();
        }
        for (size_t i = 0; i < step.buffers.size(); ++i)
          buffers[i] = address(step.buffers[i], thread);
        const FloatMode mode(options.denormals);
        if (!backwards)
          return kernel(buffers, step.firstTask + begin, step.firstTask + end);
        for (int64_t task = step.firstTask + end;
             task-- > step.firstTask + begin;)
          kernel(buffers, task, task + 1);
      });
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
                     "): " + done.error().message);
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
