//===- ProductTimes.cpp - what products take on vector units ------------===//

#include "backend/cpu/cost/ProductTimes.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::cpu;

double cpu::rateOf(const Arithmetic &arithmetic, const Rates &rates) {
  const bool widensWeights = isByte(arithmetic.rhs);
  switch (arithmetic.accumulator) {
  case ElementType::I32:
    if (arithmetic.instruction == StepInstruction::PairDotProduct)
      return figures::pairDotProductRate * rates.i8;
    // Twice the products of a dot product.
    if (arithmetic.takesRowPairs())
      return 2 * rates.i8;
    return arithmetic.instruction == StepInstruction::PairSum && widensWeights
               ? figures::widenedPairRate * rates.i8
               : rates.i8;
  case ElementType::F64:
    return rates.f64;
  default:
    return arithmetic.isOfBFloat16Groups() ? rates.bf16 : rates.f32;
  }
}

double cpu::timeOfTwo(const Target &target) {
  return 4.0 * double(target.f32Lanes) / target.rates.f32;
}

double cpu::cycleOf(const Target &target) {
  return timeOfTwo(target) * double(target.multiplyAdds) / 2;
}

double cpu::unfilled(const MatMulShape &shape, const Arithmetic &arithmetic,
                     const Target &target) {
  const int64_t lanes = arithmetic.lanes(target);
  const double steps = double(arithmetic.steps(shape.k)) *
                       double(arithmetic.kGroup) / double(shape.k);
  return 2 * cyclesOfStep(target, shape.m, llvm::divideCeil(shape.n, lanes)) *
         double(lanes) / (double(shape.m) * double(shape.n)) * steps;
}

double cpu::readingWeights(double elements, const Arithmetic &arithmetic,
                           const Target &target) {
  const double bits = double(bitWidth(arithmetic.rhs));
  return elements * bits / 8 / target.rates.memory;
}

double cpu::widening(ElementType type, const Target &target) {
  if (type == ElementType::F32 || type == ElementType::F64)
    return 0;
  if (bitWidth(type) < 8)
    return target.hasTableOf16 ? figures::wideningInt4ByTable
                               : figures::wideningInt4;
  const bool isFloat8 = isFloat(type) && bitWidth(type) == 8;
  return isFloat8 ? figures::wideningFloat8 : figures::wideningOther;
}

double cpu::packedProduct(const MatMulShape &shape, double flops,
                          const Arithmetic &given, const Target &target) {
  const Arithmetic arithmetic = given.ofPackedColumns(target);
  return std::max(
      unfilled(shape, arithmetic, target) * flops /
          rateOf(arithmetic, target.rates),
      readingWeights(double(shape.n) * double(shape.k), arithmetic, target));
}

double cpu::packingInt8(const MatMulShape &shape, const Target &target) {
  return figures::packingInt8 * cycleOf(target) *
         double(llvm::divideCeil(shape.k, 4)) *
         double(llvm::divideCeil(shape.n, target.f32Lanes));
}
double cpu::packingF32(const MatMulShape &shape, const Target &target) {
  const bool isCopied = shape.bLayout == MatMulShape::BLayout::Transposed ||
                        shape.m >= figures::leastRowsToCopy;
  return !isCopied ? 0
                   : figures::packingF32 * cycleOf(target) * double(shape.k) *
                         double(llvm::divideCeil(shape.n, target.f32Lanes));
}

double cpu::weightBytes(const ConvolutionShape &shape,
                        const Arithmetic &arithmetic) {
  const int64_t inputs =
      arithmetic.steps(shape.inputChannels / shape.groups) * arithmetic.kGroup;
  return double(shape.outputChannels) * double(inputs) * double(shape.taps()) *
         double(arithmetic.rhsBytes());
}

double cpu::directConvolution(const ConvolutionShape &shape,
                              const Arithmetic &arithmetic,
                              const Target &target) {
  const int64_t inputs = shape.inputChannels / shape.groups;
  const double filled =
      double(arithmetic.steps(inputs) * arithmetic.kGroup) / double(inputs);
  const double weights = double(shape.outputChannels) * double(inputs) *
                         double(shape.kernelHeight) * double(shape.kernelWidth);
  return std::max(filled * shape.flops() / rateOf(arithmetic, target.rates),
                  readingWeights(weights, arithmetic, target));
}

Alternatives cpu::bestFirst(Alternatives alternatives, const Target &target) {
  llvm::stable_sort(alternatives,
                    [](const Alternative &a, const Alternative &b) {
                      return a.seconds < b.seconds;
                    });
  if (!target.isSmall || alternatives.empty())
    return alternatives;
  const double most =
      figures::timesOfFastestForFewerBytes * alternatives.front().seconds;
  auto *slow = llvm::find_if(alternatives, [&](const Alternative &each) {
    return each.seconds > most;
  });
  std::stable_sort(alternatives.begin(), slow,
                   [](const Alternative &a, const Alternative &b) {
                     return a.bytes < b.bytes;
                   });
  return alternatives;
}

void cpu::bringToFront(Alternatives &all, llvm::StringRef kernel) {
  auto found = llvm::find_if(
      all, [&](const Alternative &each) { return each.kernel == kernel; });
  std::rotate(all.begin(), found, found + 1);
}
