#include "passes/Observe.h"

#include "graph/Model.h"
#include "graph/check/CheckOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ValueNumbers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter {

bool canBeObserved(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding() &&
         (isa<quant::QuantizedType>(type.getElementType()) ||
          elementTypeOf(type.getElementType()));
}

/// \p value, dequantised if it is quantised.
static Value plainValue(OpBuilder &builder, Location location, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto quantized = dyn_cast<quant::QuantizedType>(type.getElementType());
  if (!quantized)
    return value;
  return builder.create<stablehlo::UniformDequantizeOp>(
      location, type.clone(quantized.getExpressedType()), value);
}

void observe(ArrayRef<NumberedValue> values) {
  for (auto [value, number] : values) {
    if (!canBeObserved(value))
      continue;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Value seen = plainValue(builder, value.getLoc(), value);
    builder.create<check::ProbeOp>(
        value.getLoc(), seen.getType(), seen,
        builder.getStringAttr(Twine(StringRef(observedPrefix)) +
                              Twine(number)));
  }
}

namespace {
struct Observe : PassWrapper<Observe, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Observe)
  Observe() = default;
  Observe(const Observe &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "observe"; }
  StringRef getDescription() const final {
    return "Report intermediate values to the executor";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<check::InterpreterDialect, stablehlo::StablehloDialect>();
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    if (!entryOf(module)) {
      module.emitError(whyNoEntry(module));
      return signalPassFailure();
    }
    ValueNumbers numbers;
    numbers.number(module);
    SmallVector<NumberedValue> chosen;
    for (const NumberedValue &value : ValueNumbers::valuesOf(module)) {
      auto name = dyn_cast<NameLoc>(value.value.getLoc());
      if (origins.empty() ||
          (name && llvm::is_contained(origins, name.getName().str())))
        chosen.push_back(value);
    }
    ValueNumbers::remove(module);
    observe(chosen);
  }

  ListOption<std::string> origins{
      *this, "origins",
      llvm::cl::desc("Names of the source's nodes (none: everything)")};
};
} // namespace

std::unique_ptr<Pass> createObserve() { return std::make_unique<Observe>(); }

} // namespace sinter
