#include "backend/cpu/SizedCalls.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static void callNonZero(nn::NonZeroOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  Value isSet =
      emit.compare(stablehlo::ComparisonDirection::NE, op.getOperand(), 0.0);
  Value count = emit.sumAll(emit.convert(isSet, emit.integerType(64)));
  auto call = builder.create<HostCallOp>(
      op.getLoc(), TypeRange(op.getType()), ValueRange{isSet, count},
      "sinter.non_zero", "", /*pure=*/true, /*sized=*/1);
  op.getResult().replaceAllUsesWith(call.getResults().front());
  op.erase();
}

/// Element \p i of a vector of integers, if it is known.
static std::optional<int64_t> knownElement(Value vector, size_t i) {
  const SmallVector<SizeSource> sources = sourcesOfSizes(vector);
  return i < sources.size() ? sources[i].known : std::nullopt;
}

/// Along each dimension whose first element is computed, or of which not every
/// element counts, elements are taken one by one.
static void takeSlices(stablehlo::RealDynamicSliceOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  Type index = emit.integerType(64);
  Value x = op.getOperand();
  const int64_t rank = tensorOf(x).getRank();
  auto element = [&](Value vector, int64_t i) {
    return emit.convert(emit.slice(vector, 0, i, i + 1), index);
  };
  auto asSize = [&](Value number) {
    return nn::Size::computed(emit.convert(number, emit.integerType(32)));
  };
  for (int64_t dim = 0; dim < rank; ++dim) {
    const auto start = knownElement(op.getStartIndices(), dim),
               limit = knownElement(op.getLimitIndices(), dim),
               stride = knownElement(op.getStrides(), dim);
    Value end = limit ? Value() : element(op.getLimitIndices(), dim);
    if (start && stride == 1) {
      if (start != 0 || limit != tensorOf(x).getDimSize(dim))
        x = emit.slice(x, dim, *start, limit ? nn::Size(*limit) : asSize(end));
      continue;
    }
    end = element(op.getLimitIndices(), dim);
    Value first = element(op.getStartIndices(), dim),
          step = element(op.getStrides(), dim);
    Value count = emit.sub(end, first);
    if (stride != 1)
      count =
          emit.max(emit.div(emit.add(count, emit.sub(step, 1.0)), step), 0.0);
    const nn::Sizes sizes = {asSize(count)};
    auto everywhere = [&](Value one) {
      return emit.broadcast(emit.reshape(one, nn::Sizes()), {}, sizes);
    };
    Value places = emit.iota(sizes, 0, index);
    if (stride != 1)
      places = emit.mul(places, everywhere(step));
    x = emit.take(x, emit.add(places, everywhere(first)), dim);
  }
  if (x.getType() != op.getType())
    // What the operation's type says is so, though it does not follow.
    x = builder.create<stablehlo::ReshapeOp>(op.getLoc(), op.getType(), x);
  op.getResult().replaceAllUsesWith(x);
  op.erase();
}

/// Whether the slice of some dimension does not follow from its limit alone.
static bool hasComputedStart(stablehlo::RealDynamicSliceOp op) {
  for (int64_t dim = 0; dim < tensorOf(op).getRank(); ++dim)
    if (!knownElement(op.getStartIndices(), dim) ||
        knownElement(op.getStrides(), dim) != 1)
      return true;
  return false;
}

void cpu::formSizedCalls(func::FuncOp function) {
  function.walk([](nn::NonZeroOp op) {
    Type element = tensorOf(op.getOperand()).getElementType();
    if (tensorOf(op).isDynamicDim(1) && isa<FloatType, IntegerType>(element))
      callNonZero(op);
  });
  function.walk([](stablehlo::RealDynamicSliceOp op) {
    if (hasComputedStart(op))
      takeSlices(op);
  });
}
