//===- Estimates.cpp - which kernel computes a product, and why -----------===//

#include "backend/cpu/kernels/Estimates.h"

#include "backend/cpu/kernels/TileConvolution.h"
#include "backend/cpu/kernels/TileMatMul.h"
#include "backend/cpu/kernels/Winograd.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static double rateOf(const Arithmetic &arithmetic, const Rates &rates) {
  switch (arithmetic.accumulator) {
  case ElementType::I32:
    return rates.i8;
  case ElementType::F64:
    return rates.f64;
  default:
    return rates.f32;
  }
}

static double direct(const ConvolutionShape &shape,
                     const Arithmetic &arithmetic, const Rates &rates) {
  const double weights =
      double(shape.outputChannels) *
      double(shape.inputChannels / shape.groups) * double(shape.kernelHeight) *
      double(shape.kernelWidth) * double(arithmetic.rhsBytes());
  return std::max(shape.flops() / rateOf(arithmetic, rates),
                  weights / rates.memory);
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
  return merged * filled * direct(shape, arithmetic, target.rates);
}

static bool isDepthwise(const ConvolutionShape &shape) {
  return shape.groups == shape.inputChannels &&
         shape.groups == shape.outputChannels;
}

/// Products of 6x6 tiles by weights of as many elements, and the transforms
/// before and after, which move each tile twice.
static double winograd(const ConvolutionShape &shape, const Target &target) {
  // What is left out: loops over edges, steps that wait for each other.
  constexpr double rest = 1.2;
  const Rates &rates = target.rates;
  auto transfer = [&](double bytes, bool isCached) {
    return bytes / (isCached ? rates.cache : rates.memory);
  };
  const Winograd::Sizes sizes = Winograd::sizesOf(shape);
  const auto weightBytes = double(sizes.weightBytes);
  const double tileBytes = double(sizes.tiles) * double(sizes.tileBytes);
  const double multiply = double(sizes.tiles) * 2 * Winograd::elements *
                          double(shape.inputChannels) *
                          double(shape.outputChannels) / rates.f32;
  const bool weightsFit = weightBytes <= double(target.l2Bytes);
  const bool tilesFit = weightsFit || tileBytes <= double(target.l2Bytes);
  // Weights come from memory, as those of a direct convolution do: what ran
  // between two runs has taken their place in the cache.
  return rest * (std::max(multiply, weightBytes / rates.memory) +
                 transfer(2 * tileBytes, tilesFit));
}

static Alternatives fastestFirst(Alternatives alternatives) {
  llvm::stable_sort(alternatives,
                    [](const Alternative &a, const Alternative &b) {
                      return a.seconds < b.seconds;
                    });
  return alternatives;
}

/// Of matrix units, whose weights come from memory as those of other kernels
/// do. Three products of parts are a tenth as exact as f32: they are none of
/// the ways where they save less than a third of what an exact one takes.
template <typename Kernel, typename Shape>
static void addTiles(Alternatives &all, const Shape &shape,
                     llvm::ArrayRef<TileArithmetic> tiles,
                     const Target &target) {
  constexpr double worthIt = 2.0 / 3, noticed = 125e-6;
  if (!Kernel::supports(shape, target))
    return;
  double ofExact = std::numeric_limits<double>::infinity();
  for (const Alternative &each : all)
    if (each.kernel != "winograd")
      ofExact = std::min(ofExact, each.seconds);
  // The most exact stand last.
  for (const TileArithmetic &each : llvm::reverse(tiles)) {
    const Kernel kernel(shape, target, each);
    const double seconds =
        std::max(kernel.seconds(target),
                 double(kernel.packedBytes()) / target.rates.memory);
    const bool isDefault = !each.isExact() && each.depth == 2;
    if (!isDefault || seconds < std::min(worthIt * ofExact, ofExact - noticed))
      all.push_back({each.name(), seconds});
    if (each.isExact())
      ofExact = std::min(ofExact, seconds);
  }
}

Alternatives cpu::alternativesFor(const ConvolutionShape &shape,
                                  const Arithmetic &arithmetic,
                                  const Target &target, bool allowsFast,
                                  llvm::ArrayRef<TileArithmetic> tiles) {
  if (isDepthwise(shape)) {
    Alternatives all;
    if (!shape.hasPlanarInput)
      all.push_back({"depthwise", depthwise(shape, arithmetic, target)});
    // Only channel by channel are bytes widened where they are read.
    if (!isByte(arithmetic.lhs) || isByte(arithmetic.rhs))
      all.push_back({"direct", mergedDirect(shape, arithmetic, target)});
    return fastestFirst(std::move(all));
  }
  Alternatives all = {{"direct", direct(shape, arithmetic, target.rates)}};
  if (allowsFast && arithmetic == Arithmetic() && Winograd::supports(shape))
    all.push_back({"winograd", winograd(shape, target)});
  addTiles<TileConvolution>(all, shape, tiles, target);
  return fastestFirst(std::move(all));
}

Alternatives cpu::alternativesFor(llvm::StringRef name,
                                  const MatMulShape &shape, double flops,
                                  const Arithmetic &arithmetic,
                                  const Target &target,
                                  llvm::ArrayRef<TileArithmetic> tiles) {
  const double weights =
      double(shape.n) * double(shape.k) * double(arithmetic.rhsBytes());
  Alternatives all = {{name, std::max(flops / rateOf(arithmetic, target.rates),
                                      weights / target.rates.memory)}};
  addTiles<TileMatMul>(all, shape, tiles, target);
  return fastestFirst(std::move(all));
}

Alternatives cpu::alternativesFor(const AttentionShape &shape, double flops,
                                  const Target &target) {
  // A vector of scores becomes weights in about as many instructions.
  constexpr double ofWeight = 24;
  double matrices = 1;
  for (const AttentionShape::Heads &each : shape.heads)
    matrices *= double(each.size);
  const double scores = matrices * double(shape.rows) * double(shape.keys) *
                        (shape.isCausal ? 0.5 : 1.0);
  // Multiply-adds count as two.
  const double weights = 2 * ofWeight * scores / target.rates.f32;
  const double products = flops / target.rates.f32;
  // By themselves: scores are written, read and written as weights, and read.
  const double bytes = 4 * scores * 4;
  const bool fits = scores * 4 <= double(target.l2Bytes);
  const double apart =
      bytes / (fits ? target.rates.cache : target.rates.memory);
  return fastestFirst({{"attention", products + weights},
                       {"products", products + weights + apart}});
}
