//===- MatMulEstimates.cpp - which kernel computes a matmul -------------===//

#include "backend/cpu/cost/Estimates.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/ProductTimes.h"
#include "backend/cpu/cost/TileTimes.h"
#include "backend/cpu/kernels/amx/TileMatMul.h"
#include "backend/cpu/kernels/amx/TileMatrices.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// How much more than as they are weights take as tiles read them, where this
/// does not stay in the second-level cache; else 1.
static double weightsOfTiles(const MatMulShape &shape,
                             const Arithmetic &arithmetic,
                             const TileArithmetic &tiles,
                             const Target &target) {
  const auto bytes = double(TileMatMul(shape, target, tiles).packedBytes());
  if (bytes <= double(target.l2Bytes) / 2)
    return 1;
  return double(tiles.rhsTerms * bitWidth(tiles.rhsPart())) /
         double(bitWidth(arithmetic.rhs));
}

/// Of a product by weights. Sums of floats depend on what computes them, and
/// are to be the same for any number of rows: so that is what is the fastest
/// for rowsOfChoice of them.
static Alternatives
alternativesForRows(const Alternative &onVectors, const MatMulShape &shape,
                    const Arithmetic &arithmetic, const Target &target,
                    llvm::ArrayRef<TileArithmetic> tiles, bool areFew) {
  const bool isDynamic = !shape.dynamicRows.empty();
  auto ofOwnRows = [&] {
    return withTiles<TileMatMul>({onVectors}, shape, tiles, target);
  };
  if (!isDynamic && !isFloat(arithmetic.accumulator))
    return ofOwnRows();
  MatMulShape typical = shape;
  typical.m = rowsOfChoice;
  typical.dynamicRows.clear();
  // Few rows wait for weights.
  llvm::SmallVector<TileArithmetic> some;
  for (const TileArithmetic &each : tiles)
    if (!isDynamic || weightsOfTiles(typical, arithmetic, each, target) <=
                          figures::mostBytesOfDynamicRows)
      some.push_back(each);
  Alternatives ofTypical = {
      {onVectors.kernel,
       packedProduct(typical, flopsOf(typical), arithmetic, target)}};
  Alternatives times = {onVectors};
  addTiles<TileMatMul>(ofTypical, times, typical, shape, some, target);
  const llvm::StringRef first = bestFirst(ofTypical, target).front().kernel;
  if (!isDynamic && usesTiles(first) &&
      weightsOfTiles(typical, arithmetic, tilesNamed(first, some), target) >
          (areFew ? figures::mostBytesOfDynamicRows : figures::asManyBytes))
    return ofOwnRows();
  times = bestFirst(std::move(times), target);
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
  return inOrderOf(std::move(ofTypical), std::move(times), target);
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
    onVectors.seconds += matrices * packingInt8(shape, target);
  }
  return withTiles<TileMatrices>({onVectors}, shape, tiles, target);
}
