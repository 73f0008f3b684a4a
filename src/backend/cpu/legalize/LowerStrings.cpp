//===- LowerStrings.cpp - strings as their handles ------------------------===//

#include "backend/cpu/legalize/LowerStrings.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/legalize/CheckCalls.h"
#include "graph/check/CheckOps.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/text/TextOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A runtime function and its configuration (runtime/host/Strings.cpp).
struct StringCallee {
  StringRef function;
  std::string configuration;
};

/// "3:abc" for each string.
std::string encoded(DenseStringElementsAttr strings) {
  std::string text;
  for (StringRef each : strings.getValues<StringRef>())
    text += std::to_string(each.size()) + ":" + each.str();
  return text;
}

/// The function of an operation, number \p place, whose result has the shape of
/// its first operand.
std::optional<StringCallee> stringCalleeOf(Operation *op, size_t place) {
  return TypeSwitch<Operation *, std::optional<StringCallee>>(op)
      .Case([](text::FormatOp) {
        return StringCallee{"sinter.format_numbers", ""};
      })
      .Case([](text::ParseOp) {
        return StringCallee{"sinter.parse_numbers", ""};
      })
      .Case([](text::ConcatOp) {
        return StringCallee{"sinter.concat_strings", ""};
      })
      .Case([](text::ChangeCaseOp o) {
        return StringCallee{"sinter.change_case",
                            (o.getUpper() ? "upper;" : "lower;") +
                                o.getLocale().str()};
      })
      .Case([](text::FullMatchOp o) {
        return StringCallee{"sinter.match_strings", o.getPattern().str()};
      })
      .Case(
          [](text::RankOp) { return StringCallee{"sinter.rank_strings", ""}; })
      .Case([&](text::FindOp) {
        // Each keeps what it knows of its keys.
        return StringCallee{"sinter.find_strings", std::to_string(place)};
      })
      .Default(std::optional<StringCallee>());
}

/// \p type with handles where it has strings.
Type asHandles(Type type) {
  if (!isStringTensor(type))
    return type;
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(
      IntegerType::get(type.getContext(), 64, IntegerType::Unsigned));
}

/// The sizes of the dynamic dimensions of \p x as scalars of i64.
SmallVector<Value> dynamicSizesOf(nn::TensorBuilder &emit, Value x) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < tensorOf(x).getRank(); ++dim)
    if (tensorOf(x).isDynamicDim(dim))
      sizes.push_back(
          emit.reshape(emit.convert(emit.extentOf(nn::Size::of(x, dim)),
                                    emit.integerType(64)),
                       nn::Sizes()));
  return sizes;
}

void call(Operation *op, const StringCallee &callee) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op->getLoc());
  SmallVector<Value> inputs(op->getOperands());
  SmallVector<Value> sizes;
  if (isOfUnknownSize(op->getResult(0).getType()))
    sizes = dynamicSizesOf(emit, op->getOperand(0));
  // The operand may have an unknown size where the result has none.
  auto type = tensorOf(op->getResult(0));
  if (static_cast<int64_t>(sizes.size()) != type.getNumDynamicDims())
    type = RankedTensorType::get(tensorOf(op->getOperand(0)).getShape(),
                                 type.getElementType());
  llvm::append_range(inputs, sizes);
  auto made = builder.create<HostCallOp>(op->getLoc(), TypeRange(type), inputs,
                                         callee.function, callee.configuration,
                                         /*pure=*/true, sizes.size());
  op->getResult(0).replaceAllUsesWith(made.getResult(0));
  op->erase();
}

/// The parts are counted, then there is room for them.
void callSplit(text::SplitOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  const std::string configuration =
      std::to_string(static_cast<int64_t>(op.getMost().value_or(-1))) + ";" +
      op.getDelimiter().str();
  Value x = op.getOperand();
  SmallVector<Value> sizes = dynamicSizesOf(emit, x);
  SmallVector<Value> inputs = {x};
  llvm::append_range(inputs, sizes);
  auto counts = builder.create<HostCallOp>(
      op.getLoc(),
      TypeRange{
          RankedTensorType::get(tensorOf(x).getShape(), builder.getI64Type()),
          RankedTensorType::get({}, builder.getI64Type())},
      inputs, "sinter.count_parts", configuration, /*pure=*/true, sizes.size());
  inputs.push_back(counts.getResult(1));
  SmallVector<int64_t> shape(tensorOf(x).getShape());
  shape.push_back(ShapedType::kDynamic);
  auto parts = builder.create<HostCallOp>(
      op.getLoc(),
      TypeRange(RankedTensorType::get(shape, tensorOf(x).getElementType())),
      inputs, "sinter.split_strings", configuration, /*pure=*/true,
      sizes.size() + 1);
  op.getParts().replaceAllUsesWith(parts.getResult(0));
  op.getCounts().replaceAllUsesWith(counts.getResult(0));
  op.erase();
}

/// Constants are made once a run, before all else.
void callConstants(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  llvm::DenseMap<Attribute, Value> made;
  SmallVector<stablehlo::ConstantOp> constants;
  function.walk([&](stablehlo::ConstantOp op) {
    if (isa<DenseStringElementsAttr>(op.getValue()) &&
        isStringTensor(op.getType()))
      constants.push_back(op);
  });
  for (stablehlo::ConstantOp op : constants) {
    Value &value = made[op.getValue()];
    if (!value)
      value = builder
                  .create<HostCallOp>(
                      op.getLoc(), TypeRange(op.getType()), ValueRange(),
                      "sinter.strings",
                      encoded(cast<DenseStringElementsAttr>(op.getValue())),
                      /*pure=*/true)
                  .getResult(0);
    op.getResult().replaceAllUsesWith(value);
  }
  // The first of them may be where calls are inserted.
  for (stablehlo::ConstantOp op : constants)
    op.erase();
}

bool hasStrings(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isStringTensor) ||
         llvm::any_of(op->getResultTypes(), isStringTensor);
}

} // namespace

void cpu::lowerStrings(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<text::TextDialect>(op->getDialect()) ||
        (isa<check::ProbeOp, check::PrintOp>(op) && hasStrings(op)))
      found.push_back(op);
  });
  for (auto [place, op] : llvm::enumerate(found)) {
    if (auto split = dyn_cast<text::SplitOp>(op))
      callSplit(split);
    else if (const std::optional<StringCallee> callee =
                 stringCalleeOf(op, place))
      call(op, *callee);
    else if (callObserver(op, "_strings"))
      op->erase();
  }
  callConstants(function);
  auto retype = [](ValueRange values) {
    for (Value value : values)
      value.setType(asHandles(value.getType()));
  };
  function.walk([&](Operation *op) {
    retype(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        retype(block.getArguments());
  });
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
}
