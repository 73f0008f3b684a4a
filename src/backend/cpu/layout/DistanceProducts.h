//===- DistanceProducts.h - products of bytes that are both computed ------===//
//
//   dot_general(convert<i32>(a : ui8) - x, convert<i32>(b : ui8) - y) : i32
//     ->  cpu.distance_product(a, b, x, y) : i32
//
// as the products of attention in a quantised model are. Transposes in front
// of the bytes become part of the dimensions.
//
// Where f32 holds the sums, too, kernels/Estimates says which is faster.
//
// Restrictions:
//   - Each operand is bytes, or distances of bytes from one number, and the
//     right one no constant.
//   - Sums are of 32 bits.
//   - There are rows and columns: products by vectors are reductions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_DISTANCEPRODUCTS_H
#define SINTER_BACKEND_CPU_LAYOUT_DISTANCEPRODUCTS_H

#include "backend/cpu/PassSetting.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

/// The result of \p op as such a product; null if it is none. \p isHeldByF32:
/// so are its sums.
mlir::Value asDistanceProduct(stablehlo::DotGeneralOp op, bool isHeldByF32,
                              const PassSetting &setting);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_DISTANCEPRODUCTS_H
