//===- Arithmetic.h - multiply-add instructions of generators -------------===//
//
//   f32 * f32 -> f32           one multiply-add per lane
//   f16 * f16 -> f32           the same, both widened first
//   f32 * i4 -> f32            eight neighbours of a column in 32 bits, each
//                              widened to a vector as they are read
//   bf16 * bf16 + ... -> f32   groups of two neighbours a lane (vdpbf16ps), or
//                              four (bfmmla)
//   i16 * i16 + ... -> i32     groups of two neighbours a lane (vpdpwssd)
//   u8 * s8 + ... -> i32       groups of four neighbours a lane (vpdpbusd), or
//                              two (vpmaddwd, both widened to 16 bits; smull)
//   s8 * s8 + ... -> i32       groups of eight neighbours a lane (smmla)
//   i16 * s8 + ... -> i32      groups of two (vpmaddwd): int8 stored as i16,
//                              so that one instruction loads a group for all
//                              lanes
//
// Tiles, panels and tasks depend on the types of operands and accumulators;
// only this class defines a reduction step of a lane. A group of neighbours
// along the reduction is contiguous in both operands and adds to one lane of
// the accumulator, as in dot-product instructions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_COMMON_ARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_COMMON_ARITHMETIC_H

#include "backend/cpu/kernels/common/VectorBuilder.h"
#include "backend/cpu/target/Target.h"
#include "runtime/ElementType.h"

namespace sinter::cpu {

/// Whether elements are 8-bit integers.
inline bool isByte(ElementType type) {
  return type == ElementType::I8 || type == ElementType::UI8;
}

/// The type of an element in memory: signless integers, and bytes for narrower
/// types, or types without arithmetic.
mlir::Type storedType(ElementType type, mlir::MLIRContext *context);

/// Converts \p vector, of stored elements \p from, to elements \p to that hold
/// them.
mlir::Value converted(VectorBuilder &code, mlir::Value vector, ElementType from,
                      ElementType to);

/// How a step of a reduction is computed.
enum class StepInstruction {
  /// Multiply and add, for each element of a group separately.
  MultiplyAdd,
  /// x86: sums of four products of u8 by s8 (VNNI).
  ByteDotProduct,
  /// x86: sums of two 16-bit products (pmaddwd), of widened factors. (Its int8
  /// variant, pmaddubsw, saturates.)
  PairSum,
  /// x86: the same for 16-bit factors, with accumulation (VNNI: vpdpwssd).
  PairDotProduct,
  /// x86: a bf16 product added to an f32 accumulator, then its neighbour's,
  /// each rounded (vdpbf16ps: the second of a pair comes first). Denormals are
  /// zero.
  BFloat16DotProduct,
  /// Arm: sums of four s8 products (sdot).
  SignedDotProduct,
  /// Arm: products of 2x8 by 8x2 bytes (smmla), or of 2x4 by 4x2 bf16 (bfmmla),
  /// for two rows at once (gemm/RowPairs.h).
  MatrixProduct,
  /// Arm: sums of two 16-bit products of 8-bit values of one signedness (smull
  /// and sadalp, umull and uadalp).
  LongPairSum,
  /// 32-bit Arm: the same (vmull and vpadal).
  LongPairSum32,
  /// Arm: multiply-add of 16-bit values (smlal), one of each group after
  /// another.
  LongMultiplyAdd
};

struct Arithmetic {
  ElementType lhs = ElementType::F32; ///< Elements of rows: activations.
  ElementType rhs = ElementType::F32; ///< Elements of columns: weights.
  ElementType accumulator = ElementType::F32; ///< Sums.
  /// Elements of each factor that one step multiplies per accumulator lane.
  int64_t kGroup = 1;
  StepInstruction instruction = StepInstruction::MultiplyAdd;
  /// Whether columns of fewer than eight bits are converted to floats by a
  /// look-up table in a register (vpermps of 16 f32).
  bool looksUp = false;

  /// For a float type \p element, for operands and accumulators.
  static Arithmetic of(mlir::Type element);
  /// For the types of these tensors; int8 as in ofBytes(), and bf16 by bf16 in
  /// pairs if \p target has such instructions.
  static Arithmetic of(mlir::Value lhs, mlir::Value rhs, mlir::Value sums,
                       const Target &target);
  /// For int8, or i16 by int8, with the best instruction of \p target.
  /// Accumulators are i32.
  static Arithmetic ofBytes(ElementType lhs, ElementType rhs,
                            const Target &target);
  /// For 8-bit by s8 with the fastest types: rows are i16 if bytesAreWords().
  static Arithmetic ofBytes(const Target &target);
  /// For i16, two per lane, with the best instruction of \p target: pmaddwd or
  /// similar on x86, smlal on Arm.
  static Arithmetic ofPairs(const Target &target);
  /// For bf16 by bf16, with the instruction that \p target has for them:
  /// multipliesBFloat16().
  static Arithmetic ofBFloat16(const Target &target);
  /// For CPUs with dot products of two (vdpbf16ps), or with matrix products.
  static bool multipliesBFloat16(const Target &target) {
    return target.hasBF16Dot || target.hasBF16Matrices;
  }
  /// For float accumulators \p sums and columns of any narrower type. Columns
  /// of fewer than eight bits are groups of 32 bits per lane.
  static Arithmetic ofNarrow(ElementType lhs, ElementType rhs, ElementType sums,
                             const Target &target);
  /// The 8-bit type that \p target multiplies fastest by s8.
  static ElementType bestInt8(const Target &target);
  /// Whether \p target multiplies pairs of i16, and int8 only after widening to
  /// these.
  static bool bytesAreWords(const Target &target);

  /// The same, or what is faster for columns in packed groups of any size.
  Arithmetic ofPackedColumns(const Target &target) const;

  bool operator==(const Arithmetic &) const = default;

  /// Whether rows are multiplied in pairs.
  bool takesRowPairs() const {
    return instruction == StepInstruction::MatrixProduct;
  }
  /// Whether it is of bf16 by bf16, in groups.
  bool isOfBFloat16Groups() const {
    return rhs == ElementType::BF16 && lhs == rhs && kGroup > 1;
  }

  int64_t lhsBytes() const { return int64_t(byteSize(lhs)); }
  int64_t rhsBytes() const { return int64_t(byteSize(rhs)); }
  int64_t sumBytes() const { return int64_t(byteSize(accumulator)); }
  /// The stored elements of columns per lane and step; several elements of
  /// fewer than eight bits share one.
  int64_t rhsGroup() const {
    return kGroup * int64_t(bitWidth(rhs)) / (8 * rhsBytes());
  }
  /// Whether columns are widened, by `widened`, before they are multiplied.
  bool widensRhs() const {
    return isFloat(accumulator) && rhs != accumulator &&
           instruction == StepInstruction::MultiplyAdd;
  }
  /// The arithmetic after `widened`.
  Arithmetic ofWidened() const { return {lhs, accumulator, accumulator}; }
  /// Accumulator lanes of a vector register.
  int64_t lanes(const Target &target) const {
    return target.vectorBytes() / sumBytes();
  }
  /// Steps of a reduction over \p k products.
  int64_t steps(int64_t k) const { return (k + kGroup - 1) / kGroup; }

  mlir::VectorType sumType(mlir::MLIRContext *context, int64_t lanes) const;
  /// The type of the left operand for \p lanes accumulator lanes.
  mlir::VectorType lhsType(mlir::MLIRContext *context, int64_t lanes) const;
  /// The type of the right operand in memory.
  mlir::VectorType rhsType(mlir::MLIRContext *context, int64_t lanes) const;
  /// Element i of each lane's group in \p stored, of rhsType, for all i:
  /// vectors of sumType, which ofWidened() multiplies one after the other.
  llvm::SmallVector<mlir::Value> widened(VectorBuilder &code,
                                         mlir::Value stored) const;
  /// One of them.
  mlir::Value widened(VectorBuilder &code, mlir::Value stored, int64_t i) const;

  /// Broadcasts elements [offset, offset + kGroup) of the left operand to all
  /// lanes, as lhsType; only the first \p valid are read, the others are zero.
  mlir::Value loadSplat(VectorBuilder &code, mlir::Value flat,
                        mlir::Value offset, int64_t lanes, int64_t valid) const;
  /// A splat of \p number of lhsType.
  mlir::Value splat(VectorBuilder &code, int64_t number, int64_t lanes) const;
  /// sum + a * b, lane by lane.
  mlir::Value multiplyAdd(VectorBuilder &code, mlir::Value a, mlir::Value b,
                          mlir::Value sum) const;
  /// Where rows are multiplied in pairs: \p a has a group of each of two rows,
  /// \p b of each of two columns, and \p sum the four sums, row by row.
  mlir::Value multiplyPairs(VectorBuilder &code, mlir::Value a, mlir::Value b,
                            mlir::Value sum) const;
  mlir::Value add(VectorBuilder &code, mlir::Value a, mlir::Value b) const;

private:
  mlir::Value oneOfEachGroup(
      VectorBuilder &code, mlir::Value a, mlir::Value b, mlir::Value sum,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value, mlir::Value)>
          step) const;
  mlir::Value unpacked(VectorBuilder &code, mlir::Value words, int64_t i) const;
  mlir::Value dotProduct(VectorBuilder &code, mlir::Value a, mlir::Value b,
                         mlir::Value sum) const;
  mlir::Value pairSum(VectorBuilder &code, mlir::Value a, mlir::Value b,
                      mlir::Value sum) const;
  mlir::Value longPairSum(VectorBuilder &code, mlir::Value a, mlir::Value b,
                          mlir::Value sum) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_COMMON_ARITHMETIC_H
