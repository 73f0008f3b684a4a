#include "formats/import/GraphBuilder.h"

#include "graph/Constants.h"
#include "graph/Source.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::formats {

/// More elements than fit into any memory.
static constexpr int64_t mostOfResult = int64_t(1) << 48;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

Failure GraphBuilder::fail(const Twine &reason) {
  if (!problem)
    problem = {ErrorKind::InvalidModel, reason.str()};
  return {};
}

Failure GraphBuilder::unsupported(const Twine &reason) {
  if (!problem)
    problem = {ErrorKind::Unsupported, reason.str()};
  return {};
}

Failure GraphBuilder::unknown(const Twine &reason) {
  if (!problem)
    problem = {ErrorKind::Unsupported, reason.str(), /*waits=*/true};
  return {};
}

//===----------------------------------------------------------------------===//
// Types and what is known
//===----------------------------------------------------------------------===//

RankedTensorType GraphBuilder::type(Value value) {
  if (value)
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      return tensor;
  fail("an input that is needed is missing or no tensor");
  return RankedTensorType::get({}, f32());
}

std::optional<int64_t> GraphBuilder::axis(int64_t axis, int64_t rank) {
  int64_t normal = axis < 0 ? axis + rank : axis;
  if (normal >= 0 && normal < rank)
    return normal;
  return fail("axis " + Twine(axis) + " is not one of " + Twine(rank) +
              " dimensions");
}

std::optional<Ints> GraphBuilder::axes(ArrayRef<int64_t> list, int64_t rank) {
  Ints normal;
  for (int64_t each : list) {
    auto one = axis(each, rank);
    if (!one)
      return std::nullopt;
    normal.push_back(*one);
  }
  llvm::sort(normal);
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end())
    return fail("an axis occurs twice");
  return normal;
}

std::optional<Ints> GraphBuilder::knownIntegers(Value value) {
  return value ? knowledge.integers(value) : std::nullopt;
}
std::optional<Elements> GraphBuilder::knownElements(Value value) {
  return value ? knowledge.elements(value) : std::nullopt;
}
std::optional<Tensor> GraphBuilder::knownTensor(Value value) {
  return value ? knowledge.tensor(value) : std::nullopt;
}
std::optional<double> GraphBuilder::knownScalar(Value value) {
  auto tensor = knownTensor(value);
  if (!tensor || tensor->size() != 1)
    return std::nullopt;
  return tensor->toDouble(0);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::string GraphBuilder::takeDiagnostic() {
  std::string text = diagnostics.take();
  return text.empty() ? "not valid" : text;
}

Operation *GraphBuilder::createInferred(OperationState &state,
                                        InferFunction infer) {
  SmallVector<Type> types;
  SmallVector<Region *> regions;
  for (auto &region : state.regions)
    regions.push_back(region.get());
  if (mlir::failed(infer(context(), loc, state.operands,
                         state.attributes.getDictionary(context()),
                         state.getRawProperties(), RegionRange(regions),
                         types)))
    return fail(takeDiagnostic()), nullptr;
  state.types.assign(types.begin(), types.end());
  return create(state);
}

Operation *GraphBuilder::create(OperationState &state) {
  if (failed() || null(ValueRange(state.operands)))
    return nullptr;
  for (Type each : state.types)
    if (auto tensor = dyn_cast<RankedTensorType>(each);
        tensor && tensor.hasStaticShape()) {
      auto count = elementCount(tensor.getShape());
      if (!count || *count > mostOfResult)
        return fail("the result would have too many elements"), nullptr;
    }
  const StringRef name = state.name.getStringRef();
  const bool isPart = name != stablehlo::ConstantOp::getOperationName() &&
                      name != stablehlo::ReturnOp::getOperationName();
  if (isPart && source)
    state.addAttribute(sourceAttribute, builder().getI64IntegerAttr(*source));
  Operation *op = builder().create(state);
  if (mlir::failed(mlir::verify(op))) {
    fail(takeDiagnostic());
    op->erase();
    return nullptr;
  }
  if (isPart)
    made.push_back(op);
  knowledge.observe(op);
  return op;
}

void GraphBuilder::erase(Operation *op) {
  llvm::SmallPtrSet<Operation *, 16> gone;
  op->walk([&](Operation *each) {
    gone.insert(each);
    knowledge.forget(each);
  });
  llvm::erase_if(made, [&](Operation *each) { return gone.contains(each); });
  op->erase();
}

Value GraphBuilder::constant(const Tensor &tensor, StringRef name) {
  return failed() ? Value() : makeConstant(builder(), loc, tensor, name);
}

} // namespace sinter::formats
