#include "data/PipeFrames.h"

#include "data/SampleSources.h"
#include "runtime/ElementDispatch.h"
#include "runtime/Npy.h"
#include "runtime/Wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sinter {

bool hasChannels(const ModelInput &input) {
  const Shape &shape = input.spec.shape;
  return input.ranked && shape.size() >= 2 && shape[shape.size() - 2] > 1;
}

std::optional<Tensor> asFloats(const Tensor &piece, ElementType to) {
  if (piece.type() == to)
    return piece;
  const bool fits = isFloat(piece.type()) || piece.type() == ElementType::I8 ||
                    piece.type() == ElementType::UI8 ||
                    piece.type() == ElementType::I16 ||
                    piece.type() == ElementType::I32;
  if (!isFloat(to) || !fits)
    return std::nullopt;
  const double offset = piece.type() == ElementType::UI8 ? 128 : 0;
  const double scale =
      isFloat(piece.type())
          ? 1
          : std::ldexp(1.0, 8 * static_cast<int>(byteSize(piece.type())) - 1);
  Tensor result(to, piece.shape());
  dispatch(to, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_constructible_v<T, double>)
      for (int64_t i = 0; i < piece.size(); ++i)
        result.set(i, static_cast<T>((piece.toDouble(i) - offset) / scale));
  });
  return result;
}

class PipeFrames::Pieces {
public:
  Pieces(int descriptor, const std::string &name, const ModelInput &input,
         const PipeOptions &options)
      : name(name), input(input), options(options), reader(descriptor, name) {}

  /// Reads the header; the size along time is that of nothing.
  Result<void> open();
  /// The next piece, in the type of the input; nothing at the end.
  Result<std::optional<Tensor>> next();

  /// Of a piece, with any size along time.
  Shape shape;
  int64_t rate = 0;

private:
  enum class Kind { Wav, Arrays, Raw };

  Result<void> openWav();
  Result<void> openArrays();
  Result<void> openRaw();
  Result<std::optional<Tensor>> nextSound();
  Result<std::optional<Tensor>> nextRaw();
  Result<std::optional<std::span<const std::byte>>> nextBytes(size_t unit);
  Result<Tensor> asInput(const Tensor &piece) const;
  Error badEnd() const { return systemError("'" + name + "' is cut short"); }

  std::string name;
  const ModelInput input;
  const PipeOptions options;
  PipeReader reader;
  Kind kind = Kind::Raw;
  WavHeader wav;
  /// Of audio, the bytes that are left, if they are known.
  std::optional<uint64_t> toCome;
  bool keepsChannels = false;
  std::optional<SampleStream> arrays;
  std::optional<Tensor> first;
  /// Raw elements: those of a step along time, before and after the axis.
  ElementType rawType = ElementType::F32;
  int64_t before = 1, after = 1;
  size_t axis = 0;
};

Result<Tensor> PipeFrames::Pieces::asInput(const Tensor &piece) const {
  std::optional<Tensor> made = asFloats(piece, input.spec.type);
  if (!made)
    return usageError(
        "'" + name + "' holds " + std::string(sinter::name(piece.type())) +
        ", and input '" + input.spec.name + "' is " + input.text());
  return std::move(*made);
}

Result<void> PipeFrames::Pieces::openWav() {
  constexpr size_t longest = size_t(1) << 20;
  kind = Kind::Wav;
  for (;;) {
    Result<std::optional<WavHeader>> header = wavHeader(reader.ahead(), name);
    if (!header)
      return header.takeError();
    if (*header) {
      wav = **header;
      break;
    }
    if (reader.ahead().size() > longest)
      return systemError("'" + name +
                         "': no samples in the first megabyte of a WAV file");
    Result<bool> more = reader.fill(reader.ahead().size() + 1);
    if (!more)
      return more.takeError();
    if (!*more)
      return badEnd();
  }
  reader.take(wav.begin);
  toCome = wav.size;
  rate = wav.rate;
  if (options.rate && *options.rate != rate)
    return usageError("'" + name + "' has " + std::to_string(rate) +
                      " samples per second, not " +
                      std::to_string(*options.rate) +
                      "; a stream is not resampled (ffmpeg -ar " +
                      std::to_string(*options.rate) + " does it)");
  keepsChannels = hasChannels(input);
  shape = {keepsChannels ? wav.channels : 1, 0};
  return {};
}

Result<void> PipeFrames::Pieces::openArrays() {
  kind = Kind::Arrays;
  arrays.emplace(std::move(reader));
  Result<std::optional<Tensor>> array = arrays->array();
  if (!array)
    return array.takeError();
  if (!*array)
    return usageError("'" + name + "' is empty");
  first = std::move(*array);
  shape = first->shape();
  return {};
}

/// Pieces have the rank of the input, and its sizes but for time.
Result<void> PipeFrames::Pieces::openRaw() {
  kind = Kind::Raw;
  rawType = options.raw.value_or(input.spec.type);
  const auto rank = static_cast<int64_t>(input.spec.shape.size());
  const int64_t wanted = options.windows.axis;
  const int64_t index = wanted < 0 ? wanted + rank : wanted;
  if (!input.ranked || index < 0 || index >= rank)
    return usageError("raw elements: input '" + input.spec.name + "', " +
                      input.text() + ", has no dimension " +
                      std::to_string(wanted));
  axis = static_cast<size_t>(index);
  shape = input.spec.shape;
  shape[axis] = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    // A batch that is dynamic is one stream.
    if (i == 0 && shape[i] < 0)
      shape[i] = 1;
    else if (shape[i] <= 0)
      return usageError("raw elements: the sizes of input '" + input.spec.name +
                        "', " + input.text() + ", are needed");
  const std::optional<int64_t> bytes = byteCount(rawType, shape);
  if (!bytes)
    return usageError("raw elements: input '" + input.spec.name + "', " +
                      input.text() + ", is too large");
  for (size_t i = 0; i < shape.size(); ++i)
    (i < axis ? before : after) *= shape[i];
  return {};
}

Result<void> PipeFrames::Pieces::open() {
  if (options.raw)
    return openRaw();
  constexpr size_t magic = 12;
  Result<bool> isThere = reader.fill(magic);
  if (!isThere)
    return isThere.takeError();
  if (reader.ahead().empty())
    return usageError("'" + name + "' is empty");
  if (isWav(reader.ahead()))
    return openWav();
  constexpr std::string_view npy = "\x93NUMPY";
  if (*isThere &&
      std::memcmp(reader.ahead().data(), npy.data(), npy.size()) == 0)
    return openArrays();
  return openRaw();
}

/// What has come, in whole units of \p unit bytes, at least one; nothing at the
/// end.
Result<std::optional<std::span<const std::byte>>>
PipeFrames::Pieces::nextBytes(size_t unit) {
  Result<bool> isThere = reader.fill(unit);
  if (!isThere)
    return isThere.takeError();
  if (!*isThere)
    return std::optional<std::span<const std::byte>>();
  const std::span<const std::byte> all = reader.ahead();
  return std::optional(all.first(all.size() - all.size() % unit));
}

Result<std::optional<Tensor>> PipeFrames::Pieces::nextSound() {
  const auto unit = static_cast<size_t>(wav.frameBytes);
  if (toCome && *toCome < unit)
    return std::optional<Tensor>();
  auto bytes = nextBytes(unit);
  if (!bytes)
    return bytes.takeError();
  if (!*bytes)
    return std::optional<Tensor>();
  std::span<const std::byte> some = **bytes;
  if (toCome)
    some =
        some.first(std::min<uint64_t>(some.size(), *toCome - *toCome % unit));
  Audio audio{wav.rate, wavSamples(wav, some)};
  reader.take(some.size());
  if (toCome)
    *toCome -= some.size();
  if (!keepsChannels)
    audio = toMono(std::move(audio));
  Result<Tensor> piece = asInput(audio.samples);
  if (!piece)
    return piece.takeError();
  return std::optional(std::move(*piece));
}

/// Elements with time in front become some with time along the axis.
Result<std::optional<Tensor>> PipeFrames::Pieces::nextRaw() {
  const size_t inner = static_cast<size_t>(after) * byteSize(rawType);
  const size_t unit = static_cast<size_t>(before) * inner;
  auto bytes = nextBytes(unit);
  if (!bytes)
    return bytes.takeError();
  if (!*bytes)
    return std::optional<Tensor>();
  const size_t steps = (*bytes)->size() / unit;
  Shape own = shape;
  own[axis] = static_cast<int64_t>(steps);
  Tensor raw(rawType, own);
  for (size_t step = 0; step < steps; ++step)
    for (size_t block = 0; block < static_cast<size_t>(before); ++block)
      std::memcpy(raw.mutableBytes() + (block * steps + step) * inner,
                  (*bytes)->data() + step * unit + block * inner, inner);
  reader.take((*bytes)->size());
  Result<Tensor> piece = asInput(raw);
  if (!piece)
    return piece.takeError();
  return std::optional(std::move(*piece));
}

Result<std::optional<Tensor>> PipeFrames::Pieces::next() {
  if (kind == Kind::Wav)
    return nextSound();
  if (kind == Kind::Raw)
    return nextRaw();
  Result<std::optional<Tensor>> array =
      first ? Result<std::optional<Tensor>>(std::exchange(first, std::nullopt))
            : arrays->array();
  if (!array || !*array)
    return array;
  Result<Tensor> piece = asInput(asStored(std::move(**array), input.spec.type));
  if (!piece)
    return piece.takeError();
  return std::optional(std::move(*piece));
}

Result<std::unique_ptr<PipeFrames>>
PipeFrames::open(int descriptor, const std::string &name,
                 const ModelInput &input, const PipeOptions &options) {
  std::unique_ptr<PipeFrames> made(new PipeFrames());
  made->pieces = std::make_shared<Pieces>(descriptor, name, input, options);
  if (Result<void> opened = made->pieces->open(); !opened)
    return opened.takeError();
  made->type = input.spec.type;
  made->perSecond = made->pieces->rate;
  if (made->perSecond == 0)
    made->perSecond = options.rate.value_or(0);
  Result<WindowForm> form =
      WindowForm::of(made->pieces->shape, made->type, input, options.windows);
  if (!form)
    return form.takeError();
  if (elementCount(form->shape).value_or(0) == 0)
    return usageError("windows of " + toString(made->type, form->shape) +
                      " have no elements");
  made->form = std::move(*form);
  made->waiting.resize(made->form.blocks);
  return made;
}

/// Appends \p piece, of the sizes of the first one but for time.
void PipeFrames::append(const Tensor &piece) {
  const size_t along =
      static_cast<size_t>(piece.dim(form.axis)) * form.stepBytes;
  const size_t skipped = std::min(toSkip, along);
  toSkip -= skipped;
  for (size_t block = 0; block < form.blocks; ++block) {
    std::vector<std::byte> &to = waiting[block];
    const std::byte *from = piece.data() + block * along;
    to.erase(to.begin(), to.begin() + static_cast<long>(used));
    to.insert(to.end(), from + skipped, from + along);
  }
  used = 0;
}

Result<std::optional<Tensor>> PipeFrames::next() {
  const size_t bytes = static_cast<size_t>(form.length) * form.stepBytes;
  while (waiting.front().size() - used < bytes) {
    Result<std::optional<Tensor>> piece = pieces->next();
    if (!piece || !*piece)
      return piece;
    Shape fitting = (*piece)->shape();
    const bool hasAxis = form.axis < fitting.size();
    if (hasAxis && form.axis < pieces->shape.size())
      fitting[form.axis] = pieces->shape[form.axis];
    if (!hasAxis || fitting != pieces->shape)
      return usageError(
          "a piece of the stream is a " + toString(type, (*piece)->shape()) +
          ", which does not go on from " + toString(type, pieces->shape));
    append(**piece);
  }
  Result<Tensor> window = Tensor::allocate(type, form.shape);
  if (!window)
    return window.takeError();
  for (size_t block = 0; block < form.blocks; ++block)
    std::memcpy(window->mutableBytes() + block * bytes,
                waiting[block].data() + used, bytes);
  const size_t hop = static_cast<size_t>(form.hop) * form.stepBytes;
  const size_t there = waiting.front().size() - used;
  used += std::min(hop, there);
  toSkip = hop - std::min(hop, there);
  return std::optional(std::move(*window));
}

int64_t PipeFrames::left() const {
  return static_cast<int64_t>((waiting.front().size() - used) / form.stepBytes);
}

} // namespace sinter
