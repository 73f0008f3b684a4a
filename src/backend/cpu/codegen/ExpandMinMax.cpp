//===- ExpandMinMax.cpp - maximum and minimum of floats -------------------===//

#include "backend/cpu/codegen/ExpandMinMax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <optional>

using namespace mlir;
using namespace sinter;

namespace {

template <typename Op> struct ExpandMinOrMax : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  static constexpr bool isMaximum = std::is_same_v<Op, arith::MaximumFOp>;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    Value a = op.getLhs(), b = op.getRhs();
    std::optional<APFloat> number = constantIn(b);
    if (!number) {
      number = constantIn(a);
      if (number)
        std::swap(a, b);
    }
    if (number && !number->isNaN())
      rewriter.replaceOp(op, besideConstant(op, a, b, *number, rewriter));
    else
      rewriter.replaceOp(op, ofTwo(op, a, b, rewriter));
    return success();
  }

private:
  /// The constant scalar or splat value of \p value.
  static std::optional<APFloat> constantIn(Value value) {
    if (auto splat = value.getDefiningOp<vector::SplatOp>())
      value = splat.getInput();
    else if (auto spread = value.getDefiningOp<vector::BroadcastOp>())
      value = spread.getSource();
    APFloat number(0.0);
    return matchPattern(value, m_ConstantFloat(&number)) ? std::optional(number)
                                                         : std::nullopt;
  }

  static Value besideConstant(Op op, Value a, Value constant,
                              const APFloat &number, OpBuilder &builder) {
    using arith::CmpFPredicate;
    if (!number.isZero()) {
      // Tied values are the same constant.
      Value isBetter = builder.create<arith::CmpFOp>(
          op.getLoc(), isMaximum ? CmpFPredicate::OGT : CmpFPredicate::OLT,
          constant, a, op.getFastmath());
      return builder.create<arith::SelectOp>(op.getLoc(), isBetter, constant,
                                             a);
    }
    const bool losesTie = number.isNegative() == isMaximum;
    CmpFPredicate predicate =
        isMaximum ? (losesTie ? CmpFPredicate::UGE : CmpFPredicate::UGT)
                  : (losesTie ? CmpFPredicate::ULE : CmpFPredicate::ULT);
    Value isBetter = builder.create<arith::CmpFOp>(op.getLoc(), predicate, a,
                                                   constant, op.getFastmath());
    return builder.create<arith::SelectOp>(op.getLoc(), isBetter, a, constant);
  }

  static Value ofTwo(Op op, Value a, Value b, OpBuilder &builder) {
    using arith::CmpFPredicate;
    Location loc = op.getLoc();
    Value isBetter = builder.create<arith::CmpFOp>(
        loc, isMaximum ? CmpFPredicate::OGT : CmpFPredicate::OLT, a, b,
        op.getFastmath());
    Value ordered = builder.create<arith::SelectOp>(loc, isBetter, a, b);
    // With UEQ instead, LLVM 19's instcombine would turn "|x| above zero or
    // tied with it" into "|x| at least zero", and that into "x at least zero".
    Value differs = builder.create<arith::CmpFOp>(loc, CmpFPredicate::ONE, a, b,
                                                  op.getFastmath());
    return builder.create<arith::SelectOp>(loc, differs, ordered,
                                           tieOrNan(loc, a, b, builder));
  }

  /// Of equal values the one with the winning sign, else a NaN.
  static Value tieOrNan(Location loc, Value a, Value b, OpBuilder &builder) {
    Type type = a.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Type bits = builder.getIntegerType(width);
    if (auto vector = dyn_cast<VectorType>(type))
      bits = vector.clone(bits);
    Value x = builder.create<arith::BitcastOp>(loc, bits, a);
    Value y = builder.create<arith::BitcastOp>(loc, bits, b);
    Value result = builder.create<arith::OrIOp>(loc, x, y);
    if (isMaximum) {
      TypedAttr noSign = builder.getIntegerAttr(
          getElementTypeOrSelf(bits), APInt::getSignedMaxValue(width));
      if (auto vector = dyn_cast<VectorType>(bits))
        noSign = SplatElementsAttr::get(vector, noSign);
      Value both = builder.create<arith::AndIOp>(loc, x, y);
      Value kept = builder.create<arith::OrIOp>(
          loc, both, builder.create<arith::ConstantOp>(loc, noSign));
      result = builder.create<arith::AndIOp>(loc, result, kept);
    }
    return builder.create<arith::BitcastOp>(loc, type, result);
  }
};

} // namespace

void cpu::populateExpandMinMaxPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandMinOrMax<arith::MaximumFOp>,
               ExpandMinOrMax<arith::MinimumFOp>>(patterns.getContext());
}
