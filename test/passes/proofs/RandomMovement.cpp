#include "passes/proofs/RandomMovement.h"

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::test {
namespace {

using Sizes = SmallVector<int64_t>;

class Chain {
public:
  Chain(OpBuilder &builder, std::mt19937_64 &random, Block &block)
      : builder(builder), random(random), place(builder.getUnknownLoc()) {
    for (BlockArgument argument : block.getArguments())
      (shape(argument).empty() ? scalars : values).push_back(argument);
  }

  /// One more operation on a value that was there.
  void grow();
  Value last() const { return values.back(); }

private:
  int64_t below(int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  }
  bool rarely() { return below(6) == 0; }
  static ArrayRef<int64_t> shape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  RankedTensorType type(ArrayRef<int64_t> sizes) {
    return RankedTensorType::get(sizes, builder.getF32Type());
  }
  /// Mostly what was made last, so that operations follow each other.
  Value any() {
    return below(4) ? values.back()
                    : values[below(static_cast<int64_t>(values.size()))];
  }

  Value transpose(Value x);
  Value reshape(Value x);
  Value broadcast(Value x);
  Value broadcastScalar(Value x);
  Value slice(Value x);
  Value reverse(Value x);
  Value pad(Value x);
  Value concatenate(Value x);
  Value concatenateSlices(Value x);
  Value negate(Value x) { return builder.create<NegOp>(place, x); }

  OpBuilder &builder;
  std::mt19937_64 &random;
  Location place;
  SmallVector<Value> values, scalars;
  int64_t lastWay = 0;
};

Value Chain::transpose(Value x) {
  auto order = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(shape(x).size())));
  if (!rarely())
    std::shuffle(order.begin(), order.end(), random);
  return builder.create<TransposeOp>(place, x, order);
}

/// Splits a size, joins two, or puts in or takes out a 1.
Value Chain::reshape(Value x) {
  Sizes sizes(shape(x));
  if (rarely())
    return builder.create<ReshapeOp>(place, x.getType(), x);
  size_t at = below(static_cast<int64_t>(sizes.size()));
  if (sizes.size() > 1 && below(2)) {
    size_t second = at + 1 < sizes.size() ? at : at - 1;
    sizes[second] *= sizes[second + 1];
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(second) + 1);
  } else if (sizes.size() < 4) {
    int64_t factor = sizes[at] % 2 == 0 && below(3)   ? 2
                     : sizes[at] % 3 == 0 && below(2) ? 3
                                                      : 1;
    bool splits = sizes[at] != 0 && factor > 1;
    if (splits)
      sizes[at] /= factor;
    sizes.insert(sizes.begin() + static_cast<ptrdiff_t>(at),
                 splits ? factor : 1);
  }
  return builder.create<ReshapeOp>(place, type(sizes), x);
}

Value Chain::broadcast(Value x) {
  Sizes sizes(shape(x)), dimensions;
  for (int64_t &size : sizes)
    if (size == 1 && below(2))
      size = 1 + below(4);
  SmallVector<std::pair<int64_t, int64_t>> target;
  for (auto [index, size] : llvm::enumerate(sizes))
    target.push_back({size, static_cast<int64_t>(index)});
  if (rarely())
    std::shuffle(target.begin(), target.end(), random);
  while (target.size() < 4 && below(2))
    target.insert(target.begin() +
                      below(static_cast<int64_t>(target.size()) + 1),
                  {below(2) ? 1 : 1 + below(4), -1});
  dimensions.resize(sizes.size());
  Sizes result;
  for (auto [index, each] : llvm::enumerate(target)) {
    result.push_back(each.first);
    if (each.second >= 0)
      dimensions[each.second] = static_cast<int64_t>(index);
  }
  return builder.create<BroadcastInDimOp>(place, type(result), x, dimensions);
}

Value Chain::broadcastScalar(Value x) {
  return builder.create<BroadcastInDimOp>(
      place, x.getType(), scalars[below(static_cast<int64_t>(scalars.size()))],
      ArrayRef<int64_t>());
}

Value Chain::slice(Value x) {
  Sizes starts, limits, strides;
  bool whole = rarely();
  for (int64_t size : shape(x)) {
    bool all = whole || below(3) == 0;
    int64_t start = all ? 0 : below(size + 1);
    starts.push_back(start);
    limits.push_back(all ? size : start + below(size - start + 1));
    strides.push_back(whole ? 1 : 1 + (rarely() ? below(3) : 0));
  }
  return builder.create<SliceOp>(place, x, starts, limits, strides);
}

Value Chain::reverse(Value x) {
  Sizes dimensions;
  for (int64_t i = 0; i < static_cast<int64_t>(shape(x).size()); ++i)
    if (below(2))
      dimensions.push_back(i);
  return builder.create<ReverseOp>(place, x, dimensions);
}

Value Chain::pad(Value x) {
  Sizes low, high, interior;
  bool nothing = rarely(), negative = below(4) == 0;
  for (int64_t size : shape(x)) {
    // What is cut off was there.
    int64_t least = negative ? size / 2 : 0;
    int64_t most = negative ? 1 : 3;
    low.push_back(nothing ? 0 : below(least + most) - least);
    high.push_back(nothing ? 0 : below(least + most) - least);
    interior.push_back(nothing || negative || size == 0 || !rarely() ? 0 : 1);
  }
  Value with = scalars[below(static_cast<int64_t>(scalars.size()))];
  return builder.create<PadOp>(place, x, with, low, high, interior);
}

/// Joins a value with itself, or with another of its type.
Value Chain::concatenate(Value x) {
  SmallVector<Value> parts{x};
  for (Value value : values)
    if (value.getType() == x.getType() && below(2))
      parts.push_back(value);
  int64_t dimension = below(static_cast<int64_t>(shape(x).size()));
  return builder.create<ConcatenateOp>(place, parts, dimension);
}

/// Cuts a value into two or three, and joins those, mostly as they were.
Value Chain::concatenateSlices(Value x) {
  int64_t dimension = below(static_cast<int64_t>(shape(x).size()));
  int64_t size = shape(x)[dimension];
  SmallVector<Value> parts;
  int64_t stride = 1 + below(2);
  for (int64_t start = 0; start < size && parts.size() < 3;) {
    int64_t end = start + stride * (1 + below(3));
    if (parts.size() == 2 || end > size)
      end = size;
    Sizes starts(shape(x).size(), 0), limits(shape(x)),
        strides(shape(x).size(), 1);
    starts[dimension] = start;
    limits[dimension] = end;
    strides[dimension] = stride;
    parts.push_back(builder.create<SliceOp>(place, x, starts, limits, strides));
    start = end;
  }
  if (parts.empty())
    return x;
  if (rarely())
    std::swap(parts.front(), parts.back());
  return builder.create<ConcatenateOp>(place, parts, dimension);
}

void Chain::grow() {
  static constexpr Value (Chain::*ways[])(Value) = {&Chain::transpose,
                                                    &Chain::reshape,
                                                    &Chain::broadcast,
                                                    &Chain::slice,
                                                    &Chain::broadcastScalar,
                                                    &Chain::reverse,
                                                    &Chain::pad,
                                                    &Chain::concatenate,
                                                    &Chain::negate,
                                                    &Chain::concatenateSlices};
  Value x = any();
  // Twice the same is what most rules are about.
  static constexpr int64_t count = std::size(ways);
  lastWay = below(3) ? below(count) : lastWay;
  values.push_back((this->*ways[lastWay])(x));
}

} // namespace

func::FuncOp randomMovement(OpBuilder &builder, std::mt19937_64 &random) {
  auto element = builder.getF32Type();
  static constexpr int64_t some[] = {0, 1, 1, 2, 2, 3, 4, 6};
  Sizes sizes;
  for (int64_t rank = 1 + static_cast<int64_t>(random() % 4); rank > 0; --rank)
    sizes.push_back(some[random() % std::size(some)]);
  auto tensor = RankedTensorType::get(sizes, element);
  auto scalar = RankedTensorType::get({}, element);
  OpBuilder::InsertionGuard guard(builder);
  auto function = builder.create<func::FuncOp>(
      builder.getUnknownLoc(), "main",
      builder.getFunctionType({tensor, tensor, scalar, scalar}, {}));
  Block &block = *function.addEntryBlock();
  builder.setInsertionPointToEnd(&block);
  Chain chain(builder, random, block);
  for (uint64_t steps = 2 + random() % 3; steps > 0; --steps)
    chain.grow();
  builder.create<func::ReturnOp>(builder.getUnknownLoc(), chain.last());
  function.setFunctionType(builder.getFunctionType(block.getArgumentTypes(),
                                                   chain.last().getType()));
  return function;
}

} // namespace sinter::test
