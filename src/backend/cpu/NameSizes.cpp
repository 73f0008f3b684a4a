//===- NameSizes.cpp - every unknown size gets a name ---------------------===//

#include "backend/cpu/NameSizes.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/RemoveUnused.h"
#include "backend/cpu/SizeNamer.h"
#include "graph/Model.h"
#include "graph/Types.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isOpen(const Model &model) {
  return llvm::any_of(model.inputs(), [](const TensorSpec &input) {
    return llvm::is_contained(input.shape, -1);
  });
}

bool cpu::isAboutSizes(Operation *op) {
  using namespace stablehlo;
  if (isa<nn::ShapeOp, GetDimensionSizeOp, DynamicGatherOp>(op) &&
      isOfUnknownSize(op->getOperand(0).getType()))
    return true;
  // The window is as large as the axis.
  if (auto sum = dyn_cast<nn::CumulativeSumOp>(op);
      sum && tensorOf(sum).isDynamicDim(static_cast<unsigned>(sum.getAxis())))
    return true;
  return isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp,
             nn::BroadcastLikeOp, RealDynamicSliceOp, DynamicGatherOp>(op) &&
         (isOfUnknownSize(op->getResult(0).getType()) ||
          isOfUnknownSize(op->getOperand(0).getType()));
}

Error SizeNamer::refused(Operation *op, const std::string &what) const {
  return unsupported(nodeAndKind(op, op->getLoc()) + ": " + what);
}

int64_t SizeNamer::nameOf(const SizeExpression &size) {
  if (std::optional<int64_t> number = size.number())
    return *number;
  const auto [known, isNew] =
      numberOfSize.try_emplace(size, static_cast<int64_t>(table.sizes.size()));
  if (isNew)
    table.sizes.push_back(size);
  return nameOfSize(known->second);
}

void SizeNamer::expectPositive(const SizeExpression &size) {
  if (!isSurelySize(size))
    expectSize(size);
}

void SizeNamer::expectSize(const SizeExpression &size) {
  if (knownLimits.insert(size).second)
    table.limits.push_back(size);
}

void SizeNamer::expectSlice(const SizeExpression &slice,
                            const SizeExpression &size, const Dims &result) {
  Known left = differenceOf(size, slice);
  const Known count = countOf(result);
  if (left && count && (!count->number() || *count->number() == 0))
    left = SizeExpression::productOf(*left, *count);
  if (left)
    expectPositive(*left);
}

/// The number that \p size has besides what follows from parameters.
static int64_t numberIn(const SizeExpression &size) {
  for (const SizeExpression::Term &term : size.terms())
    if (term.parameters.empty())
      return term.factor;
  return 0;
}

/// min(a, b) = min(a + n, b + n) - n where both are sizes then; nothing where
/// there is no such n.
Known SizeNamer::leastOfShifted(const SizeExpression &a,
                                const SizeExpression &b) {
  const int64_t shift = std::max(-numberIn(a), -numberIn(b));
  const Known left = SizeExpression::sumOf(a, shift),
              right = SizeExpression::sumOf(b, shift);
  if (shift <= 0 || !left || !right || !isSurelySize(*left) ||
      !isSurelySize(*right))
    return std::nullopt;
  return SizeExpression::sumOf(
      table.followingOf(FollowingKind::Least, *left, *right), -shift);
}

Known SizeNamer::chosen(const SizeExpression &a, const SizeExpression &b,
                        bool smaller) {
  if (a.number() && b.number())
    return smaller ? std::min(*a.number(), *b.number())
                   : std::max(*a.number(), *b.number());
  if (isSurelyWithin(b, a))
    return smaller ? b : a;
  if (isSurelyWithin(a, b))
    return smaller ? a : b;
  const bool areSizes = isSurelySize(a) && isSurelySize(b);
  const bool isNumber = a.number() || b.number();
  const bool isOne = isSurelySize(a) || isSurelySize(b);
  // What gets less as sizes grow is seldom the larger one.
  auto shrinks = [](const SizeExpression &size) {
    return !size.number() && llvm::all_of(size.terms(), [](const auto &term) {
      return term.parameters.empty() || term.factor < 0;
    });
  };
  if (areSizes ||
      (!smaller && isOne && (!isNumber || shrinks(a) || shrinks(b))))
    return table.followingOf(
        smaller ? FollowingKind::Least : FollowingKind::Greatest, a, b);
  if (smaller)
    if (const Known least = leastOfShifted(a, b))
      return least;
  // Which it is the program finds out.
  if (isComputed(a) || isComputed(b) || !isNumber)
    return std::nullopt;
  const SizeExpression &open = a.number() ? b : a;
  const SizeExpression &bound = a.number() ? a : b;
  // The size is taken, and what the bound leaves may not be negative.
  const Known left =
      smaller ? differenceOf(bound, open) : differenceOf(open, bound);
  if (!left)
    return std::nullopt;
  expectPositive(*left);
  return open;
}

/// Whether \p size is at most \p all, whatever the parameters are.
bool SizeNamer::isSurelyWithin(const SizeExpression &size,
                               const SizeExpression &all,
                               unsigned depth) const {
  constexpr unsigned deepest = 4;
  if (const Known rest = differenceOf(all, size); rest && isSurelySize(*rest))
    return true;
  const std::optional<uint32_t> parameter = size.asParameter();
  const FollowingSize *source =
      parameter && depth < deepest ? table.sourceOf(*parameter) : nullptr;
  return source && source->kind == FollowingKind::Least &&
         (isSurelyWithin(source->size, all, depth + 1) ||
          isSurelyWithin(source->other, all, depth + 1));
}

bool SizeNamer::expectEqual(const SizeExpression &a, const SizeExpression &b) {
  if (a == b)
    return true;
  const Known more = differenceOf(a, b), less = differenceOf(b, a);
  if (!more || !less || more->number())
    return false;
  expectPositive(*more);
  expectPositive(*less);
  if (!areExpectedEqual(a, b)) {
    equal.emplace_back(a, b);
    solve(*more);
  }
  return true;
}

/// Replaces a parameter of \p zero, which is taken to be 0, in what follows:
/// the last one that occurs only once, and alone.
void SizeNamer::solve(const SizeExpression &zero) {
  const Known left = reduced(zero);
  if (!left)
    return;
  for (const SizeExpression::Term &term : llvm::reverse(left->terms())) {
    const bool isAlone =
        term.parameters.size() == 1 &&
        (term.factor == 1 || term.factor == -1) &&
        llvm::count_if(left->terms(), [&](const auto &other) {
          return llvm::is_contained(other.parameters, term.parameters.front());
        }) == 1;
    if (!isAlone)
      continue;
    const uint32_t parameter = term.parameters.front();
    // zero = factor * parameter + rest, and factor is its own reciprocal.
    const Known rest = differenceOf(
        *left, *SizeExpression::productOf(SizeExpression::parameter(parameter),
                                          term.factor));
    if (const Known value =
            rest ? SizeExpression::productOf(*rest, -term.factor) : Known())
      replaced.try_emplace(parameter, *value);
    return;
  }
}

/// \p size without parameters that others are taken to give; nothing on
/// overflow.
Known SizeNamer::reduced(const SizeExpression &size) const {
  SizeExpression sum;
  bool isReduced = true;
  for (const SizeExpression::Term &term : size.terms()) {
    Known product = SizeExpression(term.factor);
    for (uint32_t parameter : term.parameters) {
      auto found = replaced.find(parameter);
      isReduced &= found == replaced.end();
      product = SizeExpression::productOf(
          *product, found == replaced.end()
                        ? SizeExpression::parameter(parameter)
                        : found->second);
      if (!product)
        return std::nullopt;
    }
    const Known next = SizeExpression::sumOf(sum, *product);
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  // What stands for a parameter may have been replaced since.
  return isReduced ? Known(sum) : reduced(sum);
}

bool SizeNamer::areExpectedEqual(const SizeExpression &a,
                                 const SizeExpression &b) const {
  return llvm::any_of(equal, [&](const auto &pair) {
    return (pair.first == a && pair.second == b) ||
           (pair.first == b && pair.second == a);
  });
}

void SizeNamer::setSizes(Value value, const Dims &sizes) {
  auto type = tensorOf(value);
  dims[value] = sizes;
  SmallVector<int64_t> names;
  for (const SizeExpression &size : sizes)
    names.push_back(nameOf(size));
  value.setType(typeOfSizes(names, type.getElementType()));
}

void SizeNamer::nameArguments(bool inTypes) {
  std::map<std::string, uint32_t> numbers;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    const unsigned index = argument.getArgNumber();
    auto symbols = function.getArgAttrOfType<ArrayAttr>(index, dimsAttribute);
    auto given = function.getArgAttrOfType<StringAttr>(index, nameAttribute);
    const std::string input =
        given ? given.str() : "arg" + std::to_string(index);
    Dims sizes;
    for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(size);
        continue;
      }
      std::string name;
      if (symbols && dimension < symbols.size())
        if (auto symbol = dyn_cast<StringAttr>(symbols[dimension]))
          name = symbol.str();
      if (name.empty())
        name = input + "[" + std::to_string(dimension) + "]";
      auto [entry, isNew] = numbers.try_emplace(name, numbers.size());
      if (isNew)
        table.parameters.push_back(name);
      sizes.push_back(SizeExpression::parameter(entry->second));
    }
    if (inTypes)
      setSizes(argument, sizes);
    else
      dims[argument] = sizes;
  }
  firstComputed = static_cast<uint32_t>(table.parameters.size());
}

Result<void> SizeNamer::run() {
  nameArguments();
  mayDefine = true;
  Block &body = function.front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (Result<void> done = follow(&op); !done)
      return done;
  function.setFunctionType(
      FunctionType::get(function.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  // What only sizes were computed of is not computed any more.
  removeUnused(function);
  SmallVector<stablehlo::GetDimensionSizeOp> counted;
  function.walk([&](stablehlo::GetDimensionSizeOp size) {
    if (dims.contains(size.getOperand()))
      counted.push_back(size);
  });
  for (stablehlo::GetDimensionSizeOp size : counted)
    countSize(size);
  for (auto shape : llvm::to_vector(body.getOps<nn::ShapeOp>()))
    countSizes(shape);
  if (Result<void> some = checkLimits(); !some)
    return some;
  table.setOf(function->getParentOfType<ModuleOp>());
  return {};
}

/// A program for no sizes but 0 serves nobody. What follows from sizes, a
/// number of windows say, may well be 0.
Result<void> SizeNamer::checkLimits() const {
  auto isOfSizes = [&](const SizeExpression::Term &term) {
    return llvm::none_of(term.parameters, [&](uint32_t parameter) {
      return table.sourceOf(parameter) != nullptr;
    });
  };
  for (const SizeExpression &limit : table.limits)
    if (llvm::all_of(limit.terms(), [&](const SizeExpression::Term &term) {
          return term.factor < 0 && isOfSizes(term);
        }))
      return unsupported("it would be for sizes only where " +
                         limit.text(table.parameters) + " is not negative");
  return {};
}

SizeExpression SizeNamer::unknownSize() {
  const auto number = static_cast<uint32_t>(table.parameters.size());
  table.parameters.emplace_back();
  return SizeExpression::parameter(number);
}

void SizeNamer::dropRepetitions() {
  nameArguments(/*inTypes=*/false);
  for (Operation &op : function.front().without_terminator()) {
    auto hasDims = [&](Value value) { return dims.contains(value); };
    const bool isFollowed = llvm::all_of(op.getOperands(), hasDims);
    if (isFollowed)
      followElements(&op);
    for (OpResult result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      SmallVector<Known> known;
      if (isFollowed && op.getNumRegions() == 0)
        known = sizesOf(result);
      known.resize(type.getRank());
      Dims sizes;
      for (auto [size, inType] : llvm::zip(known, type.getShape()))
        sizes.push_back(!ShapedType::isDynamic(inType)
                            ? SizeExpression(inType)
                            : size.value_or(unknownSize()));
      dims[result] = sizes;
    }
    auto like = dyn_cast<nn::BroadcastLikeOp>(op);
    if (like && like.getOperand().getType() == like.getType() && isFollowed &&
        repeatsNothing(like))
      like.getResult().replaceAllUsesWith(like.getOperand());
  }
}

/// What is taken to be of one size is found to be so where both are operands of
/// one elementwise operation.
bool SizeNamer::repeatsNothing(nn::BroadcastLikeOp like) const {
  const bool joins = llvm::all_of(like->getUsers(), isElementwise);
  return llvm::all_of(
      llvm::zip(dimsOf(like.getOperand()), dimsOf(like.getResult())),
      [&](const auto &pair) {
        const auto &[own, all] = pair;
        return own == all || (joins && areExpectedEqual(own, all));
      });
}

/// Gives the operands of \p op, which is elementwise, the sizes of its result:
/// they are taken to be the same.
Result<void> SizeNamer::joinOperands(Operation *op) {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return {};
  const Dims sizes = dimsOf(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    const Dims own = dimsOf(operand.get());
    if (own.size() != sizes.size() || own == sizes)
      continue;
    for (auto [size, all] : llvm::zip(own, sizes))
      if (!expectEqual(size, all))
        return refused(op, "has operands of other sizes");
    operand.set(withSizes(op, operand.get(), sizes));
  }
  return {};
}

/// \p value as a tensor of \p sizes, which are taken to be its own.
Value SizeNamer::withSizes(Operation *user, Value value, const Dims &sizes) {
  OpBuilder builder(user);
  const auto all = static_cast<int64_t>(sizes.size());
  Value same = builder.create<stablehlo::BroadcastInDimOp>(
      user->getLoc(), value.getType(), value,
      llvm::to_vector(llvm::seq<int64_t>(0, all)));
  setSizes(same, sizes);
  return same;
}

Result<void> SizeNamer::follow(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !dims.contains(operand))
      return refused(op, "an operand has no known rank");
  if (auto assume = dyn_cast<nn::AssumeOp>(op))
    return takeForGranted(assume);
  followElements(op);
  setNumbers(op);
  if (isControlFlow(op))
    return followRegions(op);
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return refused(op, "its result is no ranked tensor");
    if (type.hasStaticShape()) {
      dims[result] = Dims(type.getShape().begin(), type.getShape().end());
      continue;
    }
    if (op->getNumRegions() > 0 &&
        !isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp,
             stablehlo::ScatterOp, stablehlo::SelectAndScatterOp,
             stablehlo::SortOp>(op))
      return refused(op, "keeps no open size");
    Dims sizes;
    for (auto [dimension, size] : llvm::enumerate(sizesOf(result))) {
      if (!size)
        return refused(op, "dimension " + std::to_string(dimension) +
                               " of its result has no size before it runs");
      sizes.push_back(*size);
    }
    if (static_cast<int64_t>(sizes.size()) != type.getRank())
      return refused(op, "its result has no size before it runs");
    setSizes(result, sizes);
  }
  if (auto choice = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    for (auto [window, size, count] :
         llvm::zip_equal(choice.getWindow(), dimsOf(choice.getOperand()),
                         dimsOf(choice.getSource()))) {
      // What the operation holds itself: none where a window has no room.
      if (size.number() && count.number())
        continue;
      if (const Known places = windowedSize(size, window);
          !places || !expectEqual(*places, count))
        return refused(op, "has not as many windows as its source elements");
    }
  if (auto joint = dyn_cast<stablehlo::ConcatenateOp>(op))
    for (Value input : joint.getInputs().drop_front())
      for (auto [i, size] : llvm::enumerate(dimsOf(input)))
        if (i != joint.getDimension() &&
            !expectEqual(size, dimsOf(joint.getInputs()[0])[i]))
          return refused(op, "joins tensors of other sizes");
  if (op->getNumResults() != 1)
    return {};
  if (Result<void> joined = joinOperands(op); !joined)
    return joined;
  const Dims sizes = dimsOf(op->getResult(0));
  return replaceDynamic(op, sizes);
}

//===----------------------------------------------------------------------===//
// Operations that take sizes
//===----------------------------------------------------------------------===//

/// A dimension that \p op leaves out is taken to be 1.
Result<void> SizeNamer::checkReshape(Operation *op, Value operand,
                                     const Dims &sizes) {
  const Known before = countOf(dimsOf(operand)), after = countOf(sizes);
  if (before && after && mustBeSame(*before, *after))
    return {};
  const Known left =
      before && after ? SizeExpression::quotientOf(*before, *after) : Known();
  if (!left || !expectEqual(*left, 1))
    return refused(op, "may have another number of elements, as sizes will be");
  return {};
}

/// The part of its operand that \p op takes, which begins at places that are
/// computed along some dimensions, and at 0 along all others.
Result<Value> SizeNamer::partFrom(stablehlo::RealDynamicSliceOp op,
                                  const Dims &result) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  std::vector<Known> starts = elementsOf(op.getStartIndices());
  starts.resize(result.size());
  SmallVector<Value> places;
  SmallVector<int64_t> sizes;
  for (auto [i, start, stride] :
       llvm::enumerate(starts, elementsOf(op.getStrides()))) {
    if (stride != SizeExpression(1) || (start && start != SizeExpression(0)))
      return refused(op, "takes a part that is not known before it runs");
    const auto at = static_cast<int64_t>(i);
    places.push_back(emit.reshape(
        emit.slice(op.getStartIndices(), 0, at, at + 1), nn::Sizes()));
    sizes.push_back(nameOf(result[i]));
    const SizeExpression &all = dimsOf(op.getOperand())[i];
    const Known beyond = start ? differenceOf(all, result[i]) : Known();
    if (beyond && !isSurelyWithin(result[i], all))
      expectPositive(*beyond);
  }
  return Value(builder.create<stablehlo::DynamicSliceOp>(
      op.getLoc(), op.getType(), op.getOperand(), places, sizes));
}

/// The part of its operand that \p op takes.
Result<Value> SizeNamer::partOf(stablehlo::RealDynamicSliceOp op,
                                const Dims &result) {
  auto elementsIn = [&](Value vector) {
    std::vector<Known> known = elementsOf(vector);
    known.resize(result.size());
    return known;
  };
  if (llvm::is_contained(elementsIn(op.getStartIndices()), Known()))
    return partFrom(op, result);
  SmallVector<int64_t> starts, limits, strides;
  for (auto [start, given, stride, size, count] : llvm::zip_equal(
           elementsIn(op.getStartIndices()), elementsIn(op.getLimitIndices()),
           elementsIn(op.getStrides()), dimsOf(op.getOperand()), result)) {
    const auto first = start ? start->number() : std::nullopt;
    const auto step = stride ? stride->number() : std::nullopt;
    const Known limit = given || !first || step != 1
                            ? given
                            : SizeExpression::sumOf(count, *first);
    if (!first || !limit || *first < 0 || !step || *step < 1)
      return refused(op, "takes a part that is not known before it runs");
    starts.push_back(*first);
    strides.push_back(*step);
    // How far a slice of open size reaches is in its type.
    limits.push_back(limit->number() ? *limit->number() : nameOf(size));
    // What is beyond the operand's end may not be negative.
    const Known beyond = differenceOf(size, *limit);
    if (!beyond || beyond->number().value_or(0) < 0)
      return refused(op, "reaches beyond its operand");
    if (!isSurelyWithin(*limit, size))
      expectPositive(*beyond);
  }
  OpBuilder builder(op);
  Value part = builder.create<stablehlo::SliceOp>(
      op.getLoc(), op.getType(), op.getOperand(), starts, limits, strides);
  return part;
}

Result<void> SizeNamer::replaceDynamic(Operation *op, const Dims &sizes) {
  using namespace stablehlo;
  OpBuilder builder(op);
  Location location = op->getLoc();
  Type type = op->getResult(0).getType();
  auto replace = [&](Value value) {
    value.setType(type);
    dims[value] = sizes;
    elements[value] = elementsOf(op->getResult(0));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  };
  auto broadcast = [&](Value operand,
                       ArrayRef<int64_t> places) -> Result<void> {
    Result<Value> repeated = repeatedWhereOne(op, operand, places, sizes);
    if (!repeated)
      return repeated.takeError();
    replace(
        builder.create<BroadcastInDimOp>(location, type, *repeated, places));
    return {};
  };
  if (auto dynamic = dyn_cast<DynamicBroadcastInDimOp>(op))
    return broadcast(dynamic.getOperand(), dynamic.getBroadcastDimensions());
  if (auto like = dyn_cast<nn::BroadcastLikeOp>(op)) {
    const int64_t own = tensorOf(like.getOperand()).getRank();
    const auto all = static_cast<int64_t>(sizes.size());
    return broadcast(like.getOperand(),
                     llvm::to_vector(llvm::seq<int64_t>(all - own, all)));
  }
  if (isa<DynamicReshapeOp, ReshapeOp>(op)) {
    if (Result<void> fits = checkReshape(op, op->getOperand(0), sizes); !fits)
      return fits;
    if (isa<DynamicReshapeOp>(op))
      replace(builder.create<ReshapeOp>(location, type, op->getOperand(0)));
    return {};
  }
  // Where there is not one slice nothing is taken that counts.
  if (auto gather = dyn_cast<GatherOp>(op);
      gather && llvm::any_of(llvm::zip(gather.getSliceSizes(),
                                       dimsOf(gather.getOperand())),
                             [](const auto &pair) {
                               const auto &[slice, size] = pair;
                               return size.number().value_or(slice) < slice;
                             })) {
    nn::TensorBuilder emit(builder, location);
    replace(builder.create<BroadcastInDimOp>(
        location, type, emit.scalar(0, getElementTypeOrSelf(type)),
        ArrayRef<int64_t>()));
    return {};
  }
  if (auto gather = dyn_cast<DynamicGatherOp>(op)) {
    // The attribute has names where the type of the operand has.
    SmallVector<int64_t> slice;
    for (auto [size, all] : llvm::zip(elementsOf(gather.getSliceSizes()),
                                      dimsOf(gather.getOperand()))) {
      if (!size || (!size->number() && *size != all))
        return refused(op, "takes slices of which it is not known that they "
                           "are whole");
      slice.push_back(nameOf(*size));
      expectSlice(*size, all, sizes);
    }
    replace(builder.create<GatherOp>(
        location, type, gather.getOperand(), gather.getStartIndices(),
        gather.getDimensionNumbers(), builder.getDenseI64ArrayAttr(slice),
        gather.getIndicesAreSortedAttr()));
    return {};
  }
  if (auto slice = dyn_cast<RealDynamicSliceOp>(op)) {
    Result<Value> part = partOf(slice, sizes);
    if (!part)
      return part.takeError();
    replace(*part);
    return {};
  }
  if (auto sum = dyn_cast<nn::CumulativeSumOp>(op)) {
    FailureOr<SmallVector<Value>> windows = sum.decompose(builder);
    if (failed(windows))
      return refused(op, "has no decomposition for these operands");
    replace(windows->front());
    return {};
  }
  if (auto iota = dyn_cast<DynamicIotaOp>(op))
    replace(builder.create<IotaOp>(location, type, iota.getIotaDimension()));
  return {};
}

bool cpu::hasUnknownSizes(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), isOfUnknownSize) ||
         hasResultOfUnknownSize(function);
}

void cpu::dropRepetitions(func::FuncOp function) {
  SizeNamer(function).dropRepetitions();
}

Result<void> cpu::nameSizes(func::FuncOp function) {
  const bool assumes =
      function.walk([](nn::AssumeOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if ((!assumes && !hasUnknownSizes(function)) ||
      SizeTable::of(function->getParentOfType<ModuleOp>()))
    return {};
  return SizeNamer(function).run();
}
