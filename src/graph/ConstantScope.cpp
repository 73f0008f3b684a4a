#include "graph/ConstantScope.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace sinter {

static thread_local ConstantScope *innermost = nullptr;

static void freeBytes(DenseResourceElementsAttr constant) {
  constant.getRawHandle().getResource()->setBlob(AsmResourceBlob());
}

ConstantScope::ConstantScope() : outer(innermost) { innermost = this; }

ConstantScope::~ConstantScope() { innermost = outer; }

void ConstantScope::add(DenseResourceElementsAttr constant) {
  if (innermost)
    innermost->own.insert(constant);
}

void ConstantScope::release(Attribute constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (resource && own.erase(resource))
    freeBytes(resource);
}

void ConstantScope::keepOnly(ArrayRef<ModuleOp> modules) {
  llvm::DenseSet<DenseResourceElementsAttr> used;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr constant) {
    if (own.contains(constant))
      used.insert(constant);
  });
  for (ModuleOp module : modules)
    module->walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  for (DenseResourceElementsAttr constant : own)
    if (!used.contains(constant))
      freeBytes(constant);
  own = std::move(used);
}

} // namespace sinter
