//===- RowKernel.cpp - reductions of rows, and what is made of them -------===//
//
// Reductions come first, each one a pass over the row, then the result.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"
#include "backend/cpu/emit/Math.h"
#include "backend/cpu/precision/ExactWidening.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

class RowKernel : public KernelBody {
public:
  RowKernel(KernelOp kernel, int64_t rowRank)
      : kernel(kernel),
        yield(cast<YieldOp>(kernel.getBody().front().getTerminator())) {
    ArrayRef<Dim> shape = dimsOf(yield.getValues()[0]);
    nest.shape = shape.take_front(rowRank).vec();
    nest.shape.push_back(1);
    nest.cost = elementCostOf(kernel);
    nest.cost *= nominalCount(shape.drop_front(rowRank));
    for (auto reduce : kernel.getBody().front().getOps<stablehlo::ReduceOp>())
      reductions.push_back(reduce);
    chooseStored();
    nest.body = [this](ArrayRef<Value> outer, Value, Value) { emitRow(outer); };
  }

  int64_t tasks() const override { return std::max<int64_t>(nest.tasks(), 1); }
  std::vector<TaskExtent> taskExtents() const override {
    return nest.taskExtents();
  }

  void emit(Elemental &values, Value task, ValueRange outputs, Value) override {
    elemental = &values;
    memory = outputs;
    nest.emitTask(values.code, task);
  }

private:
  /// Operations that \p value is computed from without a reduction between.
  static void collectPass(Value value, DenseSet<Operation *> &pass) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<stablehlo::ReduceOp>(op) || !pass.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      collectPass(operand, pass);
  }

  /// Operations whose elements stand in the row as \p value's do.
  static void collectAligned(Value value, DenseSet<Operation *> &aligned) {
    Operation *op = value.getDefiningOp();
    if (!op || !(isElementwise(op) || isa<stablehlo::ReshapeOp>(op)) ||
        !aligned.insert(op).second)
      return;
    auto isProper = [](Dim size) { return size != 1; };
    auto sizes = [&](Value v) {
      return llvm::to_vector(llvm::make_filter_range(dimsOf(v), isProper));
    };
    for (Value operand : op->getOperands())
      if (sizes(operand) == sizes(value))
        collectAligned(operand, aligned);
  }

  static bool isExpensive(Operation *op) {
    using namespace stablehlo;
    return isFunction(op) || isa<SqrtOp, RsqrtOp, DivOp>(op);
  }

  /// Arithmetic on f16 or bf16, which rounds: two conversions an operation.
  static bool isRounded(Operation *op) {
    if (!isElementwise(op) ||
        isa<stablehlo::ConvertOp, stablehlo::SelectOp>(op))
      return false;
    Type element = tensorOf(op->getResult(0)).getElementType();
    return element.isF16() || element.isBF16();
  }

  /// Whether all that reads \p op is rounded arithmetic of the same \p passes,
  /// so that it is enough to keep that.
  static bool leadsToRounded(Operation *op,
                             ArrayRef<DenseSet<Operation *>> passes) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return isRounded(user) &&
             llvm::all_of(passes, [&](const DenseSet<Operation *> &pass) {
               return pass.contains(user) == pass.contains(op);
             });
    });
  }

  Dim rowLength() const {
    stablehlo::ReduceOp reduce = reductions.front();
    Dim length = 1;
    for (int64_t dim : reduce.getDimensions())
      length *= dimsOf(reduce.getInputs()[0])[dim];
    return length;
  }

  /// What elements are kept as: what is computed in f32 is not widened twice.
  static Type keptType(Type element) {
    return element.isF16() || element.isBF16()
               ? Float32Type::get(element.getContext())
               : storageType(element);
  }

  /// What is expensive, or rounds, and is wanted in more than one pass is kept
  /// in a row of its own, as long as that fits on the stack.
  void chooseStored() {
    constexpr int64_t mostBytes = 48 << 10;
    stablehlo::ReduceOp first = reductions.front();
    if (llvm::any_of(first.getDimensions(), [&](int64_t dim) {
          return dimsOf(first.getInputs()[0])[dim].isDynamic();
        }))
      return;
    const int64_t length = rowLength().value();
    std::vector<DenseSet<Operation *>> passes;
    for (stablehlo::ReduceOp reduce : reductions)
      collectPass(reduce.getInputs()[0], passes.emplace_back());
    collectPass(yield.getValues()[0], passes.emplace_back());
    DenseSet<Operation *> aligned;
    for (stablehlo::ReduceOp reduce : reductions)
      collectAligned(reduce.getInputs()[0], aligned);
    int64_t bytes = 0;
    for (Operation &op : kernel.getBody().front()) {
      if (!isExpensive(&op) &&
          !(isRounded(&op) && !leadsToRounded(&op, passes)))
        continue;
      RankedTensorType type = tensorOf(op.getResult(0));
      SmallVector<size_t> wanted;
      for (size_t i = 0; i < passes.size(); ++i)
        if (passes[i].contains(&op))
          wanted.push_back(i);
      Type storage = keptType(type.getElementType());
      if (wanted.size() < 2 || !aligned.contains(&op) ||
          isa<ComplexType>(storage))
        continue;
      bytes += length * storage.getIntOrFloatBitWidth() / 8;
      if (bytes > mostBytes)
        return;
      stored.push_back({&op, wanted.front()});
    }
  }

  /// Where in a row \p place of a tensor along it is.
  Value positionInRow(ArrayRef<Coordinate> place, ArrayRef<Dim> shape) {
    size_t first = shape.size();
    for (int64_t length = rowLength().value(); length > 1;)
      length /= shape[--first].value();
    return elemental->linearize(place.drop_front(first),
                                shape.drop_front(first));
  }

  void emitRow(ArrayRef<Value> outer) {
    KernelBuilder &e = elemental->code;
    SmallVector<Value> memories;
    for (auto [op, pass] : stored) {
      Type element = tensorOf(op->getResult(0)).getElementType();
      memories.push_back(createScratch(
          e.builder, e.loc,
          MemRefType::get({rowLength().value()}, keptType(element))));
    }
    auto bindStored = [&](size_t pass, bool isWritten) {
      for (auto [entry, memory] : llvm::zip(stored, memories))
        if (entry.second == pass)
          bindRow(entry.first, memory, isWritten);
    };
    for (auto [pass, reduce] : llvm::enumerate(reductions)) {
      bindStored(pass, false);
      Coordinates place;
      size_t next = 0;
      ArrayRef<Dim> rows(nest.shape);
      for (Dim size : dimsOf(reduce.getResult(0))) {
        if (size == 1) {
          place.push_back(e.index(0));
          continue;
        }
        while (rows[next] == 1)
          ++next;
        place.push_back(outer[next++]);
      }
      elemental->at(reduce.getResult(0), place);
      bindStored(pass, true);
    }
    Value result = yield.getValues()[0];
    ArrayRef<Dim> shape = dimsOf(result);
    e.loops(shape.drop_front(outer.size()), [&](ArrayRef<Value> position) {
      Coordinates place(outer.begin(), outer.end());
      place.append(position.begin(), position.end());
      elemental->store(elemental->at(result, place), memory[0],
                       elemental->linearize(place, shape),
                       tensorOf(result).getElementType());
    });
  }

  /// From now on \p op's elements are read from \p row, or computed and
  /// written there.
  void bindRow(Operation *op, Value row, bool isWritten) {
    RankedTensorType type = tensorOf(op->getResult(0));
    Type element = type.getElementType(), kept = keptType(element);
    const bool isWidened = kept != storageType(element);
    elemental->bind(op->getResult(0), [=, this](ArrayRef<Coordinate> place) {
      KernelBuilder &e = elemental->code;
      Value position = positionInRow(place, dimsOf(type));
      if (isWritten && !isWidened)
        return elemental->load(row, position, element);
      if (isWritten) {
        auto narrow = e.builder.create<arith::TruncFOp>(
            e.loc, element, elemental->load(row, position, kept));
        narrow->setAttr(roundsNothingAttribute, e.builder.getUnitAttr());
        return Value(narrow);
      }
      Value value = elemental->allAt(op, place)[0];
      elemental->store(isWidened ? e.create<arith::ExtFOp>(kept, value) : value,
                       row, position, isWidened ? kept : element);
      return value;
    });
  }

  KernelOp kernel;
  YieldOp yield;
  std::vector<stablehlo::ReduceOp> reductions;
  /// Operations that are kept, and the pass that computes them.
  std::vector<std::pair<Operation *, size_t>> stored;
  LoopNest nest;
  Elemental *elemental = nullptr;
  ValueRange memory;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createRowKernel(KernelOp kernel,
                                                 int64_t rowRank) {
  return std::make_unique<RowKernel>(kernel, rowRank);
}
