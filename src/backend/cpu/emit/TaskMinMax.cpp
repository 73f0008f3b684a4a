#include "backend/cpu/emit/TaskMinMax.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/kernels/common/VectorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static VectorType bitsOf(VectorType type) {
  return type.clone(IntegerType::get(type.getContext(), 32));
}

static Value splatOf(VectorBuilder &code, VectorType type, float number) {
  return code.create<arith::ConstantOp>(DenseElementsAttr::get(type, number));
}

TaskMinMax::TaskMinMax(OpBuilder &builder, Location location, int64_t lanes)
    : type(VectorType::get({lanes}, builder.getF32Type())) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  VectorBuilder code(builder, location);
  auto kept = [&](Value first) {
    auto vector = cast<VectorType>(first.getType());
    Value slot = createScratch(
        builder, location, MemRefType::get({lanes}, vector.getElementType()));
    code.store(first, slot, code.index(0));
    return slot;
  };
  least = kept(splatOf(code, type, infinity));
  greatest = kept(splatOf(code, type, -infinity));
  areNone = kept(code.zero(bitsOf(type)));
}

// An instruction each for min and max that pass over NaN, and two that remember
// it, where minimum and maximum by their definition take five.
void TaskMinMax::add(OpBuilder &builder, Location location,
                     Value vector) const {
  VectorBuilder code(builder, location);
  Value first = code.index(0);
  auto keep = [&](Value slot, arith::CmpFPredicate isNext) {
    Value before = code.load(slot, first, type);
    Value isTaken = code.create<arith::CmpFOp>(isNext, vector, before);
    code.store(code.create<arith::SelectOp>(isTaken, vector, before), slot,
               first);
  };
  keep(least, arith::CmpFPredicate::OLT);
  keep(greatest, arith::CmpFPredicate::OGT);
  Value isNone = code.create<arith::ExtSIOp>(
      bitsOf(type),
      code.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, vector, vector));
  code.store(code.create<arith::OrIOp>(code.load(areNone, first, bitsOf(type)),
                                       isNone),
             areNone, first);
}

void TaskMinMax::store(OpBuilder &builder, Location location, Value leastMemory,
                       Value greatestMemory, Value task, int64_t tasks,
                       int64_t rows) const {
  VectorBuilder code(builder, location);
  Value first = code.index(0);
  Value isNone = code.create<arith::CmpIOp>(
      arith::CmpIPredicate::ne, code.load(areNone, first, bitsOf(type)),
      code.zero(bitsOf(type)));
  Value none = splatOf(code, type, std::numeric_limits<float>::quiet_NaN());
  auto found = [&](Value slot) -> Value {
    return code.create<arith::SelectOp>(isNone, none,
                                        code.load(slot, first, type));
  };
  Value ofLeast = found(least), ofGreatest = found(greatest);
  Value toLeast = code.flatten(leastMemory),
        toGreatest = code.flatten(greatestMemory);
  code.loop(task, code.index(rows), tasks, [&](Value row) {
    Value at = code.mul(row, type.getNumElements());
    code.store(ofLeast, toLeast, at);
    code.store(ofGreatest, toGreatest, at);
  });
}
