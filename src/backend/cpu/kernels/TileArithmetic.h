//===- TileArithmetic.h - what matrix units multiply for a product --------===//
//
//   u8 * s8 -> i32             as they are, of any signs
//   f32 * f32 -> f32           x = x0 + x1 (+ x2), each a bf16, and
//     one product              x0 y0, both rounded
//     three (split3)           x0 y1 + x0 y0 + x1 y0
//     six (split6)             all xi yj with i + j < 3
//   f32 * bf16, f32 * f16      the same, with as many parts of y as it has
//     two (split2)             x0 y + x1 y
//   f16 * f16, bf16 * bf16     all there are: four, and one
//
// Each part is what is left of the number, rounded to bf16. Tiles make zeros of
// denormal numbers whatever the processor was told, and parts of numbers near
// the largest, of infinities and of NaN would not add up: so numbers are
// multiplied by 2^24 before, and sums by 2^-48 behind, which makes ordinary
// numbers of all parts and of what products of them matter, and TileProduct
// looks whether all numbers of a task are small enough for that.
//
// Errors, of the sum of |x| |y|: 2^-7 for one product, 2^-15 for split3, 2^-16
// for two by weights of one part, 2^-23 for split6, each with what adding k
// numbers in f32 gives besides.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_TILEARITHMETIC_H

#include "backend/cpu/kernels/TileInstructions.h"
#include "backend/cpu/kernels/VectorBuilder.h"
#include "runtime/ElementType.h"
#include "runtime/Precision.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sinter::cpu {

/// Which part of each factor a product takes.
using PartPair = std::pair<int64_t, int64_t>;

/// Which numbers f32 operands hold, where these are of fewer bits.
struct TileNumbers {
  std::optional<ElementType> lhs = {}, rhs = {};
};

struct TileArithmetic {
  ElementType lhs = ElementType::F32; ///< Activations, as they lie in memory.
  ElementType rhs = ElementType::F32; ///< Weights, before they are packed.
  int64_t lhsParts = 2, rhsParts = 2; ///< Into which each is cut.
  /// Products of parts i and j are left out from i + j = depth on.
  int64_t depth = 2;
  /// Parts are all that there is of both factors' numbers, and none of their
  /// products is left out.
  bool isWhole = false;

  /// What is the fastest of those that \p precision allows; nothing where
  /// matrix units do not multiply such numbers. \p sums: f32, or i32 of bytes.
  /// Both may be known to hold \p numbers of fewer bits: products of such are
  /// exact, four of f16 by f16.
  static std::optional<TileArithmetic> of(ElementType lhs, ElementType rhs,
                                          ElementType sums, Precision precision,
                                          const TileNumbers &numbers = {});

  /// All that \p precision allows, the least exact first: where a product is
  /// no slower for it, it may be computed more exactly.
  static std::vector<TileArithmetic> allOf(ElementType lhs, ElementType rhs,
                                           ElementType sums,
                                           Precision precision,
                                           const TileNumbers &numbers = {});

  /// Whether it is as near as products in f32, or nearer.
  bool isExact() const { return isOfBytes() || depth >= 3 || isWhole; }

  bool operator==(const TileArithmetic &) const = default;

  bool isOfBytes() const;
  ElementType accumulator() const {
    return isOfBytes() ? ElementType::I32 : ElementType::F32;
  }
  /// What a register holds of each.
  ElementType lhsPart() const { return isOfBytes() ? lhs : ElementType::BF16; }
  ElementType rhsPart() const { return isOfBytes() ? rhs : ElementType::BF16; }
  /// Elements of a row of a register, and neighbours that lie together in the
  /// other factor's.
  int64_t blockElements() const { return isOfBytes() ? 64 : 32; }
  int64_t group() const { return isOfBytes() ? 4 : 2; }

  /// In an order in which as few parts as possible change from one to the next.
  llvm::SmallVector<PartPair> products() const;
  /// "tiles-split3", by the number of products.
  llvm::StringRef name() const;

  /// The parts of a row of a register, 64 bytes each. \p elements: a vector of
  /// bytes, or two of 16 f32.
  llvm::SmallVector<mlir::Value> split(VectorBuilder &code,
                                       mlir::ValueRange elements) const {
    return split(code, elements, lhsParts);
  }
  /// The first so many of them.
  llvm::SmallVector<mlir::Value>
  split(VectorBuilder &code, mlir::ValueRange elements, int64_t parts) const;
  /// The parts of two neighbours along k, \p pair, of 16 columns each: of every
  /// column's words the lower half is the first neighbour's. 64 bytes each.
  llvm::SmallVector<mlir::Value>
  splitPairs(VectorBuilder &code, mlir::ValueRange pair, int64_t parts) const;
  /// The parts of a weight, as bits of bf16. Where \p isUsual, they are those
  /// of the weight times tileScale; else they are cut off, not rounded, so that
  /// no finite number becomes infinite.
  static void split(float weight, bool isUsual, std::span<uint16_t> parts);
};

/// 32 elements of 16 bits: the upper halves of the 16 of \p a and of \p b.
mlir::Value upperHalves(VectorBuilder &code, mlir::Value a, mlir::Value b);

/// What both factors are multiplied by.
inline constexpr float tileScale = 0x1p24f;
/// Numbers of a task are multiplied in parts where none has a larger magnitude:
/// then sums of up to 2^19 products, of what is scaled, do not overflow.
inline constexpr float mostUsualMagnitude = 0x1p30f;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEARITHMETIC_H
