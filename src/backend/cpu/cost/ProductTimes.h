//===- ProductTimes.h - what products take on vector units ----------------===//
//
// What the estimates of all kinds of products (Estimates.h) have in common.
// Times are seconds of one thread.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_PRODUCTTIMES_H
#define SINTER_BACKEND_CPU_COST_PRODUCTTIMES_H

#include "backend/cpu/kernels/common/Arithmetic.h"
#include "backend/cpu/kernels/conv/Convolution.h"
#include "backend/cpu/kernels/gemm/MatMul.h"
#include "backend/cpu/target/Alternative.h"

namespace sinter::cpu {

/// Operations a second that kernels of \p arithmetic reach.
double rateOf(const Arithmetic &arithmetic, const Rates &rates);

/// While two vectors of f32 are multiplied and added, at the rate that kernels
/// reach: a cycle of most machines.
double timeOfTwo(const Target &target);

/// A cycle, at that rate.
double cycleOf(const Target &target);

inline double flopsOf(const MatMulShape &shape) {
  return 2.0 * double(shape.m) * double(shape.n) * double(shape.k);
}

/// How much longer than its products alone a product takes whose rows do not
/// fill register tiles, whose columns do not fill vectors or whose depth does
/// not fill groups.
double unfilled(const MatMulShape &shape, const Arithmetic &arithmetic,
                const Target &target);

/// To read so many weights. Those of all kernels are packed, and come from
/// memory: what ran between two runs has taken their place in the cache.
double readingWeights(double elements, const Arithmetic &arithmetic,
                      const Target &target);

/// Cycles for a vector of weights of \p type to become floats.
double widening(ElementType type, const Target &target);

/// A matmul of \p flops in all: its products, and its weights from memory at
/// the same time.
double packedProduct(const MatMulShape &shape, double flops,
                     const Arithmetic &arithmetic, const Target &target);

/// To pack the columns of a computed operand, for each block of rows: of int8,
/// and of f32, where that is done.
double packingInt8(const MatMulShape &shape, const Target &target);
double packingF32(const MatMulShape &shape, const Target &target);

/// The bytes of the weights of a direct convolution.
double weightBytes(const ConvolutionShape &shape, const Arithmetic &arithmetic);
/// A direct convolution without groups.
double directConvolution(const ConvolutionShape &shape,
                         const Arithmetic &arithmetic, const Target &target);

/// \p alternatives from the fastest on. Where \p target is to have small code,
/// those that do not take much longer stand first, by their bytes.
Alternatives bestFirst(Alternatives alternatives, const Target &target);

/// Puts \p kernel, which is one of \p all, before the others.
void bringToFront(Alternatives &all, llvm::StringRef kernel);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_PRODUCTTIMES_H
