//===- DynamicOperations.cpp - operations that take sizes, without --------===//

#include "backend/cpu/shapes/DynamicOperations.h"

#include "backend/cpu/ir/OperationKind.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void DynamicOperations::setSizes(Value value, const Dims &sizes) {
  auto type = tensorOf(value);
  values.setDims(value, sizes);
  SmallVector<Dim> named;
  for (const SizeExpression &size : sizes)
    named.push_back(facts.dimOf(size));
  value.setType(typeOfDims(named, type.getElementType()));
}

/// Gives the operands of \p op, which is elementwise, the sizes of its result:
/// they are taken to be the same.
Result<void> DynamicOperations::joinOperands(Operation *op) {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return {};
  const Dims sizes = values.dimsOf(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    const Dims own = values.dimsOf(operand.get());
    if (own.size() != sizes.size() || own == sizes)
      continue;
    for (auto [size, all] : llvm::zip(own, sizes))
      if (!facts.guards.requireEqual(size, all))
        return refused(op, "has operands of other sizes");
    operand.set(withSizes(op, operand.get(), sizes));
  }
  return {};
}

/// \p value as a tensor of \p sizes, which are taken to be its own.
Value DynamicOperations::withSizes(Operation *user, Value value,
                                   const Dims &sizes) {
  OpBuilder builder(user);
  const auto all = static_cast<int64_t>(sizes.size());
  Value same = builder.create<stablehlo::BroadcastInDimOp>(
      user->getLoc(), value.getType(), value,
      llvm::to_vector(llvm::seq<int64_t>(0, all)));
  setSizes(same, sizes);
  return same;
}

/// What follows from numbers is one.
void DynamicOperations::foldNumbers(Operation *op) {
  if (isa<stablehlo::ConstantOp>(op) || op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  const std::vector<Known> known = values.elementsOf(result);
  if (known.empty() || !llvm::all_of(known, [](const Known &each) {
        return each && each->number();
      }))
    return;
  auto type = tensorOf(result);
  SmallVector<APInt> numbers;
  for (const Known &each : known)
    numbers.emplace_back(type.getElementType().getIntOrFloatBitWidth(),
                         static_cast<uint64_t>(*each->number()),
                         /*isSigned=*/true);
  OpBuilder builder(op);
  Value constant = builder.create<stablehlo::ConstantOp>(
      op->getLoc(), type, DenseIntElementsAttr::get(type, numbers));
  values.setStatic(constant);
  values.setElements(constant, known);
  result.replaceAllUsesWith(constant);
}

//===----------------------------------------------------------------------===//
// Repetitions
//===----------------------------------------------------------------------===//

/// The elements of \p value along \p dim as often as \p size says, the one
/// there is each time if there is one. (Where \p size is that of \p value, the
/// places are these elements' own, and all others are the last one's.)
Value DynamicOperations::repeatedAlong(Operation *user, Value value,
                                       int64_t dim,
                                       const SizeExpression &size) {
  OpBuilder builder(user);
  nn::TensorBuilder emit(builder, user->getLoc());
  const Location location = user->getLoc();
  Value places = builder.create<stablehlo::IotaOp>(
      location, typeOfDims({facts.dimOf(size)}, emit.integerType(64)), 0);
  values.setDims(places, {size});
  Dims sizes = values.dimsOf(value);
  const int64_t rank = static_cast<int64_t>(sizes.size());
  SmallVector<Dim> slice;
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i) {
    slice.push_back(i == dim ? Dim(1) : facts.dimOf(sizes[i]));
    if (i != dim)
      others.push_back(i);
  }
  sizes[dim] = size;
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      builder.getContext(), others, {dim}, {}, {}, {dim}, 1);
  Value taken = builder.create<stablehlo::GatherOp>(
      location, value.getType(), value, places, numbers,
      builder.getDenseI64ArrayAttr(encodedDims(slice)),
      builder.getBoolAttr(true));
  setSizes(taken, sizes);
  return taken;
}

Result<Value> DynamicOperations::repeatedWhereOne(Operation *op, Value operand,
                                                  ArrayRef<int64_t> places,
                                                  const Dims &sizes) {
  const Dims own = values.dimsOf(operand);
  for (auto [dim, size, place] : llvm::enumerate(own, places)) {
    const SizeExpression &all = sizes[place];
    if (size == SizeExpression(1) || size == all ||
        facts.guards.areEqual(size, all))
      continue;
    // A number that is not 1 cannot be repeated.
    if (size.number() && facts.mustBeSame(size, all))
      continue;
    const Known joined = facts.broadcastOf(size, all);
    if (!joined || size.number() ||
        !(all.number() || *joined == all ||
          facts.guards.requireEqual(*joined, all)))
      return refused(op, "dimension " + std::to_string(place) +
                             " may be repeated or not, as sizes will be");
    if (facts.guards.areEqual(size, all))
      continue;
    operand = repeatedAlong(op, operand, static_cast<int64_t>(dim), all);
  }
  return operand;
}

//===----------------------------------------------------------------------===//
// Reshapes and slices
//===----------------------------------------------------------------------===//

/// The one dimension in which two shapes of the same rank differ, in both.
static std::optional<std::pair<SizeExpression, SizeExpression>>
onlyDifferent(const Dims &from, const Dims &to) {
  std::optional<std::pair<SizeExpression, SizeExpression>> pair;
  if (from.size() != to.size())
    return std::nullopt;
  for (auto [own, other] : llvm::zip_equal(from, to)) {
    if (own == other)
      continue;
    if (pair)
      return std::nullopt;
    pair.emplace(own, other);
  }
  return pair;
}

/// A dimension that \p op leaves out is taken to be 1.
Result<void> DynamicOperations::checkReshape(Operation *op, Value operand,
                                             const Dims &sizes) {
  const Known before = facts.countOf(values.dimsOf(operand)),
              after = facts.countOf(sizes);
  if (before && after && facts.mustBeSame(*before, *after))
    return {};
  if (const auto pair = onlyDifferent(values.dimsOf(operand), sizes);
      pair && facts.guards.requireEqual(pair->first, pair->second))
    return {};
  const Known left =
      before && after ? SizeExpression::quotientOf(*before, *after) : Known();
  if (!left || !facts.guards.requireEqual(*left, 1))
    return refused(op, "may have another number of elements, as sizes will be");
  return {};
}

/// The part of its operand that \p op takes, which begins at places that are
/// computed along some dimensions, and at 0 along all others.
Result<Value> DynamicOperations::partFrom(stablehlo::RealDynamicSliceOp op,
                                          const Dims &result) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  std::vector<Known> starts = values.elementsOf(op.getStartIndices());
  starts.resize(result.size());
  SmallVector<Value> places;
  SmallVector<Dim> sizes;
  for (auto [i, start, stride] :
       llvm::enumerate(starts, values.elementsOf(op.getStrides()))) {
    if (stride != SizeExpression(1) || (start && start != SizeExpression(0)))
      return refused(op, "takes a part that is not known before it runs");
    const auto at = static_cast<int64_t>(i);
    places.push_back(emit.reshape(
        emit.slice(op.getStartIndices(), 0, at, at + 1), nn::Sizes()));
    sizes.push_back(facts.dimOf(result[i]));
    const SizeExpression &all = values.dimsOf(op.getOperand())[i];
    const Known beyond = start ? differenceOf(all, result[i]) : Known();
    if (beyond && !facts.guards.isAtMost(result[i], all))
      facts.guards.requireNonNegative(*beyond);
  }
  return Value(builder.create<stablehlo::DynamicSliceOp>(
      op.getLoc(), op.getType(), op.getOperand(), places, encodedDims(sizes)));
}

/// The part of its operand that \p op takes.
Result<Value> DynamicOperations::partOf(stablehlo::RealDynamicSliceOp op,
                                        const Dims &result) {
  auto elementsIn = [&](Value vector) {
    std::vector<Known> known = values.elementsOf(vector);
    known.resize(result.size());
    return known;
  };
  if (llvm::is_contained(elementsIn(op.getStartIndices()), Known()))
    return partFrom(op, result);
  SmallVector<int64_t> starts, strides;
  SmallVector<Dim> limits;
  for (auto [start, given, stride, size, count] : llvm::zip_equal(
           elementsIn(op.getStartIndices()), elementsIn(op.getLimitIndices()),
           elementsIn(op.getStrides()), values.dimsOf(op.getOperand()),
           result)) {
    const auto first = start ? start->number() : std::nullopt;
    const auto step = stride ? stride->number() : std::nullopt;
    const Known limit = given || !first || step != 1
                            ? given
                            : SizeExpression::sumOf(count, *first);
    if (!first || !limit || *first < 0 || !step || *step < 1)
      return refused(op, "takes a part that is not known before it runs");
    starts.push_back(*first);
    strides.push_back(*step);
    // How far a slice of dynamic size reaches is in its type.
    limits.push_back(limit->number() ? Dim(*limit->number())
                                     : facts.dimOf(size));
    // What is beyond the operand's end may not be negative.
    const Known beyond = differenceOf(size, *limit);
    if (!beyond || beyond->number().value_or(0) < 0)
      return refused(op, "reaches beyond its operand");
    if (!facts.guards.isAtMost(*limit, size))
      facts.guards.requireNonNegative(*beyond);
  }
  OpBuilder builder(op);
  Value part = builder.create<stablehlo::SliceOp>(op.getLoc(), op.getType(),
                                                  op.getOperand(), starts,
                                                  encodedDims(limits), strides);
  return part;
}

//===----------------------------------------------------------------------===//
// Replacements
//===----------------------------------------------------------------------===//

void DynamicOperations::exchange(Operation *op, Value value,
                                 const Dims &sizes) {
  Value result = op->getResult(0);
  value.setType(result.getType());
  values.setDims(value, sizes);
  values.setElements(value, values.elementsOf(result));
  result.replaceAllUsesWith(value);
  op->erase();
}

Result<void> DynamicOperations::replaceBroadcast(Operation *op, Value operand,
                                                 ArrayRef<int64_t> places,
                                                 const Dims &sizes) {
  Result<Value> repeated = repeatedWhereOne(op, operand, places, sizes);
  if (!repeated)
    return repeated.takeError();
  OpBuilder builder(op);
  exchange(op,
           builder.create<stablehlo::BroadcastInDimOp>(
               op->getLoc(), op->getResult(0).getType(), *repeated, places),
           sizes);
  return {};
}

Result<void> DynamicOperations::replaceReshape(Operation *op,
                                               const Dims &sizes) {
  if (Result<void> fits = checkReshape(op, op->getOperand(0), sizes); !fits)
    return fits;
  if (!isa<stablehlo::DynamicReshapeOp>(op))
    return {};
  OpBuilder builder(op);
  exchange(op,
           builder.create<stablehlo::ReshapeOp>(
               op->getLoc(), op->getResult(0).getType(), op->getOperand(0)),
           sizes);
  return {};
}

Result<void> DynamicOperations::replaceGather(stablehlo::DynamicGatherOp op,
                                              const Dims &sizes) {
  // The attribute has names where the type of the operand has.
  SmallVector<Dim> slice;
  const Dims whole = values.dimsOf(op.getOperand());
  for (auto [size, all] :
       llvm::zip(values.elementsOf(op.getSliceSizes()), whole)) {
    if (!size || (!size->number() && *size != all))
      return refused(op, "takes slices of which it is not known that they "
                         "are whole");
    slice.push_back(facts.dimOf(*size));
    entered.requireSlice(op, *size, all, sizes);
  }
  OpBuilder builder(op);
  exchange(op,
           builder.create<stablehlo::GatherOp>(
               op.getLoc(), op.getType(), op.getOperand(), op.getStartIndices(),
               op.getDimensionNumbers(),
               builder.getDenseI64ArrayAttr(encodedDims(slice)),
               op.getIndicesAreSortedAttr()),
           sizes);
  return {};
}

Result<void> DynamicOperations::replace(Operation *op, const Dims &sizes) {
  using namespace stablehlo;
  OpBuilder builder(op);
  Location location = op->getLoc();
  Type type = op->getResult(0).getType();
  if (auto dynamic = dyn_cast<DynamicBroadcastInDimOp>(op))
    return replaceBroadcast(op, dynamic.getOperand(),
                            dynamic.getBroadcastDimensions(), sizes);
  if (auto like = dyn_cast<nn::BroadcastLikeOp>(op)) {
    const int64_t own = tensorOf(like.getOperand()).getRank();
    const auto all = static_cast<int64_t>(sizes.size());
    return replaceBroadcast(op, like.getOperand(),
                            llvm::to_vector(llvm::seq<int64_t>(all - own, all)),
                            sizes);
  }
  if (auto repeat = dyn_cast<BroadcastInDimOp>(op)) {
    Result<Value> repeated = repeatedWhereOne(
        op, repeat.getOperand(), repeat.getBroadcastDimensions(), sizes);
    if (!repeated)
      return repeated.takeError();
    repeat.getOperandMutable().assign(*repeated);
    return {};
  }
  if (isa<DynamicReshapeOp, ReshapeOp>(op))
    return replaceReshape(op, sizes);
  // Where there is not one slice nothing is taken that counts.
  if (auto gather = dyn_cast<GatherOp>(op);
      gather && llvm::any_of(llvm::zip(gather.getSliceSizes(),
                                       values.dimsOf(gather.getOperand())),
                             [](const auto &pair) {
                               const auto &[slice, size] = pair;
                               return size.number().value_or(slice) < slice;
                             })) {
    nn::TensorBuilder emit(builder, location);
    exchange(op,
             builder.create<BroadcastInDimOp>(
                 location, type, emit.scalar(0, getElementTypeOrSelf(type)),
                 ArrayRef<int64_t>()),
             sizes);
    return {};
  }
  if (auto gather = dyn_cast<DynamicGatherOp>(op))
    return replaceGather(gather, sizes);
  if (auto slice = dyn_cast<RealDynamicSliceOp>(op)) {
    Result<Value> part = partOf(slice, sizes);
    if (!part)
      return part.takeError();
    exchange(op, *part, sizes);
    return {};
  }
  if (auto sum = dyn_cast<nn::CumulativeSumOp>(op)) {
    FailureOr<SmallVector<Value>> windows = sum.decompose(builder);
    if (failed(windows))
      return refused(op, "has no decomposition for these operands");
    exchange(op, windows->front(), sizes);
    return {};
  }
  if (auto iota = dyn_cast<DynamicIotaOp>(op))
    exchange(op,
             builder.create<IotaOp>(location, type, iota.getIotaDimension()),
             sizes);
  return {};
}

//===----------------------------------------------------------------------===//
// Sizes as numbers
//===----------------------------------------------------------------------===//

/// A size that is computed with is the sum of as many ones.
Value DynamicOperations::counted(nn::TensorBuilder &emit,
                                 const SizeExpression &size, Type element) {
  if (const std::optional<int64_t> number = size.number())
    return emit.scalar(double(*number), element);
  return emit.sum(emit.make<stablehlo::BroadcastInDimOp>(
                      typeOfDims({facts.dimOf(size)}, element),
                      emit.scalar(1, element), ArrayRef<int64_t>()),
                  {0});
}

Value DynamicOperations::numberOf(const SizeExpression &size, Operation *user) {
  OpBuilder builder(user);
  nn::TensorBuilder emit(builder, user->getLoc());
  return counted(emit, size, emit.integerType(64));
}

void DynamicOperations::countSize(stablehlo::GetDimensionSizeOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  op.getResult().replaceAllUsesWith(
      counted(emit, values.dimsOf(op.getOperand())[op.getDimension()],
              tensorOf(op.getResult()).getElementType()));
  op.erase();
}

void DynamicOperations::countSizes(nn::ShapeOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  const Type element = tensorOf(op.getResult()).getElementType();
  SmallVector<Value> sizes;
  for (const SizeExpression &size : values.dimsOf(op.getOperand()))
    sizes.push_back(emit.reshape(counted(emit, size, element), {1}));
  op.getResult().replaceAllUsesWith(emit.concatenate(sizes, 0));
  op.erase();
}
