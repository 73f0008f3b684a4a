//===- Estimates.cpp - which kernel computes a product, and why -----------===//

#include "backend/cpu/kernels/Estimates.h"

#include "backend/cpu/kernels/TileConvolution.h"
#include "backend/cpu/kernels/TileMatMul.h"
#include "backend/cpu/kernels/TileMatrices.h"
#include "backend/cpu/kernels/Winograd.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static double rateOf(const Arithmetic &arithmetic, const Rates &rates) {
  // Weights are widened to the 16 bits of pairs on the way, which the ceiling
  // does not know of.
  constexpr double ofPairs = 0.85;
  const bool widensWeights = isByte(arithmetic.rhs);
  switch (arithmetic.accumulator) {
  case ElementType::I32:
    if (arithmetic.instruction == StepInstruction::PairDotProduct)
      return rates.i8 / 2;
    return arithmetic.instruction == StepInstruction::PairSum && widensWeights
               ? ofPairs * rates.i8
               : rates.i8;
  case ElementType::F64:
    return rates.f64;
  default:
    return arithmetic.instruction == StepInstruction::BFloat16DotProduct
               ? rates.bf16
               : rates.f32;
  }
}

/// While two vectors of f32 are multiplied and added, at the rate that kernels
/// reach: a cycle of most machines.
static double timeOfTwo(const Target &target) {
  return 4.0 * double(target.f32Lanes) / target.rates.f32;
}

/// A cycle, at that rate.
static double cycleOf(const Target &target) {
  return timeOfTwo(target) * double(target.multiplyAdds) / 2;
}

/// How much longer than its products alone a product takes whose rows do not
/// fill register tiles, whose columns do not fill vectors or whose depth does
/// not fill groups.
static double unfilled(const MatMulShape &shape, const Arithmetic &arithmetic,
                       const Target &target) {
  const int64_t lanes = arithmetic.lanes(target);
  const double steps = double(arithmetic.steps(shape.k)) *
                       double(arithmetic.kGroup) / double(shape.k);
  return 2 * cyclesOfStep(target, shape.m, llvm::divideCeil(shape.n, lanes)) *
         double(lanes) / (double(shape.m) * double(shape.n)) * steps;
}

/// Of all kernels whose weights are packed: what ran between two runs has taken
/// their place in the cache.
static double readingWeights(double elements, const Arithmetic &arithmetic,
                             const Target &target) {
  const double bits = double(bitWidth(arithmetic.rhs));
  return elements * bits / 8 / target.rates.memory;
}

/// Cycles for a vector of \p type to become floats, beside multiply-adds that
/// leave other ports idle. Measured with AVX-512, whose tables hold what 4 bits
/// stand for.
static double widening(ElementType type, const Target &target) {
  if (type == ElementType::F32 || type == ElementType::F64)
    return 0;
  if (bitWidth(type) < 8)
    return target.hasTableOf16 ? 0.2 : 0.6;
  const bool isFloat8 = isFloat(type) && bitWidth(type) == 8;
  return isFloat8 ? 2.5 : 0.1;
}

static double direct(const ConvolutionShape &shape,
                     const Arithmetic &arithmetic, const Target &target) {
  const int64_t inputs = shape.inputChannels / shape.groups;
  const double filled =
      double(arithmetic.steps(inputs) * arithmetic.kGroup) / double(inputs);
  const double weights = double(shape.outputChannels) * double(inputs) *
                         double(shape.kernelHeight) * double(shape.kernelWidth);
  return std::max(filled * shape.flops() / rateOf(arithmetic, target.rates),
                  readingWeights(weights, arithmetic, target));
}

/// Channel by channel, in whole blocks of channels: a vector of pixels is read
/// for each tap, and bytes are multiplied in 32 bits, which takes twice as long
/// as floats. The input comes from beyond the second-level cache if it is
/// larger.
static double depthwise(const ConvolutionShape &shape,
                        const Arithmetic &arithmetic, const Target &target) {
  const Rates &rates = target.rates;
  const double products =
      isFloat(arithmetic.accumulator) ? rates.f32 : rates.f32 / 2;
  const double filled =
      double(llvm::alignTo(shape.outputChannels, arithmetic.lanes(target))) /
      double(shape.outputChannels);
  const double input = double(shape.batch) * double(shape.inputChannels) *
                       double(shape.inputPixels()) *
                       double(arithmetic.lhsBytes());
  const bool fits = input <= double(target.l2Bytes);
  return std::max(filled * shape.flops() / products,
                  input / (fits ? rates.cache : rates.memory));
}

/// Directly, groups are merged until they are whole blocks of channels, and
/// what lies between them is multiplied by zeros.
static double mergedDirect(const ConvolutionShape &shape,
                           const Arithmetic &arithmetic, const Target &target) {
  const int64_t lanes = arithmetic.lanes(target);
  const double merged = double(shape.groupsToMerge(lanes)),
               filled = double(llvm::alignTo(shape.outputChannels, lanes)) /
                        double(shape.outputChannels);
  return merged * filled * direct(shape, arithmetic, target);
}

static bool isDepthwise(const ConvolutionShape &shape) {
  return shape.groups == shape.inputChannels &&
         shape.groups == shape.outputChannels;
}

/// Products of tiles by weights of as many elements, and the transforms before
/// and after, which move each tile twice.
static double winograd(const ConvolutionShape &shape,
                       const WinogradArithmetic &arithmetic,
                       const Target &target) {
  // What is left out: loops over edges, steps that wait for each other.
  constexpr double rest = 1.2;
  const Rates &rates = target.rates;
  // As many tiles as stay in a third level are in work at once.
  auto transfer = [&](double bytes, bool isCached) {
    return bytes / (isCached ? rates.cache : 2 * rates.memory);
  };
  const Winograd::Sizes sizes = Winograd::sizesOf(shape, arithmetic);
  const auto weightBytes = double(sizes.weightBytes);
  const double tileBytes = double(sizes.tiles) * double(sizes.tileBytes);
  const double multiply =
      double(sizes.tiles) * 2 * double(arithmetic.elements()) *
      double(shape.inputChannels) * double(shape.outputChannels) /
      rateOf(arithmetic.products, rates);
  const bool weightsFit = weightBytes <= double(target.l2Bytes);
  const bool tilesFit = weightsFit || tileBytes <= double(target.l2Bytes);
  // Weights come from memory, as those of a direct convolution do: what ran
  // between two runs has taken their place in the cache. Where no third level
  // holds them, products wait for half of them.
  const double reading = weightBytes / rates.memory;
  const bool isStreamed = sizes.weightBytes > 16 * target.l2Bytes;
  return rest * (std::max(multiply, reading) + (isStreamed ? reading / 2 : 0) +
                 transfer(2 * tileBytes, tilesFit));
}

/// Transformed weights of bytes are eight times as large as given ones, which
/// has to be worth something.
static double winogradOfBytes(const ConvolutionShape &shape,
                              const WinogradArithmetic &arithmetic,
                              const Target &target) {
  constexpr double ofMemory = 1.05;
  return ofMemory * winograd(shape, arithmetic, target);
}

static Alternatives fastestFirst(Alternatives alternatives) {
  llvm::stable_sort(alternatives,
                    [](const Alternative &a, const Alternative &b) {
                      return a.seconds < b.seconds;
                    });
  return alternatives;
}

static void bringToFront(Alternatives &all, llvm::StringRef kernel) {
  auto found = llvm::find_if(
      all, [&](const Alternative &each) { return each.kernel == kernel; });
  std::rotate(all.begin(), found, found + 1);
}

/// What is read of the other factor, whatever ran before.
template <typename Kernel, typename Shape>
static double readBytes(const Kernel &kernel, const Shape &) {
  return double(kernel.packedBytes());
}
static double readBytes(const TileMatrices &kernel, const MatMulShape &) {
  return kernel.readBytes();
}

template <typename Kernel, typename Shape>
static Alternative timeOfTiles(const Shape &shape, const TileArithmetic &tiles,
                               const Target &target) {
  const Kernel kernel(shape, target, tiles);
  // Weights come from memory as those of other kernels do.
  return {tiles.name(),
          std::max(kernel.seconds(target),
                   readBytes(kernel, shape) / target.rates.memory)};
}

/// What matrix units do, and what it takes.
using TimeOfTiles = std::pair<TileArithmetic, Alternative>;

/// Of \p tiles those that are a way to compute \p shape, beside \p others.
/// Three products of parts are a tenth as exact as f32, and Winograd's method
/// is half as exact: they are none of the ways where they save less than a
/// third of what an exact one takes, and a quarter of what that takes. Two, by
/// weights of one part, have a third of the error, and are to save a quarter.
template <typename Kernel, typename Shape>
static llvm::SmallVector<TimeOfTiles>
worthwhile(const Alternatives &others, const Shape &shape,
           llvm::ArrayRef<TileArithmetic> tiles, const Target &target) {
  constexpr double ofThree = 2.0 / 3, ofTwo = 3.0 / 4, ofFastTime = 3.0 / 4,
                   noticed = 125e-6;
  llvm::SmallVector<TimeOfTiles> some;
  if (!Kernel::supports(shape, target))
    return some;
  double ofExact = std::numeric_limits<double>::infinity(), ofFast = ofExact;
  for (const Alternative &each : others) {
    double &least = Winograd::formOf(each.kernel) ? ofFast : ofExact;
    least = std::min(least, each.seconds);
  }
  // The most exact stand last.
  for (const TileArithmetic &each : llvm::reverse(tiles)) {
    const Alternative time = timeOfTiles<Kernel>(shape, each, target);
    const bool isDefault = !each.isExact() && each.depth == 2;
    const double ofExactTime = each.products().size() < 3 ? ofTwo : ofThree;
    const double worthIt = std::min(
        {ofExactTime * ofExact, ofExact - noticed, ofFastTime * ofFast});
    if (!isDefault || time.seconds < worthIt)
      some.push_back({each, time});
    if (each.isExact())
      ofExact = std::min(ofExact, time.seconds);
  }
  return some;
}

/// \p all, and those of \p tiles that are a way, the fastest first.
template <typename Kernel, typename Shape>
static Alternatives withTiles(Alternatives all, const Shape &shape,
                              llvm::ArrayRef<TileArithmetic> tiles,
                              const Target &target) {
  for (TimeOfTiles &each : worthwhile<Kernel>(all, shape, tiles, target))
    all.push_back(std::move(each.second));
  return fastestFirst(std::move(all));
}

static Alternatives convolutionOnVectors(const ConvolutionShape &shape,
                                         const Arithmetic &arithmetic,
                                         const Target &target,
                                         bool allowsFast) {
  Alternatives all = {
      {"direct", shape.groups == 1 ? direct(shape, arithmetic, target)
                                   : mergedDirect(shape, arithmetic, target)}};
  if (allowsFast && Winograd::supports(shape))
    for (const Winograd::Form &form : Winograd::forms())
      if (const auto fast =
              WinogradArithmetic::of(arithmetic, target, form.outputRows))
        all.push_back(
            {form.kernel, fast->isOfFloats()
                              ? winograd(shape, *fast, target)
                              : winogradOfBytes(shape, *fast, target)});
  return fastestFirst(std::move(all));
}

/// Adds the tiles that are worthwhile beside \p ofTypical, the times of
/// \p typical, to these, and what they take for \p shape to \p times.
template <typename Kernel, typename Shape>
static void addTiles(Alternatives &ofTypical, Alternatives &times,
                     const Shape &typical, const Shape &shape,
                     llvm::ArrayRef<TileArithmetic> tiles,
                     const Target &target) {
  for (const auto &[each, time] :
       worthwhile<Kernel>(ofTypical, typical, tiles, target)) {
    ofTypical.push_back(time);
    times.push_back(timeOfTiles<Kernel>(shape, each, target));
  }
}

/// \p times, before all others the one of what is the fastest by \p ofTypical.
static Alternatives inOrderOf(Alternatives ofTypical, Alternatives times) {
  times = fastestFirst(std::move(times));
  bringToFront(times, fastestFirst(std::move(ofTypical)).front().kernel);
  return times;
}

/// One image of sideOfChoice, all else as \p shape has it.
static ConvolutionShape imageOfChoice(const ConvolutionShape &shape) {
  ConvolutionShape image = shape;
  image.batch = 1;
  image.outputHeight = image.outputWidth = sideOfChoice;
  image.inputHeight = sideOfChoice * shape.strideHeight;
  image.inputWidth = sideOfChoice * shape.strideWidth;
  return image;
}

Alternatives cpu::alternativesFor(const ConvolutionShape &shape,
                                  const Arithmetic &arithmetic,
                                  const Target &target, bool allowsFast,
                                  llvm::ArrayRef<TileArithmetic> tiles) {
  if (isDepthwise(shape)) {
    Alternatives all;
    if (!shape.hasPlanarInput)
      all.push_back({"depthwise", depthwise(shape, arithmetic, target)});
    // Only channel by channel are pixels widened where they are read.
    if (arithmetic.lhsBytes() >= arithmetic.rhsBytes())
      all.push_back({"direct", mergedDirect(shape, arithmetic, target)});
    return fastestFirst(std::move(all));
  }
  Alternatives times =
      convolutionOnVectors(shape, arithmetic, target, allowsFast);
  const ConvolutionShape typical = imageOfChoice(shape);
  if (!isFloat(arithmetic.accumulator) ||
      !TileConvolution::supports(typical, target))
    return withTiles<TileConvolution>(std::move(times), shape, tiles, target);
  Alternatives ofTypical =
      convolutionOnVectors(typical, arithmetic, target, allowsFast);
  addTiles<TileConvolution>(ofTypical, times, typical, shape, tiles, target);
  return inOrderOf(std::move(ofTypical), std::move(times));
}

static double flopsOf(const MatMulShape &shape) {
  return 2.0 * double(shape.m) * double(shape.n) * double(shape.k);
}

/// Its products, and its weights from memory at the same time.
static double packedProduct(const MatMulShape &shape, double flops,
                            const Arithmetic &arithmetic,
                            const Target &target) {
  return std::max(
      unfilled(shape, arithmetic, target) * flops /
          rateOf(arithmetic, target.rates),
      readingWeights(double(shape.n) * double(shape.k), arithmetic, target));
}

/// Of columns that are computed, for each block of rows. Measured with AVX-512:
/// words of four bytes, with what zero points add, take so many cycles a
/// vector, and floats, which are copied or transposed, two.
static double packingBytes(const MatMulShape &shape, const Target &target) {
  constexpr double ofWords = 14;
  return ofWords * cycleOf(target) * double(llvm::divideCeil(shape.k, 4)) *
         double(llvm::divideCeil(shape.n, target.f32Lanes));
}
constexpr int64_t leastRowsToCopy = 24;
static double packingFloats(const MatMulShape &shape, const Target &target) {
  const bool isCopied = shape.bLayout == MatMulShape::BLayout::Transposed ||
                        shape.m >= leastRowsToCopy;
  return !isCopied ? 0
                   : 2 * cycleOf(target) * double(shape.k) *
                         double(llvm::divideCeil(shape.n, target.f32Lanes));
}

/// How much more than as they are weights take as tiles read them, where this
/// does not stay in the second-level cache; else 1.
static double weightsOfTiles(const MatMulShape &shape,
                             const Arithmetic &arithmetic,
                             const TileArithmetic &tiles,
                             const Target &target) {
  const auto bytes = double(TileMatMul(shape, target, tiles).packedBytes());
  if (bytes <= double(target.l2Bytes) / 2)
    return 1;
  return double(tiles.rhsParts * bitWidth(tiles.rhsPart())) /
         double(bitWidth(arithmetic.rhs));
}

/// Of a product by weights. Sums of floats depend on what computes them, and
/// are to be the same for any number of rows: so that is what is the fastest
/// for rowsOfChoice of them.
static Alternatives
alternativesForRows(const Alternative &onVectors, const MatMulShape &shape,
                    const Arithmetic &arithmetic, const Target &target,
                    llvm::ArrayRef<TileArithmetic> tiles, bool areFew) {
  const bool isOpen = !shape.openRows.empty();
  auto ofOwnRows = [&] {
    return withTiles<TileMatMul>({onVectors}, shape, tiles, target);
  };
  if (!isOpen && !isFloat(arithmetic.accumulator))
    return ofOwnRows();
  MatMulShape typical = shape;
  typical.m = rowsOfChoice;
  typical.openRows.clear();
  // Few rows wait for weights. Six products of parts have half as much again as
  // f32 to read, narrow weights twice of what they are: that is too much where
  // rows may be few.
  constexpr double asMany = 1.1, mostOfOpen = 1.6;
  llvm::SmallVector<TileArithmetic> some;
  for (const TileArithmetic &each : tiles)
    if (!isOpen ||
        weightsOfTiles(typical, arithmetic, each, target) <= mostOfOpen)
      some.push_back(each);
  Alternatives ofTypical = {
      {onVectors.kernel,
       packedProduct(typical, flopsOf(typical), arithmetic, target)}};
  Alternatives times = {onVectors};
  addTiles<TileMatMul>(ofTypical, times, typical, shape, some, target);
  const llvm::StringRef first = fastestFirst(ofTypical).front().kernel;
  if (!isOpen && usesTiles(first) &&
      weightsOfTiles(typical, arithmetic, tilesNamed(first, some), target) >
          (areFew ? mostOfOpen : asMany))
    return ofOwnRows();
  times = fastestFirst(std::move(times));
  bringToFront(times, first);
  return times;
}

MatMulShape cpu::typicalOf(int64_t depth) {
  const auto power = int64_t(llvm::bit_ceil(uint64_t(depth)));
  MatMulShape shape = MatMulShape::dense(rowsOfChoice, columnsOfChoice,
                                         std::min(power, mostDepthOfChoice));
  shape.bLayout = MatMulShape::BLayout::Rows;
  return shape;
}

llvm::SmallVector<KernelOfDepth>
cpu::kernelsOfDepths(llvm::StringRef name, const Arithmetic &arithmetic,
                     const Target &target,
                     llvm::ArrayRef<TileArithmetic> tiles) {
  llvm::SmallVector<KernelOfDepth> all;
  for (int64_t depth = 1; depth <= mostDepthOfChoice; depth *= 2) {
    const MatMulShape shape = typicalOf(depth);
    const llvm::StringRef kernel =
        alternativesFor(name, shape, flopsOf(shape), arithmetic, target, tiles)
            .front()
            .kernel;
    if (all.empty() || all.back().kernel != kernel)
      all.push_back({depth, kernel});
    all.back().mostDepth = depth;
  }
  return all;
}

/// Of a product whose factors are both computed. Sums of floats are to be the
/// same for any number of rows and columns, whoever knows of them.
static Alternatives alternativesForComputedFloats(
    const Alternative &onVectors, const MatMulShape &shape,
    const Arithmetic &arithmetic, const Target &target,
    llvm::ArrayRef<TileArithmetic> tiles) {
  const MatMulShape typical = typicalOf(shape.k);
  Alternatives ofTypical = {
      {onVectors.kernel,
       packedProduct(typical, flopsOf(typical), arithmetic, target)}};
  Alternatives times = {onVectors};
  addTiles<TileMatrices>(ofTypical, times, typical, shape, tiles, target);
  return inOrderOf(std::move(ofTypical), std::move(times));
}

Alternatives cpu::alternativesFor(llvm::StringRef name,
                                  const MatMulShape &shape, double flops,
                                  const Arithmetic &arithmetic,
                                  const Target &target,
                                  llvm::ArrayRef<TileArithmetic> tiles,
                                  bool areFew) {
  Alternative onVectors{name, packedProduct(shape, flops, arithmetic, target)};
  if (shape.bLayout == MatMulShape::BLayout::Packed)
    return TileMatMul::supports(shape, target)
               ? alternativesForRows(onVectors, shape, arithmetic, target,
                                     tiles, areFew)
               : Alternatives{onVectors};
  if (isFloat(arithmetic.accumulator))
    return TileMatrices::supports(shape, target)
               ? alternativesForComputedFloats(onVectors, shape, arithmetic,
                                               target, tiles)
               : Alternatives{onVectors};
  if (arithmetic.accumulator == ElementType::I32) {
    const double matrices = flops / flopsOf(shape);
    onVectors.seconds += matrices * packingBytes(shape, target);
  }
  return withTiles<TileMatrices>({onVectors}, shape, tiles, target);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Attention in cycles (timeOfTwo), by what was measured of 120 shapes with
/// AVX-512, to 10 percent each way.
class AttentionCycles {
public:
  AttentionCycles(const AttentionShape &shape, const Target &target)
      : shape(shape), target(target), lanes(target.f32Lanes),
        matrices(double(shape.matrices())), rows(double(shape.rows)),
        keyVectors(llvm::divideCeil(shape.keys, lanes)),
        valueVectors(llvm::divideCeil(shape.width, lanes)) {}

  /// Keys that lie side by side are transposed once a task. Scores stay in the
  /// cache, and nobody computes those of blocks of keys that no row sees.
  double whole() const {
    const double tasks = matrices * double(shape.rowBlocks().count);
    return std::max(
        reading(1.15),
        seen() * (matrices *
                      (products() + rows * double(keyVectors) * 9 + rows * 13) +
                  tasks * packed()) +
            tasks * 36);
  }

  /// By themselves: scores are written, read and written as weights, and read.
  double apart() const {
    // Two products, what is between them, and something that moves elements.
    constexpr double steps = 240;
    // Products with vectors are reductions, a key after the other, in the order
    // of memory.
    if (shape.rows == 1 || shape.keys == 1) {
      const double ofKey = 4.5 + 0.07 * double(shape.depth);
      return steps +
             std::max(reading(0.7),
                      matrices * (20 + rows * double(shape.keys) * ofKey));
    }
    return steps +
           std::max(reading(1.15),
                    matrices * (products() + rows * double(keyVectors) * 14 +
                                rows * 8 + packed())) +
           throughMemory();
  }

  /// Keys and values from beyond the second-level cache.
  double readingOperands() const { return reading(1); }

private:
  /// Vectors multiplied two a cycle, where tiles are filled: those of scratch
  /// memory that fits the first-level cache, faster than kernels on average.
  double products() const {
    return 0.65 *
           (cyclesOfStep(target, shape.rows, keyVectors) * double(shape.depth) +
            cyclesOfStep(target, shape.rows, valueVectors) *
                double(shape.keys));
  }
  double packed() const {
    const bool isTransposed = shape.keyColumn == 1;
    return isTransposed
               ? 0.077 * double(keyVectors * lanes) * double(shape.depth)
               : 0;
  }
  double seen() const {
    return shape.isCausal && shape.keyBlock() < shape.keys ? 0.5 : 1;
  }
  /// Of keys and values from beyond the second-level cache, \p times as long as
  /// such a kernel's weights take.
  double reading(double times) const {
    double shared = 1;
    for (const AttentionShape::Heads &each : shape.heads)
      shared *= double(each.shared);
    const double bytes = matrices / shared * double(shape.keys) *
                         double(shape.depth + shape.width) * 4;
    return bytes <= double(target.l2Bytes)
               ? 0
               : times * bytes / target.rates.memory / timeOfTwo(target);
  }
  double throughMemory() const {
    const double bytes = matrices * rows * double(shape.keys) * 4;
    return bytes <= double(target.l2Bytes)
               ? 0
               : 4 * bytes / target.rates.memory / timeOfTwo(target);
  }

  const AttentionShape &shape;
  const Target &target;
  const int64_t lanes;
  const double matrices, rows;
  const int64_t keyVectors, valueVectors;
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
  return fastestFirst(std::move(all));
}

/// Of \p tiles those that units have for such operands, and of what is a tenth
/// as exact as f32 only what saves a quarter, as of convolutions.
static llvm::SmallVector<AttentionTiles, 2>
worthwhile(const AttentionShape &shape, const Target &target,
           llvm::ArrayRef<AttentionTiles> tiles) {
  constexpr double worthIt = 3.0 / 4;
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
  add(true, worthIt * timesOf(shape, target, some).front().seconds);
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
  const auto some = worthwhile(typical, target, tiles);
  Alternatives times = timesOf(shape, target, some);
  if (shape.rows == 1 || shape.keys == 1)
    return times;
  bringToFront(times, timesOf(typical, target, some).front().kernel);
  return times;
}

//===----------------------------------------------------------------------===//
// Weights of few bits
//===----------------------------------------------------------------------===//

Alternatives cpu::alternativesForWeights(const MatMulShape &shape,
                                         const Arithmetic &narrow,
                                         const Target &target) {
  constexpr double worthIt = 2.0 / 3;
  const MatMulPlan plan(shape, target, narrow);
  // Few rows leave no time in which a vector could be widened.
  constexpr int64_t rowsThatHide = 4;
  double ofVector = widening(narrow.rhs, target);
  if (shape.m < rowsThatHide)
    ofVector = std::max(ofVector, 0.6);
  if (plan.widensPanels())
    ofVector += 0.3;
  // Few rows have sums of blocks multiplied.
  const bool isOfRows = shape.blocks.columns != 0;
  if (shape.blocks.scale && (shape.m >= rowsThatHide || isOfRows))
    ofVector += isOfRows ? 0.3 : 0.15;
  if (shape.blocks.zero)
    ofVector += isOfRows ? 0.6 : 0.3;
  const Arithmetic wide = narrow.ofWidened();
  const double cycle = cycleOf(target);
  const double weights = double(shape.n) * double(shape.k);
  const double products =
      unfilled(shape, wide, target) * plan.flops() / rateOf(wide, target.rates);
  const double narrowTime =
      std::max(products + cycle * ofVector * double(plan.widenedVectors()),
               readingWeights(weights, narrow, target));
  // So little stays in the first-level cache, and is as well wide.
  constexpr double fewBytes = 16 << 10;
  const bool staysInCache = weights * double(wide.rhsBytes()) < fewBytes;
  const double wideTime =
      staysInCache ? products
                   : std::max(products, readingWeights(weights, wide, target));
  Alternatives all = {{"narrow-weights", narrowTime},
                      {"wide-weights", wideTime}};
  if (wideTime < (staysInCache ? 1 : worthIt) * narrowTime)
    std::swap(all[0], all[1]);
  return all;
}

static llvm::StringRef nameOfWeights(ElementType type) {
  switch (type) {
  case ElementType::I4:
    return "weights-i4";
  case ElementType::I8:
    return "weights-i8";
  case ElementType::F16:
    return "weights-f16";
  case ElementType::BF16:
    return "weights-bf16";
  default:
    return "weights-f32";
  }
}

/// On tiles, which are packed as parts of 16 bits each: by what is read.
static Alternatives ofTileWeights(double weights,
                                  llvm::ArrayRef<ElementType> narrowestFirst,
                                  const Target &target) {
  Alternatives all;
  for (ElementType type : narrowestFirst)
    if (const auto tiles = TileArithmetic::of(
            ElementType::F32, type, ElementType::F32, Precision::Default))
      all.push_back({nameOfWeights(type), 2 * double(tiles->rhsParts) *
                                              weights / target.rates.memory});
  return fastestFirst(std::move(all));
}

Alternatives cpu::alternativesForWeights(const ConvolutionShape &shape,
                                         llvm::ArrayRef<ElementType> types,
                                         llvm::StringRef kernel,
                                         const Target &target) {
  const int64_t lanes = target.f32Lanes;
  const int64_t inputs = shape.inputChannels / shape.groups;
  const int64_t vectors = llvm::divideCeil(shape.outputChannels, lanes);
  const int64_t pixels = shape.batch * shape.outputPixels();
  const int64_t rows = std::min(
      pixels, maxTileRows(target, chooseTileVectors(target, pixels, vectors)));
  // So many rows hide what it takes to widen halves.
  constexpr int64_t rowsThatHide = 8;
  const double read = double(vectors) * double(inputs * shape.taps());
  const double weights = read * double(lanes);
  const double tiles = double(llvm::divideCeil(pixels, rows));
  // Of equally fast ones the narrowest.
  auto order = llvm::to_vector(types);
  llvm::stable_sort(order, [](ElementType a, ElementType b) {
    return bitWidth(a) < bitWidth(b);
  });
  if (usesTiles(kernel))
    return ofTileWeights(weights, order, target);
  Alternatives all;
  for (ElementType type : order) {
    double ofVector = widening(type, target);
    if (rows >= rowsThatHide)
      ofVector = isFloat(type) ? 0 : ofVector / 2;
    all.push_back({nameOfWeights(type),
                   std::max(shape.flops() / target.rates.f32 +
                                cycleOf(target) * ofVector * read * tiles,
                            readingWeights(weights, {.rhs = type}, target))});
  }
  // What does not stay in the cache drives out what others need: it has the
  // fewest bits, unless that takes a quarter longer.
  constexpr double mostLonger = 1.25;
  const bool staysInCache = 4 * weights <= double(target.l2Bytes) / 2;
  const Alternative narrowest = all.front();
  all = fastestFirst(std::move(all));
  if (!staysInCache && narrowest.seconds <= mostLonger * all.front().seconds)
    std::stable_partition(all.begin(), all.end(), [&](const Alternative &each) {
      return each.kernel == narrowest.kernel;
    });
  return all;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Activations become floats, two cycles a vector.
static double wideningActivations(double elements, const Target &target) {
  return 2 * cycleOf(target) * elements / double(target.f32Lanes);
}

/// Of bytes that are both computed.
static Alternatives alternativesForComputed(const MatMulShape &shape,
                                            const Arithmetic &bytes,
                                            const Target &target) {
  const double flops = flopsOf(shape);
  auto products = [&](const Arithmetic &arithmetic) {
    return unfilled(shape, arithmetic, target) * flops /
           rateOf(arithmetic, target.rates);
  };
  const double operands =
      double(shape.k) * double(shape.m) + double(shape.k) * double(shape.n);
  return fastestFirst({{"bytes", products(bytes) + packingBytes(shape, target)},
                       {"f32", products({}) + packingFloats(shape, target) +
                                   wideningActivations(operands, target)}});
}

Alternatives cpu::alternativesForBytes(const MatMulShape &shape,
                                       const Arithmetic &bytes,
                                       const Target &target) {
  if (shape.bLayout != MatMulShape::BLayout::Packed)
    return alternativesForComputed(shape, bytes, target);
  const double flops = flopsOf(shape);
  return fastestFirst(
      {{"bytes", packedProduct(shape, flops, bytes, target)},
       {"f32",
        packedProduct(shape, flops, {}, target) +
            wideningActivations(double(shape.m) * double(shape.k), target)}});
}

Alternatives cpu::alternativesForBytes(const ConvolutionShape &shape,
                                       const Arithmetic &bytes,
                                       const Target &target) {
  const double activations = double(shape.batch) * double(shape.inputChannels) *
                             double(shape.inputPixels());
  return fastestFirst({{"bytes", direct(shape, bytes, target)},
                       {"f32", direct(shape, {}, target) +
                                   wideningActivations(activations, target)}});
}

//===----------------------------------------------------------------------===//
// bf16
//===----------------------------------------------------------------------===//

bool cpu::multipliesBFloat16(const Target &target) {
  return target.hasBF16Dot && !target.hasMatrixUnits &&
         target.rates.bf16 > target.rates.f32;
}

Alternatives cpu::alternativesForBFloat16(const MatMulShape &shape,
                                          const Target &target) {
  const double flops = flopsOf(shape);
  const Arithmetic widened{ElementType::F32, ElementType::BF16,
                           ElementType::F32};
  return fastestFirst(
      {{"bf16",
        packedProduct(shape, flops, Arithmetic::ofBFloat16Pairs(), target)},
       {"f32", packedProduct(shape, flops, widened, target)}});
}

Alternatives cpu::alternativesForBFloat16(const ConvolutionShape &shape,
                                          bool allowsFast,
                                          const Target &target) {
  auto fastest = [&](const Arithmetic &arithmetic) {
    return alternativesFor(shape, arithmetic, target, allowsFast)
        .front()
        .seconds;
  };
  return fastestFirst(
      {{"bf16", fastest(Arithmetic::ofBFloat16Pairs())}, {"f32", fastest({})}});
}
