//===- SizedCalls.cpp - operations with data-dependent shapes -------------===//

#include "backend/cpu/shapes/SizedCalls.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "runtime/HostFunctions.h"
#include "runtime/ImagePixels.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static void callNonZero(nn::NonZeroOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  Value isSet =
      emit.compare(stablehlo::ComparisonDirection::NE, op.getOperand(), 0.0);
  Value count = emit.sumAll(emit.convert(isSet, emit.integerType(64)));
  auto call = builder.create<HostCallOp>(
      op.getLoc(), TypeRange(op.getType()), ValueRange{isSet, count},
      "sinter.non_zero", "", /*pure=*/true, /*sized=*/1);
  op.getResult().replaceAllUsesWith(call.getResults().front());
  op.erase();
}

/// Element \p i of a vector of integers, if it is known.
static std::optional<int64_t> knownElement(Value vector, size_t i) {
  const SmallVector<SizeSource> sources = sourcesOfSizes(vector);
  return i < sources.size() ? sources[i].known : std::nullopt;
}

/// \p x with the sizes that \p type says, which are so though they do not
/// follow.
static Value withSizesOf(nn::TensorBuilder &emit, Value x,
                         RankedTensorType type) {
  if (x.getType() == type)
    return x;
  if (type.hasStaticShape())
    return emit.make<stablehlo::ReshapeOp>(type, x);
  nn::Sizes sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    sizes.push_back(ShapedType::isDynamic(size) ? nn::Size::of(x, dim)
                                                : nn::Size(size));
  return emit.reshape(x, sizes);
}

/// Along each dimension whose first element is computed, or of which not every
/// element counts, elements are taken one by one.
static void takeSlices(stablehlo::RealDynamicSliceOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  Type index = emit.integerType(64);
  Value x = op.getOperand();
  const int64_t rank = tensorOf(x).getRank();
  auto element = [&](Value vector, int64_t i) {
    return emit.convert(emit.slice(vector, 0, i, i + 1), index);
  };
  auto asSize = [&](Value number) {
    return nn::Size::computed(emit.convert(number, emit.integerType(32)));
  };
  for (int64_t dim = 0; dim < rank; ++dim) {
    const auto start = knownElement(op.getStartIndices(), dim),
               limit = knownElement(op.getLimitIndices(), dim),
               stride = knownElement(op.getStrides(), dim);
    Value end = limit ? Value() : element(op.getLimitIndices(), dim);
    if (start && stride == 1) {
      if (start != 0 || limit != tensorOf(x).getDimSize(dim))
        x = emit.slice(x, dim, *start, limit ? nn::Size(*limit) : asSize(end));
      continue;
    }
    end = element(op.getLimitIndices(), dim);
    Value first = element(op.getStartIndices(), dim),
          step = element(op.getStrides(), dim);
    Value count = emit.sub(end, first);
    if (stride != 1)
      count =
          emit.max(emit.div(emit.add(count, emit.sub(step, 1.0)), step), 0.0);
    const nn::Sizes sizes = {asSize(count)};
    auto everywhere = [&](Value one) {
      return emit.broadcast(emit.reshape(one, nn::Sizes()), {}, sizes);
    };
    Value places = emit.iota(sizes, 0, index);
    if (stride != 1)
      places = emit.mul(places, everywhere(step));
    x = emit.take(x, emit.add(places, everywhere(first)), dim);
  }
  x = withSizesOf(emit, x, tensorOf(op));
  op.getResult().replaceAllUsesWith(x);
  op.erase();
}

/// \p x with one element \p element more along dimension \p dim.
static Value withOneMore(nn::TensorBuilder &emit, Value x, Value element,
                         int64_t dim) {
  nn::Sizes sizes = emit.sizes(x);
  sizes[dim] = 1;
  return emit.concatenate({x, emit.broadcast(element, {}, sizes)}, dim);
}

/// Elements are taken by their places, those outside, or between two, are the
/// padding.
static void takePadded(stablehlo::DynamicPadOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  Type index = emit.integerType(64);
  Value x = op.getOperand();
  SmallVector<std::pair<Value, int64_t>> insides;
  auto element = [&](Value vector, int64_t i) {
    return emit.convert(emit.slice(vector, 0, i, i + 1), index);
  };
  for (int64_t dim = 0; dim < tensorOf(op).getRank(); ++dim) {
    const int64_t between =
        knownElement(op.getInteriorPadding(), dim).value_or(0);
    if (between == 0 && knownElement(op.getEdgePaddingLow(), dim) == 0 &&
        knownElement(op.getEdgePaddingHigh(), dim) == 0)
      continue;
    Value low = element(op.getEdgePaddingLow(), dim),
          high = element(op.getEdgePaddingHigh(), dim);
    const auto step = static_cast<double>(between + 1);
    Value size = emit.convert(emit.extentOf(nn::Size::of(x, dim)), index);
    if (between != 0) {
      // What is put between no elements is nothing.
      Value gaps = emit.max(emit.sub(size, 1.0), 0.0);
      size = emit.add(size, emit.mul(gaps, static_cast<double>(between)));
    }
    Value count =
        emit.convert(emit.add(emit.add(size, low), high), emit.integerType(32));
    const nn::Sizes sizes = {nn::Size::computed(count)};
    auto everywhere = [&](Value one) {
      return emit.broadcast(emit.reshape(one, nn::Sizes()), {}, sizes);
    };
    using Direction = stablehlo::ComparisonDirection;
    Value places = emit.sub(emit.iota(sizes, 0, index), everywhere(low));
    insides.push_back(
        {emit.make<stablehlo::AndOp>(
             emit.compare(Direction::GE, places, 0.0),
             emit.compare(Direction::LT, places, everywhere(size))),
         dim});
    if (between != 0) {
      Value whole = emit.div(places, step);
      insides.push_back(
          {emit.compare(Direction::EQ, emit.mul(whole, step), places), dim});
      places = whole;
    }
    // Nothing can be taken of no elements, not even to be replaced.
    if (tensorOf(x).isDynamicDim(dim))
      x = withOneMore(emit, x, op.getPaddingValue(), dim);
    x = emit.take(x, places, dim);
  }
  const nn::Sizes sizes = emit.sizes(x);
  Value padding = emit.broadcast(op.getPaddingValue(), {}, sizes);
  for (auto [inside, dim] : insides)
    x = emit.select(emit.broadcast(inside, {dim}, sizes), x, padding);
  x = withSizesOf(emit, x, tensorOf(op));
  op.getResult().replaceAllUsesWith(x);
  op.erase();
}

/// Whether it is known how much is put between elements, and there are some.
/// Where everything is known it is a plain padding.
static bool isTakenPadded(stablehlo::DynamicPadOp op) {
  constexpr int64_t most = int64_t(1) << 30;
  if (llvm::is_contained(tensorOf(op.getOperand()).getShape(), 0))
    return false;
  bool isPlain = tensorOf(op.getOperand()).hasStaticShape();
  for (int64_t dim = 0; dim < tensorOf(op).getRank(); ++dim) {
    const auto between = knownElement(op.getInteriorPadding(), dim);
    if (!between || *between < 0 || *between > most)
      return false;
    isPlain &= knownElement(op.getEdgePaddingLow(), dim) &&
               knownElement(op.getEdgePaddingHigh(), dim);
  }
  return !isPlain;
}

/// Whether what is known of \p op lets its slice lie in the operand and be as
/// large as its type says; what is not known the run finds out.
static bool mayLieInside(stablehlo::RealDynamicSliceOp op) {
  for (int64_t dim = 0; dim < tensorOf(op).getRank(); ++dim) {
    const auto start = knownElement(op.getStartIndices(), dim),
               limit = knownElement(op.getLimitIndices(), dim),
               stride = knownElement(op.getStrides(), dim);
    const int64_t whole = tensorOf(op.getOperand()).getDimSize(dim),
                  size = tensorOf(op).getDimSize(dim);
    if ((start && *start < 0) || (stride && *stride < 1) ||
        (limit && !ShapedType::isDynamic(whole) && *limit > whole))
      return false;
    if (!start || !limit || !stride)
      continue;
    if (*start > *limit ||
        (!ShapedType::isDynamic(size) &&
         size != static_cast<int64_t>(llvm::divideCeil(
                     static_cast<uint64_t>(*limit - *start), *stride))))
      return false;
  }
  return true;
}

/// Whether the slice of some dimension does not follow from its limit alone.
static bool hasComputedStart(stablehlo::RealDynamicSliceOp op) {
  for (int64_t dim = 0; dim < tensorOf(op).getRank(); ++dim)
    if (!knownElement(op.getStartIndices(), dim) ||
        knownElement(op.getStrides(), dim) != 1)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Lists of the run
//===----------------------------------------------------------------------===//

/// A call that works on list number \p list.
static HostCallOp callOnList(OpBuilder &builder, Location location,
                             TypeRange types, ValueRange inputs,
                             StringRef function, int64_t list,
                             uint64_t sized = 0, StringRef options = "") {
  return builder.create<HostCallOp>(location, types, inputs, function,
                                    ("list=" + Twine(list) + options).str(),
                                    /*pure=*/false, sized);
}

/// The rows of list number \p list, of type \p type, whose dimensions but the
/// first are as large as \p rest says, one for each that is unknown: they are
/// counted, then taken.
static Value takeList(OpBuilder &builder, Location location,
                      RankedTensorType type, int64_t list,
                      ArrayRef<Value> rest = {}) {
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  SmallVector<Value> sizes = {
      callOnList(builder, location, scalar, {}, "sinter.count_rows", list)
          ->getResult(0)};
  llvm::append_range(sizes, rest);
  return callOnList(builder, location, type, sizes, "sinter.take_rows", list,
                    sizes.size())
      ->getResult(0);
}

static void callSuppression(nn::NonMaxSuppressionOp op, int64_t list) {
  OpBuilder builder(op);
  callOnList(builder, op.getLoc(), {}, op->getOperands(), "sinter.suppress",
             list, 0, op.getCentred() ? ";centred=1" : "");
  Value rows = takeList(builder, op.getLoc(), tensorOf(op), list);
  op.getResult().replaceAllUsesWith(rows);
  op.erase();
}

/// The format of the pixels, if \p op decodes an image.
static std::optional<ImageChannels> decodedFormat(stablehlo::CustomCallOp op) {
  auto name = op->getAttrOfType<StringAttr>("backend_config");
  if (op.getCallTargetName() != "sinter.decode_image" || !name ||
      op->getNumOperands() != 1 || op->getNumResults() != 1)
    return std::nullopt;
  auto bytes = dyn_cast<RankedTensorType>(op->getOperand(0).getType()),
       pixels = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!bytes || !pixels || !bytes.getElementType().isUnsignedInteger(8) ||
      pixels.getElementType() != bytes.getElementType() ||
      pixels.getRank() != 3 || !pixels.isDynamicDim(0) ||
      !pixels.isDynamicDim(1) || pixels.isDynamicDim(2))
    return std::nullopt;
  const auto format = pixelFormatOf(name.getValue());
  const int64_t channels = format == ImageChannels::Gray ? 1 : 3;
  return pixels.getDimSize(2) == channels ? format : std::nullopt;
}

/// One call decodes, and says the sizes; another takes the pixels.
static void callDecoder(stablehlo::CustomCallOp op, ImageChannels format,
                        int64_t list) {
  OpBuilder builder(op);
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  HostCallOp sizes =
      callOnList(builder, op.getLoc(), {scalar, scalar}, op->getOperands(),
                 "sinter.decode_image", list, 0,
                 ";format=" + std::to_string(static_cast<int>(format)));
  HostCallOp pixels =
      callOnList(builder, op.getLoc(), op->getResultTypes(), sizes.getResults(),
                 "sinter.take_rows", list, /*sized=*/2);
  op->getResult(0).replaceAllUsesWith(pixels.getResult(0));
  op->erase();
}

/// The concatenate by which each iteration of \p loop adds something to the end
/// of what it carries as number \p i; null if it does anything else with that.
static stablehlo::ConcatenateOp concatOf(stablehlo::WhileOp loop, unsigned i) {
  Block &body = loop.getBody().front();
  BlockArgument argument = body.getArgument(i);
  auto concat = body.getTerminator()
                    ->getOperand(i)
                    .getDefiningOp<stablehlo::ConcatenateOp>();
  if (!concat || concat.getInputs().size() != 2 ||
      concat.getInputs()[0] != argument || !argument.hasOneUse() ||
      !concat->hasOneUse() || concat->getBlock() != &body ||
      !loop.getCond().front().getArgument(i).use_empty() ||
      !tensorOf(loop->getResult(i)).isDynamicDim(concat.getDimension()))
    return {};
  return concat;
}

/// Dimension \p axis first, or back to where it was.
static Value withAxisFirst(nn::TensorBuilder &emit, Value x, int64_t axis,
                           bool back = false) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(x).getRank()));
  if (axis == 0)
    return x;
  if (back)
    std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
  else
    std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  return emit.transpose(x, order);
}

/// What \p start is with what \p list has gathered behind it along \p axis.
static Value joinList(OpBuilder &builder, Location location,
                      RankedTensorType type, Value start, int64_t axis,
                      int64_t list) {
  nn::TensorBuilder emit(builder, location);
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  SmallVector<Value> rest;
  for (auto [dim, size] : llvm::enumerate(tensorOf(start).getShape())) {
    if (static_cast<int64_t>(dim) == axis)
      continue;
    shape.push_back(size);
    if (ShapedType::isDynamic(size))
      rest.push_back(
          emit.reshape(emit.convert(emit.extentOf(nn::Size::of(start, dim)),
                                    emit.integerType(64)),
                       nn::Sizes()));
  }
  Value rows =
      takeList(builder, location,
               RankedTensorType::get(shape, type.getElementType()), list, rest);
  rows = withAxisFirst(emit, rows, axis, /*back=*/true);
  if (tensorOf(start).getDimSize(axis) == 0 && rows.getType() == type)
    return rows;
  return builder.create<stablehlo::ConcatenateOp>(
      location, type, ValueRange{start, rows}, static_cast<uint64_t>(axis));
}

/// The loop without what it gathers, which goes to lists of the run: it is
/// known how much that is when the loop is over.
static void gatherRows(stablehlo::WhileOp loop, int64_t &lists) {
  struct Gathered {
    int64_t list, axis;
  };
  llvm::SmallDenseMap<unsigned, Gathered> gathered;
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (stablehlo::ConcatenateOp concat = concatOf(loop, i))
      gathered[i] = {lists++, static_cast<int64_t>(concat.getDimension())};
    else
      kept.push_back(i);
  if (gathered.empty())
    return;
  OpBuilder builder(loop);
  auto call = [&](ValueRange inputs, StringRef function, int64_t list) {
    callOnList(builder, loop.getLoc(), {}, inputs, function, list);
  };
  Block &body = loop.getBody().front();
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (gathered.contains(i))
      call({}, "sinter.begin_rows", gathered[i].list);
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (gathered.contains(i)) {
      Operation *concat = body.getTerminator()->getOperand(i).getDefiningOp();
      builder.setInsertionPoint(concat);
      nn::TensorBuilder emit(builder, loop.getLoc());
      call(withAxisFirst(emit, concat->getOperand(1), gathered[i].axis),
           "sinter.add_rows", gathered[i].list);
    }
  SmallVector<Value> starts, returned;
  SmallVector<Type> types;
  for (unsigned i : kept) {
    starts.push_back(loop->getOperand(i));
    types.push_back(loop->getResult(i).getType());
    returned.push_back(body.getTerminator()->getOperand(i));
  }
  builder.setInsertionPoint(loop);
  auto rest = builder.create<stablehlo::WhileOp>(loop.getLoc(), types, starts);
  rest.getCond().takeBody(loop.getCond());
  rest.getBody().takeBody(loop.getBody());
  Operation *end = rest.getBody().front().getTerminator();
  SmallVector<Operation *> concats;
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    if (gathered.contains(i))
      concats.push_back(end->getOperand(i).getDefiningOp());
  end->setOperands(returned);
  for (Operation *concat : concats)
    concat->erase();
  for (unsigned i = loop->getNumOperands(); i-- > 0;)
    if (gathered.contains(i))
      for (Region &region : rest->getRegions())
        region.front().eraseArgument(i);
  for (auto [i, number] : llvm::enumerate(kept))
    loop->getResult(number).replaceAllUsesWith(rest->getResult(i));
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    if (gathered.contains(i))
      loop->getResult(i).replaceAllUsesWith(
          joinList(builder, loop.getLoc(), tensorOf(loop->getResult(i)),
                   loop->getOperand(i), gathered[i].axis, gathered[i].list));
  loop->erase();
}

/// The first number of a list that no call of \p function has: of one that is
/// nested in another program some are there.
static int64_t firstFreeList(func::FuncOp function) {
  int64_t next = 0;
  function.walk([&](HostCallOp call) {
    const HostConfiguration configuration(call.getConfiguration());
    next = std::max(next, configuration.number("list", -1) + 1);
  });
  return next;
}

void cpu::outlineSizedCalls(func::FuncOp function) {
  function.walk([](nn::NonZeroOp op) {
    Type element = tensorOf(op.getOperand()).getElementType();
    if (tensorOf(op).isDynamicDim(1) && isa<FloatType, IntegerType>(element))
      callNonZero(op);
  });
  int64_t lists = firstFreeList(function);
  function.walk([&](nn::NonMaxSuppressionOp op) {
    if (tensorOf(op).isDynamicDim(0))
      callSuppression(op, lists++);
  });
  function.walk([&](stablehlo::CustomCallOp op) {
    if (const std::optional<ImageChannels> format = decodedFormat(op))
      callDecoder(op, *format, lists++);
  });
  SmallVector<stablehlo::WhileOp> loops;
  function.walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
  for (stablehlo::WhileOp loop : loops)
    gatherRows(loop, lists);
  function.walk([](stablehlo::RealDynamicSliceOp op) {
    if (hasComputedStart(op) && mayLieInside(op))
      takeSlices(op);
  });
  function.walk([](stablehlo::DynamicPadOp op) {
    if (isTakenPadded(op))
      takePadded(op);
  });
  // More may be known of sizes than was.
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(),
                        function.front().getTerminator()->getOperandTypes()));
}
