#include "graph/chlo/KnownCalls.h"

#include "graph/Constants.h"
#include "graph/Values.h"
#include "graph/chlo/ChloOps.h"
#include "graph/chlo/DynamicCalls.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter {

using stablehlo::CustomCallOp;

/// An attribute of the call, wherever frameworks put it.
static Attribute attributeOf(CustomCallOp call, StringRef name) {
  for (StringRef holder : {"mhlo.attributes", "backend_config"})
    if (auto dictionary = call->getAttrOfType<DictionaryAttr>(holder))
      if (Attribute attribute = dictionary.get(name))
        return attribute;
  return {};
}

/// Builds \p function of `chlo`, of one float operand, with a result of its
/// type.
static FailureOr<Values> raiseFunction(Operation *call, StringRef function,
                                       OpBuilder &builder) {
  auto type = call->getNumOperands() == 1 && call->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(call->getOperand(0).getType())
                  : RankedTensorType();
  if (!type || !isa<FloatType>(type.getElementType()) ||
      call->getResult(0).getType() != type)
    return failure();
  OperationState state(call->getLoc(), ("chlo." + function).str(),
                       call->getOperands(), type);
  return Values{builder.create(state)->getResult(0)};
}

static FailureOr<Values> raiseTopK(CustomCallOp call, OpBuilder &builder) {
  auto k = dyn_cast_or_null<IntegerAttr>(attributeOf(call, "k"));
  auto largest = dyn_cast_or_null<BoolAttr>(attributeOf(call, "largest"));
  if (!k || !k.getType().isInteger(64) || k.getInt() < 0 ||
      (largest && !largest.getValue()) || call->getNumOperands() != 1 ||
      call->getNumResults() != 2)
    return failure();
  auto operand = dyn_cast<RankedTensorType>(call->getOperand(0).getType());
  if (!operand || operand.getRank() == 0 ||
      (!operand.isDynamicDim(operand.getRank() - 1) &&
       operand.getShape().back() < k.getInt()))
    return failure();
  auto op = builder.create<chlo::TopKOp>(call.getLoc(), call->getOperand(0), k,
                                         builder.getBoolAttr(true));
  if (!compatibleTypes(op->getResultTypes(), call->getResultTypes())) {
    op->erase();
    return failure();
  }
  return Values(op->getResults());
}

static FailureOr<Values> raiseMarker(CustomCallOp call, OpBuilder &) {
  if (call->getOperandTypes() != call->getResultTypes())
    return failure();
  return Values(call->getOperands());
}

static FailureOr<Values> raiseAssertion(CustomCallOp call, OpBuilder &) {
  if (call->getNumOperands() == 0 || call->getNumResults() != 0)
    return failure();
  std::optional<Tensor> holds = constantTensor(call->getOperand(0));
  if (!holds || holds->type() != ElementType::I1 || holds->size() != 1 ||
      !holds->at<uint8_t>(0))
    return failure();
  return Values();
}

static FailureOr<Values> raise(CustomCallOp call, OpBuilder &builder) {
  static const llvm::StringSet<> functions = {
      "mhlo.acos",  "mhlo.acosh", "mhlo.asin", "mhlo.asinh", "mhlo.atan",
      "mhlo.atanh", "mhlo.cosh",  "mhlo.sinh", "mhlo.tan",   "mhlo.erf"};
  static const llvm::StringSet<> markers = {"Sharding",
                                            "SPMDFullToShardShape",
                                            "SPMDShardToFullShape",
                                            "annotate_device_placement",
                                            "xla.sdy.FuncResultSharding",
                                            "xla.sdy.LocalToGlobalShape",
                                            "xla.sdy.GlobalToLocalShape",
                                            "MoveToHost",
                                            "MoveToDevice",
                                            "LayoutConstraint"};
  StringRef target = call.getCallTargetName();
  if (functions.contains(target))
    return raiseFunction(call, target.drop_front(strlen("mhlo.")), builder);
  if (target == "mhlo.topk")
    return raiseTopK(call, builder);
  if (markers.contains(target))
    return raiseMarker(call, builder);
  if (target == "shape_assertion")
    return raiseAssertion(call, builder);
  return failure();
}

std::string hostConfiguration(Operation *call) {
  for (StringRef holder : {"backend_config", "mhlo.backend_config"}) {
    const Attribute found = call->getAttr(holder);
    if (auto text = dyn_cast_or_null<StringAttr>(found); text && !text.empty())
      return text.str();
    auto dictionary = dyn_cast_or_null<DictionaryAttr>(found);
    if (!dictionary)
      continue;
    std::string settings;
    for (NamedAttribute entry : dictionary)
      if (auto number = dyn_cast<IntegerAttr>(entry.getValue());
          number && number.getValue().getSignificantBits() <= 64)
        settings +=
            (settings.empty() ? "" : ";") + entry.getName().str() + "=" +
            std::to_string(number.getValue().isSignBitSet() &&
                                   number.getType().isUnsignedInteger()
                               ? int64_t(number.getValue().getZExtValue())
                               : number.getValue().getSExtValue());
    return settings;
  }
  return "";
}

/// The operation of the composite's name replaces a decomposition that is as
/// exact.
static FailureOr<Values> raise(stablehlo::CompositeOp composite,
                               OpBuilder &builder) {
  static const llvm::StringSet<> functions = {"chlo.erf", "chlo.erfc"};
  StringRef name = composite.getName();
  if (!functions.contains(name) || composite.getVersion() != 0)
    return failure();
  return raiseFunction(composite, name.drop_front(strlen("chlo.")), builder);
}

void raiseKnownCalls(Operation *root) {
  raiseDynamicCalls(root);
  SmallVector<Operation *> calls;
  root->walk([&](Operation *op) {
    if (isa<CustomCallOp, stablehlo::CompositeOp>(op))
      calls.push_back(op);
  });
  for (Operation *call : calls) {
    OpBuilder builder(call);
    auto composite = dyn_cast<stablehlo::CompositeOp>(call);
    FailureOr<Values> values = composite
                                   ? raise(composite, builder)
                                   : raise(cast<CustomCallOp>(call), builder);
    if (failed(values))
      continue;
    call->replaceAllUsesWith(*values);
    call->erase();
  }
}

} // namespace sinter
