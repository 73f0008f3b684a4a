//===- TileArithmetic.h - bf16 splits of AMX products ---------------------===//
//
//   u8 * s8 -> i32             directly, of any signs
//   f32 * f32 -> f32           x = x0 + x1 (+ x2), each a bf16, and
//     one product              x0 y0, both rounded
//     three (split3)           x0 y1 + x0 y0 + x1 y0
//     six (split6)             all xi yj with i + j < 3
//   f32 * bf16, f32 * f16      the same, with as many terms of y as it needs
//     two (split2)             x0 y + x1 y
//   f16 * f16, bf16 * bf16     all products: four, and one
//
// Each term is the rest of the value, rounded to bf16. AMX flushes denormals to
// zero whatever the processor's mode is, and terms of infinities, NaN and
// values near the largest do not add up. So values are multiplied by 2^24
// before, and accumulators by 2^-48 after the product, which makes all terms
// and all relevant products normal. TileProduct checks that all values of a
// task are small enough for that.
//
// Errors, relative to the sum of |x| |y|: 2^-7 for one product, 2^-15 for
// split3, 2^-16 for two with weights of one term, 2^-23 for split6, each plus
// the error of adding k values in f32.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEARITHMETIC_H

#include "backend/cpu/kernels/amx/TileInstructions.h"
#include "backend/cpu/kernels/common/VectorBuilder.h"
#include "runtime/ElementType.h"
#include "runtime/Precision.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sinter::cpu {

/// The terms of both factors that a product multiplies.
using PartPair = std::pair<int64_t, int64_t>;

/// The types whose values f32 operands hold, if these have fewer bits.
struct TileOperandTypes {
  std::optional<ElementType> lhs = {}, rhs = {};
};

struct TileArithmetic {
  ElementType lhs = ElementType::F32; ///< Activations, as in memory.
  ElementType rhs = ElementType::F32; ///< Weights, before they are packed.
  int64_t lhsTerms = 2, rhsTerms = 2; ///< The terms of each.
  /// Products of terms i and j are omitted from i + j = depth on.
  int64_t depth = 2;
  /// Whether the terms represent both factors exactly, and no product is
  /// omitted.
  bool isWhole = false;

  /// The fastest arithmetic that \p precision allows; nothing where AMX does
  /// not multiply such types. \p sums is the accumulator: f32, or i32 for int8.
  /// Operands may be known to hold \p numbers of fewer bits: their products are
  /// exact, four for f16 by f16.
  static std::optional<TileArithmetic> of(ElementType lhs, ElementType rhs,
                                          ElementType sums, Precision precision,
                                          const TileOperandTypes &numbers = {});

  /// All arithmetics that \p precision allows, the least exact first: a product
  /// may use a more exact one that is not slower.
  static std::vector<TileArithmetic>
  allOf(ElementType lhs, ElementType rhs, ElementType sums, Precision precision,
        const TileOperandTypes &numbers = {});

  /// Whether it is at least as accurate as f32.
  bool isExact() const { return isOfBytes() || depth >= 3 || isWhole; }

  bool operator==(const TileArithmetic &) const = default;

  bool isOfBytes() const;
  ElementType accumulator() const {
    return isOfBytes() ? ElementType::I32 : ElementType::F32;
  }
  /// The element types of tile registers.
  ElementType lhsPart() const { return isOfBytes() ? lhs : ElementType::BF16; }
  ElementType rhsPart() const { return isOfBytes() ? rhs : ElementType::BF16; }
  /// The elements of a row of a tile register, and the neighbours along k that
  /// are adjacent in the other factor's.
  int64_t blockElements() const { return isOfBytes() ? 64 : 32; }
  int64_t group() const { return isOfBytes() ? 4 : 2; }

  /// The products, in an order that changes as few terms as possible from one
  /// to the next.
  llvm::SmallVector<PartPair> products() const;
  /// "tiles-split3", by the number of products.
  llvm::StringRef name() const;

  /// The terms of a row of a register, 64 bytes each. \p elements: a vector of
  /// int8, or two of 16 f32.
  llvm::SmallVector<mlir::Value> split(VectorBuilder &code,
                                       mlir::ValueRange elements) const {
    return split(code, elements, lhsTerms);
  }
  /// The first \p parts terms.
  llvm::SmallVector<mlir::Value>
  split(VectorBuilder &code, mlir::ValueRange elements, int64_t parts) const;
  /// The terms of two neighbours along k, \p pair, of 16 columns each: the
  /// lower half of each column's 32-bit lane is the first neighbour's. 64 bytes
  /// each.
  llvm::SmallVector<mlir::Value>
  splitPairs(VectorBuilder &code, mlir::ValueRange pair, int64_t parts) const;
  /// The terms of a weight, as bits of bf16. If \p isUsual, of the weight times
  /// tileScale; else they are truncated, not rounded, so that no finite value
  /// becomes infinite.
  static void split(float weight, bool isUsual, std::span<uint16_t> parts);
};

/// 32 16-bit lanes: the upper halves of the 16 lanes of \p a and of \p b.
mlir::Value upperHalves(VectorBuilder &code, mlir::Value a, mlir::Value b);

/// The scale of both factors.
inline constexpr float tileScale = 0x1p24f;
/// A task multiplies bf16 terms if no value has a larger magnitude: then
/// accumulators of up to 2^19 scaled products do not overflow.
inline constexpr float mostUsualMagnitude = 0x1p30f;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEARITHMETIC_H
