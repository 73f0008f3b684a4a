//===- BFloat16Estimates.cpp - bf16 products as they are or in f32 ------===//

#include "backend/cpu/cost/Estimates.h"

#include "backend/cpu/cost/ProductTimes.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::prefersBFloat16(const Target &target) {
  return Arithmetic::multipliesBFloat16(target) && !target.hasMatrixUnits &&
         target.rates.bf16 > target.rates.f32;
}

Alternatives cpu::alternativesForBFloat16(const MatMulShape &shape,
                                          const Target &target) {
  const double flops = flopsOf(shape);
  const Arithmetic widened{ElementType::F32, ElementType::BF16,
                           ElementType::F32};
  return bestFirst(
      {{"bf16",
        packedProduct(shape, flops, Arithmetic::ofBFloat16(target), target)},
       {"f32", packedProduct(shape, flops, widened, target)}},
      target);
}

Alternatives cpu::alternativesForBFloat16(const ConvolutionShape &shape,
                                          bool allowsFast,
                                          const Target &target) {
  auto fastest = [&](const Arithmetic &arithmetic) {
    return alternativesFor(shape, arithmetic, target, allowsFast)
        .front()
        .seconds;
  };
  const Arithmetic groups = Arithmetic::ofBFloat16(target);
  return bestFirst({{"bf16", fastest(groups), {}, weightBytes(shape, groups)},
                    {"f32", fastest({}), {}, weightBytes(shape, {})}},
                   target);
}
