//===- EmbedPreprocessing.cpp - images of any size as inputs --------------===//

#include "passes/EmbedPreprocessing.h"

#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/storage/Storage.h"
#include "runtime/ImageGeometry.h"
#include "runtime/OptionNames.h"

#include <set>

using namespace mlir;

namespace sinter {

using nn::Size;
using nn::Sizes;
using nn::TensorBuilder;
using Direction = stablehlo::ComparisonDirection;

namespace {

/// The input to embed for: its argument, and where its dimensions are. There is
/// a batch if the rank is 4.
struct ImageArgument {
  BlockArgument argument;
  TensorSpec spec;

  bool hasBatch() const { return spec.shape.size() == 4; }
  int64_t channelAxis(ImageLayout layout) const {
    const int64_t first = hasBatch() ? 1 : 0;
    return layout == ImageLayout::Nchw ? first : first + 2;
  }
  int64_t rowAxis(ImageLayout layout) const {
    const int64_t first = hasBatch() ? 1 : 0;
    return layout == ImageLayout::Nchw ? first + 1 : first;
  }
  PictureSize size(ImageLayout layout) const {
    const auto row = static_cast<size_t>(rowAxis(layout));
    return {spec.shape[row], spec.shape[row + 1]};
  }
};

/// One dimension, as ImageAxis: scalars of f64 for what depends on the image.
struct EmbeddedAxis {
  /// The image's.
  Size pixels;
  Value from, scaled, start;
  int64_t kept, size;
};

/// Whether the input's images have a size of their own.
bool hasSize(const ImageArgument &image, const ImageOptions &how) {
  return how.resize || how.crop || image.size(how.layout).height >= 0;
}

class ImageEmbedder {
public:
  ImageEmbedder(TensorBuilder &emit, const ImageArgument &image,
                const ImageOptions &how)
      : emit(emit), image(image), how(how), f32(emit.builder.getF32Type()),
        f64(emit.builder.getF64Type()) {}

  /// What the model gets instead of the argument, whose type is that of the
  /// pixels by now.
  Result<Value> build();

private:
  /// The dimensions of the pixels.
  int64_t rowOfPixels() const { return image.hasBatch() ? 1 : 0; }
  Value number(double value) { return emit.scalar(value, f64); }
  Value roundEven(Value x) {
    return emit.make<stablehlo::RoundNearestEvenOp>(x);
  }
  Value floor(Value x) { return emit.make<stablehlo::FloorOp>(x); }

  std::pair<Value, Value> scaledSizes(Value height, Value width,
                                      PictureSize target);
  Result<std::pair<EmbeddedAxis, EmbeddedAxis>> axes();
  Value coefficient(Value distance);
  std::pair<Value, Value> filter(const EmbeddedAxis &axis);
  Value product(Value matrix, Value x, int64_t dimension);
  Result<Value> resized(Value x, Value &inside);
  Value withChannels(Value x);
  Value perChannel(const std::vector<double> &values, double otherwise,
                   Value like);
  Value normalised(Value x);

  TensorBuilder &emit;
  const ImageArgument &image;
  const ImageOptions &how;
  Type f32, f64;
};

} // namespace

/// scaledSize() of an image whose sizes are known at run time.
std::pair<Value, Value> ImageEmbedder::scaledSizes(Value height, Value width,
                                                   PictureSize target) {
  const Value targetHeight = number(static_cast<double>(target.height)),
              targetWidth = number(static_cast<double>(target.width));
  if (how.fit == ImageFit::Stretch)
    return {targetHeight, targetWidth};
  const Value byHeight = emit.mul(targetHeight, width),
              byWidth = emit.mul(targetWidth, height);
  const bool covers = how.fit == ImageFit::Cover;
  const Value isByHeight =
      emit.compare(covers ? Direction::GE : Direction::LE, byHeight, byWidth);
  const auto other = [&](Value product, Value size) {
    const Value quotient = emit.div(product, size);
    return covers ? floor(quotient) : emit.max(roundEven(quotient), number(1));
  };
  return {emit.select(isByHeight, targetHeight, other(byWidth, width)),
          emit.select(isByHeight, other(byHeight, height), targetWidth)};
}

/// imageAxes() of an image whose sizes are known at run time.
Result<std::pair<EmbeddedAxis, EmbeddedAxis>> ImageEmbedder::axes() {
  const PictureSize input = image.size(how.layout);
  const PictureSize target = how.resize ? *how.resize
                             : how.crop ? *how.crop
                                        : input;
  // An image of the target's aspect ratio: what follows is the same for all.
  Result<ImageAxes> fixed = imageAxes(target, input, how);
  if (!fixed)
    return fixed.takeError();
  const auto size = [&](int64_t dimension) {
    return emit.number(Size::of(image.argument, dimension), f64);
  };
  const Value height = size(rowOfPixels()), width = size(rowOfPixels() + 1);
  const bool isScaled = how.resize || !how.crop;
  const std::pair<Value, Value> scaled =
      isScaled ? scaledSizes(height, width, target) : std::pair(height, width);
  const auto axis = [&](int64_t dimension, Value from, Value scaled,
                        int64_t whole, const ImageAxis &same) {
    const Value start = roundEven(
        emit.mul(emit.sub(scaled, number(static_cast<double>(whole))), 0.5));
    return EmbeddedAxis{
        Size::of(image.argument, dimension),
        from,
        scaled,
        emit.add(start, number(static_cast<double>(same.start))),
        same.kept,
        same.size};
  };
  return std::pair(
      axis(rowOfPixels(), height, scaled.first, target.height, fixed->rows),
      axis(rowOfPixels() + 1, width, scaled.second, target.width,
           fixed->columns));
}

/// See imageTaps().
Value ImageEmbedder::coefficient(Value distance) {
  const Value d = emit.abs(distance);
  if (how.interpolation == Interpolation::Bilinear)
    return emit.max(emit.add(emit.neg(d), 1.0), 0.0);
  const Value squared = emit.mul(d, d);
  const Value near =
      emit.add(emit.mul(emit.sub(emit.mul(d, 1.5), 2.5), squared), 1.0);
  const Value far = emit.add(
      emit.mul(emit.sub(emit.mul(emit.add(emit.mul(d, -0.5), 2.5), d), 4.0), d),
      2.0);
  return emit.select(emit.compare(Direction::LT, d, 1.0), near,
                     emit.select(emit.compare(Direction::LT, d, 2.0), far,
                                 emit.splatLike(0, d)));
}

/// The matrix of f32, [size, pixels of the image], and whether its rows lie in
/// the image, [size].
std::pair<Value, Value> ImageEmbedder::filter(const EmbeddedAxis &axis) {
  const Sizes line = {axis.size}, matrix = {axis.size, axis.pixels};
  const auto spread = [&](Value scalar) {
    return emit.broadcast(scalar, {}, line);
  };
  const auto alongRows = [&](Value x) {
    return emit.broadcast(x, {0}, matrix);
  };
  const Value place = emit.iota(line, 0, f64);
  const Value scaledPlace = emit.add(place, spread(axis.start));
  Value inside = emit.make<stablehlo::AndOp>(
      emit.compare(Direction::GE, scaledPlace, 0.0),
      emit.compare(Direction::LT, scaledPlace, spread(axis.scaled)));
  if (axis.kept < axis.size)
    inside = emit.make<stablehlo::AndOp>(
        inside,
        emit.compare(Direction::LT, place, static_cast<double>(axis.kept)));
  const Value ratio = emit.div(axis.from, axis.scaled);
  const Value centre = emit.mul(emit.add(scaledPlace, 0.5), spread(ratio));
  const Value pixel =
      emit.broadcast(emit.iota({axis.pixels}, 0, f64), {1}, matrix);
  Value weights;
  if (how.interpolation == Interpolation::Nearest) {
    const Value last = spread(emit.sub(axis.from, number(1)));
    weights =
        emit.convert(emit.compare(Direction::EQ, pixel,
                                  alongRows(emit.min(floor(centre), last))),
                     f64);
  } else {
    const Value widening = emit.max(ratio, number(1));
    const Value distance =
        emit.div(emit.sub(emit.add(pixel, 0.5), alongRows(centre)),
                 emit.broadcast(widening, {}, matrix));
    weights = coefficient(distance);
    const Value sum = emit.sum(weights, {1});
    weights = emit.div(
        weights, alongRows(emit.select(inside, sum, emit.splatLike(1, sum))));
  }
  weights = emit.select(alongRows(inside), weights, emit.splatLike(0, weights));
  return {emit.convert(weights, f32), inside};
}

/// Sums over the columns of \p matrix and \p dimension of \p x; the rows come
/// first.
Value ImageEmbedder::product(Value matrix, Value x, int64_t dimension) {
  SmallVector<int64_t> shape = {tensorOf(matrix).getDimSize(0)};
  for (int64_t i = 0; i < tensorOf(x).getRank(); ++i)
    if (i != dimension)
      shape.push_back(tensorOf(x).getDimSize(i));
  const auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      emit.builder.getContext(), {}, {}, {1}, {dimension});
  const Value y = emit.make<stablehlo::DotGeneralOp>(
      RankedTensorType::get(shape, f32), matrix, x, numbers, ArrayAttr());
  // A cubic filter exceeds the range of its values, which is cut off.
  return how.interpolation == Interpolation::Bicubic
             ? emit.min(emit.max(y, 0.0), 255.0)
             : y;
}

/// The pixels \p x at their places, [columns, rows, channels] with a batch
/// before the channels, and where there are pixels, [rows, columns]; null if
/// there are everywhere.
Result<Value> ImageEmbedder::resized(Value x, Value &inside) {
  Result<std::pair<EmbeddedAxis, EmbeddedAxis>> both = axes();
  if (!both)
    return both.takeError();
  const auto &[rows, columns] = *both;
  const auto [rowMatrix, rowInside] = filter(rows);
  const auto [columnMatrix, columnInside] = filter(columns);
  const bool mayExceed = how.fit == ImageFit::Pad ||
                         (how.crop && !how.resize) || rows.kept < rows.size ||
                         columns.kept < columns.size;
  if (mayExceed) {
    const Sizes sizes = {rows.size, columns.size};
    inside =
        emit.make<stablehlo::AndOp>(emit.broadcast(rowInside, {0}, sizes),
                                    emit.broadcast(columnInside, {1}, sizes));
  }
  // As in Image.cpp. What was multiplied is in front, and a batch behind it.
  const int64_t row = rowOfPixels(), column = row + 1;
  if (how.interpolation == Interpolation::Bicubic) {
    const Value y =
        product(rowMatrix, product(columnMatrix, x, column), column);
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(y).getRank()));
    std::swap(order[0], order[1]);
    return emit.transpose(y, order);
  }
  return product(columnMatrix, product(rowMatrix, x, row), column);
}

/// Constants, one for each channel, in the shape of \p like; nothing if all are
/// \p otherwise.
Value ImageEmbedder::perChannel(const std::vector<double> &values,
                                double otherwise, Value like) {
  if (llvm::all_of(values, [&](double each) { return each == otherwise; }))
    return {};
  const int64_t axis = image.channelAxis(how.layout);
  const auto channels =
      static_cast<size_t>(image.spec.shape[static_cast<size_t>(axis)]);
  std::vector<double> all = values;
  if (all.size() == 1)
    all.assign(channels, values.front());
  return emit.broadcast(emit.floats(all, f32), {axis}, emit.sizes(like));
}

/// Grey, or the colours in the options' order, of \p x in the input's layout,
/// which has three channels.
Value ImageEmbedder::withChannels(Value x) {
  const int64_t axis = image.channelAxis(how.layout);
  const bool isGrey = image.spec.shape[static_cast<size_t>(axis)] == 1;
  if (how.channels == ImageChannels::Bgr)
    return emit.make<stablehlo::ReverseOp>(x, ArrayRef<int64_t>{axis});
  if (!isGrey && how.channels != ImageChannels::Gray)
    return x;
  Sizes sizes = emit.sizes(x);
  const Value luma =
      emit.broadcast(emit.floats({0.299, 0.587, 0.114}, f32), {axis}, sizes);
  const Value grey = emit.sum(emit.mul(x, luma), {axis});
  sizes[axis] = isGrey ? 1 : 3;
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < tensorOf(x).getRank(); ++i)
    if (i != axis)
      others.push_back(i);
  return isGrey ? emit.reshape(grey, sizes)
                : emit.broadcast(grey, others, sizes);
}

/// (x * scale - mean) / std, as elements of the input.
Value ImageEmbedder::normalised(Value x) {
  if (image.spec.type == ElementType::UI8)
    x = floor(emit.add(x, 0.5));
  else {
    if (how.scale != 1)
      x = emit.mul(x, how.scale);
    if (const Value mean = perChannel(how.mean, 0, x))
      x = emit.sub(x, mean);
    if (const Value std = perChannel(how.std, 1, x))
      x = emit.div(x, std);
  }
  return emit.convert(x,
                      mlirTypeOf(image.spec.type, emit.builder.getContext()));
}

Result<Value> ImageEmbedder::build() {
  const bool isNchw = how.layout == ImageLayout::Nchw;
  Value x = emit.convert(image.argument, f32), inside;
  if (hasSize(image, how)) {
    Result<Value> placed = resized(x, inside);
    if (!placed)
      return placed.takeError();
    // From [columns, rows, batch, channels].
    x = image.hasBatch()
            ? emit.transpose(*placed, isNchw ? ArrayRef<int64_t>{2, 3, 1, 0}
                                             : ArrayRef<int64_t>{2, 1, 0, 3})
            : emit.transpose(*placed, isNchw ? ArrayRef<int64_t>{2, 1, 0}
                                             : ArrayRef<int64_t>{1, 0, 2});
  } else if (isNchw) {
    x = image.hasBatch() ? emit.transpose(x, {0, 3, 1, 2})
                         : emit.transpose(x, {2, 0, 1});
  }
  x = withChannels(x);
  if (inside) {
    const int64_t row = image.rowAxis(how.layout);
    const Value padding = perChannel(how.padValue, 0, x);
    x = emit.select(emit.broadcast(inside, {row, row + 1}, emit.sizes(x)), x,
                    padding ? padding : emit.splatLike(0, x));
  }
  return normalised(x);
}

/// The only argument that can be an image.
static Result<ImageArgument> imageArgument(const Model &model,
                                           ImageLayout layout) {
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  std::set<unsigned> states;
  for (const StateTensor &state : storage->states())
    states.insert(state.argument);
  func::FuncOp entry = model.entry();
  std::vector<ImageArgument> found;
  size_t next = 0;
  const std::vector<TensorSpec> inputs = model.inputs();
  for (BlockArgument argument : entry.getArguments()) {
    if (states.contains(argument.getArgNumber()) || next == inputs.size())
      continue;
    const TensorSpec &spec = inputs[next++];
    ImageArgument image{argument, spec};
    if ((spec.shape.size() != 3 && spec.shape.size() != 4) ||
        (!isFloat(spec.type) && spec.type != ElementType::UI8))
      continue;
    const int64_t channels =
        spec.shape[static_cast<size_t>(image.channelAxis(layout))];
    if (channels == 1 || channels == 3)
      found.push_back(std::move(image));
  }
  if (found.size() == 1)
    return found.front();
  return withHint(
      "is the layout right (" + optionText("layout") + " nchw|nhwc)?",
      usageError((found.empty() ? "no input" : "more than one input") +
                 std::string(" can be an image: of floats or ui8, in 3 or 4 "
                             "dimensions, with 1 or 3 channels")));
}

/// Whether the options fit the input: by preparing a black image.
static Result<void> checkEmbedding(const ImageArgument &image,
                                   const ImageOptions &how) {
  const PictureSize size = image.size(how.layout);
  const bool isOneDynamic = (size.height < 0) != (size.width < 0);
  if (isOneDynamic && !how.resize && !how.crop)
    return usageError("input '" + image.spec.name + "' has one dynamic size; " +
                      optionText("resize") + " sets both");
  if (size.height < 0 && !how.resize && !how.crop && how.padMultiple > 1)
    return usageError(optionText("pad-multiple") +
                      " of images of any size cannot be embedded; " +
                      optionText("resize") + " gives all one size");
  constexpr int64_t some = 8;
  const PictureSize black = how.crop          ? *how.crop
                            : size.height > 0 ? size
                                              : PictureSize{some, some};
  TensorSpec spec = image.spec;
  // One of the batch.
  if (image.hasBatch())
    spec.shape[0] = 1;
  Result<Tensor> prepared = imageToInput(
      Tensor(ElementType::UI8, {black.height, black.width, 3}), spec, how);
  return prepared ? Result<void>() : prepared.takeError();
}

/// \p name, with underscores where another dimension has it.
static StringAttr freshSymbol(func::FuncOp entry, StringRef name) {
  std::set<std::string> used;
  const auto note = [&](ArrayAttr dims) {
    if (dims)
      for (Attribute each : dims)
        if (auto symbol = dyn_cast<StringAttr>(each))
          used.insert(symbol.str());
  };
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    note(entry.getArgAttrOfType<ArrayAttr>(i, dimsAttribute));
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    note(entry.getResultAttrOfType<ArrayAttr>(i, dimsAttribute));
  std::string fresh = name.str();
  while (used.contains(fresh))
    fresh += "_";
  return StringAttr::get(entry.getContext(), fresh);
}

/// Makes the argument one for the pixels of an image. The sizes of the image
/// are those of the input, or have names of their own if it is \p resized.
static void retype(func::FuncOp entry, const ImageArgument &image,
                   ImageLayout layout, bool resized) {
  Builder builder(entry.getContext());
  const unsigned number = image.argument.getArgNumber();
  auto dims = entry.getArgAttrOfType<ArrayAttr>(number, dimsAttribute);
  const Attribute none = builder.getStringAttr("");
  const auto symbolOf = [&](int64_t dimension) -> Attribute {
    return dims && static_cast<size_t>(dimension) < dims.size()
               ? dims[static_cast<size_t>(dimension)]
               : none;
  };
  SmallVector<int64_t> shape;
  SmallVector<Attribute> symbols;
  if (image.hasBatch()) {
    shape.push_back(tensorOf(image.argument).getDimSize(0));
    symbols.push_back(symbolOf(0));
  }
  const int64_t row = image.rowAxis(layout);
  shape.append({ShapedType::kDynamic, ShapedType::kDynamic, 3});
  if (resized)
    symbols.append(
        {freshSymbol(entry, "height"), freshSymbol(entry, "width"), none});
  else
    symbols.append({symbolOf(row), symbolOf(row + 1), none});
  BlockArgument argument = image.argument;
  argument.setType(RankedTensorType::get(
      shape, mlirTypeOf(ElementType::UI8, entry.getContext())));
  entry.setArgAttr(number, dimsAttribute, builder.getArrayAttr(symbols));
  entry.setType(builder.getFunctionType(entry.front().getArgumentTypes(),
                                        entry.getResultTypes()));
}

Result<void> embedPreprocessing(Model &model, const ImageOptions &how) {
  if (!model.entry())
    return invalidModel(whyNoEntry(model.module()));
  Result<ImageArgument> image = imageArgument(model, how.layout);
  if (!image)
    return image.takeError();
  if (Result<void> fits = checkEmbedding(*image, how); !fits)
    return fits;
  func::FuncOp entry = model.entry();
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : image->argument.getUses())
    uses.push_back(&use);
  retype(entry, *image, how.layout, hasSize(*image, how));
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  TensorBuilder emit(builder, NameLoc::get(builder.getStringAttr(
                                  image->spec.name + "_preprocessing")));
  Result<Value> prepared = ImageEmbedder(emit, *image, how).build();
  if (!prepared)
    return prepared.takeError();
  for (OpOperand *use : uses)
    use->set(*prepared);
  return {};
}

} // namespace sinter
