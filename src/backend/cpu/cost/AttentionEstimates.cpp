//===- AttentionEstimates.cpp - which kernel computes attention ---------===//

#include "backend/cpu/cost/Estimates.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/ProductTimes.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {
/// Attention in cycles (timeOfTwo).
class AttentionCycles {
public:
  AttentionCycles(const AttentionShape &shape, const Target &target)
      : shape(shape), target(target), lanes(target.f32Lanes),
        matrices(double(shape.matrices().value())),
        rows(double(shape.rows.value())), keys(shape.keys.value()),
        keyVectors(llvm::divideCeil(keys, lanes)),
        valueVectors(llvm::divideCeil(shape.width, lanes)) {}

  /// Keys that lie side by side are transposed once a task. Scores stay in the
  /// cache, and nobody computes those of blocks of keys that no row sees.
  double whole() const {
    const double tasks = matrices * double(shape.rowBlocks().count);
    return std::max(reading(figures::attentionReading),
                    seen() * (matrices * (products() +
                                          rows * double(keyVectors) *
                                              figures::kernelOfScores +
                                          rows * figures::kernelOfRow) +
                              tasks * packed()) +
                        tasks * figures::kernelOfTask);
  }

  /// By themselves: scores are written, read and written as weights, and read.
  double apart() const {
    // Products with vectors are reductions, a key after the other, in the order
    // of memory.
    if (shape.rows == 1 || shape.keys == 1) {
      const double ofKey = figures::reductionOfKey +
                           figures::reductionOfElement * double(shape.depth);
      return figures::apartLaunches +
             std::max(reading(figures::reductionReading),
                      matrices * (figures::reductionOfMatrix +
                                  rows * double(keys) * ofKey));
    }
    return figures::apartLaunches +
           std::max(reading(figures::attentionReading),
                    matrices *
                        (products() +
                         rows * double(keyVectors) * figures::apartScores +
                         rows * figures::apartOfRow + packed())) +
           throughMemory();
  }

  /// Keys and values from beyond the second-level cache.
  double readingOperands() const { return reading(1); }

private:
  /// Vectors multiplied two a cycle, where tiles are filled: those of scratch
  /// memory that fits the first-level cache, faster than kernels on average.
  double products() const {
    return figures::attentionMatmuls *
           (cyclesOfStep(target, int64_t(rows), keyVectors) *
                double(shape.depth) +
            cyclesOfStep(target, int64_t(rows), valueVectors) * double(keys));
  }
  double packed() const {
    const bool isTransposed = shape.keyColumn == 1;
    return isTransposed ? figures::packingKey * double(keyVectors * lanes) *
                              double(shape.depth)
                        : 0;
  }
  double seen() const {
    return shape.isCausal && shape.keyBlock() < shape.keys
               ? figures::causalBlocks
               : 1;
  }
  /// Of keys and values from beyond the second-level cache, \p times as long as
  /// such a kernel's weights take.
  double reading(double times) const {
    double shared = 1;
    for (const AttentionShape::Heads &each : shape.heads)
      shared *= double(each.shared);
    const double bytes = matrices / shared * double(keys) *
                         double(shape.depth + shape.width) * 4;
    return bytes <= double(target.l2Bytes)
               ? 0
               : times * bytes / target.rates.memory / timeOfTwo(target);
  }
  double throughMemory() const {
    const double bytes = matrices * rows * double(keys) * 4;
    return bytes <= double(target.l2Bytes)
               ? 0
               : figures::apartMoves * bytes / target.rates.memory /
                     timeOfTwo(target);
  }

  const AttentionShape &shape;
  const Target &target;
  const int64_t lanes;
  const double matrices, rows;
  const int64_t keys, keyVectors, valueVectors;
};
} // namespace

static Alternatives timesOf(const AttentionShape &shape, const Target &target,
                            llvm::ArrayRef<AttentionTiles> tiles) {
  const AttentionCycles cycles(shape, target);
  const double cycle = timeOfTwo(target);
  Alternatives all = {{"attention", cycle * cycles.whole()},
                      {"products", cycle * cycles.apart()}};
  for (const AttentionTiles &each : tiles)
    all.push_back({each.name(),
                   std::max(TileAttention(shape, target, each).seconds(target),
                            cycle * cycles.readingOperands())});
  return bestFirst(std::move(all), target);
}

/// Of \p tiles those that units have for such operands, and of what is less
/// exact than f32 only what saves enough.
static llvm::SmallVector<AttentionTiles, 2>
worthwhileTiles(const AttentionShape &shape, const Target &target,
                llvm::ArrayRef<AttentionTiles> tiles) {
  llvm::SmallVector<AttentionTiles, 2> some;
  if (!TileAttention::supports(shape, target))
    return some;
  auto add = [&](bool areDefault, double limit) {
    for (const AttentionTiles &each : tiles)
      if ((each.precision == Precision::Default) == areDefault &&
          timesOf(shape, target, each).front().seconds < limit)
        some.push_back(each);
  };
  add(false, std::numeric_limits<double>::infinity());
  add(true, figures::attentionTilesOfExact *
                timesOf(shape, target, some).front().seconds);
  return some;
}

AttentionShape cpu::typicalOf(const AttentionShape &shape) {
  AttentionShape typical = shape;
  typical.rows = typical.keys = 128;
  for (AttentionShape::Heads &heads : typical.heads)
    heads.size = heads.shared;
  if (!typical.heads.empty())
    typical.heads.front().size *= 8;
  return typical;
}

Alternatives cpu::alternativesFor(const AttentionShape &shape,
                                  const Target &target,
                                  llvm::ArrayRef<AttentionTiles> tiles) {
  const AttentionShape typical = typicalOf(shape);
  const auto some = worthwhileTiles(typical, target, tiles);
  Alternatives times = timesOf(shape, target, some);
  if (shape.rows == 1 || shape.keys == 1)
    return times;
  bringToFront(times, timesOf(typical, target, some).front().kernel);
  return times;
}
