//===- MeasureMachine.cpp - what one thread of this machine can do --------===//

#include "backend/cpu/cost/MeasureMachine.h"

#include "backend/cpu/codegen/Image.h"
#include "backend/cpu/cost/Ceilings.h"
#include "runtime/MachineMemory.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace sinter::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Memory that is there: every page was written.
class Memory {
public:
  static Result<Memory> of(int64_t bytes) {
    constexpr int64_t page = int64_t(2) << 20;
    const int64_t size = (bytes + page - 1) / page * page;
    Memory memory(static_cast<int32_t *>(std::aligned_alloc(page, size)));
    if (!memory.data)
      return systemError("no memory of " + inGigabytes(size) +
                         " to measure with");
    // Large pages, where there are any: the table of small ones is no ceiling
    // of memory's.
    ::madvise(memory.data.get(), size, MADV_HUGEPAGE);
    std::fill_n(memory.data.get(), size / 4, 1);
    return memory;
  }
  void *get() const { return data.get(); }

private:
  explicit Memory(int32_t *data) : data(data, &std::free) {}
  std::unique_ptr<int32_t, decltype(&std::free)> data;
};

/// As kernels' buffers are aligned.
struct alignas(64) Line {
  std::byte bytes[64] = {};
};

std::vector<Line> zeros(int64_t bytes) {
  return std::vector<Line>(bytes / sizeof(Line) + 1);
}

/// Seconds that a task takes in the fastest of many calls of \p kernel.
double timeOfTask(KernelFunction *kernel, std::vector<void *> buffers,
                  double seconds) {
  // So many tasks that reading the clock costs nothing.
  constexpr double callSeconds = 1e-3;
  int64_t tasks = 1;
  double took = 0;
  const Clock::time_point begin = Clock::now();
  for (;; tasks *= 2) {
    const Clock::time_point start = Clock::now();
    kernel(buffers.data(), 0, tasks);
    took = secondsSince(start);
    if (took > callSeconds || tasks > int64_t(1) << 40)
      break;
  }
  do {
    const Clock::time_point start = Clock::now();
    kernel(buffers.data(), 0, tasks);
    took = std::min(took, secondsSince(start));
  } while (secondsSince(begin) < seconds);
  return took / static_cast<double>(tasks);
}

/// What is read again and again for each level of memory: half of a cache, or
/// of the third, which others may use, too, four times the second; and far more
/// than all of them.
std::vector<BandwidthCeiling> levelsOf(const Target &target) {
  const int64_t l3 = std::max<int64_t>(::sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  const int64_t most = static_cast<int64_t>(memoryOfMachine() / 4);
  std::vector<BandwidthCeiling> levels = {{"L1", target.l1Bytes / 2},
                                          {"L2", target.l2Bytes / 2}};
  const int64_t third = std::min(l3 / 2, target.l2Bytes * 4);
  if (third > target.l2Bytes)
    levels.push_back({"L3", third});
  const int64_t last = std::max({l3, target.l2Bytes, int64_t(16) << 20}) * 4;
  levels.push_back({"DRAM", std::min({last, most, int64_t(1) << 29})});
  return levels;
}

/// What matrix units multiply, from registers and from the second-level cache.
struct TileChains {
  TileChainKernel bf16, bytes, loaded;

  TileChains(ModuleOp module, const Target &target)
      : bf16(emitTileProducts(module, "tiles-bf16", target, ElementType::BF16)),
        bytes(emitTileProducts(module, "tiles-i8", target, ElementType::UI8)),
        loaded(emitTileProducts(module, "tiles-loaded", target,
                                ElementType::BF16, target.l2Bytes / 2)) {}
};

class Measuring {
public:
  Measuring(const Target &target, double seconds,
            const std::function<void(ModuleOp)> &onCode)
      : target(target), seconds(seconds), onCode(onCode) {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    context.emplace(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    module = ModuleOp::create(UnknownLoc::get(&*context));
  }

  Result<MachineCeilings> run() {
    std::vector<std::string> names = {"f32", "f64", "read"};
    const ChainKernel f32 = emitMultiplyAdds(*module, "f32", target, 32);
    const ChainKernel f64 = emitMultiplyAdds(*module, "f64", target, 64);
    const std::optional<ChainKernel> dots =
        emitIntegerDots(*module, "i8", target);
    if (dots)
      names.emplace_back("i8");
    const std::optional<ChainKernel> halves =
        emitBFloat16Dots(*module, "bf16", target);
    const size_t ofHalves = names.size();
    if (halves)
      names.emplace_back("bf16");
    std::optional<TileChains> tiles;
    if (target.hasMatrixUnits) {
      tiles.emplace(*module, target);
      for (const char *name : {"tiles-bf16", "tiles-i8", "tiles-loaded"})
        names.emplace_back(name);
    }
    MachineCeilings found;
    found.bandwidth = levelsOf(target);
    int64_t most = 0;
    for (BandwidthCeiling &level : found.bandwidth) {
      const int64_t grain = readGrain(target) * 4;
      level.bytes = level.bytes / grain * grain;
      most = std::max(most, level.bytes);
    }
    emitReads(*module, "read", target, most / 4);
    Result<LoadedCode> code = load(names);
    if (!code)
      return code.takeError();
    Result<Memory> memory = Memory::of(most);
    if (!memory)
      return memory.takeError();
    const double share = seconds / static_cast<double>(names.size() - 1 +
                                                       found.bandwidth.size());
    // Processors take a moment to reach their speed.
    chains(code->kernel(0), f32, std::min(share, 0.1));
    const auto add = [&](const char *name, size_t kernel,
                         const ChainKernel &made) {
      found.arithmetic.push_back(
          {name, made.instruction, chains(code->kernel(kernel), made, share)});
    };
    add("f32", 0, f32);
    add("f64", 1, f64);
    if (dots)
      add("i8", 3, *dots);
    if (halves)
      add("bf16", ofHalves, *halves);
    for (BandwidthCeiling &level : found.bandwidth)
      level.gbPerSecond = read(code->kernel(2), *memory, level.bytes, share);
    if (tiles)
      addTiles(found, *tiles, *code, names.size() - 3, share);
    return found;
  }

private:
  /// \p first is the number of the first of their kernels.
  void addTiles(MachineCeilings &found, const TileChains &tiles,
                const LoadedCode &code, size_t first, double share) const {
    const auto secondsOf = [&](size_t kernel, const TileChainKernel &made) {
      std::vector<Line> input = zeros(made.inputBytes), output = zeros(4096);
      return timeOfTask(code.kernel(first + kernel),
                        {input.data(), output.data()}, share);
    };
    const double ofBf16 = secondsOf(0, tiles.bf16);
    found.arithmetic.push_back({"tiles-bf16", "product of tiles of bf16",
                                tiles.bf16.operationsPerTask / ofBf16 / 1e9});
    found.arithmetic.push_back(
        {"tiles-i8", "product of tiles of 8 bits",
         tiles.bytes.operationsPerTask / secondsOf(1, tiles.bytes) / 1e9});
    // What loads take beside products, which hide some of it.
    constexpr double leastShare = 0.05;
    const double all = secondsOf(2, tiles.loaded),
                 products = ofBf16 * tiles.loaded.operationsPerTask /
                            tiles.bf16.operationsPerTask;
    found.bandwidth.push_back({"tiles", tiles.loaded.inputBytes,
                               static_cast<double>(tiles.loaded.bytesPerTask) /
                                   std::max(all - products, leastShare * all) /
                                   1e9});
  }

  Result<LoadedCode> load(const std::vector<std::string> &names) {
    if (onCode)
      onCode(*module);
    Result<ObjectFile> object = compile(*module, target);
    if (!object)
      return object.takeError();
    Result<CodeImage> image = link(std::span(&*object, 1), names);
    if (!image)
      return image.takeError();
    return LoadedCode::load(*image);
  }

  /// 10^9 operations a second.
  double chains(KernelFunction *kernel, const ChainKernel &made,
                double share) const {
    // Zeros stay zeros in every type: no chain grows out of its range or
    // becomes denormal.
    std::vector<Line> input = zeros(made.inputSize() * 8);
    std::vector<Line> output = zeros(made.lanes * 8);
    const double task =
        timeOfTask(kernel, {input.data(), output.data()}, share);
    return made.operationsPerTask / task / 1e9;
  }

  /// 10^9 bytes a second.
  double read(KernelFunction *kernel, const Memory &memory, int64_t bytes,
              double share) const {
    alignas(64) int64_t size = bytes / 4;
    std::vector<Line> sums = zeros(target.vectorBytes());
    const double task =
        timeOfTask(kernel, {memory.get(), &size, sums.data()}, share);
    return static_cast<double>(bytes) / task / 1e9;
  }

  const Target &target;
  double seconds;
  const std::function<void(ModuleOp)> &onCode;
  std::optional<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

Result<MachineCeilings> measureMachine(double seconds) {
  Result<Target> target = Target::host();
  if (!target)
    return target.takeError();
  return measureMachine(seconds, *target, {});
}

Result<MachineCeilings>
measureMachine(double seconds, const Target &target,
               const std::function<void(ModuleOp)> &onCode) {
  return Measuring(target, seconds, onCode).run();
}

} // namespace sinter::cpu
