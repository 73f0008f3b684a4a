//===- Estimates.cpp - which kernel computes a product, and why -----------===//

#include "backend/cpu/kernels/Estimates.h"

#include "backend/cpu/kernels/Winograd.h"

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
  return rest * (std::max(multiply, transfer(weightBytes, weightsFit)) +
                 transfer(2 * tileBytes, tilesFit));
}

static Alternatives fastestFirst(Alternatives alternatives) {
  llvm::stable_sort(alternatives,
                    [](const Alternative &a, const Alternative &b) {
                      return a.seconds < b.seconds;
                    });
  return alternatives;
}

Alternatives cpu::alternativesFor(const ConvolutionShape &shape,
                                  const Arithmetic &arithmetic,
                                  const Target &target, bool allowsFast) {
  Alternatives all = {{"direct", direct(shape, arithmetic, target.rates)}};
  if (allowsFast && arithmetic == Arithmetic() && Winograd::supports(shape))
    all.push_back({"winograd", winograd(shape, target)});
  return fastestFirst(std::move(all));
}

Alternatives cpu::alternativesFor(llvm::StringRef name,
                                  const MatMulShape &shape, double flops,
                                  const Arithmetic &arithmetic,
                                  const Target &target) {
  const double weights =
      double(shape.n) * double(shape.k) * double(arithmetic.rhsBytes());
  return {{name, std::max(flops / rateOf(arithmetic, target.rates),
                          weights / target.rates.memory)}};
}
