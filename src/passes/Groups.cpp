#include "passes/Groups.h"

#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace sinter {

bool isPartOfNode(mlir::Operation *op) {
  std::optional<int64_t> group = sourceOf(op);
  return group && llvm::any_of(op->getOperands(), [&](mlir::Value operand) {
           mlir::Operation *definition = operand.getDefiningOp();
           return definition && sourceOf(definition) == group;
         });
}

WholeNodes::WholeNodes(mlir::ModuleOp module) {
  auto list = module->getAttrOfType<mlir::ArrayAttr>(wholeSourcesAttribute);
  if (!list)
    return;
  isGiven = true;
  for (mlir::Attribute each : list)
    if (auto unit = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(each);
        unit && llvm::all_of(unit.asArrayRef(), isSourceNumber)) {
      for (int64_t number : unit.asArrayRef())
        units[number] = sizes.size();
      sizes.push_back(unit.size());
    }
  if (auto numbers = module->getAttrOfType<mlir::DenseI64ArrayAttr>(
          lastingSourcesAttribute);
      numbers && llvm::all_of(numbers.asArrayRef(), isSourceNumber))
    lasting.insert(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
}

/// The source node of \p op, or of the operation in whose region it stands.
/// Operations in a branch or in the body of a loop came from other nodes.
static std::optional<int64_t> numberOf(mlir::Operation *op) {
  while (op) {
    if (std::optional<int64_t> group = sourceOf(op))
      return group;
    op = op->getParentOp();
    if (mlir::isa_and_nonnull<stablehlo::IfOp, stablehlo::CaseOp,
                              stablehlo::WhileOp, nn::DeferredOp>(op))
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> WholeNodes::unitOf(mlir::Operation *op) const {
  if (units.empty())
    return std::nullopt;
  std::optional<int64_t> number = numberOf(op);
  auto found = number ? units.find(*number) : units.end();
  return found != units.end() ? std::optional(found->second) : std::nullopt;
}

bool WholeNodes::lasts(mlir::Operation *op) const {
  std::optional<int64_t> number = numberOf(op);
  return number && lasting.contains(*number);
}

bool WholeNodes::isOneNode(mlir::Operation *op) const {
  std::optional<int64_t> unit = unitOf(op);
  return unit && sizes[*unit] == 1;
}

bool WholeNodes::isInside(
    mlir::Value value,
    const llvm::SmallPtrSetImpl<mlir::Operation *> &others) const {
  mlir::Operation *op = value.getDefiningOp();
  std::optional<int64_t> unit = op ? unitOf(op) : std::nullopt;
  return unit && llvm::all_of(value.getUsers(), [&](mlir::Operation *user) {
           return others.contains(user) || unitOf(user) == unit;
         });
}

mlir::Operation *cloneApart(mlir::OpBuilder &builder, mlir::Operation *op,
                            mlir::IRMapping mapping) {
  mlir::Operation *copy = builder.clone(*op, mapping);
  removeSource(copy);
  copy->removeDiscardableAttr(traceAttribute);
  return copy;
}

void GroupTracker::dissolve(mlir::Operation *root) {
  if (touched.empty())
    return;
  root->walk([&](mlir::Operation *op) {
    if (std::optional<int64_t> group = sourceOf(op))
      if (touched.contains(*group))
        removeSource(op);
  });
  touched.clear();
}

} // namespace sinter
