//===- NameSizes.cpp - every unknown size gets a name ---------------------===//

#include "backend/cpu/NameSizes.h"

#include "backend/cpu/RemoveUnused.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/Model.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr StringLiteral parametersAttribute = "cpu.size_parameters",
                               sizesAttribute = "cpu.sizes",
                               limitsAttribute = "cpu.size_limits";

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Terms one after the other: the factor, how many parameters, these.
static SmallVector<int64_t> encoded(const SizeExpression &size) {
  SmallVector<int64_t> numbers;
  for (const SizeExpression::Term &term : size.terms()) {
    numbers.push_back(term.factor);
    numbers.push_back(static_cast<int64_t>(term.parameters.size()));
    llvm::append_range(numbers, term.parameters);
  }
  return numbers;
}

static std::optional<SizeExpression> decoded(ArrayRef<int64_t> numbers) {
  std::vector<SizeExpression::Term> terms;
  while (numbers.size() >= 2) {
    const auto count = static_cast<uint64_t>(numbers[1]);
    SizeExpression::Term &term = terms.emplace_back();
    term.factor = numbers[0];
    numbers = numbers.drop_front(2);
    if (count > numbers.size())
      return std::nullopt;
    for (int64_t parameter : numbers.take_front(count))
      term.parameters.push_back(static_cast<uint32_t>(parameter));
    numbers = numbers.drop_front(count);
  }
  return numbers.empty() ? SizeExpression::of(std::move(terms)) : std::nullopt;
}

std::optional<SizeTable> SizeTable::of(ModuleOp module) {
  auto names = module->getAttrOfType<ArrayAttr>(parametersAttribute);
  auto sizes = module->getAttrOfType<ArrayAttr>(sizesAttribute);
  auto limits = module->getAttrOfType<ArrayAttr>(limitsAttribute);
  if (!names || !sizes || !limits)
    return std::nullopt;
  SizeTable table;
  for (auto name : names.getAsRange<StringAttr>())
    table.parameters.push_back(name.str());
  auto read = [](ArrayAttr list, std::vector<SizeExpression> &expressions) {
    for (auto size : list.getAsRange<DenseI64ArrayAttr>()) {
      std::optional<SizeExpression> expression = decoded(size.asArrayRef());
      if (!expression)
        return false;
      expressions.push_back(std::move(*expression));
    }
    return true;
  };
  if (!read(sizes, table.sizes) || !read(limits, table.limits))
    return std::nullopt;
  return table;
}

void SizeTable::setOf(ModuleOp module) const {
  Builder builder(module.getContext());
  module->setAttr(
      parametersAttribute,
      builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(parameters)));
  auto write = [&](StringRef name, ArrayRef<SizeExpression> expressions) {
    SmallVector<Attribute> all;
    for (const SizeExpression &size : expressions)
      all.push_back(builder.getDenseI64ArrayAttr(encoded(size)));
    module->setAttr(name, builder.getArrayAttr(all));
  };
  write(sizesAttribute, sizes);
  write(limitsAttribute, limits);
}

SizeExpression SizeTable::expressionOf(int64_t size) const {
  const std::optional<int64_t> number = namedSize(size);
  return number ? sizes[*number] : SizeExpression(size);
}

std::optional<SizeExpression>
SizeTable::countOf(ArrayRef<int64_t> shape) const {
  std::optional<SizeExpression> count = 1;
  for (int64_t size : shape)
    if (count)
      count = SizeExpression::productOf(*count, expressionOf(size));
  return count;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

using Dims = SmallVector<SizeExpression>;
using Known = std::optional<SizeExpression>;

class Namer {
public:
  explicit Namer(func::FuncOp function) : function(function) {}

  Result<void> run();
  /// Follows sizes as far as they can be, and changes nothing but broadcasts.
  void dropRepetitions();

private:
  /// A size of which nothing is known.
  SizeExpression unknownSize();
  void nameArguments(bool inTypes = true);
  Result<void> follow(Operation *op);
  /// The sizes of a result, as far as they have an expression.
  SmallVector<Known> sizesOf(OpResult result);
  SmallVector<Known> sizesByAxes(OpResult result);
  SmallVector<Known> reshapedSizes(Value operand, RankedTensorType type);
  SmallVector<Known> attentionSizes(AttentionOp op);
  SmallVector<Known> broadcastSizes(nn::BroadcastLikeOp op);
  SmallVector<Known> slicedSizes(stablehlo::RealDynamicSliceOp op);
  SmallVector<Known> gatheredSizes(stablehlo::DynamicGatherOp op);
  void setSizes(Value value, const Dims &sizes);
  Result<void> replaceDynamic(Operation *op, const Dims &sizes);
  Result<void> checkBroadcast(Operation *op, Value operand,
                              ArrayRef<int64_t> dims, const Dims &sizes);
  Result<void> checkReshape(Operation *op, Value operand, const Dims &sizes);

  /// The elements of a short vector of integers, or a number.
  void followElements(Operation *op);
  void setNumbers(Operation *op);
  void countSize(stablehlo::GetDimensionSizeOp op);
  std::vector<Known> elementsOf(Value value) const {
    auto found = elements.find(value);
    return found == elements.end() ? std::vector<Known>() : found->second;
  }
  const Dims &dimsOf(Value value) const { return dims.find(value)->second; }

  int64_t nameOf(const SizeExpression &size);
  /// Takes it for granted that \p size is not negative.
  void expectPositive(const SizeExpression &size);
  /// The smaller one of the two, or the larger one, if one is a number.
  Known chosen(const SizeExpression &a, const SizeExpression &b, bool smaller);
  Error refused(Operation *op, const std::string &what) const;

  func::FuncOp function;
  SizeTable table;
  DenseMap<Value, Dims> dims;
  DenseMap<Value, std::vector<Known>> elements;
};

} // namespace

static bool isOpenType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

bool cpu::isAboutSizes(Operation *op) {
  using namespace stablehlo;
  if (isa<nn::ShapeOp, GetDimensionSizeOp>(op) ||
      (isa<DynamicGatherOp>(op) && isOpenType(op->getOperand(0).getType())))
    return isOpenType(op->getOperand(0).getType());
  return isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp,
             nn::BroadcastLikeOp, RealDynamicSliceOp, DynamicGatherOp>(op) &&
         isOpenType(op->getResult(0).getType());
}

Error Namer::refused(Operation *op, const std::string &what) const {
  std::string node;
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    node = "'" + name.getName().str() + "': ";
  return unsupported(node + op->getName().getStringRef().str() + ": " + what);
}

int64_t Namer::nameOf(const SizeExpression &size) {
  if (std::optional<int64_t> number = size.number())
    return *number;
  // There are as few as a model has symbols, and what is made of them.
  auto known = llvm::find(table.sizes, size);
  const int64_t number = known - table.sizes.begin();
  if (known == table.sizes.end())
    table.sizes.push_back(size);
  return nameOfSize(number);
}

void Namer::expectPositive(const SizeExpression &size) {
  const bool isSure = llvm::all_of(
      size.terms(), [](const auto &term) { return term.factor >= 0; });
  if (!isSure && !llvm::is_contained(table.limits, size))
    table.limits.push_back(size);
}

Known Namer::chosen(const SizeExpression &a, const SizeExpression &b,
                    bool smaller) {
  if (a.number() && b.number())
    return smaller ? std::min(*a.number(), *b.number())
                   : std::max(*a.number(), *b.number());
  if (a == b)
    return a;
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

void Namer::setSizes(Value value, const Dims &sizes) {
  auto type = tensorOf(value);
  dims[value] = sizes;
  SmallVector<int64_t> names;
  for (const SizeExpression &size : sizes)
    names.push_back(nameOf(size));
  value.setType(typeOfSizes(names, type.getElementType()));
}

void Namer::nameArguments(bool inTypes) {
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

Result<void> Namer::run() {
  nameArguments();
  Block &body = function.front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (Result<void> done = follow(&op); !done)
      return done;
  function.setFunctionType(
      FunctionType::get(function.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  // What only sizes were computed of is not computed any more.
  removeUnused(function);
  for (auto size :
       llvm::to_vector(body.getOps<stablehlo::GetDimensionSizeOp>()))
    countSize(size);
  table.setOf(function->getParentOfType<ModuleOp>());
  return {};
}

SizeExpression Namer::unknownSize() {
  const auto number = static_cast<uint32_t>(table.parameters.size());
  table.parameters.emplace_back();
  return SizeExpression::parameter(number);
}

void Namer::dropRepetitions() {
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

Result<void> Namer::follow(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !dims.contains(operand))
      return refused(op, "an operand has no known rank");
  followElements(op);
  setNumbers(op);
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return refused(op, "its result is no ranked tensor");
    if (type.hasStaticShape()) {
      dims[result] = Dims(type.getShape().begin(), type.getShape().end());
      continue;
    }
    if (op->getNumRegions() > 0 && !isa<stablehlo::ReduceOp>(op))
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
  if (op->getNumResults() != 1)
    return {};
  const Dims sizes = dimsOf(op->getResult(0));
  return replaceDynamic(op, sizes);
}

//===----------------------------------------------------------------------===//
// Sizes of results
//===----------------------------------------------------------------------===//

static SmallVector<Known> asKnown(ArrayRef<SizeExpression> sizes) {
  return SmallVector<Known>(sizes.begin(), sizes.end());
}

static Known product(ArrayRef<SizeExpression> sizes) {
  Known result = 1;
  for (const SizeExpression &size : sizes)
    if (result)
      result = SizeExpression::productOf(*result, size);
  return result;
}

SmallVector<Known> Namer::sizesOf(OpResult result) {
  using namespace stablehlo;
  Operation *op = result.getOwner();
  auto type = tensorOf(result);
  auto fromElements = [&](Value shape) {
    const std::vector<Known> known = elementsOf(shape);
    return SmallVector<Known>(known.begin(), known.end());
  };
  if (auto broadcast = dyn_cast<DynamicBroadcastInDimOp>(op))
    return fromElements(broadcast.getOutputDimensions());
  if (auto reshape = dyn_cast<DynamicReshapeOp>(op))
    return fromElements(reshape.getOutputShape());
  if (auto iota = dyn_cast<DynamicIotaOp>(op))
    return fromElements(iota.getOutputShape());
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshapedSizes(reshape.getOperand(), type);
  if (auto like = dyn_cast<nn::BroadcastLikeOp>(op))
    return broadcastSizes(like);
  if (auto slice = dyn_cast<RealDynamicSliceOp>(op))
    return slicedSizes(slice);
  if (auto gather = dyn_cast<DynamicGatherOp>(op))
    return gatheredSizes(gather);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return attentionSizes(attention);
  if (auto joint = dyn_cast<ConcatenateOp>(op)) {
    SmallVector<Known> sizes = asKnown(dimsOf(joint.getInputs()[0]));
    Known &all = sizes[joint.getDimension()];
    for (Value input : joint.getInputs().drop_front())
      if (all)
        all = SizeExpression::sumOf(*all, dimsOf(input)[joint.getDimension()]);
    return sizes;
  }
  return sizesByAxes(result);
}

SmallVector<Known> Namer::sizesByAxes(OpResult result) {
  Operation *op = result.getOwner();
  std::optional<Axes> axes = axesOf(op);
  if (!axes)
    return {};
  // The size of each axis that some operand's dimension decides.
  std::vector<Known> sizes(axes->axes.size());
  for (auto [i, axis] : llvm::enumerate(axes->axes))
    if (!ShapedType::isDynamic(axis.size))
      sizes[i] = axis.size;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (auto [dimension, list] : llvm::enumerate(axes->operands[i])) {
      std::optional<unsigned> missing;
      Known rest = dimsOf(op->getOperand(i))[dimension];
      for (unsigned axis : list) {
        if (!sizes[axis] && !missing)
          missing = axis;
        else if (rest)
          rest = sizes[axis] ? SizeExpression::quotientOf(*rest, *sizes[axis])
                             : std::nullopt;
      }
      if (missing && axes->axes[*missing].kind != AxisKind::Resized)
        sizes[*missing] = rest;
    }
  SmallVector<Known> all;
  for (const AxisList &list : axes->results[result.getResultNumber()]) {
    Known &size = all.emplace_back(1);
    for (unsigned axis : list)
      if (size)
        size = sizes[axis] ? SizeExpression::productOf(*size, *sizes[axis])
                           : std::nullopt;
  }
  for (auto [i, size] : llvm::enumerate(tensorOf(result).getShape()))
    if (!ShapedType::isDynamic(size))
      all[i] = size;
  return all;
}

/// The one unknown size of \p type is what is left of the number of elements.
SmallVector<Known> Namer::reshapedSizes(Value operand, RankedTensorType type) {
  SmallVector<Known> sizes;
  Known rest = product(dimsOf(operand));
  for (int64_t size : type.getShape()) {
    sizes.push_back(ShapedType::isDynamic(size) ? Known() : Known(size));
    if (rest && !ShapedType::isDynamic(size))
      rest = size == 0 ? std::nullopt : SizeExpression::quotientOf(*rest, size);
  }
  if (hasOneUnknown(type)) {
    for (Known &size : sizes)
      if (!size)
        size = rest;
    return sizes;
  }
  // Only dimensions of size 1 come and go, or sizes come in the same order.
  Dims proper;
  for (const SizeExpression &size : dimsOf(operand))
    if (size != SizeExpression(1))
      proper.push_back(size);
  size_t next = 0;
  for (Known &size : sizes) {
    if (size == SizeExpression(1))
      continue;
    if (next == proper.size() || (size && *size != proper[next]))
      return {};
    size = proper[next++];
  }
  return next == proper.size() ? sizes : SmallVector<Known>();
}

SmallVector<Known> Namer::attentionSizes(AttentionOp op) {
  const Dims &query = dimsOf(op.getQuery()), &value = dimsOf(op.getValue());
  SmallVector<Known> sizes(op.getResultDims().size());
  for (auto [i, dim] : llvm::enumerate(op.getResultDims()))
    sizes[dim] = i + 1 < sizes.size() ? query[op.getQueryDims()[i]]
                                      : value[op.getValueDims()[i]];
  return sizes;
}

/// What indices are there for, and the slices' dimensions between.
SmallVector<Known> Namer::gatheredSizes(stablehlo::DynamicGatherOp op) {
  auto numbers = op.getDimensionNumbers();
  SmallVector<Known> ofSlices, ofIndices;
  for (auto [dim, size] : llvm::enumerate(elementsOf(op.getSliceSizes())))
    if (const auto at = static_cast<int64_t>(dim);
        !llvm::is_contained(numbers.getCollapsedSliceDims(), at) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), at))
      ofSlices.push_back(size);
  for (auto [dim, size] : llvm::enumerate(dimsOf(op.getStartIndices())))
    if (static_cast<int64_t>(dim) != numbers.getIndexVectorDim())
      ofIndices.push_back(size);
  SmallVector<Known> sizes;
  size_t nextSlice = 0, nextIndex = 0;
  for (int64_t i = 0; i < tensorOf(op.getResult()).getRank(); ++i) {
    const bool isOfSlice = llvm::is_contained(numbers.getOffsetDims(), i);
    const SmallVector<Known> &from = isOfSlice ? ofSlices : ofIndices;
    size_t &next = isOfSlice ? nextSlice : nextIndex;
    if (next == from.size())
      return {};
    sizes.push_back(from[next++]);
  }
  return sizes;
}

/// Slices begin at numbers, and end at sizes; every element counts.
SmallVector<Known> Namer::slicedSizes(stablehlo::RealDynamicSliceOp op) {
  const std::vector<Known> starts = elementsOf(op.getStartIndices()),
                           limits = elementsOf(op.getLimitIndices()),
                           strides = elementsOf(op.getStrides());
  SmallVector<Known> sizes;
  for (auto [start, limit, stride] : llvm::zip(starts, limits, strides)) {
    const auto first = start ? start->number() : std::nullopt;
    const bool isKnown = first && limit && stride == SizeExpression(1);
    sizes.push_back(isKnown ? SizeExpression::sumOf(*limit, -*first)
                            : std::nullopt);
  }
  return sizes;
}

/// What is broadcast together is of one size, or of size 1; two sizes that are
/// both open and differ might be either.
SmallVector<Known> Namer::broadcastSizes(nn::BroadcastLikeOp op) {
  SmallVector<Known> sizes(tensorOf(op.getResult()).getRank(),
                           SizeExpression(1));
  for (Value operand : op->getOperands()) {
    const Dims &own = dimsOf(operand);
    const size_t first = sizes.size() - own.size();
    for (auto [i, size] : llvm::enumerate(own)) {
      Known &all = sizes[first + i];
      if (!all || size == SizeExpression(1) || *all == size)
        continue;
      if (*all == SizeExpression(1))
        all = size;
      else
        all = std::nullopt;
    }
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Operations that take sizes
//===----------------------------------------------------------------------===//

Result<void> Namer::checkBroadcast(Operation *op, Value operand,
                                   ArrayRef<int64_t> places,
                                   const Dims &sizes) {
  for (auto [size, place] : llvm::zip(dimsOf(operand), places))
    if (size != SizeExpression(1) && size != sizes[place])
      return refused(op, "dimension " + std::to_string(place) +
                             " may be repeated or not, as sizes will be");
  return {};
}

Result<void> Namer::checkReshape(Operation *op, Value operand,
                                 const Dims &sizes) {
  const Known before = product(dimsOf(operand)), after = product(sizes);
  if (!before || !after || *before != *after)
    return refused(op, "may have another number of elements, as sizes will be");
  return {};
}

Result<void> Namer::replaceDynamic(Operation *op, const Dims &sizes) {
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
  if (auto gather = dyn_cast<DynamicGatherOp>(op)) {
    // The attribute has names where the type of the operand has.
    SmallVector<int64_t> slice;
    for (auto [size, all] : llvm::zip(elementsOf(gather.getSliceSizes()),
                                      dimsOf(gather.getOperand()))) {
      if (!size || (!size->number() && *size != all))
        return refused(op, "takes slices of which it is not known that they "
                           "are whole");
      slice.push_back(nameOf(*size));
      if (Known less = SizeExpression::productOf(*size, -1))
        if (Known left = SizeExpression::sumOf(all, *less))
          expectPositive(*left);
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
      const std::optional<int64_t> all = size.number();
      if (!beyond || !all || starts.back() < 0)
        return refused(op, "may reach beyond its operand, as sizes will be");
      expectPositive(*beyond);
      // How far the slice reaches is in its type.
      limits.push_back(*all);
    }
    replace(builder.create<SliceOp>(location, type, slice.getOperand(), starts,
                                    limits,
                                    SmallVector<int64_t>(starts.size(), 1)));
    return {};
  }
  if (auto iota = dyn_cast<DynamicIotaOp>(op))
    replace(builder.create<IotaOp>(location, type, iota.getIotaDimension()));
  return {};
}

//===----------------------------------------------------------------------===//
// Arithmetic on sizes
//===----------------------------------------------------------------------===//

/// 1 or 0 where it is known whether two sizes compare so.
static Known compared(stablehlo::ComparisonDirection direction,
                      const SizeExpression &a, const SizeExpression &b) {
  using Direction = stablehlo::ComparisonDirection;
  // What is below zero is no size.
  auto isSize = [](const SizeExpression &size) {
    return llvm::all_of(size.terms(),
                        [](const auto &term) { return term.factor >= 0; });
  };
  const auto left = a.number(), right = b.number();
  if (!left || !right) {
    if (direction == Direction::LT && isSize(a) && right && *right <= 0)
      return 0;
    if (direction == Direction::GE && isSize(a) && right && *right <= 0)
      return 1;
    return std::nullopt;
  }
  switch (direction) {
  case Direction::EQ:
    return *left == *right;
  case Direction::NE:
    return *left != *right;
  case Direction::LT:
    return *left < *right;
  case Direction::LE:
    return *left <= *right;
  case Direction::GT:
    return *left > *right;
  case Direction::GE:
    return *left >= *right;
  }
  llvm_unreachable("not a comparison");
}

void Namer::followElements(Operation *op) {
  using namespace stablehlo;
  constexpr int64_t most = 64;
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      !isa<IntegerType>(type.getElementType()) || type.getNumElements() > most)
    return;
  std::vector<Known> made;
  auto operand = [&](unsigned i) { return elementsOf(op->getOperand(i)); };
  auto combined = [&](auto combine) {
    const std::vector<Known> a = operand(0), b = operand(1);
    for (auto [left, right] : llvm::zip(a, b))
      made.push_back(left && right ? combine(*left, *right) : Known());
  };
  if (auto known = constantIntegers(op->getResult(0))) {
    made.assign(known->begin(), known->end());
  } else if (auto shape = dyn_cast<nn::ShapeOp>(op)) {
    for (const SizeExpression &size : dimsOf(shape.getOperand()))
      made.push_back(size);
  } else if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
    made = {dimsOf(size.getOperand())[size.getDimension()]};
  } else if (isa<ConvertOp, ReshapeOp>(op)) {
    made = operand(0);
  } else if (isa<BroadcastInDimOp>(op)) {
    made = operand(0);
    if (made.size() == 1)
      made.resize(type.getNumElements(), made.front());
  } else if (isa<ConcatenateOp>(op)) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const std::vector<Known> part = operand(i);
      if (static_cast<int64_t>(part.size()) !=
          tensorOf(op->getOperand(i)).getNumElements())
        return;
      made.insert(made.end(), part.begin(), part.end());
    }
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    const std::vector<Known> whole = operand(0);
    for (int64_t i = 0; type.getRank() == 1 && i < type.getNumElements(); ++i) {
      const int64_t at = slice.getStartIndices()[0] + i * slice.getStrides()[0];
      made.push_back(at < static_cast<int64_t>(whole.size()) ? whole[at]
                                                             : Known());
    }
  } else if (isa<GatherOp, nn::TakeOp>(op)) {
    const std::vector<Known> whole = operand(0), places = operand(1);
    if (tensorOf(op->getOperand(0)).getRank() == 1 && !whole.empty())
      for (const Known &place : places) {
        auto at = place ? place->number() : std::nullopt;
        if (at && *at < 0 && isa<nn::TakeOp>(op))
          *at += static_cast<int64_t>(whole.size());
        const auto last = static_cast<int64_t>(whole.size()) - 1;
        made.push_back(at ? whole[std::clamp<int64_t>(*at, 0, last)] : Known());
      }
  } else if (isa<AddOp>(op)) {
    combined(SizeExpression::sumOf);
  } else if (isa<MulOp>(op)) {
    combined(SizeExpression::productOf);
  } else if (isa<SubtractOp>(op)) {
    combined([](const SizeExpression &a, const SizeExpression &b) -> Known {
      Known less = SizeExpression::productOf(b, -1);
      return less ? SizeExpression::sumOf(a, *less) : Known();
    });
  } else if (isa<MinOp, MaxOp>(op)) {
    const bool smaller = isa<MinOp>(op);
    combined([&](const SizeExpression &a, const SizeExpression &b) {
      return chosen(a, b, smaller);
    });
  } else if (auto compare = dyn_cast<CompareOp>(op)) {
    combined([&](const SizeExpression &a, const SizeExpression &b) {
      return compared(compare.getComparisonDirection(), a, b);
    });
  } else if (isa<SelectOp>(op)) {
    const std::vector<Known> chosen = operand(0), a = operand(1),
                             b = operand(2);
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const Known which =
          chosen.empty() ? Known() : chosen[chosen.size() == 1 ? 0 : i];
      made.push_back(!which || !which->number() ? Known()
                     : *which->number() != 0    ? a[i]
                                                : b[i]);
    }
  } else if (isa<DivOp>(op)) {
    combined(SizeExpression::quotientOf);
  }
  if (static_cast<int64_t>(made.size()) == type.getNumElements())
    elements[op->getResult(0)] = std::move(made);
}

/// What follows from numbers is one.
void Namer::setNumbers(Operation *op) {
  if (isa<stablehlo::ConstantOp>(op) || op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  const std::vector<Known> known = elementsOf(result);
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
  dims[constant] = Dims(type.getShape().begin(), type.getShape().end());
  elements[constant] = known;
  result.replaceAllUsesWith(constant);
}

/// A size that is computed with is the sum of as many ones.
void Namer::countSize(stablehlo::GetDimensionSizeOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  auto scalar = tensorOf(op.getResult());
  const SizeExpression size = dimsOf(op.getOperand())[op.getDimension()];
  Value ones = builder.create<stablehlo::BroadcastInDimOp>(
      op.getLoc(), typeOfSizes({nameOf(size)}, scalar.getElementType()),
      emit.scalar(1, scalar.getElementType()), ArrayRef<int64_t>());
  op.getResult().replaceAllUsesWith(emit.sum(ones, {0}));
  op.erase();
}

void cpu::dropRepetitions(func::FuncOp function) {
  Namer(function).dropRepetitions();
}

Result<void> cpu::nameSizes(func::FuncOp function) {
  bool isOpen = llvm::any_of(function.getArgumentTypes(), isOpenType);
  function.walk([&](Operation *op) {
    isOpen |= llvm::any_of(op->getResultTypes(), isOpenType);
  });
  if (!isOpen || SizeTable::of(function->getParentOfType<ModuleOp>()))
    return {};
  return Namer(function).run();
}
