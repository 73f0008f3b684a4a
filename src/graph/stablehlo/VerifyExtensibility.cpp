// Constraints and effects of calls.

#include "graph/stablehlo/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Whether \p name is a letter followed by letters and digits, then components
/// of these (and `$`), each after a dot.
static bool isNamespacedOpName(StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (parts.size() < 2 || parts[0].empty() || !llvm::isAlpha(parts[0][0]) ||
      !llvm::all_of(parts[0], isWord))
    return false;
  return llvm::all_of(ArrayRef(parts).drop_front(), [&](StringRef part) {
    return !part.empty() &&
           llvm::all_of(part, [&](char c) { return isWord(c) || c == '$'; });
  });
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!isNamespacedOpName(getName()))
    return emitOpError("(C1) the name '")
           << getName() << "' is not a namespace, a dot and a name";
  auto name = getDecompositionAttr();
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, name);
  if (!function)
    return emitOpError("(C2) there is no function ") << name;
  if (!compatibleTypes(function.getArgumentTypes(), getOperandTypes()))
    return emitOpError("(C3) the operands' types are not those of ") << name;
  if (!compatibleTypes(function.getResultTypes(), getResultTypes()))
    return emitOpError("(C4) the results' types are not those of ") << name;
  return success();
}

void CustomCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // A call without results must have an effect.
  if (!getHasSideEffect() && getNumResults())
    return;
  effects.emplace_back(MemoryEffects::Allocate::get());
  effects.emplace_back(MemoryEffects::Free::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

/// Checks the layouts of operands or results: one each, a permutation of the
/// dimensions for a tensor and empty for other types.
static LogicalResult verifyLayouts(Operation *op, StringRef what,
                                   TypeRange types, ArrayAttr layouts) {
  if (types.size() != layouts.size())
    return op->emitOpError()
           << "has " << types.size() << ' ' << what << "s and "
           << layouts.size() << " layouts of them";
  for (auto [type, layout] : llvm::zip_equal(types, layouts)) {
    auto numbers = cast<DenseIntElementsAttr>(layout);
    if (isa<TupleType>(type))
      return op->emitOpError() << "has a layout of a tuple";
    SmallVector<int64_t> order;
    if (numbers.getNumElements() <= mostDimensions)
      for (const APInt &number : numbers.getValues<APInt>())
        order.push_back(number.getSExtValue());
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t rank = tensor ? tensor.getRank() : 0;
    if (!isa<TensorType>(type) && !order.empty())
      return op->emitOpError() << "has the layout " << layout << " of a "
                               << what << " that is not a tensor";
    if (tensor && (static_cast<int64_t>(order.size()) != rank ||
                   !isDistinctWithin(order, rank)))
      return op->emitOpError()
             << "has the layout " << layout << " of a " << what << " of type "
             << type << ", no permutation of its dimensions";
  }
  return success();
}

/// The type at \p indices into nested tuples; null if there is none.
static Type partOf(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast_or_null<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size()))
      return {};
    type = tuple.getType(index);
  }
  return type;
}

static LogicalResult verifyAlias(CustomCallOp op,
                                 OutputOperandAliasAttr alias) {
  int64_t index = alias.getOperandIndex();
  if (index < 0 || index >= static_cast<int64_t>(op->getNumOperands()))
    return op.emitOpError("(I7) an alias names operand ")
           << index << " of " << op->getNumOperands();
  Type from =
      partOf(op->getOperand(index).getType(), alias.getOperandTupleIndices());
  if (!from)
    return op.emitOpError(
        "(I7) operand_tuple_indices of an alias lead nowhere");
  // The first index selects one of several results.
  ArrayRef<int64_t> place = alias.getOutputTupleIndices();
  Type result;
  if (op->getNumResults() == 1) {
    result = op->getResult(0).getType();
  } else if (!place.empty() && place[0] >= 0 &&
             place[0] < static_cast<int64_t>(op->getNumResults())) {
    result = op->getResult(place[0]).getType();
    place = place.drop_front();
  }
  Type to = result ? partOf(result, place) : Type();
  if (!to)
    return op.emitOpError("(I7) output_tuple_indices of an alias lead nowhere");
  if (from != to && !compatibleTypes(from, to))
    return op.emitOpError("(I7) an alias has the types ")
           << from << " and " << to;
  return success();
}

/// Checks CreateBuffer, Pin and Unpin, which convert between tensors and
/// buffers.
static LogicalResult verifyBufferCall(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  bool takes = target == "Pin" || target == "Unpin";
  if (!takes && target != "CreateBuffer")
    return success();
  if (op->getNumOperands() != takes || op->getNumResults() != 1)
    return op.emitOpError() << target << " takes " << (takes ? "one" : "no")
                            << " operand and gives one result";
  Type result = op->getResult(0).getType();
  auto shaped = dyn_cast<ShapedType>(result);
  bool isBuffer = isa<MemRefType>(result);
  if (!shaped || isBuffer != (target != "Unpin"))
    return op.emitOpError() << target << " does not give " << result;
  if (!takes)
    return success();
  auto operand = dyn_cast<ShapedType>(op->getOperand(0).getType());
  if (!operand || isa<MemRefType>(operand) == isBuffer ||
      operand.getElementType() != shaped.getElementType() ||
      !operand.hasRank() || !shaped.hasRank() ||
      operand.getShape() != shaped.getShape())
    return op.emitOpError() << target << " does not make " << result << " of "
                            << op->getOperand(0).getType();
  return success();
}

LogicalResult CustomCallOp::verify() {
  std::optional<ArrayAttr> operands = getOperandLayouts();
  std::optional<ArrayAttr> results = getResultLayouts();
  if (operands.has_value() != results.has_value())
    return emitOpError("has layouts of operands or of results only");
  if (operands) {
    TypeRange types = getResultTypes();
    // Each element of a tuple has a layout.
    auto tuple =
        types.size() == 1 ? dyn_cast<TupleType>(types[0]) : TupleType();
    if (tuple)
      types = tuple.getTypes();
    if (failed(verifyLayouts(*this, "operand", getOperandTypes(), *operands)) ||
        failed(verifyLayouts(*this, "result", types, *results)))
      return failure();
  }
  for (auto alias :
       getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>())
    if (failed(verifyAlias(*this, alias)))
      return failure();
  if (std::optional<Attribute> config = getBackendConfig()) {
    bool takesDictionary =
        getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI;
    if (isa<DictionaryAttr>(*config) != takesDictionary)
      return emitOpError("(I4) backend_config is not a ")
             << (takesDictionary ? "dictionary" : "string")
             << ", as this api_version takes";
  }
  return verifyBufferCall(*this);
}

} // namespace sinter::stablehlo
