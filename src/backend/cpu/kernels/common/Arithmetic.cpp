//===- Arithmetic.cpp - multiply-add instructions of generators -----------===//

#include "backend/cpu/kernels/common/Arithmetic.h"

#include "backend/cpu/kernels/common/SmallFloat.h"
#include "graph/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Type cpu::storedType(ElementType type, MLIRContext *context) {
  if (isInteger(type) || byteSize(type) == 1)
    return IntegerType::get(context, unsigned(byteSize(type) * 8));
  return mlirTypeOf(type, context);
}

Arithmetic Arithmetic::of(Type element) {
  const ElementType type = *elementTypeOf(element);
  return {type, type, type, 1};
}

Arithmetic Arithmetic::of(Value lhs, Value rhs, Value sums,
                          const Target &target) {
  auto typeOf = [](Value value) {
    return *elementTypeOf(getElementTypeOrSelf(value));
  };
  if (multipliesBFloat16(target) && typeOf(lhs) == ElementType::BF16 &&
      typeOf(rhs) == ElementType::BF16)
    return ofBFloat16(target);
  const bool isOfBytes = isByte(typeOf(lhs)) || typeOf(lhs) == ElementType::I16;
  return isOfBytes && isByte(typeOf(rhs))
             ? ofBytes(typeOf(lhs), typeOf(rhs), target)
             : ofNarrow(typeOf(lhs), typeOf(rhs), typeOf(sums), target);
}

Arithmetic Arithmetic::ofBFloat16(const Target &target) {
  const bool hasMatrices = target.hasBF16Matrices;
  return {ElementType::BF16, ElementType::BF16, ElementType::F32,
          hasMatrices ? 4 : 2,
          hasMatrices ? StepInstruction::MatrixProduct
                      : StepInstruction::BFloat16DotProduct};
}

Arithmetic Arithmetic::ofPackedColumns(const Target &target) const {
  if (!target.hasByteMatrices || lhs != ElementType::I8 ||
      rhs != ElementType::I8 || accumulator != ElementType::I32)
    return *this;
  return {lhs, rhs, accumulator, 8, StepInstruction::MatrixProduct};
}

Arithmetic Arithmetic::ofNarrow(ElementType lhs, ElementType rhs,
                                ElementType sums, const Target &target) {
  Arithmetic result{lhs, rhs, sums};
  if (!result.widensRhs() || bitWidth(rhs) >= 8)
    return result;
  constexpr int64_t wordBits = 32;
  result.kGroup = wordBits / bitWidth(rhs);
  result.looksUp = target.hasTableOf16 && sums == ElementType::F32;
  return result;
}

Arithmetic Arithmetic::ofBytes(ElementType lhs, ElementType rhs,
                               const Target &target) {
  const bool isSigned = rhs == ElementType::I8;
  if (target.hasVnni && isSigned && lhs == ElementType::UI8)
    return {lhs, rhs, ElementType::I32, 4, StepInstruction::ByteDotProduct};
  if (target.hasSignedDotProduct && isSigned && lhs == ElementType::I8)
    return {lhs, rhs, ElementType::I32, 4, StepInstruction::SignedDotProduct};
  if (target.hasLongPairSum && lhs == rhs)
    return {lhs, rhs, ElementType::I32, 2,
            target.pointerBits == 64 ? StepInstruction::LongPairSum
                                     : StepInstruction::LongPairSum32};
  if (target.hasPairSum)
    return {lhs, rhs, ElementType::I32, 2, StepInstruction::PairSum};
  return {lhs, rhs, ElementType::I32, 1, StepInstruction::MultiplyAdd};
}

bool Arithmetic::bytesAreWords(const Target &target) {
  return ofBytes(bestInt8(target), ElementType::I8, target).instruction ==
         StepInstruction::PairSum;
}

Arithmetic Arithmetic::ofBytes(const Target &target) {
  return ofBytes(bytesAreWords(target) ? ElementType::I16 : bestInt8(target),
                 ElementType::I8, target);
}

Arithmetic Arithmetic::ofPairs(const Target &target) {
  const bool hasLong = target.hasLongPairSum && target.pointerBits == 64;
  const auto instruction = target.hasVnni && target.hasPairSum
                               ? StepInstruction::PairDotProduct
                           : target.hasPairSum ? StepInstruction::PairSum
                           : hasLong ? StepInstruction::LongMultiplyAdd
                                     : StepInstruction::MultiplyAdd;
  return {ElementType::I16, ElementType::I16, ElementType::I32, 2, instruction};
}

ElementType Arithmetic::bestInt8(const Target &target) {
  return target.hasSignedDotProduct || target.hasLongPairSum ? ElementType::I8
                                                             : ElementType::UI8;
}

VectorType Arithmetic::sumType(MLIRContext *context, int64_t lanes) const {
  return VectorType::get({lanes}, storedType(accumulator, context));
}

VectorType Arithmetic::lhsType(MLIRContext *context, int64_t lanes) const {
  return VectorType::get({lanes * kGroup}, storedType(lhs, context));
}

VectorType Arithmetic::rhsType(MLIRContext *context, int64_t lanes) const {
  return VectorType::get({lanes * rhsGroup()}, storedType(rhs, context));
}

Value Arithmetic::loadSplat(VectorBuilder &code, Value flat, Value offset,
                            int64_t lanes, int64_t valid) const {
  OpBuilder &b = code.builder;
  VectorType type = lhsType(b.getContext(), lanes);
  if (kGroup == 1)
    return code.loadSplat(flat, offset, type);
  // Broadcast the group as one wide integer.
  auto group = VectorType::get({kGroup}, type.getElementType());
  auto whole = VectorType::get(
      {1}, b.getIntegerType(static_cast<unsigned>(kGroup * lhsBytes() * 8)));
  Value loaded = code.loadFirst(flat, offset, group, valid);
  Value packed = b.create<vector::BitCastOp>(code.loc, whole, loaded);
  Value scalar =
      b.create<vector::ExtractOp>(code.loc, packed, ArrayRef<int64_t>{0});
  Value splat = b.create<vector::SplatOp>(
      code.loc, VectorType::get({lanes}, whole.getElementType()), scalar);
  return b.create<vector::BitCastOp>(code.loc, type, splat);
}

Value cpu::converted(VectorBuilder &code, Value factor, ElementType from,
                     ElementType to) {
  if (from == to)
    return factor;
  OpBuilder &b = code.builder;
  if (isFloat(from) && byteSize(from) == 1) {
    KernelBuilder elements(b, code.loc);
    Value decoded =
        emitDecode(elements, factor, mlirTypeOf(from, b.getContext()));
    return converted(code, decoded, ElementType::F32, to);
  }
  auto type =
      cast<VectorType>(factor.getType()).clone(storedType(to, b.getContext()));
  const bool isUnsigned = classOf(from) == ElementClass::UInt;
  if (isFloat(from))
    return b.create<arith::ExtFOp>(code.loc, type, factor);
  if (isFloat(to))
    return isUnsigned
               ? Value(b.create<arith::UIToFPOp>(code.loc, type, factor))
               : Value(b.create<arith::SIToFPOp>(code.loc, type, factor));
  return isUnsigned ? Value(b.create<arith::ExtUIOp>(code.loc, type, factor))
                    : Value(b.create<arith::ExtSIOp>(code.loc, type, factor));
}

/// A splat constant of \p number.
static Value constantOf(VectorBuilder &code, VectorType type, int64_t number) {
  OpBuilder &b = code.builder;
  Type element = type.getElementType();
  const Attribute value =
      isa<FloatType>(element)
          ? Attribute(b.getFloatAttr(element, double(number)))
          : Attribute(b.getIntegerAttr(
                element, llvm::APInt(element.getIntOrFloatBitWidth(),
                                     uint64_t(number))));
  return b.create<arith::ConstantOp>(code.loc,
                                     DenseElementsAttr::get(type, value));
}

Value Arithmetic::splat(VectorBuilder &code, int64_t number,
                        int64_t lanes) const {
  return constantOf(code, lhsType(code.builder.getContext(), lanes), number);
}

static Value callIntrinsic(VectorBuilder &code, StringRef name, Type result,
                           ValueRange operands) {
  return code.builder
      .create<LLVM::CallIntrinsicOp>(code.loc, result,
                                     code.builder.getStringAttr(name), operands)
      .getResult(0);
}

/// The bits of \p type, as "512".
static std::string widthOf(Type type) {
  auto vector = cast<VectorType>(type);
  return std::to_string(vector.getNumElements() *
                        vector.getElementTypeBitWidth());
}

/// Element \p i of the group in each 32-bit lane of \p words.
Value Arithmetic::unpacked(VectorBuilder &code, Value words, int64_t i) const {
  OpBuilder &b = code.builder;
  auto type = cast<VectorType>(words.getType());
  const auto bits = int64_t(bitWidth(rhs)), wordBits = bits * kGroup;
  const bool isUnsigned = classOf(rhs) == ElementClass::UInt;
  auto shifted = [&]<typename Op>(Value word, int64_t by) {
    return by == 0 ? word
                   : Value(b.create<Op>(code.loc, word,
                                        constantOf(code, type, by)));
  };
  if (looksUp) {
    // The index is the lowest four bits of each lane. Entries of shorter
    // elements are repeated for all bits of their neighbours.
    SmallVector<float> table;
    for (int64_t entry = 0; entry < 16; ++entry) {
      const int64_t element = entry & ((1 << bits) - 1);
      const bool isNegative = !isUnsigned && element >= 1 << (bits - 1);
      table.push_back(float(isNegative ? element - (1 << bits) : element));
    }
    auto tableType = VectorType::get({16}, b.getF32Type());
    Value numbers = b.create<arith::ConstantOp>(
        code.loc, DenseElementsAttr::get(tableType, ArrayRef<float>(table)));
    return callIntrinsic(
        code, "llvm.x86.avx512.permvar.sf.512", tableType,
        {numbers, shifted.operator()<arith::ShRUIOp>(words, bits * i)});
  }
  Value element =
      isUnsigned
          ? Value(b.create<arith::AndIOp>(
                code.loc, shifted.operator()<arith::ShRUIOp>(words, bits * i),
                constantOf(code, type, (1 << bits) - 1)))
          : shifted.operator()<arith::ShRSIOp>(
                shifted.operator()<arith::ShLIOp>(words,
                                                  wordBits - bits * (i + 1)),
                wordBits - bits);
  return converted(code, element, ElementType::I32, accumulator);
}

Value Arithmetic::widened(VectorBuilder &code, Value stored, int64_t i) const {
  if (kGroup == 1)
    return converted(code, stored, rhs, accumulator);
  const int64_t lanes =
      cast<VectorType>(stored.getType()).getNumElements() / rhsGroup();
  Value words =
      code.bitsAs(stored, VectorType::get({lanes}, code.builder.getI32Type()));
  return unpacked(code, words, i);
}

SmallVector<Value> Arithmetic::widened(VectorBuilder &code,
                                       Value stored) const {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kGroup; ++i)
    elements.push_back(widened(code, stored, i));
  return elements;
}

/// Dot products of four int8, or two i16, per lane.
Value Arithmetic::dotProduct(VectorBuilder &code, Value a, Value b,
                             Value sum) const {
  if (instruction == StepInstruction::SignedDotProduct)
    return callIntrinsic(code, "llvm.aarch64.neon.sdot.v4i32.v16i8",
                         sum.getType(), {sum, a, b});
  if (instruction == StepInstruction::BFloat16DotProduct)
    return callIntrinsic(
        code, "llvm.x86.avx512bf16.dpbf16ps." + widthOf(sum.getType()),
        sum.getType(), {sum, a, b});
  auto asWords = [&](Value group) -> Value {
    return code.builder.create<vector::BitCastOp>(code.loc, sum.getType(),
                                                  group);
  };
  const StringRef name = instruction == StepInstruction::ByteDotProduct
                             ? "llvm.x86.avx512.vpdpbusd."
                             : "llvm.x86.avx512.vpdpwssd.";
  return callIntrinsic(code, name.str() + widthOf(sum.getType()), sum.getType(),
                       {sum, asWords(a), asWords(b)});
}

/// Hides \p sum from LLVM's code generator, which would otherwise add products
/// of several steps before it adds them to an accumulator, to shorten
/// dependency chains that are not critical, and run out of registers.
static Value apartFromNext(VectorBuilder &code, Value sum) {
  return code.builder
      .create<LLVM::InlineAsmOp>(code.loc, TypeRange{sum.getType()},
                                 ValueRange{sum}, /*asm_string=*/"",
                                 /*constraints=*/"=v,0",
                                 /*has_side_effects=*/false,
                                 /*is_align_stack=*/false,
                                 LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// Sums of two i16 products per lane.
Value Arithmetic::pairSum(VectorBuilder &code, Value a, Value b,
                          Value sum) const {
  const std::string width = widthOf(sum.getType());
  const char *name = width == "512"   ? "llvm.x86.avx512.pmaddw.d.512"
                     : width == "256" ? "llvm.x86.avx2.pmadd.wd"
                                      : "llvm.x86.sse2.pmadd.wd";
  Value products = callIntrinsic(code, name, sum.getType(),
                                 {converted(code, a, lhs, ElementType::I16),
                                  converted(code, b, rhs, ElementType::I16)});
  return apartFromNext(
      code, code.builder.create<arith::AddIOp>(code.loc, sum, products));
}

/// Sums of two int8 products per lane. A product fits 16 bits, a sum of two
/// need not.
Value Arithmetic::longPairSum(VectorBuilder &code, Value a, Value b,
                              Value sum) const {
  const bool isSigned = lhs == ElementType::I8;
  Type productType =
      cast<VectorType>(a.getType()).clone(code.builder.getI16Type());
  if (instruction == StepInstruction::LongPairSum32) {
    Value products = code.builder.create<arith::MulIOp>(
        code.loc, converted(code, a, lhs, ElementType::I16),
        converted(code, b, rhs, ElementType::I16));
    return callIntrinsic(code,
                         isSigned ? "llvm.arm.neon.vpadals.v4i32.v8i16"
                                  : "llvm.arm.neon.vpadalu.v4i32.v8i16",
                         sum.getType(), {sum, products});
  }
  Value products = callIntrinsic(code,
                                 isSigned ? "llvm.aarch64.neon.smull.v8i16"
                                          : "llvm.aarch64.neon.umull.v8i16",
                                 productType, {a, b});
  Value pairs = callIntrinsic(code,
                              isSigned ? "llvm.aarch64.neon.saddlp.v4i32.v8i16"
                                       : "llvm.aarch64.neon.uaddlp.v4i32.v8i16",
                              sum.getType(), {products});
  return code.builder.create<arith::AddIOp>(code.loc, sum, pairs);
}

/// Calls \p step for one element of each group after the other.
Value Arithmetic::oneOfEachGroup(
    VectorBuilder &code, Value a, Value b, Value sum,
    llvm::function_ref<Value(Value, Value, Value)> step) const {
  if (kGroup == 1)
    return step(a, b, sum);
  const int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  for (int64_t i = 0; i < kGroup; ++i) {
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < lanes; ++lane)
      places.push_back(lane * kGroup + i);
    auto part = [&](Value group) -> Value {
      return code.builder.create<vector::ShuffleOp>(code.loc, group, group,
                                                    places);
    };
    sum = step(part(a), part(b), sum);
  }
  return sum;
}

Value Arithmetic::multiplyAdd(VectorBuilder &code, Value a, Value b,
                              Value sum) const {
  switch (instruction) {
  case StepInstruction::ByteDotProduct:
  case StepInstruction::PairDotProduct:
  case StepInstruction::BFloat16DotProduct:
  case StepInstruction::SignedDotProduct:
    return dotProduct(code, a, b, sum);
  case StepInstruction::PairSum:
    return pairSum(code, a, b, sum);
  case StepInstruction::LongPairSum:
  case StepInstruction::LongPairSum32:
    return longPairSum(code, a, b, sum);
  case StepInstruction::MatrixProduct:
    llvm_unreachable("rows are multiplied in pairs");
  case StepInstruction::LongMultiplyAdd:
    return oneOfEachGroup(
        code, a, b, sum, [&](Value left, Value right, Value sum) {
          // With operands widened to 32 bits, LLVM would use mla for half of
          // them, and shifts.
          Value product = callIntrinsic(code, "llvm.aarch64.neon.smull.v4i32",
                                        sum.getType(), {left, right});
          return code.addVectors(sum, product);
        });
  case StepInstruction::MultiplyAdd:
    break;
  }
  return oneOfEachGroup(
      code, a, b, sum, [&](Value left, Value right, Value sum) -> Value {
        left = converted(code, left, lhs, accumulator);
        right = converted(code, right, rhs, accumulator);
        if (isFloat(accumulator))
          return code.fma(left, right, sum);
        return code.addVectors(
            sum, code.builder.create<arith::MulIOp>(code.loc, left, right));
      });
}

Value Arithmetic::multiplyPairs(VectorBuilder &code, Value a, Value b,
                                Value sum) const {
  return callIntrinsic(code,
                       lhs == ElementType::BF16
                           ? "llvm.aarch64.neon.bfmmla"
                           : "llvm.aarch64.neon.smmla.v4i32.v16i8",
                       sum.getType(), {sum, a, b});
}

Value Arithmetic::add(VectorBuilder &code, Value a, Value b) const {
  return isFloat(accumulator)
             ? code.addVectors(a, b)
             : code.builder.create<arith::AddIOp>(code.loc, a, b);
}
