#include "backend/cpu/quantized/StoreInt8.h"

#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/interfaces/Rescale.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace sinter::cpu {
namespace {

class Storage {
public:
  Storage(func::FuncOp function, IntegerType wanted)
      : function(function), wanted(wanted) {}
  void run();

private:
  quant::QuantizedType changed(Value value) const;
  void join(Value value) {
    if (!changed(value))
      return;
    classes.insert(value.getAsOpaquePointer());
    if (last && last != value.getAsOpaquePointer())
      classes.unionSets(last, value.getAsOpaquePointer());
    last = value.getAsOpaquePointer();
  }
  void keep(Value value) {
    classes.insert(value.getAsOpaquePointer());
    kept.insert(value.getAsOpaquePointer());
  }
  void joinShared(Operation *op);
  void keepFixed(Operation *op);
  void change(Value value, quant::QuantizedType type) const;

  func::FuncOp function;
  IntegerType wanted;
  llvm::EquivalenceClasses<const void *> classes;
  llvm::DenseSet<const void *> kept;
  const void *last = nullptr;
};

} // namespace

/// The new type of \p value; null if it does not change.
quant::QuantizedType Storage::changed(Value value) const {
  auto type = dyn_cast_or_null<quant::UniformQuantizedType>(
      quantizedOf(value.getType()));
  if (!type)
    return {};
  const IntegerType storage = storageOf(type);
  if (storage.getWidth() != 8 || storage == wanted ||
      boundsOf(type) != boundsOf(storage))
    return {};
  return movedBy(type, wanted,
                 boundsOf(wanted).least - boundsOf(storage).least);
}

/// Whether the result's elements are elements of the operands.
static bool sharesElements(Operation *op) {
  if (takesStorage(op))
    return true;
  auto rescale = dyn_cast<RescaleOpInterface>(op);
  return rescale &&
         llvm::any_of(rescale.getRescaleWays(), [](const RescaleWay &way) {
           return way.ranges == RescaleRanges::Any;
         });
}

void Storage::joinShared(Operation *op) {
  if (!sharesElements(op))
    return;
  last = nullptr;
  llvm::for_each(op->getOperands(), [&](Value value) { join(value); });
  llvm::for_each(op->getResults(), [&](Value value) { join(value); });
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), [&](Value value) { join(value); });
      if (!block.empty())
        llvm::for_each(block.back().getOperands(),
                       [&](Value value) { join(value); });
    }
}

void Storage::keepFixed(Operation *op) {
  const bool isBorder = isa<stablehlo::BitcastConvertOp, func::ReturnOp,
                            CallOpInterface, stablehlo::CustomCallOp>(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const bool isWeight =
        i == 1 && isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp,
                      stablehlo::DotOp>(op);
    if (isBorder || isWeight)
      keep(operand);
  }
  if (isBorder)
    llvm::for_each(op->getResults(), [&](Value value) { keep(value); });
}

void Storage::change(Value value, quant::QuantizedType type) const {
  Operation *op = value.getDefiningOp();
  if (op && !isa<stablehlo::ConstantOp>(op) && !sharesElements(op)) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto turned = builder.create<stablehlo::UniformQuantizeOp>(
        op->getLoc(), tensorOf(value).clone(type), value);
    value.replaceAllUsesExcept(turned, turned);
    return;
  }
  if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>()) {
    std::optional<Tensor> tensor = toTensor(constant.getValue());
    const IntegerType before = storageOf(quantizedOf(value.getType()));
    constant.setValueAttr(
        toAttribute(shifted(*tensor, wanted,
                            boundsOf(wanted).least - boundsOf(before).least),
                    constantName(value), constant.getContext()));
  }
  value.setType(tensorOf(value).clone(type));
}

void Storage::run() {
  llvm::for_each(function.getArguments(), [&](Value value) { keep(value); });
  SmallVector<Value> all;
  function.walk([&](Operation *op) {
    if (op == function)
      return;
    joinShared(op);
    keepFixed(op);
    llvm::append_range(all, op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(all, block.getArguments());
  });
  for (Value value : all)
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
        constant && !toTensor(constant.getValue()))
      keep(value);
  llvm::DenseSet<const void *> keptClasses;
  for (const void *value : kept)
    keptClasses.insert(classes.getLeaderValue(value));
  for (Value value : all) {
    const void *key = value.getAsOpaquePointer();
    quant::QuantizedType type = changed(value);
    if (type && (classes.findValue(key) == classes.end() ||
                 !keptClasses.contains(classes.getLeaderValue(key))))
      change(value, type);
  }
}

void storeInt8(func::FuncOp function, IntegerType wanted) {
  Storage(function, wanted).run();
}

} // namespace sinter::cpu
