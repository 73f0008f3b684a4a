#include "backend/cpu/shapes/NestPrograms.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The number of an operation, and that of one that was refused.
static constexpr llvm::StringLiteral numberAttribute = "cpu.control_flow",
                                     refusedAttribute = "cpu.refused";

void cpu::recordRefused(Operation *op) {
  if (auto number = op->getAttrOfType<IntegerAttr>(numberAttribute))
    op->getParentOfType<ModuleOp>()->setAttr(refusedAttribute, number);
}

std::optional<int64_t> cpu::refusedIn(ModuleOp module) {
  if (auto number = module->getAttrOfType<IntegerAttr>(refusedAttribute))
    return number.getInt();
  return std::nullopt;
}

namespace {

/// What an operation's regions read from outside of it.
class Captured {
public:
  explicit Captured(Operation *op) {
    llvm::SetVector<Value> all;
    getUsedValuesDefinedAbove(op->getRegions(), all);
    for (Value value : all)
      add(value);
  }

  /// Values that are handed to the programs.
  llvm::SetVector<Value> values;
  /// Operations that are repeated in the programs: constants, and what is
  /// computed of sizes, so that a program knows which sizes are equal.
  SmallVector<Operation *> repeated;

private:
  /// Longer chains are handed over.
  static constexpr int mostDepth = 32;

  bool isOfSizes(Value value, int depth = 0) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto found = known.find(op); found != known.end())
      return found->second;
    const bool result = isOperationOfSizes(op, depth);
    return known[op] = result;
  }

  bool isOperationOfSizes(Operation *op, int depth) {
    using namespace stablehlo;
    if (isa<ConstantOp, nn::ShapeOp, GetDimensionSizeOp>(op))
      return true;
    return isa<ReshapeOp, ConvertOp, ConcatenateOp, SliceOp, AddOp, SubtractOp,
               MulOp, DivOp, MinOp, MaxOp>(op) &&
           depth < mostDepth && isSmallVectorOfIntegers(op->getResult(0)) &&
           llvm::all_of(
               op->getOperands(),
               [&](Value operand) { return isOfSizes(operand, depth + 1); });
  }

  static bool isSmallVectorOfIntegers(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getRank() <= 1 &&
           type.getNumElements() <= mostDepth &&
           isa<IntegerType>(type.getElementType());
  }

  void add(Value value) {
    if (isOfSizes(value))
      repeat(value.getDefiningOp());
    else
      values.insert(value);
  }

  void repeat(Operation *op) {
    if (!seen.insert(op).second)
      return;
    const bool takesSizes = isa<nn::ShapeOp, stablehlo::GetDimensionSizeOp>(op);
    for (Value operand : op->getOperands())
      if (takesSizes)
        values.insert(operand);
      else
        repeat(operand.getDefiningOp());
    repeated.push_back(op);
  }

  llvm::DenseMap<Operation *, bool> known;
  llvm::DenseSet<Operation *> seen;
};

/// A model whose entry function does what \p region does.
OwningOpRef<ModuleOp> modelOf(Region &region, const Captured &captured) {
  Block &block = region.front();
  const Location location = region.getLoc();
  SmallVector<Type> arguments(block.getArgumentTypes());
  for (Value value : captured.values)
    arguments.push_back(value.getType());
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(
      location, entryName,
      builder.getFunctionType(arguments,
                              block.getTerminator()->getOperandTypes()));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  const unsigned carried = block.getNumArguments();
  mapping.map(block.getArguments(), entry->getArguments().take_front(carried));
  mapping.map(captured.values.getArrayRef(),
              entry->getArguments().drop_front(carried));
  for (Operation *repeated : captured.repeated)
    builder.clone(*repeated, mapping);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  builder.create<func::ReturnOp>(location, results);
  return module;
}

/// Calls that run \p op's programs and take what they give.
class Calls {
public:
  Calls(Operation *op, size_t number)
      : op(op), builder(op), number("call=" + std::to_string(number)) {}

  void run(StringRef function, const Twine &configuration,
           ArrayRef<Value> inputs) {
    call({}, inputs, function, configuration);
  }

  /// Result \p index, whose unknown sizes are asked for.
  Value take(unsigned index) {
    const std::string result = ";result=" + std::to_string(index);
    auto type = tensorOf(op->getResult(index));
    auto scalar = RankedTensorType::get({}, builder.getI64Type());
    SmallVector<Value> sizes;
    for (auto [dimension, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        sizes.push_back(call(scalar, {}, "sinter.nested_size",
                             result + ";dimension=" + Twine(dimension))
                            .getResult(0));
    return call(type, sizes, "sinter.take_nested", result, sizes.size())
        .getResult(0);
  }

private:
  HostCallOp call(TypeRange types, ArrayRef<Value> inputs, StringRef function,
                  const Twine &configuration, uint64_t sized = 0) {
    return builder.create<HostCallOp>(op->getLoc(), types, inputs, function,
                                      (number + configuration).str(),
                                      /*pure=*/false, sized);
  }

  Operation *op;
  OpBuilder builder;
  std::string number;
};

bool isRankedTensor(Type type) { return isa<RankedTensorType>(type); }

void nest(Operation *op, ProgramNesting &nesting) {
  const Captured captured(op);
  if (!llvm::all_of(op->getOperandTypes(), isRankedTensor) ||
      !llvm::all_of(op->getResultTypes(), isRankedTensor) ||
      !llvm::all_of(ValueRange(captured.values.getArrayRef()).getTypes(),
                    isRankedTensor))
    return;
  const size_t first = nesting.models.size();
  for (Region &region : op->getRegions())
    nesting.models.push_back(modelOf(region, captured));
  SmallVector<Value> inputs(op->getOperands());
  llvm::append_range(inputs, captured.values);
  Calls calls(op, first);
  if (isa<stablehlo::WhileOp>(op))
    calls.run("sinter.run_loop",
              ";condition=" + Twine(first) + ";body=" + Twine(first + 1) +
                  ";carried=" + Twine(op->getNumOperands()),
              inputs);
  else
    calls.run("sinter.run_branch",
              ";first=" + Twine(first) + ";count=" + Twine(op->getNumRegions()),
              inputs);
  for (OpResult result : op->getResults())
    result.replaceAllUsesWith(calls.take(result.getResultNumber()));
  op->erase();
}

} // namespace

void cpu::nestPrograms(func::FuncOp function, ProgramNesting &nesting) {
  int64_t number = 0;
  Builder builder(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (!isControlFlow(&op))
      continue;
    op.setAttr(numberAttribute, builder.getI64IntegerAttr(number));
    if (nesting.chosen.contains(number++))
      nest(&op, nesting);
  }
}
