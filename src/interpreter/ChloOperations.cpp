//===- ChloOperations.cpp - chlo operations of dynamic shape --------------===//

#include "interpreter/ChloOperations.h"

#include "graph/chlo/Structured.h"
#include "interpreter/Decomposed.h"
#include "interpreter/Strided.h"

#include <cstring>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

/// Copies slice \p index along \p axis of \p whole to or from \p slice.
static void copySlice(AxisView view, int64_t index, size_t elementBytes,
                      std::byte *to, const std::byte *from, bool intoWhole) {
  const size_t bytes = view.inner * elementBytes;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    const size_t inWhole = (outer * view.size + index) * bytes;
    const size_t inSlice = outer * bytes;
    std::memcpy(to + (intoWhole ? inWhole : inSlice),
                from + (intoWhole ? inSlice : inWhole), bytes);
  }
}

static Tensor sliceAt(const Tensor &whole, int64_t axis, int64_t index) {
  Shape shape = whole.shape();
  shape.erase(shape.begin() + axis);
  Tensor slice(whole.type(), shape);
  if (slice.size() > 0)
    copySlice(AxisView(whole.shape(), axis), index, byteSize(whole.type()),
              slice.mutableBytes(), whole.data(), /*intoWhole=*/false);
  return slice;
}

/// Copies \p slice into \p whole, which is created at the first one.
static Result<void> putAt(Tensor &whole, const Tensor &slice, int64_t axis,
                          int64_t index, int64_t length, bool isFirst) {
  Shape shape = slice.shape();
  shape.insert(shape.begin() + axis, length);
  if (isFirst) {
    if (Result<void> fits = checkSize(slice.type(), shape); !fits)
      return fits;
    whole = Tensor(slice.type(), shape);
  }
  if (whole.shape() != shape)
    return invalidModel("the slices of an output differ in shape");
  if (slice.size() > 0)
    copySlice(AxisView(shape, axis), index, byteSize(slice.type()),
              whole.mutableBytes(), slice.data(), /*intoWhole=*/true);
  return {};
}

/// How many slices there are.
static Result<int64_t> lengthOf(const Call &call, chlo::ScanOp op) {
  const auto axis = static_cast<size_t>(op.getDimension());
  llvm::ArrayRef<Tensor> inputs = call.slice(op.getInputs());
  int64_t length = op.getLength();
  if (ShapedType::isDynamic(length)) {
    if (inputs.empty())
      return unsupported("nothing says how often it repeats");
    length = inputs[0].shape()[axis];
  }
  for (const Tensor &input : inputs)
    if (input.shape()[axis] != length)
      return invalidModel("inputs differ in size along the dimension");
  return length;
}

static Result<Tensors> evaluateScan(const Call &call) {
  auto op = call.as<chlo::ScanOp>();
  const auto axis = static_cast<int64_t>(op.getDimension());
  Result<int64_t> length = lengthOf(call, op);
  if (!length)
    return length.takeError();
  llvm::ArrayRef<Tensor> inputs = call.slice(op.getInputs());
  Tensors carries = call.slice(op.getInits()).vec();
  Tensors results;
  for (Value output : op.getOutputs()) {
    // The result of no slices: a dynamic dimension has no elements then.
    Shape shape = toShape(tensorOf(output).getShape());
    for (int64_t &size : shape)
      size = ShapedType::isDynamic(size) ? 0 : size;
    const auto index = cast<OpResult>(output).getResultNumber();
    results.emplace_back(call.resultElement(index),
                         *length == 0 ? shape : Shape(shape.size(), 0));
  }
  for (int64_t step = 0; step < *length; ++step) {
    const int64_t index = op.getIsReverse() ? *length - 1 - step : step;
    Tensors arguments;
    for (const Tensor &input : inputs)
      arguments.push_back(sliceAt(input, axis, index));
    llvm::append_range(arguments, carries);
    Result<Tensors> next =
        runRegion(op.getBody(), std::move(arguments), call.scope);
    if (!next)
      return next.takeError();
    for (auto [whole, slice] : llvm::zip(results, *next))
      if (Result<void> put =
              putAt(whole, slice, axis, index, *length, step == 0);
          !put)
        return put.takeError();
    carries.assign(next->begin() + results.size(), next->end());
  }
  llvm::append_range(results, carries);
  return results;
}

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

/// Evaluates the decomposition for the operands' sizes.
static Result<Tensors> evaluateRaggedDot(const Call &call) {
  const Type element = call.resultType().getElementType();
  return evaluateDecomposed(call, [&](Operation *copy) {
    auto dot = cast<chlo::RaggedDotOp>(copy);
    dot.getResult().setType(
        RankedTensorType::get(chlo::raggedDotShape(dot), element));
  });
}

void registerChloOperations(Registry &registry) {
  registry.add<chlo::ScanOp>(evaluateScan);
  registry.add<chlo::RaggedDotOp>(evaluateRaggedDot);
}

} // namespace sinter::interpreter
