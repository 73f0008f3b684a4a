//===- ExpandBFloat16.cpp - bf16 conversions by integer arithmetic --------===//

#include "backend/cpu/codegen/ExpandBFloat16.h"

#include "backend/cpu/precision/BFloat16Roundings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter;

namespace {

/// Finds f32 values whose NaNs have no bits set in the lower half: NaNs of
/// bf16, the hardware's default NaN, and results of arithmetic on such.
class PlainNaN {
public:
  /// A loop-carried value is one, if its initial value is and all values in the
  /// loop are.
  bool holds(Value value) {
    asked.clear();
    if (!find(value))
      return false;
    known.insert(asked.begin(), asked.end());
    return true;
  }

private:
  bool find(Value value) {
    if (known.contains(value) || !asked.insert(value).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return carriesSuch(argument);
    Operation *op = value.getDefiningOp();
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([](arith::ExtFOp op) {
          return getElementTypeOrSelf(op.getIn().getType()).isBF16();
        })
        .Case([](arith::ConstantOp op) { return isNumber(op.getValue()); })
        .Case<arith::SIToFPOp, arith::UIToFPOp>([](auto) { return true; })
        .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
              arith::NegFOp, math::AbsFOp, math::CeilOp, math::FloorOp,
              math::FmaOp, math::RoundEvenOp, math::SqrtOp, vector::BroadcastOp,
              vector::ExtractOp, vector::FMAOp, vector::FromElementsOp,
              vector::InsertOp, vector::ShapeCastOp, vector::ShuffleOp,
              vector::SplatOp>([&](Operation *op) {
          return llvm::all_of(op->getOperands(), [&](Value operand) {
            return !isa<FloatType>(getElementTypeOrSelf(operand)) ||
                   find(operand);
          });
        })
        .Case<arith::MaximumFOp, arith::MinimumFOp>([&](auto op) {
          // Otherwise the result may mix the bits of both.
          return (isConstant(op.getLhs()) || isConstant(op.getRhs())) &&
                 find(op.getLhs()) && find(op.getRhs());
        })
        .Case([&](arith::SelectOp op) {
          return find(op.getTrueValue()) && find(op.getFalseValue());
        })
        .Case([&](math::CopySignOp op) { return find(op.getLhs()); })
        .Case([](arith::BitcastOp op) { return hasUpperHalfOnly(op.getIn()); })
        .Case([&](scf::ForOp op) {
          return carriesSuch(op, cast<OpResult>(value).getResultNumber());
        })
        .Case([&](scf::IfOp op) {
          const unsigned number = cast<OpResult>(value).getResultNumber();
          return find(op.thenYield().getOperand(number)) &&
                 find(op.elseYield().getOperand(number));
        })
        .Case<vector::LoadOp>(
            [&](vector::LoadOp op) { return storesSuch(op.getBase()); })
        .Case<memref::LoadOp>(
            [&](memref::LoadOp op) { return storesSuch(op.getMemRef()); })
        .Default([](Operation *) { return false; });
  }

  static bool isConstant(Value value) {
    if (auto splat = value.getDefiningOp<vector::SplatOp>())
      value = splat.getInput();
    else if (auto spread = value.getDefiningOp<vector::BroadcastOp>())
      value = spread.getSource();
    return matchPattern(value, m_Constant());
  }

  /// Whether the lower half of \p bits is zero, as that of a power of two.
  static bool hasUpperHalfOnly(Value bits) {
    constexpr unsigned half = 16;
    APInt distance;
    auto shifted = bits.getDefiningOp<arith::ShLIOp>();
    return shifted &&
           matchPattern(shifted.getRhs(), m_ConstantInt(&distance)) &&
           distance.uge(half);
  }

  static bool isNumber(Attribute constant) {
    if (auto number = dyn_cast<FloatAttr>(constant))
      return !number.getValue().isNaN();
    auto dense = dyn_cast<DenseFPElementsAttr>(constant);
    return dense && llvm::none_of(dense.getValues<APFloat>(),
                                  [](const APFloat &x) { return x.isNaN(); });
  }

  bool carriesSuch(BlockArgument argument) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument != loop.getInductionVar() &&
           carriesSuch(loop, argument.getArgNumber() - 1);
  }

  bool carriesSuch(scf::ForOp loop, unsigned number) {
    return find(loop.getInitArgs()[number]) &&
           find(loop.getBody()->getTerminator()->getOperand(number));
  }

  /// Whether all values stored to \p memory, on the stack, are such.
  bool storesSuch(Value memory) {
    Operation *made = memory.getDefiningOp();
    return isa_and_nonnull<memref::AllocaOp>(made) &&
           llvm::all_of(memory.getUsers(), [&](Operation *user) {
             return llvm::TypeSwitch<Operation *, bool>(user)
                 .Case([&](vector::StoreOp op) {
                   return find(op.getValueToStore());
                 })
                 .Case([&](memref::StoreOp op) {
                   return op.getMemRef() == memory && find(op.getValue());
                 })
                 .Case<memref::LoadOp, vector::LoadOp>(
                     [](auto) { return true; })
                 .Default([](Operation *) { return false; });
           });
  }

  llvm::DenseSet<Value> known, asked;
};

/// Builds integer arithmetic on the bits of scalars or vectors.
class Bits {
public:
  Bits(OpBuilder &builder, Operation *before, Type like)
      : b(builder), loc(before->getLoc()), like(like) {
    b.setInsertionPoint(before);
  }

  Type type(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value number(int64_t value) {
    const Type shaped = type(b.getI32Type());
    TypedAttr scalar = b.getI32IntegerAttr(static_cast<int32_t>(value));
    auto vector = dyn_cast<VectorType>(shaped);
    return create<arith::ConstantOp>(
        vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar)))
               : scalar);
  }
  template <typename Op, typename... Arguments>
  Value create(Arguments &&...arguments) {
    return b.create<Op>(loc, std::forward<Arguments>(arguments)...);
  }

  /// \p x rounded to bf16, with a NaN check if \p asksForNaN.
  Value narrow(Value x, bool asksForNaN) {
    Value bits = create<arith::BitcastOp>(type(b.getI32Type()), x);
    Value last = create<arith::AndIOp>(
        create<arith::ShRUIOp>(bits, number(width)), number(1));
    Value rounded = create<arith::AddIOp>(
        create<arith::AddIOp>(bits, number(belowHalf)), last);
    if (asksForNaN)
      rounded = create<arith::SelectOp>(
          create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x),
          number(quietNaN << width), rounded);
    Value upper = create<arith::TruncIOp>(
        type(b.getI16Type()), create<arith::ShRUIOp>(rounded, number(width)));
    return create<arith::BitcastOp>(type(b.getBF16Type()), upper);
  }

  Value widen(Value x) {
    Value bits = create<arith::BitcastOp>(type(b.getI16Type()), x);
    Value wide = create<arith::ExtUIOp>(type(b.getI32Type()), bits);
    return create<arith::BitcastOp>(type(b.getF32Type()),
                                    create<arith::ShLIOp>(wide, number(width)));
  }

private:
  static constexpr int64_t width = 16, belowHalf = 0x7fff, quietNaN = 0x7fc0;

  OpBuilder &b;
  Location loc;
  Type like;
};

} // namespace

void cpu::expandBFloat16(Operation *root) {
  SmallVector<arith::TruncFOp> roundings;
  SmallVector<arith::ExtFOp> widenings;
  root->walk([&](Operation *op) {
    if (auto rounding = dyn_cast<arith::TruncFOp>(op)) {
      if (getElementTypeOrSelf(rounding.getType()).isBF16())
        roundings.push_back(rounding);
    } else if (auto widening = dyn_cast<arith::ExtFOp>(op)) {
      if (getElementTypeOrSelf(widening.getIn().getType()).isBF16())
        widenings.push_back(widening);
    }
  });
  PlainNaN plain;
  SmallVector<bool> asksForNaN;
  for (arith::TruncFOp rounding : roundings)
    asksForNaN.push_back(!rounding->hasAttr(ofBFloat16Attribute) &&
                         !plain.holds(rounding.getIn()));
  OpBuilder builder(root->getContext());
  for (auto [rounding, asks] : llvm::zip(roundings, asksForNaN)) {
    Bits bits(builder, rounding, rounding.getType());
    rounding.replaceAllUsesWith(bits.narrow(rounding.getIn(), asks));
    rounding.erase();
  }
  for (arith::ExtFOp widening : widenings) {
    Bits bits(builder, widening, widening.getType());
    widening.replaceAllUsesWith(bits.widen(widening.getIn()));
    widening.erase();
  }
}
