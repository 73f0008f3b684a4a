#include "random/Batch.h"

#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace sinter {
namespace {

class Batcher {
public:
  Batcher(func::FuncOp function, int leading)
      : function(function), block(function.front()),
        builder(function.getContext()), leading(leading) {}

  /// Whether there is a rule for each operation.
  bool run();

private:
  void dynamicArguments();
  bool follow(Operation &op);
  bool elementwise(Operation &op);
  bool reduce(stablehlo::ReduceOp op);
  bool product(stablehlo::DotGeneralOp op);
  bool shaped(Operation &op);
  bool moved(Operation &op);

  bool isBatched(Value value) const { return batched.contains(value); }
  Value now(Value value) const {
    auto found = batched.find(value);
    return found == batched.end() ? value : found->second;
  }
  /// The type of a sample with the leading dimensions.
  RankedTensorType opened(Type type) const {
    auto sample = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(leading, ShapedType::kDynamic);
    llvm::append_range(shape, sample.getShape());
    return sample.clone(shape);
  }
  /// \p value of each sample, as many as \p like has.
  Value spread(Value value, Value like);
  /// The sizes of a tensor of samples of \p sample, as many as \p like has.
  Value sizes(Value like, ArrayRef<int64_t> sample);
  Value numbers(ArrayRef<int32_t> values);
  SmallVector<int64_t> behind(ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> all;
    for (int64_t dim : dims)
      all.push_back(dim + leading);
    return all;
  }
  SmallVector<int64_t> withLeading(ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> all;
    for (int i = 0; i < leading; ++i)
      all.push_back(i);
    llvm::append_range(all, behind(dims));
    return all;
  }
  /// A copy of \p op on \p operands, which gives batches of what it gave.
  Operation *copy(Operation &op, ValueRange operands);
  void replace(Operation &op, ValueRange results) {
    for (auto [before, after] : llvm::zip_equal(op.getResults(), results))
      batched[before] = after;
  }
  /// What is batched among \p op's operands.
  Value sampled(Operation &op) const {
    for (Value operand : op.getOperands())
      if (isBatched(operand))
        return now(operand);
    return {};
  }

  func::FuncOp function;
  Block &block;
  OpBuilder builder;
  int leading;
  DenseMap<Value, Value> batched;
};

} // namespace

void Batcher::dynamicArguments() {
  for (BlockArgument argument : block.getArguments()) {
    const int64_t rank = tensorOf(argument).getRank();
    argument.setType(opened(argument.getType()));
    batched[argument] = argument;
    SmallVector<Attribute> symbols;
    for (const char *name : {"N", "S"})
      if (symbols.size() < size_t(leading))
        symbols.push_back(builder.getStringAttr(name));
    symbols.append(rank, builder.getStringAttr(""));
    function.setArgAttr(argument.getArgNumber(), dimsAttribute,
                        builder.getArrayAttr(symbols));
  }
}

Value Batcher::numbers(ArrayRef<int32_t> values) {
  auto type =
      RankedTensorType::get({int64_t(values.size())}, builder.getI32Type());
  return builder.create<stablehlo::ConstantOp>(
      function.getLoc(), type, DenseIntElementsAttr::get(type, values));
}

Value Batcher::sizes(Value like, ArrayRef<int64_t> sample) {
  const Location location = function.getLoc();
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  SmallVector<Value> parts;
  for (int i = 0; i < leading; ++i) {
    Value size =
        builder.create<stablehlo::GetDimensionSizeOp>(location, like, i);
    parts.push_back(builder.create<stablehlo::ReshapeOp>(location, one, size));
  }
  SmallVector<int32_t> known(sample.begin(), sample.end());
  if (!known.empty())
    parts.push_back(numbers(known));
  return builder.create<stablehlo::ConcatenateOp>(
      location,
      RankedTensorType::get({leading + int64_t(known.size())},
                            builder.getI32Type()),
      parts, 0);
}

Value Batcher::spread(Value value, Value like) {
  if (isBatched(value))
    return now(value);
  RankedTensorType type = tensorOf(value);
  SmallVector<int64_t> own;
  for (int64_t i = 0; i < type.getRank(); ++i)
    own.push_back(i);
  return builder.create<stablehlo::DynamicBroadcastInDimOp>(
      function.getLoc(), opened(type), value, sizes(like, type.getShape()),
      builder.getDenseI64ArrayAttr(behind(own)), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
}

Operation *Batcher::copy(Operation &op, ValueRange operands) {
  Operation *made = builder.clone(op);
  made->setOperands(operands);
  for (OpResult result : made->getResults())
    result.setType(opened(result.getType()));
  replace(op, made->getResults());
  return made;
}

bool Batcher::elementwise(Operation &op) {
  Value like = sampled(op);
  const int64_t rank = tensorOf(op.getResult(0)).getRank();
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    // A scalar that all elements share: one for each sample has no such form.
    const bool isScalar =
        !isBatched(operand) && tensorOf(operand).getRank() == 0;
    if (isBatched(operand) &&
        tensorOf(now(operand)).getRank() != rank + leading)
      return false;
    const bool sharesScalars = isa<stablehlo::SelectOp, stablehlo::ClampOp>(op);
    operands.push_back(sharesScalars && isScalar ? operand
                                                 : spread(operand, like));
  }
  copy(op, operands);
  return true;
}

bool Batcher::reduce(stablehlo::ReduceOp op) {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(op->getRegions(), outside);
  for (Value value : llvm::concat<Value>(llvm::to_vector(op.getInitValues()),
                                         llvm::to_vector(outside)))
    if (isBatched(value))
      return false;
  Value like = sampled(*op);
  SmallVector<Value> operands;
  for (Value input : op.getInputs())
    operands.push_back(spread(input, like));
  llvm::append_range(operands, op.getInitValues());
  auto made = cast<stablehlo::ReduceOp>(copy(*op, operands));
  made.setDimensions(behind(op.getDimensions()));
  return true;
}

bool Batcher::product(stablehlo::DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  SmallVector<int64_t> lhsBatch(numbers.getLhsBatchingDimensions()),
      rhsBatch(numbers.getRhsBatchingDimensions()),
      lhsSums = behind(numbers.getLhsContractingDimensions()),
      rhsSums(numbers.getRhsContractingDimensions());
  Value like = sampled(*op);
  Value lhs = spread(op.getLhs(), like), rhs = op.getRhs();
  if (isBatched(rhs) || !lhsBatch.empty()) {
    rhs = spread(rhs, like);
    lhsBatch = withLeading(lhsBatch);
    rhsBatch = withLeading(rhsBatch);
    rhsSums = behind(rhsSums);
  }
  Operation *made = copy(*op, {lhs, rhs});
  cast<stablehlo::DotGeneralOp>(made).setDotDimensionNumbersAttr(
      stablehlo::DotDimensionNumbersAttr::get(op.getContext(), lhsBatch,
                                              rhsBatch, lhsSums, rhsSums));
  return true;
}

/// What takes sizes when samples are many.
bool Batcher::shaped(Operation &op) {
  const Location location = function.getLoc();
  RankedTensorType type = tensorOf(op.getResult(0));
  Value x = now(op.getOperand(0));
  if (isa<stablehlo::ReshapeOp>(op)) {
    replace(op, builder
                    .create<stablehlo::DynamicReshapeOp>(
                        location, opened(type), x, sizes(x, type.getShape()))
                    ->getResults());
    return true;
  }
  if (auto repeated = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    replace(op, builder
                    .create<stablehlo::DynamicBroadcastInDimOp>(
                        location, opened(type), x, sizes(x, type.getShape()),
                        builder.getDenseI64ArrayAttr(
                            withLeading(repeated.getBroadcastDimensions())),
                        DenseI64ArrayAttr(), DenseI64ArrayAttr())
                    ->getResults());
    return true;
  }
  auto slice = cast<stablehlo::SliceOp>(op);
  SmallVector<int32_t> starts(leading, 0), strides(leading, 1);
  llvm::append_range(starts, slice.getStartIndices());
  llvm::append_range(strides, slice.getStrides());
  replace(op, builder
                  .create<stablehlo::RealDynamicSliceOp>(
                      location, opened(type), x, numbers(starts),
                      sizes(x, slice.getLimitIndices()), numbers(strides))
                  ->getResults());
  return true;
}

/// What goes by numbers of dimensions.
bool Batcher::moved(Operation &op) {
  Value like = sampled(op);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(spread(operand, like));
  Operation *made = copy(op, operands);
  if (auto turned = dyn_cast<stablehlo::TransposeOp>(made))
    turned.setPermutation(withLeading(turned.getPermutation()));
  else if (auto reversed = dyn_cast<stablehlo::ReverseOp>(made))
    reversed.setDimensions(behind(reversed.getDimensions()));
  else {
    auto joint = cast<stablehlo::ConcatenateOp>(made);
    joint.setDimension(joint.getDimension() + leading);
  }
  return true;
}

bool Batcher::follow(Operation &op) {
  builder.setInsertionPoint(&op);
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(op.getRegions(), outside);
  if (!sampled(op))
    return llvm::none_of(outside,
                         [&](Value value) { return isBatched(value); });
  if (llvm::any_of(op.getResultTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return !tensor || tensor.getEncoding() ||
               !tensor.getElementType().isIntOrFloat();
      }))
    return false;
  if (auto sums = dyn_cast<stablehlo::ReduceOp>(op))
    return reduce(sums);
  if (op.getNumRegions() != 0)
    return false;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return product(dot);
  if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
          stablehlo::SliceOp>(op))
    return shaped(op);
  if (isa<stablehlo::TransposeOp, stablehlo::ReverseOp,
          stablehlo::ConcatenateOp>(op))
    return moved(op);
  if (op.hasTrait<OpTrait::Elementwise>() ||
      isa<stablehlo::CompareOp, stablehlo::SelectOp, stablehlo::ClampOp,
          stablehlo::ConvertOp>(op))
    return elementwise(op);
  return false;
}

bool Batcher::run() {
  dynamicArguments();
  SmallVector<Operation *> before;
  for (Operation &op : block.without_terminator())
    before.push_back(&op);
  for (Operation *op : before)
    if (!follow(*op))
      return false;
  Operation *end = block.getTerminator();
  for (OpOperand &returned : end->getOpOperands())
    returned.set(now(returned.get()));
  for (Operation *op : llvm::reverse(before))
    if (op->use_empty())
      op->erase();
  function.setFunctionType(FunctionType::get(
      function.getContext(), block.getArgumentTypes(), end->getOperandTypes()));
  return true;
}

std::vector<std::string> batchableOperations() {
  return {"stablehlo.abs",         "stablehlo.add",
          "stablehlo.and",         "stablehlo.broadcast_in_dim",
          "stablehlo.ceil",        "stablehlo.clamp",
          "stablehlo.compare",     "stablehlo.concatenate",
          "stablehlo.convert",     "stablehlo.cosine",
          "stablehlo.divide",      "stablehlo.dot_general",
          "stablehlo.exponential", "stablehlo.floor",
          "stablehlo.logistic",    "stablehlo.maximum",
          "stablehlo.minimum",     "stablehlo.multiply",
          "stablehlo.negate",      "stablehlo.or",
          "stablehlo.reduce",      "stablehlo.reshape",
          "stablehlo.reverse",     "stablehlo.select",
          "stablehlo.sign",        "stablehlo.slice",
          "stablehlo.subtract",    "stablehlo.tanh",
          "stablehlo.transpose"};
}

std::optional<Model> withBatch(const Model &model, int leading) {
  Model batch = model.clone();
  FirstError quiet(batch.context());
  if (!Batcher(batch.entry(), leading).run() || failed(verify(batch.module())))
    return std::nullopt;
  return batch;
}

} // namespace sinter
