//===- Arithmetic.h - what a generator multiplies and sums in -------------===//
//
//   f32 * f32 -> f32           one multiply-add a lane
//   f16 * f16 -> f32           the same, both widened on the way
//   f32 * i4 -> f32            eight neighbours of a column in 32 bits, each
//                              widened to a vector as they are read
//   bf16 * bf16 + ... -> f32   groups of two neighbours a lane (vdpbf16ps)
//   i16 * i16 + ... -> i32     groups of two neighbours a lane (vpdpwssd)
//   u8 * s8 + ... -> i32       groups of four neighbours a lane (vpdpbusd), or
//                              two (vpmaddwd, both widened to 16 bits; smull)
//   i16 * s8 + ... -> i32      groups of two (vpmaddwd): bytes that lie in
//                              memory as words, so that one instruction reads
//                              a group for all lanes
//
// Tiles, panels and tasks follow from the types of operands and sums; what one
// step of a reduction does with a lane is said here alone. A group of
// neighbours along the reduction lies side by side in both operands and adds to
// one lane of sums, as instructions for dot products have it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_ARITHMETIC_H

#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/kernels/VectorBuilder.h"
#include "runtime/ElementType.h"

namespace sinter::cpu {

/// Whether elements are integers of 8 bits.
inline bool isByte(ElementType type) {
  return type == ElementType::I8 || type == ElementType::UI8;
}

/// An element as it lies in memory: integers without sign, and bytes of what is
/// narrower, or has no arithmetic.
mlir::Type storedType(ElementType type, mlir::MLIRContext *context);

/// \p vector, of stored elements \p from, with elements \p to that hold them.
mlir::Value converted(VectorBuilder &code, mlir::Value vector, ElementType from,
                      ElementType to);

/// How a step of a reduction is computed.
enum class StepInstruction {
  /// Multiply and add, for each of a group by itself.
  MultiplyAdd,
  /// x86: sums of four products of unsigned by signed bytes (VNNI).
  ByteDotProduct,
  /// x86: sums of two products of 16 bits (pmaddwd), to which both factors are
  /// widened. (Its like for bytes, pmaddubsw, saturates.)
  PairSum,
  /// x86: the same of factors of 16 bits, added (VNNI: vpdpwssd).
  PairDotProduct,
  /// x86: a product of bf16 added to a sum of f32, then its neighbour's, each
  /// rounded (vdpbf16ps: the second of a pair comes first). Denormal numbers
  /// are zero.
  BFloat16DotProduct,
  /// Arm: sums of four products of signed bytes (sdot).
  SignedDotProduct,
  /// Arm: sums of two products of bytes of one sign, which are of 16 bits
  /// (smull and sadalp, umull and uadalp).
  LongPairSum,
  /// Arm: products of 16 bits, added (smlal), one of each group after another.
  LongMultiplyAdd
};

struct Arithmetic {
  ElementType lhs = ElementType::F32; ///< Elements of rows: activations.
  ElementType rhs = ElementType::F32; ///< Elements of columns: weights.
  ElementType accumulator = ElementType::F32; ///< Sums.
  /// Elements of each factor that one step multiplies for a lane of sums.
  int64_t kGroup = 1;
  StepInstruction instruction = StepInstruction::MultiplyAdd;
  /// Elements of columns of fewer than eight bits become floats by a table of
  /// all of them in a register (vpermps of 16 f32).
  bool looksUp = false;

  /// Of \p element, a float, which is multiplied and summed as it is.
  static Arithmetic of(mlir::Type element);
  /// Of operands and sums as these tensors have them; bytes by each other as
  /// ofBytes says, and bf16 by bf16 in pairs where \p target has them.
  static Arithmetic of(mlir::Value lhs, mlir::Value rhs, mlir::Value sums,
                       const Target &target);
  /// Of bytes, or words of 16 bits by bytes, by the best that \p target has.
  /// Sums are of 32 bits.
  static Arithmetic ofBytes(ElementType lhs, ElementType rhs,
                            const Target &target);
  /// Of bytes by signed ones, as they are multiplied fastest: those of rows as
  /// words where bytesAreWords.
  static Arithmetic ofBytes(const Target &target);
  /// Of integers of 16 bits, two a lane, by the best that \p target has:
  /// pmaddwd or its like on x86, smlal on Arm.
  static Arithmetic ofPairs(const Target &target);
  /// Of bf16 by bf16, two a lane, for machines that have such dot products.
  static Arithmetic ofBFloat16Pairs();
  /// Of \p sums, floats, and columns of any narrower elements. Those of fewer
  /// than eight bits are groups of 32 bits a lane.
  static Arithmetic ofNarrow(ElementType lhs, ElementType rhs, ElementType sums,
                             const Target &target);
  /// The bytes that \p target multiplies fastest by signed ones.
  static ElementType bestBytes(const Target &target);
  /// Whether \p target multiplies numbers of 16 bits, in pairs, and bytes only
  /// once they are widened to that.
  static bool bytesAreWords(const Target &target);

  bool operator==(const Arithmetic &) const = default;

  int64_t lhsBytes() const { return int64_t(byteSize(lhs)); }
  int64_t rhsBytes() const { return int64_t(byteSize(rhs)); }
  int64_t sumBytes() const { return int64_t(byteSize(accumulator)); }
  /// What a step reads of the columns for a lane, in elements as they are
  /// stored; of fewer than eight bits several lie in one.
  int64_t rhsGroup() const {
    return kGroup * int64_t(bitWidth(rhs)) / (8 * rhsBytes());
  }
  /// Whether columns are widened, by `widened`, before they are multiplied.
  bool widensRhs() const {
    return isFloat(accumulator) && rhs != accumulator &&
           instruction == StepInstruction::MultiplyAdd;
  }
  /// What multiplies what `widened` gives.
  Arithmetic ofWidened() const { return {lhs, accumulator, accumulator}; }
  /// Sums in a vector register.
  int64_t lanes(const Target &target) const {
    return target.vectorBytes() / sumBytes();
  }
  /// Steps of a reduction over \p k products.
  int64_t steps(int64_t k) const { return (k + kGroup - 1) / kGroup; }

  mlir::VectorType sumType(mlir::MLIRContext *context, int64_t lanes) const;
  /// What is multiplied for so many lanes of sums.
  mlir::VectorType lhsType(mlir::MLIRContext *context, int64_t lanes) const;
  /// As it lies in memory.
  mlir::VectorType rhsType(mlir::MLIRContext *context, int64_t lanes) const;
  /// Element i of each lane's group in \p stored, which is of rhsType, for all
  /// i: vectors of sumType, which ofWidened multiplies one after the other.
  llvm::SmallVector<mlir::Value> widened(VectorBuilder &code,
                                         mlir::Value stored) const;
  /// One of them.
  mlir::Value widened(VectorBuilder &code, mlir::Value stored, int64_t i) const;

  /// Elements [offset, offset + kGroup) of the left factor in every lane, as
  /// lhsType; of which only the first \p valid are read, the others being zero.
  mlir::Value loadSplat(VectorBuilder &code, mlir::Value flat,
                        mlir::Value offset, int64_t lanes, int64_t valid) const;
  /// \p number in all of lhsType.
  mlir::Value splat(VectorBuilder &code, int64_t number, int64_t lanes) const;
  /// sum + a * b, lane by lane.
  mlir::Value multiplyAdd(VectorBuilder &code, mlir::Value a, mlir::Value b,
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

#endif // SINTER_BACKEND_CPU_KERNELS_ARITHMETIC_H
