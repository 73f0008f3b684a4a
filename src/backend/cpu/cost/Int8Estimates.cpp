//===- Int8Estimates.cpp - int8 products as they are or in f32 ----------===//

#include "backend/cpu/cost/Estimates.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/ProductTimes.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// To turn activations into f32.
static double wideningActivations(double elements, const Target &target) {
  return figures::wideningActivation * cycleOf(target) * elements /
         double(target.f32Lanes);
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
  return bestFirst({{"bytes", products(bytes) + packingInt8(shape, target)},
                    {"f32", products({}) + packingF32(shape, target) +
                                wideningActivations(operands, target)}},
                   target);
}

Alternatives cpu::alternativesForBytes(const MatMulShape &shape,
                                       const Arithmetic &bytes,
                                       const Target &target) {
  if (shape.bLayout != MatMulShape::BLayout::Packed)
    return alternativesForComputed(shape, bytes, target);
  const double flops = flopsOf(shape);
  const double weights = double(shape.k) * double(shape.n);
  return bestFirst(
      {{"bytes", packedProduct(shape, flops, bytes, target), {}, weights},
       {"f32",
        packedProduct(shape, flops, {}, target) +
            wideningActivations(double(shape.m) * double(shape.k), target),
        {},
        sizeof(float) * weights}},
      target);
}

Alternatives cpu::alternativesForBytes(const ConvolutionShape &shape,
                                       const Arithmetic &bytes,
                                       const Target &target) {
  const double activations = double(shape.batch) * double(shape.inputChannels) *
                             double(shape.inputPixels().value());
  return bestFirst({{"bytes",
                     directConvolution(shape, bytes, target),
                     {},
                     weightBytes(shape, bytes)},
                    {"f32",
                     directConvolution(shape, {}, target) +
                         wideningActivations(activations, target),
                     {},
                     weightBytes(shape, {})}},
                   target);
}
