//===- FusionGroup.cpp - the operations of one kernel ---------------------===//

#include "backend/cpu/fusion/FusionGroup.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

SmallVector<Dim> cpu::properSizes(ArrayRef<Dim> shape) {
  return SmallVector<Dim>(
      llvm::make_filter_range(shape, [](Dim size) { return size != 1; }));
}

/// Whether \p reduce has one result and reduces the last dimensions.
static bool reducesTrailing(stablehlo::ReduceOp reduce) {
  int64_t rank = dimsOf(reduce.getInputs()[0]).size();
  int64_t count = reduce.getDimensions().size();
  return reduce->getNumResults() == 1 && count > 0 &&
         llvm::all_of(reduce.getDimensions(),
                      [&](int64_t dim) { return dim >= rank - count; });
}

static SmallVector<Dim> reducedSizes(stablehlo::ReduceOp reduce) {
  ArrayRef<Dim> shape = dimsOf(reduce.getInputs()[0]);
  return properSizes(shape.take_back(reduce.getDimensions().size()));
}

FusionGroup::FusionGroup(Operation *root) : root(root) {
  Place place;
  ArrayRef<Dim> shape = dimsOf(root->getResult(0));
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != 1)
      place.dims.push_back(dim);
  add(root, place);
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(root);
      reduce && reducesTrailing(reduce))
    admit(reduce, place);
}

bool FusionGroup::hasProduct() const {
  return llvm::any_of(
      ops, [](Operation *op) { return kindOf(op) == Kind::Product; });
}

void FusionGroup::add(Operation *op, Place place) {
  ops.push_back(op);
  places[op] = std::move(place);
}

bool FusionGroup::mayAdmit(stablehlo::ReduceOp reduce,
                           const Place &place) const {
  if (!place.isSimple() || !reducesTrailing(reduce))
    return false;
  SmallVector<Dim> sizes = reducedSizes(reduce);
  if (hasRows)
    return place.dims == rowDims && sizes == interior;
  // The root's dimensions are those of the rows, with or without their
  // interior.
  ArrayRef<int64_t> all = places.find(root)->second.dims;
  if (ArrayRef(place.dims) == all)
    return true;
  if (ArrayRef(place.dims) != all.take_front(place.dims.size()))
    return false;
  SmallVector<Dim> rest;
  for (int64_t dim : all.drop_front(place.dims.size()))
    rest.push_back(dimsOf(root->getResult(0))[dim]);
  return rest == sizes;
}

void FusionGroup::admit(stablehlo::ReduceOp reduce, const Place &place) {
  if (hasRows)
    return;
  hasRows = true;
  rowDims = place.dims;
  interior = reducedSizes(reduce);
  ArrayRef<int64_t> all = places.find(root)->second.dims;
  if (ArrayRef(place.dims) != all)
    interiorDims.assign(all.begin() + place.dims.size(), all.end());
  else
    for (size_t i = 0; i < interior.size(); ++i)
      interiorDims.push_back(dimsOf(root->getResult(0)).size() + i);
}

int64_t FusionGroup::rowRank() const {
  int64_t rank = dimsOf(root->getResult(0)).size();
  return interiorDims.empty() || interiorDims[0] >= rank ? rank
                                                         : interiorDims[0];
}

static Place placeThroughBroadcast(stablehlo::BroadcastInDimOp op,
                                   const Place &place) {
  ArrayRef<Dim> shape = dimsOf(op.getResult());
  SmallVector<int64_t> dims(shape.size(), -1);
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      dims[i] = place.dims[next++];
  Place inner;
  for (auto [size, dim] :
       llvm::zip(dimsOf(op.getOperand()), op.getBroadcastDimensions()))
    if (size != 1)
      inner.dims.push_back(dims[dim]);
  return inner;
}

Place FusionGroup::placeThrough(const OpOperand &use) const {
  Operation *user = use.getOwner();
  const Value operand = use.get();
  const Place &place = places.find(user)->second;
  if (kindOf(user) == Kind::Elementwise) {
    if (dimsOf(operand).empty())
      return Place();
    return place;
  }
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(user);
      reduce && hasRows && reducesTrailing(reduce) &&
      operand == reduce.getInputs()[0]) {
    Place inner = place;
    llvm::append_range(inner.dims, interiorDims);
    return inner;
  }
  if (place.isSimple() && isa<stablehlo::ReshapeOp>(user) &&
      properSizes(dimsOf(operand)) == properSizes(dimsOf(user->getResult(0))))
    return place;
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(user);
      broadcast && place.isSimple())
    return placeThroughBroadcast(broadcast, place);
  return Place{{}, &use};
}

std::optional<Place> FusionGroup::placeFor(Operation *op) const {
  std::optional<Place> common;
  for (Value result : op->getResults())
    for (OpOperand &use : result.getUses()) {
      if (!contains(use.getOwner()))
        continue;
      Place place = placeThrough(use);
      if (common && !(*common == place))
        return std::nullopt;
      common = place;
    }
  return common;
}
