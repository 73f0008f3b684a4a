#include "graph/chlo/DynamicCalls.h"

#include "graph/Constants.h"
#include "graph/Values.h"
#include "graph/chlo/ChloOps.h"
#include "graph/nn/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace sinter {

using nn::TensorBuilder;
using stablehlo::CustomCallOp;

/// A field of the dictionary that configures the call.
static Attribute settingOf(CustomCallOp call, StringRef name) {
  for (StringRef holder : {"mhlo.backend_config", "backend_config"})
    if (auto dictionary = call->getAttrOfType<DictionaryAttr>(holder))
      if (Attribute attribute = dictionary.get(name))
        return attribute;
  return {};
}

static std::optional<int64_t> integerSetting(CustomCallOp call,
                                             StringRef name) {
  auto attribute = dyn_cast_or_null<IntegerAttr>(settingOf(call, name));
  return attribute && attribute.getType().isInteger(64)
             ? std::optional(attribute.getInt())
             : std::nullopt;
}

static std::optional<SmallVector<int64_t>> integersOf(Value value) {
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor || !isInteger(tensor->type()))
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < tensor->size(); ++i)
    numbers.push_back(tensor->toInteger(i));
  return numbers;
}

/// The value of a constant with one element.
static std::optional<int64_t> integerOf(Value value) {
  auto numbers = integersOf(value);
  return numbers && numbers->size() == 1 ? std::optional(numbers->front())
                                         : std::nullopt;
}

/// Copies the one function that the call names into the region of \p op.
static LogicalResult takeComputation(CustomCallOp call, Operation *op) {
  auto names = call->getAttrOfType<ArrayAttr>("called_computations");
  auto name = names && names.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(names[0])
                                         : FlatSymbolRefAttr();
  auto function =
      name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, name)
           : func::FuncOp();
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return failure();
  IRMapping map;
  function.getBody().cloneInto(&op->getRegion(0), map);
  Operation *end = op->getRegion(0).front().getTerminator();
  OpBuilder builder(end);
  builder.create<stablehlo::ReturnOp>(end->getLoc(), end->getOperands());
  end->erase();
  return success();
}

static bool isValid(Operation *op) {
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(verify(op));
}

/// The op's results if it verifies and has the call's types; else erases it.
static FailureOr<Values> accepted(CustomCallOp call, Operation *op) {
  if (compatibleTypes(op->getResultTypes(), call->getResultTypes()) &&
      isValid(op))
    return Values(op->getResults());
  op->erase();
  return failure();
}

static FailureOr<Values> raiseDynamicTopK(CustomCallOp call,
                                          OpBuilder &builder) {
  if (call->getNumOperands() != 2 || call->getNumResults() != 2)
    return failure();
  auto operand = dyn_cast<RankedTensorType>(call->getOperand(0).getType());
  std::optional<int64_t> k = integerOf(call->getOperand(1));
  if (!operand || operand.getRank() == 0 || !k || *k < 0 ||
      operand.isDynamicDim(operand.getRank() - 1) ||
      *k > operand.getShape().back())
    return failure();
  return accepted(
      call, builder.create<chlo::TopKOp>(call.getLoc(), call->getOperand(0),
                                         builder.getI64IntegerAttr(*k),
                                         builder.getBoolAttr(true)));
}

static FailureOr<Values> raiseRandomBits(CustomCallOp call,
                                         OpBuilder &builder) {
  if (call->getNumOperands() != 2 || call->getNumResults() != 2)
    return failure();
  auto algorithm =
      call->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
  auto bits = dyn_cast<RankedTensorType>(call->getResult(1).getType());
  auto shape = integersOf(call->getOperand(1));
  if (!algorithm || !bits || !shape || !elementCount(*shape) ||
      llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return failure();
  return accepted(call,
                  builder.create<stablehlo::RngBitGeneratorOp>(
                      call.getLoc(), call->getOperand(0).getType(),
                      RankedTensorType::get(*shape, bits.getElementType()),
                      algorithm, call->getOperand(0)));
}

static FailureOr<Values> raiseReduceWindow(CustomCallOp call,
                                           OpBuilder &builder) {
  const size_t count = call->getNumResults();
  if (count == 0 || call->getNumOperands() != 2 * count + 5)
    return failure();
  SmallVector<int64_t> lists[5];
  for (size_t i = 0; i < 5; ++i) {
    auto numbers = integersOf(call->getOperand(2 * count + i));
    if (!numbers)
      return failure();
    lists[i] = std::move(*numbers);
  }
  auto list = [&](size_t i) {
    return builder.getNamedAttr(
        ArrayRef<StringRef>{"window_dimensions", "window_strides",
                            "base_dilations", "window_dilations"}[i],
        builder.getDenseI64ArrayAttr(lists[i]));
  };
  if (lists[4].size() != 2 * lists[0].size())
    return failure();
  auto padding = DenseIntElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(lists[0].size()), 2},
                            builder.getI64Type()),
      lists[4]);
  OperationState state(call.getLoc(),
                       stablehlo::ReduceWindowOp::getOperationName());
  state.addOperands(call->getOperands().take_front(2 * count));
  state.addTypes(call->getResultTypes());
  state.addAttributes({list(0), list(1), list(2), list(3),
                       builder.getNamedAttr("padding", padding)});
  state.addRegion();
  Operation *op = builder.create(state);
  if (succeeded(takeComputation(call, op)))
    return accepted(call, op);
  op->erase();
  return failure();
}

/// Sorts by the comparator and takes the first elements of each row.
static FailureOr<Values> raiseApproxTopK(CustomCallOp call,
                                         OpBuilder &builder) {
  const bool isDynamic = call.getCallTargetName() != "ApproxTopK";
  if (call->getNumOperands() != (isDynamic ? 5 : 4) ||
      call->getNumResults() != 2)
    return failure();
  std::optional<int64_t> k = isDynamic ? integerOf(call->getOperand(4))
                                       : integerSetting(call, "top_k"),
                         dimension = integerSetting(call, "reduction_dim");
  auto aggregates =
      dyn_cast_or_null<BoolAttr>(settingOf(call, "aggregate_to_topk"));
  auto type = dyn_cast<RankedTensorType>(call->getOperand(0).getType());
  if (!k || !dimension || !aggregates || !aggregates.getValue() || !type ||
      *dimension < 0 || *dimension >= type.getRank() || *k < 0 ||
      type.isDynamicDim(*dimension) || *k > type.getDimSize(*dimension))
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  shape[*dimension] = *k;
  auto rows = call->getOperands().take_front(2);
  for (auto [row, result] : llvm::zip(rows, call->getResults())) {
    auto whole = dyn_cast<RankedTensorType>(row.getType());
    if (!whole || whole.getShape() != type.getShape() ||
        !compatibleTypes(RankedTensorType::get(shape, whole.getElementType()),
                         result.getType()))
      return failure();
  }
  auto sort = builder.create<stablehlo::SortOp>(
      call.getLoc(), rows.getTypes(), rows,
      builder.getI64IntegerAttr(*dimension), builder.getBoolAttr(true));
  if (failed(takeComputation(call, sort)) || !isValid(sort)) {
    sort->erase();
    return failure();
  }
  TensorBuilder emit(builder, call.getLoc());
  Values values;
  for (Value sorted : sort->getResults())
    values.push_back(emit.slice(sorted, *dimension, 0, *k));
  return values;
}

static FailureOr<Values> raiseDynamicCall(CustomCallOp call,
                                          OpBuilder &builder) {
  const StringRef target = call.getCallTargetName();
  if (target == "stablehlo.dynamic_top_k")
    return raiseDynamicTopK(call, builder);
  if (target == "stablehlo.dynamic_rng_bit_generator")
    return raiseRandomBits(call, builder);
  if (target == "stablehlo.dynamic_reduce_window")
    return raiseReduceWindow(call, builder);
  if (target == "ApproxTopK" || target == "stablehlo.dynamic_approx_top_k")
    return raiseApproxTopK(call, builder);
  return failure();
}

bool raiseDynamicCalls(Operation *root) {
  SmallVector<CustomCallOp> calls;
  root->walk([&](CustomCallOp call) { calls.push_back(call); });
  bool changed = false;
  for (CustomCallOp call : calls) {
    OpBuilder builder(call);
    FailureOr<Values> values = raiseDynamicCall(call, builder);
    if (failed(values))
      continue;
    call->replaceAllUsesWith(*values);
    call->erase();
    changed = true;
  }
  return changed;
}

} // namespace sinter
