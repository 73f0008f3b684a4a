#include "formats/onnx/NodeGroups.h"

#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter::onnx {

std::optional<HeldGraph> heldGraph(Operation *op, StringRef name) {
  auto in = [&](unsigned region,
                unsigned firstOutput) -> std::optional<HeldGraph> {
    if (region >= op->getNumRegions() || !op->getRegion(region).hasOneBlock())
      return std::nullopt;
    return HeldGraph{&op->getRegion(region).front(), firstOutput};
  };
  if (isa<stablehlo::IfOp>(op))
    return name == "then_branch"   ? in(0, 0)
           : name == "else_branch" ? in(1, 0)
                                   : std::nullopt;
  if (name != "body")
    return std::nullopt;
  // A loop has its own iteration counter.
  return isa<stablehlo::WhileOp>(op) ? in(1, 1)
         : isa<nn::DeferredOp>(op)   ? in(0, 0)
                                     : std::nullopt;
}

DictionaryAttr toAttribute(const NodeRecord &record, MLIRContext *context) {
  Builder builder(context);
  NamedAttrList entry;
  entry.set(recordedOperation, builder.getStringAttr(record.opType));
  entry.set("domain", builder.getStringAttr(record.domain));
  entry.set(recordedName, builder.getStringAttr(record.name));
  entry.set("version", builder.getI64IntegerAttr(record.version));
  formats::setGroup(entry, record, context);
  return entry.getDictionary(context);
}

} // namespace sinter::onnx
