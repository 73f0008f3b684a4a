#include "graph/axes/Axes.h"

using namespace mlir;

namespace sinter {

void attachAxes(MLIRContext *context) {
  axes::attachElementwise(context);
  axes::attachMovement(context);
  axes::attachReshapes(context);
  axes::attachIndexing(context);
  axes::attachProducts(context);
  axes::attachReductions(context);
  axes::attachStructured(context);
  axes::attachDistribution(context);
  axes::attachText(context);
}

namespace axes {

Builder::Builder(Operation *op) : op(op) {
  auto rankOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 0;
  };
  for (Value value : op->getOperands())
    axes.operands.emplace_back(rankOf(value));
  for (Value value : op->getResults())
    axes.results.emplace_back(rankOf(value));
}

int64_t Builder::sizeAt(Place place) const {
  Value value = place.isResult ? Value(op->getResult(place.value))
                               : op->getOperand(place.value);
  return tensorOf(value).getDimSize(place.dimension);
}

void Builder::add(AxisKind kind, ArrayRef<Place> places, int64_t size) {
  for (const Place &place : places)
    tensorAt(place)[place.dimension].push_back(axes.axes.size());
  axes.axes.push_back({kind, size});
}

void Builder::add(AxisKind kind, ArrayRef<Place> places) {
  int64_t size = ShapedType::kDynamic;
  for (const Place &place : places)
    if (ShapedType::isDynamic(size))
      size = sizeAt(place);
  add(kind, places, size);
}

SmallVector<Place> Builder::everywhere(int64_t dimension, int64_t rank) const {
  SmallVector<Place> places;
  for (unsigned i = 0; i < axes.operands.size(); ++i)
    if (rankOf(i) == rank)
      places.push_back(operand(i, dimension));
  for (unsigned i = 0; i < axes.results.size(); ++i)
    if (resultRank(i) == rank)
      places.push_back(result(i, dimension));
  return places;
}

void Builder::alike(int64_t rank, AxisKind kind,
                    function_ref<bool(int64_t)> isOther) {
  for (int64_t i = 0; i < rank; ++i)
    add(isOther(i) ? kind : AxisKind::Kept, everywhere(i, rank));
}

Axes Builder::take() {
  auto complete = [&](auto &tensors, bool isResult) {
    for (unsigned i = 0; i < tensors.size(); ++i)
      for (auto [dimension, list] : llvm::enumerate(tensors[i]))
        if (list.empty())
          mix({{isResult, i, static_cast<int64_t>(dimension)}});
  };
  complete(axes.operands, false);
  complete(axes.results, true);
  return std::move(axes);
}

} // namespace axes
} // namespace sinter
