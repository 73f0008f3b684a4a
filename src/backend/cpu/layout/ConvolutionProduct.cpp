//===- ConvolutionProduct.cpp - convolutions as matrix products -----------===//

#include "backend/cpu/layout/ConvolutionProduct.h"

using namespace mlir;
using sinter::nn::Size;
using sinter::nn::Sizes;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

bool canUnfold(const PlainConvolution &plain, int64_t dimension) {
  constexpr int64_t mostSlices = 64;
  const int64_t taps = plain.window[dimension].size,
                places = plain.outputSize(dimension);
  return (ShapedType::isDynamic(places) ? taps : std::min(taps, places)) <=
         mostSlices;
}

bool hasPatches(const PlainConvolution &plain) {
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    if (plain.window[i].baseDilation != 1 || !canUnfold(plain, i))
      return false;
  return true;
}

/// Every \p stride-th element of \p x along \p dimension, from \p start up to
/// \p limit.
static Value everyNth(TensorBuilder &emit, Value x, int64_t dimension,
                      int64_t start, const Size &limit, int64_t stride) {
  SmallVector<int64_t> starts(tensorOf(x).getRank(), 0);
  SmallVector<int64_t> strides(starts.size(), 1);
  Sizes limits = emit.sizes(x);
  if (start == 0 && limit == limits[dimension] && stride == 1)
    return x;
  starts[dimension] = start;
  limits[dimension] = limit;
  strides[dimension] = stride;
  return emit.slice(x, starts, limits, strides);
}

/// \p x with a dimension of one element more, \p at.
static Value withUnit(TensorBuilder &emit, Value x, int64_t at) {
  Sizes sizes = emit.sizes(x);
  sizes.insert(sizes.begin() + at, 1);
  return emit.reshape(x, sizes);
}

Value unfold(TensorBuilder &emit, Value x, int64_t from, int64_t to,
             const stablehlo::WindowDimension &window, int64_t count) {
  x = emit.pad(x, from, window.paddingLow, window.paddingHigh);
  const Size size = emit.sizes(x)[from];
  SmallVector<Value> pieces;
  if (ShapedType::isDynamic(count) || window.size <= count) {
    // Behind the last place of a tap lie the taps behind it.
    const int64_t last = (window.size - 1) * window.windowDilation;
    for (int64_t tap = 0; tap < window.size; ++tap) {
      const int64_t start = tap * window.windowDilation;
      const Size limit = size.isKnown()
                             ? Size(start + (count - 1) * window.stride + 1)
                             : emit.difference(size, last - start);
      pieces.push_back(withUnit(
          emit, everyNth(emit, x, from, start, limit, window.stride), to));
    }
    return emit.concatenate(pieces, to);
  }
  // The window is longer than it slides: what is under it at each place.
  int64_t placesAt = from < to ? from : from + 1;
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < tensorOf(x).getRank(); ++i)
    if (i != from)
      order.push_back(i);
  order.insert(order.begin() + (from < to ? to - 1 : to), from);
  for (int64_t place = 0; place < count; ++place) {
    const int64_t start = place * window.stride;
    Value piece =
        everyNth(emit, x, from, start,
                 start + (window.size - 1) * window.windowDilation + 1,
                 window.windowDilation);
    pieces.push_back(withUnit(emit, permute(emit, piece, order), placesAt));
  }
  return emit.concatenate(pieces, placesAt);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Of a window.
static int64_t taps(const PlainConvolution &plain) {
  int64_t count = 1;
  for (const stablehlo::WindowDimension &each : plain.window)
    count *= each.size;
  return count;
}

/// Results of one channel of an image.
static int64_t places(const PlainConvolution &plain) {
  int64_t count = 1;
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    count *= plain.outputSize(i);
  return count;
}

/// Whether each image has a product of its own: its patches are larger than the
/// kernel, which all of them read. What is not static has one of all images,
/// whose rows are the results' places.
static bool hasProductPerImage(const PlainConvolution &plain) {
  return plain.batch() == Size(1) || plain.groupOutputs() <= places(plain);
}

/// [taps * C / groups]
static Size depthOf(TensorBuilder &emit, const PlainConvolution &plain) {
  return emit.product(taps(plain), plain.groupInputs());
}

/// The input as [batching..., taps * C / groups, columns], where images are
/// batching dimensions or part of the columns; groups always are.
static Value patchesOf(TensorBuilder &emit, const PlainConvolution &plain) {
  Sizes split = plain.splitInput(emit);
  Value x = emit.reshape(plain.input, split);
  Sizes shape = {plain.batch(), plain.groups, depthOf(emit, plain),
                 places(plain)};
  int64_t tapsAt = 2;
  if (!hasProductPerImage(plain)) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(split.size())));
    std::rotate(order.begin(), order.begin() + 1, order.begin() + 3);
    x = permute(emit, x, order);
    shape.erase(shape.begin());
    shape.back() = emit.product(shape.back(), plain.batch());
    tapsAt = 1;
  }
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    x = unfold(emit, x, 3 + 2 * i, tapsAt + i, plain.window[i],
               plain.outputSize(i));
  return emit.reshape(x, shape);
}

/// The kernel as [groups, K / groups, taps * C / groups].
static Value matricesOf(TensorBuilder &emit, const PlainConvolution &plain) {
  auto order =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(plain.kernel).getRank()));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return emit.reshape(permute(emit, plain.kernel, order),
                      {plain.groups, plain.groupOutputs(),
                       emit.product(taps(plain), Size::of(plain.kernel, 1))});
}

/// [batching..., m, k] by [batching..., k, n], or by [batching..., n, k] if
/// \p isTransposed.
static Value product(TensorBuilder &emit, Value lhs, Value rhs,
                     bool isTransposed) {
  SmallVector<int64_t> shape(tensorOf(lhs).getShape());
  const auto batching = static_cast<int64_t>(shape.size()) - 2;
  const int64_t summed = isTransposed ? batching + 1 : batching;
  shape.back() =
      tensorOf(rhs).getDimSize(isTransposed ? batching : batching + 1);
  auto leading = llvm::to_vector(llvm::seq<int64_t>(0, batching));
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      emit.builder.getContext(), leading, leading, {batching + 1}, {summed});
  return emit.make<stablehlo::DotGeneralOp>(
      RankedTensorType::get(shape, tensorOf(lhs).getElementType()), lhs, rhs,
      numbers, ArrayAttr());
}

static Value staticProduct(TensorBuilder &emit, const PlainConvolution &plain) {
  const bool isPerImage = hasProductPerImage(plain);
  Value lhs = matricesOf(emit, plain), rhs = patchesOf(emit, plain);
  if (isPerImage) {
    SmallVector<int64_t> shape(tensorOf(lhs).getShape());
    shape.insert(shape.begin(), plain.batch().known());
    lhs = shape[0] == 1 ? emit.reshape(lhs, shape)
                        : emit.broadcast(lhs, {1, 2, 3}, shape);
  }
  Value result = product(emit, lhs, rhs, /*isTransposed=*/false);
  SmallVector<int64_t> split = plain.resultShape();
  if (isPerImage)
    return emit.reshape(result, split);
  std::swap(split[0], split[1]);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(split.size())));
  std::swap(order[0], order[1]);
  return permute(emit, emit.reshape(result, split), order);
}

/// The same where sizes are not known: a row for each place of each image, so
/// that the weights are what is known of the product.
static Value dynamicProduct(TensorBuilder &emit,
                            const PlainConvolution &plain) {
  const int64_t rank = plain.spatialRank();
  Value x = emit.reshape(plain.input, plain.splitInput(emit));
  // [groups, N, spatial..., C / groups], and taps before the last dimension.
  SmallVector<int64_t> order = {1, 0};
  llvm::append_range(order, llvm::seq<int64_t>(3, rank + 3));
  order.push_back(2);
  x = permute(emit, x, order);
  for (int64_t i = 0; i < rank; ++i)
    x = unfold(emit, x, 2 + i, 2 + rank + i, plain.window[i],
               plain.outputSize(i));
  const Sizes sizes = emit.sizes(x);
  Sizes rows = {
      plain.groups,
      emit.count(sizes, llvm::to_vector(llvm::seq<int64_t>(1, rank + 2))),
      depthOf(emit, plain)};
  Value patches = emit.reshape(x, rows), matrices = matricesOf(emit, plain);
  if (plain.groups == 1) {
    patches = emit.reshape(patches, rows.drop_front());
    matrices = emit.reshape(matrices, emit.sizes(matrices).drop_front());
  }
  Value result = product(emit, patches, matrices, /*isTransposed=*/true);
  // [groups, N, places..., K / groups]
  Sizes split = sizes.take_front(rank + 2);
  split.push_back(plain.groupOutputs());
  order = {1, 0, rank + 2};
  llvm::append_range(order, llvm::seq<int64_t>(2, rank + 2));
  result = permute(emit, emit.reshape(result, split), order);
  Sizes whole = {split[1], plain.outputs()};
  llvm::append_range(whole, split.drop_front(2).take_front(rank));
  return emit.reshape(result, whole);
}

Value computeByPlaces(TensorBuilder &emit, const PlainConvolution &plain) {
  const int64_t rank = plain.spatialRank();
  Value x = emit.reshape(plain.input, plain.splitInput(emit));
  for (int64_t i = 0; i < rank; ++i)
    x = emit.pad(x, i + 3, plain.window[i].paddingLow,
                 plain.window[i].paddingHigh);
  // [N, groups, K / groups, C / groups, window...], summed from the third on.
  Sizes products = {plain.batch(), plain.groups, plain.groupOutputs(),
                    plain.groupInputs()};
  for (const stablehlo::WindowDimension &each : plain.window)
    products.push_back(each.size);
  auto ofKernel = llvm::to_vector(llvm::seq<int64_t>(1, rank + 4));
  auto ofInput = llvm::to_vector(llvm::seq<int64_t>(0, rank + 4));
  ofInput.erase(ofInput.begin() + 2);
  auto summed = llvm::to_vector(llvm::seq<int64_t>(3, rank + 4));
  Value kernel = emit.broadcast(
      emit.reshape(plain.kernel, products.drop_front()), ofKernel, products);
  SmallVector<Value> results;
  for (int64_t place = 0; place < places(plain); ++place) {
    Value seen = x;
    int64_t rest = place;
    for (int64_t i = rank - 1; i >= 0; rest /= plain.outputSize(i), --i) {
      const stablehlo::WindowDimension &window = plain.window[i];
      const int64_t start = rest % plain.outputSize(i) * window.stride;
      seen = everyNth(emit, seen, i + 3, start,
                      start + (window.size - 1) * window.windowDilation + 1,
                      window.windowDilation);
    }
    Value sum = emit.sum(
        emit.mul(emit.broadcast(seen, ofInput, products), kernel), summed);
    results.push_back(emit.reshape(sum, {plain.batch(), plain.outputs(), 1}));
  }
  Sizes shape = {plain.batch()};
  llvm::append_range(shape, ArrayRef(plain.resultShape()).drop_front());
  return emit.reshape(emit.concatenate(results, 2), shape);
}

/// Halves until a piece needs at most \p most bytes.
static Value
computeHalves(TensorBuilder &emit, const PlainConvolution &plain, double most,
              llvm::function_ref<double(const PlainConvolution &)> bytes,
              llvm::function_ref<Value(const PlainConvolution &)> compute) {
  SmallVector<int64_t> shape = plain.resultShape();
  int64_t longest = 0;
  if (shape[0] == 1)
    for (int64_t i = 2; i < static_cast<int64_t>(shape.size()); ++i)
      if (longest == 0 || shape[i] > shape[longest])
        longest = i;
  if (bytes(plain) <= most || shape[longest] == 1)
    return compute(plain);
  SmallVector<Value> halves;
  int64_t middle = shape[longest] / 2;
  for (auto [begin, end] :
       {std::pair<int64_t, int64_t>(0, middle), {middle, shape[longest]}}) {
    PlainConvolution half = plain;
    if (longest == 0) {
      half.input = emit.slice(plain.input, 0, begin, end);
    } else {
      stablehlo::WindowDimension &window = half.window[longest - 2];
      placeWindow(window, plain.inputSize(longest - 2),
                  begin * window.stride - window.paddingLow, end - begin);
    }
    halves.push_back(computeHalves(emit, half, most, bytes, compute));
  }
  return emit.concatenate(halves, longest);
}

Value computeInPieces(
    TensorBuilder &emit, const PlainConvolution &plain,
    llvm::function_ref<double(const PlainConvolution &)> bytes,
    llvm::function_ref<Value(const PlainConvolution &)> compute) {
  if (!plain.isStatic())
    return compute(plain);
  constexpr double fewestBytes = 64 << 20, mostPieces = 32;
  double most = std::max(fewestBytes, bytes(plain) / mostPieces);
  return computeHalves(emit, plain, most, bytes, compute);
}

Value computeAsProduct(TensorBuilder &emit, const PlainConvolution &plain) {
  auto bytes = [](const PlainConvolution &part) {
    return double(taps(part)) * double(part.groups) *
           double(part.groupInputs().known()) * double(places(part)) *
           double(part.batch().known()) *
           double(tensorOf(part.input).getElementTypeBitWidth()) / 8;
  };
  return computeInPieces(emit, plain, bytes, [&](const PlainConvolution &part) {
    return part.isStatic() ? staticProduct(emit, part)
                           : dynamicProduct(emit, part);
  });
}

} // namespace sinter::cpu
