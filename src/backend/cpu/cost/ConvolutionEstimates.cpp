//===- ConvolutionEstimates.cpp - which kernel computes a convolution ---===//

#include "backend/cpu/cost/Estimates.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/ProductTimes.h"
#include "backend/cpu/cost/TileTimes.h"
#include "backend/cpu/kernels/amx/TileConvolution.h"
#include "backend/cpu/kernels/conv/Winograd.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Depthwise, in whole blocks of channels: a vector of pixels is read for each
/// tap. The input comes from beyond the second-level cache if it is larger.
static double depthwise(const ConvolutionShape &shape,
                        const Arithmetic &arithmetic, const Target &target) {
  const Rates &rates = target.rates;
  const double products = isFloat(arithmetic.accumulator)
                              ? rates.f32
                              : figures::depthwiseInt8Rate * rates.f32;
  const double filled =
      double(llvm::alignTo(shape.outputChannels, arithmetic.lanes(target))) /
      double(shape.outputChannels);
  const double input = double(shape.batch) * double(shape.inputChannels) *
                       double(shape.inputPixels().value()) *
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
  return merged * filled * directConvolution(shape, arithmetic, target);
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
  const Rates &rates = target.rates;
  // As many tiles as stay in a third level are in work at once.
  auto transfer = [&](double bytes, bool isCached) {
    return bytes /
           (isCached ? rates.cache : figures::winogradTilesRate * rates.memory);
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
  const bool isStreamed =
      sizes.weightBytes > figures::streamedMultipleOfL2 * target.l2Bytes;
  return figures::winogradRest *
         (std::max(multiply, reading) +
          (isStreamed ? figures::streamedWait * reading : 0) +
          transfer(figures::winogradTileMoves * tileBytes, tilesFit));
}

static double winogradOfBytes(const ConvolutionShape &shape,
                              const WinogradArithmetic &arithmetic,
                              const Target &target) {
  return figures::winogradInt8Handicap * winograd(shape, arithmetic, target);
}

static Alternatives convolutionOnVectors(const ConvolutionShape &shape,
                                         const Arithmetic &arithmetic,
                                         const Target &target,
                                         bool allowsFast) {
  Alternatives all = {{"direct",
                       shape.groups == 1
                           ? directConvolution(shape, arithmetic, target)
                           : mergedDirect(shape, arithmetic, target),
                       {},
                       weightBytes(shape, arithmetic)}};
  if (allowsFast && Winograd::supports(shape))
    for (const Winograd::Form &form : Winograd::forms())
      if (const auto fast =
              WinogradArithmetic::of(arithmetic, target, form.outputRows)) {
        const Winograd::Sizes sizes = Winograd::sizesOf(shape, *fast);
        all.push_back({form.kernel,
                       fast->isOfFloats()
                           ? winograd(shape, *fast, target)
                           : winogradOfBytes(shape, *fast, target),
                       {},
                       double(sizes.weightBytes) +
                           double(sizes.tiles) * double(sizes.tileBytes)});
      }
  return bestFirst(std::move(all), target);
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
    return bestFirst(std::move(all), target);
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
  return inOrderOf(std::move(ofTypical), std::move(times), target);
}
