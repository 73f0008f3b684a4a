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
         isOfUnknownSize(op->getResult(0).getType());
}

Error SizeNamer::refused(Operation *op, const std::string &what) const {
  return unsupported(nodeAndKind(op, op->getLoc()) + ": " + what);
}

int64_t SizeNamer::nameOf(const SizeExpression &size) {
  if (std::optional<int64_t> number = size.number())
    return *number;
  // There are as few as a model has symbols, and what is made of them.
  auto known = llvm::find(table.sizes, size);
  const int64_t number = known - table.sizes.begin();
  if (known == table.sizes.end())
    table.sizes.push_back(size);
  return nameOfSize(number);
}

void SizeNamer::expectPositive(const SizeExpression &size) {
  const bool isSure = llvm::all_of(
      size.terms(), [](const auto &term) { return term.factor >= 0; });
  if (!isSure && !llvm::is_contained(table.limits, size))
    table.limits.push_back(size);
}

void SizeNamer::expectSlice(const SizeExpression &slice,
                            const SizeExpression &size, const Dims &result) {
  const Known less = SizeExpression::productOf(slice, -1);
  Known left = less ? SizeExpression::sumOf(size, *less) : Known();
  const Known count = countOf(result);
  if (left && count && (!count->number() || *count->number() == 0))
    left = SizeExpression::productOf(*left, *count);
  if (left)
    expectPositive(*left);
}

Known SizeNamer::chosen(const SizeExpression &a, const SizeExpression &b,
                        bool smaller) {
  if (a.number() && b.number())
    return smaller ? std::min(*a.number(), *b.number())
                   : std::max(*a.number(), *b.number());
  if (a == b)
    return a;
  // Which it is the program finds out.
  if (isComputed(a) || isComputed(b))
    return std::nullopt;
  const SizeExpression &open = a.number() ? b : a;
  const SizeExpression &bound = a.number() ? a : b;
  if (!bound.number())
    return std::nullopt;
  // The size is taken, and what the bound leaves may not be negative.
  Known left = SizeExpression::productOf(smaller ? open : bound, -1);
  if (left)
    left = SizeExpression::sumOf(*left, smaller ? bound : open);
  if (!left)
    return std::nullopt;
  expectPositive(*left);
  return open;
}

bool SizeNamer::expectEqual(const SizeExpression &a, const SizeExpression &b) {
  if (a == b)
    return true;
  auto difference = [](const SizeExpression &from, const SizeExpression &what) {
    Known less = SizeExpression::productOf(what, -1);
    return less ? SizeExpression::sumOf(from, *less) : Known();
  };
  const Known more = difference(a, b), less = difference(b, a);
  if (!more || !less || more->number())
    return false;
  expectPositive(*more);
  expectPositive(*less);
  return true;
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
}

Result<void> SizeNamer::run() {
  nameArguments();
  firstComputed = static_cast<uint32_t>(table.parameters.size());
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

/// A program for no sizes but 0 serves nobody.
Result<void> SizeNamer::checkLimits() const {
  for (const SizeExpression &limit : table.limits)
    if (llvm::all_of(limit.terms(),
                     [](const auto &term) { return term.factor < 0; }))
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
        dimsOf(like.getOperand()) == dimsOf(like.getResult()))
      like.getResult().replaceAllUsesWith(like.getOperand());
  }
}

Result<void> SizeNamer::follow(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !dims.contains(operand))
      return refused(op, "an operand has no known rank");
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
             stablehlo::ScatterOp, stablehlo::SortOp>(op))
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
  if (auto joint = dyn_cast<stablehlo::ConcatenateOp>(op))
    for (Value input : joint.getInputs().drop_front())
      for (auto [i, size] : llvm::enumerate(dimsOf(input)))
        if (i != joint.getDimension() &&
            !expectEqual(size, dimsOf(joint.getInputs()[0])[i]))
          return refused(op, "joins tensors of other sizes");
  if (op->getNumResults() != 1)
    return {};
  const Dims sizes = dimsOf(op->getResult(0));
  return replaceDynamic(op, sizes);
}

//===----------------------------------------------------------------------===//
// Operations that take sizes
//===----------------------------------------------------------------------===//

Result<void> SizeNamer::checkBroadcast(Operation *op, Value operand,
                                       ArrayRef<int64_t> places,
                                       const Dims &sizes) {
  for (auto [size, place] : llvm::zip(dimsOf(operand), places))
    if (size != SizeExpression(1) &&
        // A number that is not 1 cannot be repeated.
        !(size.number() ? mustBeSame(size, sizes[place])
                        : size == sizes[place]))
      return refused(op, "dimension " + std::to_string(place) +
                             " may be repeated or not, as sizes will be");
  return {};
}

Result<void> SizeNamer::checkReshape(Operation *op, Value operand,
                                     const Dims &sizes) {
  const Known before = countOf(dimsOf(operand)), after = countOf(sizes);
  if (!before || !after || !mustBeSame(*before, *after))
    return refused(op, "may have another number of elements, as sizes will be");
  return {};
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
    if (Result<void> fits = checkBroadcast(op, operand, places, sizes); !fits)
      return fits;
    replace(builder.create<BroadcastInDimOp>(location, type, operand, places));
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
    SmallVector<int64_t> starts, limits;
    for (auto [start, limit, size] : llvm::zip(
             elementsOf(slice.getStartIndices()),
             elementsOf(slice.getLimitIndices()), dimsOf(slice.getOperand()))) {
      starts.push_back(start->number().value());
      if (starts.back() == 0 && *limit == size) {
        limits.push_back(nameOf(size));
        continue;
      }
      if (limit->number() && size.number()) {
        limits.push_back(*limit->number());
        if (starts.back() < 0 || limits.back() > *size.number())
          return refused(op, "reaches beyond its operand");
        continue;
      }
      // What is beyond the operand's end may not be negative.
      Known beyond = SizeExpression::productOf(*limit, -1);
      if (beyond)
        beyond = SizeExpression::sumOf(*beyond, size);
      if (!beyond || starts.back() < 0 ||
          (!size.number() && !isComputed(*limit)))
        return refused(op, "may reach beyond its operand, as sizes will be");
      expectPositive(*beyond);
      // How far the slice reaches is in its type.
      limits.push_back(nameOf(size));
    }
    replace(builder.create<SliceOp>(location, type, slice.getOperand(), starts,
                                    limits,
                                    SmallVector<int64_t>(starts.size(), 1)));
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
  if (!hasUnknownSizes(function) ||
      SizeTable::of(function->getParentOfType<ModuleOp>()))
    return {};
  return SizeNamer(function).run();
}
