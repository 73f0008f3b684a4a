//===- ExactWidening.cpp - remove roundings that are exact ----------------===//

#include "backend/cpu/precision/ExactWidening.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace sinter;

/// Whether \p constant is a splat of a value that \p type represents.
static bool isSplatOf(Attribute constant, FloatType type) {
  if (auto dense = dyn_cast<SplatElementsAttr>(constant))
    constant = dense.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(constant);
  if (!number)
    return false;
  bool losesInfo = true;
  llvm::APFloat value = number.getValue();
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return !losesInfo;
}

/// Whether \p type represents each element of \p wide.
static bool holdsOnly(Value wide, FloatType type, unsigned depth) {
  Operation *op = wide.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto hold = [&](ValueRange operands) {
    return llvm::all_of(operands, [&](Value operand) {
      return holdsOnly(operand, type, depth - 1);
    });
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::ExtFOp op) {
        return getElementTypeOrSelf(op.getIn().getType()) == type;
      })
      .Case(
          [&](arith::ConstantOp op) { return isSplatOf(op.getValue(), type); })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::NegFOp, math::AbsFOp,
            vector::SplatOp, vector::BroadcastOp>(
          [&](Operation *op) { return hold(op->getOperands()); })
      .Case([&](arith::SelectOp op) {
        return hold({op.getTrueValue(), op.getFalseValue()});
      })
      .Default([](Operation *) { return false; });
}

Value cpu::exactlyWide(Value narrow, Type wide) {
  constexpr unsigned mostSteps = 8;
  auto rounding = narrow.getDefiningOp<arith::TruncFOp>();
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(narrow.getType()));
  if (!rounding || !type || rounding.getIn().getType() != wide)
    return {};
  return rounding->hasAttr(roundsNothingAttribute) ||
                 holdsOnly(rounding.getIn(), type, mostSteps)
             ? rounding.getIn()
             : Value();
}
