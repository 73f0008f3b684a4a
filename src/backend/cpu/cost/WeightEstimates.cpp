//===- WeightEstimates.cpp - in which type weights are stored -----------===//

#include "backend/cpu/cost/Estimates.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/ProductTimes.h"
#include "backend/cpu/kernels/conv/Convolution.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Alternatives cpu::alternativesForWeights(const MatMulShape &shape,
                                         const Arithmetic &narrow,
                                         const Target &target) {
  const MatMulPlan plan(shape, target, narrow);
  double ofVector = widening(narrow.rhs, target);
  // Few rows leave no time in which a vector could be widened.
  const bool hides = shape.m >= figures::matmulRowsThatHide;
  if (!hides)
    ofVector = std::max(ofVector, figures::wideningInFewRows);
  if (plan.widensPanels())
    ofVector += figures::storingWidened;
  // Few rows have sums of blocks multiplied.
  const bool isOfRows = shape.blocks.columns != 0;
  if (shape.blocks.scale && (hides || isOfRows))
    ofVector += isOfRows ? figures::columnBlockScale : figures::blockScale;
  if (shape.blocks.zero)
    ofVector += isOfRows ? figures::columnBlockZero : figures::blockZero;
  const Arithmetic wide = narrow.ofWidened();
  const double cycle = cycleOf(target);
  const double weights = double(shape.n) * double(shape.k);
  const double products =
      unfilled(shape, wide, target) * plan.flops() / rateOf(wide, target.rates);
  const double narrowTime =
      std::max(products + cycle * ofVector * double(plan.widenedVectors()),
               readingWeights(weights, narrow, target));
  // So little stays in the first-level cache, and is as well wide.
  const bool staysInCache =
      weights * double(wide.rhsBytes()) < figures::bytesInL1;
  const double wideTime =
      staysInCache ? products
                   : std::max(products, readingWeights(weights, wide, target));
  Alternatives all = {{"narrow-weights", narrowTime},
                      {"wide-weights", wideTime}};
  if (!target.isSmall &&
      wideTime < (staysInCache ? 1 : figures::wideOfLowBit) * narrowTime)
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

/// For matrix units, which multiply weights as terms of 16 bits each: by the
/// bytes that are read.
static Alternatives ofTileWeights(double weights,
                                  llvm::ArrayRef<ElementType> narrowestFirst,
                                  const Target &target) {
  Alternatives all;
  for (ElementType type : narrowestFirst)
    if (const auto tiles = TileArithmetic::of(
            ElementType::F32, type, ElementType::F32, Precision::Default))
      all.push_back({nameOfWeights(type), 2 * double(tiles->rhsTerms) *
                                              weights / target.rates.memory});
  return bestFirst(std::move(all), target);
}

Alternatives cpu::alternativesForWeights(const ConvolutionShape &shape,
                                         llvm::ArrayRef<ElementType> types,
                                         llvm::StringRef kernel,
                                         const Target &target) {
  const int64_t lanes = target.f32Lanes;
  const int64_t inputs = shape.inputChannels / shape.groups;
  const int64_t vectors = llvm::divideCeil(shape.outputChannels, lanes);
  const int64_t pixels = shape.batch * shape.outputPixels().value();
  const int64_t rows = std::min(
      pixels, maxTileRows(target, chooseTileVectors(target, pixels, vectors)));
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
    if (rows >= figures::pixelsThatHide)
      ofVector = isFloat(type) ? 0 : figures::hiddenOfIntegers * ofVector;
    all.push_back({nameOfWeights(type),
                   std::max(shape.flops() / target.rates.f32 +
                                cycleOf(target) * ofVector * read * tiles,
                            readingWeights(weights, {.rhs = type}, target)),
                   {},
                   weights * double(bitWidth(type)) / 8});
  }
  // What does not stay in the cache drives out what others need: it has the
  // fewest bits, unless that takes too long.
  const bool staysInCache =
      4 * weights <= double(target.l2Bytes) / figures::partsOfL2;
  const Alternative narrowest = all.front();
  all = bestFirst(std::move(all), target);
  if (!staysInCache &&
      narrowest.seconds <= figures::mostForFewestBits * all.front().seconds)
    std::stable_partition(all.begin(), all.end(), [&](const Alternative &each) {
      return each.kernel == narrowest.kernel;
    });
  return all;
}
