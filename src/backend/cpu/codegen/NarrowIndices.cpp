//===- NarrowIndices.cpp - indices of 32 bits -----------------------------===//

#include "backend/cpu/codegen/NarrowIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"

#include <algorithm>
#include <limits>

using namespace mlir;

static constexpr int64_t leastIndex = std::numeric_limits<int32_t>::min(),
                         mostIndex = std::numeric_limits<int32_t>::max();

static int64_t clamped(int64_t number) {
  return std::clamp(number, leastIndex, mostIndex);
}

/// \p number as a constant of \p type, an integer or a vector of these.
static Value constantOf(OpBuilder &builder, Location location, Type type,
                        int64_t number) {
  const TypedAttr one =
      builder.getIntegerAttr(getElementTypeOrSelf(type), number);
  if (auto vector = dyn_cast<VectorType>(type))
    return builder.create<arith::ConstantOp>(
        location, DenseElementsAttr::get(vector, Attribute(one)));
  return builder.create<arith::ConstantOp>(location, one);
}

static unsigned widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

static void narrow(arith::IndexCastOp cast) {
  Value from = cast.getIn();
  if (!getElementTypeOrSelf(cast.getType()).isIndex() || widthOf(from) <= 32)
    return;
  OpBuilder builder(cast);
  const Location location = cast.getLoc();
  Value least = constantOf(builder, location, from.getType(), leastIndex),
        most = constantOf(builder, location, from.getType(), mostIndex);
  cast.getInMutable().assign(builder.create<arith::MaxSIOp>(
      location, builder.create<arith::MinSIOp>(location, from, most), least));
}

static void narrow(arith::IndexCastUIOp cast) {
  Value from = cast.getIn();
  if (!getElementTypeOrSelf(cast.getType()).isIndex() || widthOf(from) < 32)
    return;
  OpBuilder builder(cast);
  const Location location = cast.getLoc();
  cast.getInMutable().assign(builder.create<arith::MinUIOp>(
      location, from,
      constantOf(builder, location, from.getType(), mostIndex)));
}

/// Vectors of indices would be translated by the bytes of their constants.
static void narrow(arith::ConstantOp constant) {
  OpBuilder builder(constant);
  if (auto number = dyn_cast<IntegerAttr>(constant.getValue());
      number && number.getType().isIndex()) {
    constant.setValueAttr(builder.getIndexAttr(clamped(number.getInt())));
    return;
  }
  auto numbers = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!numbers || !numbers.getElementType().isIndex())
    return;
  SmallVector<int32_t> narrowed;
  for (const APInt &number : numbers.getValues<APInt>())
    narrowed.push_back(int32_t(clamped(number.getSExtValue())));
  auto type = cast<VectorType>(constant.getType()).clone(builder.getI32Type());
  Value words = builder.create<arith::ConstantOp>(
      constant.getLoc(),
      DenseElementsAttr::get(type, ArrayRef<int32_t>(narrowed)));
  constant.replaceAllUsesWith(
      builder
          .create<arith::IndexCastOp>(constant.getLoc(), constant.getType(),
                                      words)
          .getResult());
  constant.erase();
}

void sinter::cpu::narrowIndices(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      narrow(constant);
    else if (auto own = dyn_cast<index::ConstantOp>(op))
      own.setValue(
          APInt(64, uint64_t(clamped(own.getValue().getSExtValue())), true));
    else if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      narrow(cast);
    else if (auto cast = dyn_cast<arith::IndexCastUIOp>(op))
      narrow(cast);
  });
}
