#include "backend/cpu/quantized/TabulateInt8.h"

#include "backend/cpu/emit/Math.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/target/Target.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"
#include "passes/Groups.h"

#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;

namespace sinter::cpu {

static constexpr llvm::StringLiteral tabulateLabel = "tabulate-int8";
static constexpr int64_t numberOfBytes = 256;

ArrayRef<PatternInfo> tabulateInt8Patterns() {
  static const PatternInfo infos[] = {
      {tabulateLabel,
       "convert<i8>(f(convert<f32>(x : ui8))) -> cpu.lookup(x, table)",
       "cpu-tabulate-int8"}};
  return infos;
}

static bool isByte(Value value) {
  return tensorOf(value).getElementType().isInteger(8);
}

namespace {

/// An element-wise function of the 8-bit tensor `argument`: its operations in
/// order, the last of which has an 8-bit result.
struct ByteFunction {
  Value argument;
  SmallVector<Operation *> operations;

  static std::optional<ByteFunction> of(stablehlo::ConvertOp root);
  /// Whether a look-up is cheaper than the operations.
  bool isLong(const Target &target) const;
  /// The results for all 256 arguments, ordered by their bits; nothing if an
  /// operation cannot be evaluated.
  std::optional<Tensor> table() const;
};

} // namespace

/// Collects the operations from 8-bit values to \p op; false if there is
/// another source.
static bool collect(Operation *op, llvm::SetVector<Operation *> &operations,
                    llvm::SetVector<Value> &bytes) {
  constexpr size_t mostOperations = 64;
  SmallVector<Operation *> open = {op};
  while (!open.empty()) {
    Operation *each = open.pop_back_val();
    if (!operations.insert(each))
      continue;
    if (!isElementwise(each) || each->getNumResults() != 1 ||
        !canEvaluate(each) || each->getBlock() != op->getBlock() ||
        operations.size() > mostOperations)
      return false;
    for (Value operand : each->getOperands()) {
      if (splatNumber(operand))
        continue;
      if (dimsOf(operand) != dimsOf(op->getResult(0)))
        return false;
      if (isByte(operand))
        bytes.insert(operand);
      else if (Operation *producer = operand.getDefiningOp())
        open.push_back(producer);
      else
        return false;
    }
  }
  return true;
}

std::optional<ByteFunction> ByteFunction::of(stablehlo::ConvertOp root) {
  if (!isByte(root.getResult()) || isByte(root.getOperand()) ||
      !tensorOf(root.getResult()).hasStaticShape())
    return std::nullopt;
  llvm::SetVector<Operation *> operations;
  llvm::SetVector<Value> bytes;
  if (!collect(root, operations, bytes))
    return std::nullopt;
  // 8-bit values that are computed from other ones are functions of these.
  while (bytes.size() > 1) {
    auto known = llvm::find_if(bytes, [](Value each) {
      return each.getDefiningOp<LookupOp>() != nullptr;
    });
    if (known == bytes.end())
      return std::nullopt;
    auto lookup = (*known).getDefiningOp<LookupOp>();
    bytes.remove(lookup.getResult());
    bytes.insert(lookup.getOperand());
    operations.insert(lookup);
  }
  if (bytes.empty())
    return std::nullopt;
  ByteFunction found{bytes.front(), operations.takeVector()};
  llvm::sort(found.operations,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return found;
}

/// The cost of a look-up of as many bytes as a vector has f32 lanes, in
/// operations on such a vector. For 64 bytes: four instructions for 128
/// entries, or five for each row of 16; otherwise a load and two moves per
/// byte.
static int64_t costOfLookup(const Target &target) {
  constexpr int64_t ofPermutation = 8, ofShuffles = 20, ofLoad = 3;
  return target.permutesBytes       ? ofPermutation
         : target.shuffledBytes > 0 ? ofShuffles
                                    : ofLoad * target.f32Lanes;
}

bool ByteFunction::isLong(const Target &target) const {
  constexpr int64_t ofFunction = 24;
  const int64_t ofLookup = costOfLookup(target);
  int64_t cost = 0;
  for (Operation *op : operations)
    cost += isFunction(op) ? ofFunction : isCheap(op) ? 1 : 2;
  return cost >= ofLookup;
}

std::optional<Tensor> ByteFunction::table() const {
  Tensor all(*elementTypeOf(tensorOf(argument).getElementType()),
             {numberOfBytes});
  auto *bits = reinterpret_cast<uint8_t *>(all.mutableBytes());
  std::iota(bits, bits + numberOfBytes, 0);
  // Clones on 256 elements, which are evaluated one by one.
  OpBuilder builder(operations.back());
  SmallVector<Operation *> made;
  IRMapping mapping;
  llvm::DenseMap<Value, Tensor> known;
  auto constant = [&](Value value, Tensor tensor) {
    Value copy = makeConstant(builder, argument.getLoc(), tensor);
    made.push_back(copy.getDefiningOp());
    mapping.map(value, copy);
    known.try_emplace(copy, std::move(tensor));
  };
  constant(argument, all);
  bool isWhole = true;
  for (Operation *op : operations) {
    if (auto lookup = dyn_cast<LookupOp>(op)) {
      const Tensor &index =
          known.find(mapping.lookup(op->getOperand(0)))->second;
      std::optional<Tensor> inner = constantTensor(lookup.getTable());
      isWhole = inner.has_value();
      if (!isWhole)
        break;
      Tensor result(inner->type(), {numberOfBytes});
      for (int64_t i = 0; i < numberOfBytes; ++i)
        result.mutableBytes()[i] =
            inner->data()[std::to_integer<uint8_t>(index.data()[i])];
      constant(op->getResult(0), std::move(result));
      continue;
    }
    std::vector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      if (!mapping.contains(operand)) {
        RankedTensorType type = tensorOf(operand);
        SmallVector<int64_t> shape;
        if (type.getRank() != 0)
          shape = {numberOfBytes};
        Value source = operand;
        while (auto broadcast =
                   source.getDefiningOp<stablehlo::BroadcastInDimOp>())
          source = broadcast.getOperand();
        auto number = cast<DenseElementsAttr>(
            source.getDefiningOp<stablehlo::ConstantOp>().getValue());
        constant(operand, *toTensor(number.resizeSplat(type.clone(shape))));
      }
      operands.push_back(known.find(mapping.lookup(operand))->second);
    }
    Operation *copy = builder.clone(*op, mapping);
    copy->removeDiscardableAttr(traceAttribute);
    made.push_back(copy);
    Value result = copy->getResult(0);
    result.setType(tensorOf(result).clone({numberOfBytes}));
    Result<std::vector<Tensor>> values = evaluate(copy, operands);
    isWhole = bool(values);
    if (!isWhole)
      break;
    known.try_emplace(result, std::move(values->front()));
  }
  std::optional<Tensor> table;
  if (isWhole)
    table = known.find(mapping.lookup(operations.back()->getResult(0)))->second;
  for (Operation *op : llvm::reverse(made))
    op->erase();
  return table;
}

void tabulateInt8(func::FuncOp function, const Target &target,
                  PatternRun &run) {
  if (!run.isEnabled(tabulateLabel))
    return;
  SmallVector<stablehlo::ConvertOp> found;
  function.walk([&](stablehlo::ConvertOp op) { found.push_back(op); });
  for (stablehlo::ConvertOp op : found) {
    std::optional<ByteFunction> bytes = ByteFunction::of(op);
    if (!bytes || !bytes->isLong(target))
      continue;
    std::optional<Tensor> table = bytes->table();
    if (!table)
      continue;
    OpBuilder builder(op);
    Value result =
        builder.create<LookupOp>(op.getLoc(), op.getType(), bytes->argument,
                                 makeConstant(builder, op.getLoc(), *table));
    run.replace(tabulateLabel, op, result);
    op.erase();
    run.graphIsWhole(tabulateLabel);
  }
}

} // namespace sinter::cpu
