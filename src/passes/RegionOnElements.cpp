#include "passes/RegionOnElements.h"

#include "graph/Broadcast.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Matching.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static bool isPlainScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         isa<IntegerType, FloatType, ComplexType>(tensor.getElementType());
}

/// Whether an operation on scalars is elementwise on tensors of any shape.
static bool actsOnElements(Operation &op) {
  return op.getNumRegions() == 0 && op.getNumResults() == 1 &&
         isPlainScalar(op.getResult(0).getType()) &&
         llvm::all_of(op.getOperandTypes(), isPlainScalar) &&
         (op.hasTrait<OpTrait::Elementwise>() ||
          isa<SelectOp, ClampOp, ConstantOp>(op));
}

bool appliesToElements(Region &region) {
  Block &block = region.front();
  return block.getNumArguments() > 0 &&
         llvm::all_of(block.getArgumentTypes(), isPlainScalar) &&
         llvm::all_of(block.without_terminator(), actsOnElements) &&
         llvm::all_of(block.getTerminator()->getOperandTypes(), isPlainScalar);
}

SmallVector<Value> applyToElements(Region &region, ValueRange arguments,
                                   OpBuilder &builder, Location location) {
  Block &block = region.front();
  const Value like = arguments.back();
  auto typeLike = [&](Value scalar) {
    return tensorOf(like).clone(tensorOf(scalar).getElementType());
  };
  auto repeated = [&](Value scalar) {
    return broadcastTo(builder, location, typeLike(scalar), scalar, {}, like);
  };
  IRMapping mapping;
  for (auto [parameter, argument] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    if (tensorOf(argument).getElementType() !=
        tensorOf(parameter).getElementType())
      argument = builder.create<ConvertOp>(
          location,
          tensorOf(argument).clone(tensorOf(parameter).getElementType()),
          argument);
    const bool isRepeated =
        tensorOf(argument).getRank() == 0 && tensorOf(like).getRank() != 0;
    mapping.map(parameter, isRepeated ? repeated(argument) : argument);
  }
  // Scalars from outside, and constants, are the same for each element.
  auto mapped = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, repeated(value));
    return mapping.lookup(value);
  };
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op)) {
      mapping.map(op.getResult(0), repeated(builder.clone(op)->getResult(0)));
      continue;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(mapped(operand));
    state.addTypes(typeLike(op.getResult(0)));
    state.addAttributes(op.getAttrs());
    mapping.map(op.getResult(0), builder.create(state)->getResult(0));
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapped(value));
  return results;
}

} // namespace sinter
