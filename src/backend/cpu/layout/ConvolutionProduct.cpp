//===- ConvolutionProduct.cpp - convolutions as matrix products -----------===//

#include "backend/cpu/layout/ConvolutionProduct.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

bool canUnfold(const PlainConvolution &plain, int64_t dimension) {
  constexpr int64_t mostSlices = 64;
  return std::min(plain.window[dimension].size, plain.outputSize(dimension)) <=
         mostSlices;
}

bool hasPatches(const PlainConvolution &plain) {
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    if (plain.window[i].baseDilation != 1 || !canUnfold(plain, i))
      return false;
  return true;
}

/// \p x with \p window's padding along \p dimension.
static Value padded(TensorBuilder &emit, Value x, int64_t dimension,
                    const stablehlo::WindowDimension &window) {
  if (window.paddingLow == 0 && window.paddingHigh == 0)
    return x;
  SmallVector<int64_t> low(tensorOf(x).getRank(), 0);
  SmallVector<int64_t> high(low), interior(low);
  low[dimension] = window.paddingLow;
  high[dimension] = window.paddingHigh;
  return emit.make<stablehlo::PadOp>(
      x, emit.scalar(0, tensorOf(x).getElementType()), low, high, interior);
}

/// Every \p stride-th of \p count elements along \p dimension.
static Value everyNth(TensorBuilder &emit, Value x, int64_t dimension,
                      int64_t start, int64_t count, int64_t stride) {
  SmallVector<int64_t> starts(tensorOf(x).getRank(), 0);
  SmallVector<int64_t> limits(tensorOf(x).getShape());
  SmallVector<int64_t> strides(starts.size(), 1);
  starts[dimension] = start;
  limits[dimension] = start + (count - 1) * stride + 1;
  strides[dimension] = stride;
  if (start == 0 && ArrayRef(limits) == tensorOf(x).getShape() && stride == 1)
    return x;
  return emit.make<stablehlo::SliceOp>(x, starts, limits, strides);
}

Value unfold(TensorBuilder &emit, Value x, int64_t from, int64_t to,
             const stablehlo::WindowDimension &window, int64_t count) {
  x = padded(emit, x, from, window);
  SmallVector<Value> pieces;
  if (window.size <= count) {
    for (int64_t tap = 0; tap < window.size; ++tap) {
      Value piece = everyNth(emit, x, from, tap * window.windowDilation, count,
                             window.stride);
      SmallVector<int64_t> shape(tensorOf(piece).getShape());
      shape.insert(shape.begin() + to, 1);
      pieces.push_back(emit.reshape(piece, shape));
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
    Value piece = everyNth(emit, x, from, place * window.stride, window.size,
                           window.windowDilation);
    piece = permute(emit, piece, order);
    SmallVector<int64_t> shape(tensorOf(piece).getShape());
    shape.insert(shape.begin() + placesAt, 1);
    pieces.push_back(emit.reshape(piece, shape));
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
/// kernel, which all of them read.
static bool hasProductPerImage(const PlainConvolution &plain) {
  return plain.batch() == 1 || plain.groupOutputs() <= places(plain);
}

/// The input as [batching..., taps * C / groups, columns], where images are
/// batching dimensions or part of the columns; groups always are.
static Value patchesOf(TensorBuilder &emit, const PlainConvolution &plain) {
  SmallVector<int64_t> split = {plain.batch(), plain.groups,
                                plain.groupInputs()};
  llvm::append_range(split, tensorOf(plain.input).getShape().drop_front(2));
  Value x = emit.reshape(plain.input, split);
  SmallVector<int64_t> shape = {plain.batch(), plain.groups,
                                taps(plain) * plain.groupInputs(),
                                places(plain)};
  int64_t tapsAt = 2;
  if (!hasProductPerImage(plain)) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(split.size())));
    std::rotate(order.begin(), order.begin() + 1, order.begin() + 3);
    x = permute(emit, x, order);
    shape.erase(shape.begin());
    shape.back() *= plain.batch();
    tapsAt = 1;
  }
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    x = unfold(emit, x, 3 + 2 * i, tapsAt + i, plain.window[i],
               plain.outputSize(i));
  return emit.reshape(x, shape);
}

/// The kernel as [batching..., K / groups, taps * C / groups].
static Value matricesOf(TensorBuilder &emit, const PlainConvolution &plain) {
  auto order =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(plain.kernel).getRank()));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  SmallVector<int64_t> shape = {plain.groups, plain.groupOutputs(),
                                taps(plain) * plain.groupInputs()};
  Value x = emit.reshape(permute(emit, plain.kernel, order), shape);
  if (!hasProductPerImage(plain))
    return x;
  shape.insert(shape.begin(), plain.batch());
  return plain.batch() == 1 ? emit.reshape(x, shape)
                            : emit.broadcast(x, {1, 2, 3}, shape);
}

static Value product(TensorBuilder &emit, const PlainConvolution &plain) {
  Value lhs = matricesOf(emit, plain), rhs = patchesOf(emit, plain);
  SmallVector<int64_t> shape(tensorOf(rhs).getShape());
  const auto batching = static_cast<int64_t>(shape.size()) - 2;
  shape[batching] = plain.groupOutputs();
  auto leading = llvm::to_vector(llvm::seq<int64_t>(0, batching));
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      emit.builder.getContext(), leading, leading, {batching + 1}, {batching});
  Value result = emit.make<stablehlo::DotGeneralOp>(
      RankedTensorType::get(shape, tensorOf(lhs).getElementType()), lhs, rhs,
      numbers, ArrayAttr());
  SmallVector<int64_t> split = plain.resultShape();
  if (hasProductPerImage(plain))
    return emit.reshape(result, split);
  std::swap(split[0], split[1]);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(split.size())));
  std::swap(order[0], order[1]);
  return permute(emit, emit.reshape(result, split), order);
}

Value computeByPlaces(TensorBuilder &emit, const PlainConvolution &plain) {
  const int64_t rank = plain.spatialRank();
  SmallVector<int64_t> split = {plain.batch(), plain.groups,
                                plain.groupInputs()};
  llvm::append_range(split, tensorOf(plain.input).getShape().drop_front(2));
  Value x = emit.reshape(plain.input, split);
  for (int64_t i = 0; i < rank; ++i)
    x = padded(emit, x, i + 3, plain.window[i]);
  // [N, groups, K / groups, C / groups, window...], summed from the third on.
  SmallVector<int64_t> products = {plain.batch(), plain.groups,
                                   plain.groupOutputs(), plain.groupInputs()};
  for (const stablehlo::WindowDimension &each : plain.window)
    products.push_back(each.size);
  auto ofKernel = llvm::to_vector(llvm::seq<int64_t>(1, rank + 4));
  auto ofInput = llvm::to_vector(llvm::seq<int64_t>(0, rank + 4));
  ofInput.erase(ofInput.begin() + 2);
  auto summed = llvm::to_vector(llvm::seq<int64_t>(3, rank + 4));
  Value kernel = emit.broadcast(
      emit.reshape(plain.kernel, ArrayRef(products).drop_front()), ofKernel,
      products);
  SmallVector<Value> results;
  for (int64_t place = 0; place < places(plain); ++place) {
    Value seen = x;
    int64_t rest = place;
    for (int64_t i = rank - 1; i >= 0; rest /= plain.outputSize(i), --i)
      seen = everyNth(emit, seen, i + 3,
                      rest % plain.outputSize(i) * plain.window[i].stride,
                      plain.window[i].size, plain.window[i].windowDilation);
    Value sum = emit.sum(
        emit.mul(emit.broadcast(seen, ofInput, products), kernel), summed);
    results.push_back(emit.reshape(sum, {plain.batch(), plain.outputs(), 1}));
  }
  return emit.reshape(emit.concatenate(results, 2), plain.resultShape());
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
  constexpr double fewestBytes = 64 << 20, mostPieces = 32;
  double most = std::max(fewestBytes, bytes(plain) / mostPieces);
  return computeHalves(emit, plain, most, bytes, compute);
}

Value computeAsProduct(TensorBuilder &emit, const PlainConvolution &plain) {
  auto bytes = [](const PlainConvolution &part) {
    return double(taps(part)) * double(part.groups) *
           double(part.groupInputs()) * double(places(part)) *
           double(part.batch()) *
           double(tensorOf(part.input).getElementTypeBitWidth()) / 8;
  };
  return computeInPieces(emit, plain, bytes, [&](const PlainConvolution &part) {
    return product(emit, part);
  });
}

} // namespace sinter::cpu
