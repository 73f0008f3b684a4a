//===- TileTests.h - what tests of kernels with tiles share ---------------===//

#ifndef SINTER_TEST_BACKEND_CPU_TILETESTS_H
#define SINTER_TEST_BACKEND_CPU_TILETESTS_H

#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/TileEmulator.h"
#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/common/Arithmetic.h"
#include "graph/Types.h"
#include "runtime/Random.h"
#include "runtime/Tensor.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sinter::cpu {

/// A test is skipped where the machine has not what kernels with emulated
/// matrix units need.
#define NEEDS_TILES()                                                          \
  if (!sinter::cpu::hostWithTiles())                                           \
  GTEST_SKIP() << "needs AVX-512, or SINTER_EMULATE_TILES=1 and patience"

/// The machine that a test runs on, with matrix units that are emulated.
#define WITH_TILES(target)                                                     \
  NEEDS_TILES();                                                               \
  const Target target = *hostWithTiles()

/// Every arithmetic that tiles have.
inline std::vector<TileArithmetic> tileArithmetics() {
  using enum ElementType;
  std::vector<TileArithmetic> all;
  for (Precision precision :
       {Precision::Default, Precision::Exact, Precision::BFloat16})
    for (ElementType rhs : {F32, F16, BF16, I8})
      all.push_back(*TileArithmetic::of(F32, rhs, F32, precision));
  for (ElementType lhs : {UI8, I8})
    for (ElementType rhs : {I8, UI8})
      all.push_back(*TileArithmetic::of(lhs, rhs, I32, Precision::Default));
  return all;
}

/// The part of sum |x| |y| by which a sum of \p k products may be wrong.
inline double tileError(const TileArithmetic &arithmetic, int64_t k) {
  if (arithmetic.isOfBytes())
    return 0;
  constexpr double parts[] = {0x1p-7, 0x1p-15, 0x1p-23};
  const bool isOfTwo = arithmetic.depth == 2 && arithmetic.rhsTerms == 1;
  return (isOfTwo ? 0x1p-16 : parts[arithmetic.depth - 1]) +
         double(k) * 0x1p-24;
}

/// A kernel with emulated tiles, and what has to be done before it.
class TileKernel {
public:
  using Emit = std::function<void(mlir::OpBuilder &, mlir::Location,
                                  mlir::Value, mlir::ValueRange)>;
  /// So many tasks.
  struct Stage {
    int64_t tasks = 0;
    Emit emit = {};
  };

  /// For tensors like \p tensors, of which the last is written, and so is the
  /// one before it, the scratch memory. \p before may have no tasks.
  TileKernel(const Target &target, llvm::ArrayRef<Tensor *> tensors,
             const Stage &kernel, const Stage &before)
      : runner(target) {
    llvm::SmallVector<KernelBuffer> buffers;
    for (auto [i, tensor] : llvm::enumerate(tensors))
      buffers.push_back(
          {mlir::MemRefType::get({tensor->size()},
                                 storedType(tensor->type(), &runner.context())),
           i + 2 >= tensors.size()});
    for (const auto &[name, stage] :
         {std::pair{"before", before}, {"kernel", kernel}}) {
      if (stage.tasks == 0)
        continue;
      contracts.emplace_back(
          name, createKernel(runner.module(),
                             mlir::UnknownLoc::get(&runner.context()), name,
                             buffers, stage.emit));
      contracts.back().second.tasks = stage.tasks;
    }
    emulateTiles(runner.module());
    runner.compile();
  }

  /// Runs it between guarded pages, and returns what was executed.
  TileCounts run(llvm::ArrayRef<Tensor *> tensors) {
    std::vector<void *> arguments;
    for (Tensor *tensor : tensors)
      arguments.push_back(tensor->mutableBytes());
    takeTileCounts();
    for (const auto &[name, contract] : contracts)
      runner.run(contract, arguments, name);
    return takeTileCounts();
  }

private:
  KernelRunner runner;
  std::vector<std::pair<std::string, KernelContract>> contracts;
};

/// \p target where memory is so slow that nobody brings rows together twice.
inline Target withSlowCache(Target target) {
  target.rates.cache = 1e8;
  return target;
}

inline Tensor randomTensor(ElementType type, int64_t size, uint64_t seed) {
  Tensor tensor(type, {size});
  fillRandom(tensor, seed);
  return tensor;
}

/// A buffer of so many bytes, in elements of \p type.
inline Tensor bufferOfBytes(ElementType type, int64_t bytes) {
  return Tensor(type, {bytes / int64_t(byteSize(type))});
}

} // namespace sinter::cpu

#endif // SINTER_TEST_BACKEND_CPU_TILETESTS_H
