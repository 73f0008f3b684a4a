//===- Wav.cpp - WAV files as samples of audio ----------------------------===//

#include "runtime/Wav.h"
#include "runtime/ByteStream.h"
#include "runtime/ElementDispatch.h"
#include "runtime/OutOfMemory.h"
#include "runtime/Riff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

namespace sinter {

namespace {

/// The format tags of samples.
enum class WavEncoding : uint16_t { Integer = 1, Float = 3, Extended = 0xfffe };

Error badWav(const std::string &name, const std::string &what) {
  return systemError("'" + name + "': not a valid WAV file: " + what);
}

/// The encoding of a WAVEFORMATEXTENSIBLE, whose identifier is a format tag and
/// the rest of the identifiers of all tags.
std::optional<WavEncoding> extendedEncoding(ByteReader &in) {
  constexpr std::string_view rest(
      "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
  (void)in.number<uint16_t>(); // The size of the extension.
  (void)in.number<uint16_t>(); // Valid bits: the upper ones of each sample.
  (void)in.number<uint32_t>(); // The loudspeaker of each channel.
  const auto tag = in.number<uint16_t>();
  const std::span<const std::byte> last = in.raw(rest.size());
  if (in.failed() || std::memcmp(last.data(), rest.data(), rest.size()) != 0)
    return std::nullopt;
  return static_cast<WavEncoding>(tag);
}

Result<WavHeader> wavFormat(std::span<const std::byte> chunk,
                            const std::string &name) {
  ByteReader in(chunk);
  auto encoding = static_cast<WavEncoding>(in.number<uint16_t>());
  const int64_t channels = in.number<uint16_t>();
  const int64_t rate = in.number<uint32_t>();
  (void)in.number<uint32_t>(); // Bytes per second.
  const int64_t frameBytes = in.number<uint16_t>();
  const int64_t bits = in.number<uint16_t>();
  if (in.failed())
    return badWav(name, "its format chunk is too short");
  if (encoding == WavEncoding::Extended) {
    const std::optional<WavEncoding> inner = extendedEncoding(in);
    if (!inner)
      return badWav(name, "an encoding that is neither integers nor floats");
    encoding = *inner;
  }
  const bool isKnown =
      encoding == WavEncoding::Integer
          ? bits == 8 || bits == 16 || bits == 24 || bits == 32
          : encoding == WavEncoding::Float && (bits == 32 || bits == 64);
  if (!isKnown)
    return systemError(
        "'" + name + "': a WAV file of encoding " +
        std::to_string(static_cast<int>(encoding)) + " with " +
        std::to_string(bits) +
        " bits is not supported; integers of 8, 16, 24 or 32 bits and floats "
        "of 32 or 64 bits are (ffmpeg -i FILE -c:a pcm_s16le OUT.wav)");
  if (channels < 1 || channels > maxAudioChannels)
    return badWav(name, std::to_string(channels) + " channels");
  if (rate < 1 || rate > maxAudioRate)
    return badWav(name, "a rate of " + std::to_string(rate) + " Hz");
  if (frameBytes != channels * bits / 8)
    return badWav(name, "a block of " + std::to_string(frameBytes) +
                            " bytes for " + std::to_string(channels) +
                            " channels of " + std::to_string(bits) + " bits");
  WavHeader header;
  header.areFloats = encoding == WavEncoding::Float;
  header.channels = channels;
  header.rate = rate;
  header.frameBytes = frameBytes;
  header.bytes = bits / 8;
  return header;
}

template <typename T> T wavNumber(const std::byte *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// One sample as a float.
float wavSample(const WavHeader &format, const std::byte *bytes) {
  if (format.areFloats)
    return format.bytes == 4 ? wavNumber<float>(bytes)
                             : static_cast<float>(wavNumber<double>(bytes));
  if (format.bytes == 1)
    return static_cast<float>(wavNumber<uint8_t>(bytes) - 128) / 128;
  // In the upper bytes of 32 bits.
  uint32_t bits = 0;
  std::memcpy(reinterpret_cast<std::byte *>(&bits) + (4 - format.bytes), bytes,
              static_cast<size_t>(format.bytes));
  return static_cast<float>(static_cast<int32_t>(bits) / 2147483648.0);
}

/// The filter of resampled().
double windowedSinc(double t) {
  constexpr double width = 6;
  if (std::abs(t) >= width)
    return 0;
  const double window = std::cos(std::numbers::pi * t / (2 * width));
  const double angle = std::numbers::pi * t;
  return window * window * (angle == 0 ? 1 : std::sin(angle) / angle);
}

/// The filter for all results at one fraction of an input sample.
struct Phase {
  /// Where its first coefficient lies, relative to the input sample.
  int64_t first;
  std::vector<double> coefficients;
};

/// For the results j with j modulo \p to equal to \p phase; \p from and \p to
/// have no common divisor.
Phase phaseOf(int64_t phase, int64_t from, int64_t to) {
  constexpr double rolloff = 0.99, width = 6;
  const double cutoff = rolloff * static_cast<double>(std::min(from, to));
  const double centre = static_cast<double>(phase) * static_cast<double>(from) /
                        static_cast<double>(to);
  const double reach = width * static_cast<double>(from) / cutoff;
  Phase filter{static_cast<int64_t>(std::ceil(centre - reach)), {}};
  const auto last = static_cast<int64_t>(std::floor(centre + reach));
  const double step = cutoff / static_cast<double>(from);
  for (int64_t i = filter.first; i <= last; ++i)
    filter.coefficients.push_back(
        step * windowedSinc(step * (centre - static_cast<double>(i))));
  return filter;
}

void resampleChannel(std::span<const float> in, std::span<float> out,
                     int64_t from, int64_t to) {
  const auto count = static_cast<int64_t>(out.size());
  const auto length = static_cast<int64_t>(in.size());
  for (int64_t phase = 0; phase < std::min(to, count); ++phase) {
    const Phase filter = phaseOf(phase, from, to);
    const auto taps = static_cast<int64_t>(filter.coefficients.size());
    for (int64_t j = phase, base = 0; j < count; j += to, base += from) {
      const int64_t start = base + filter.first;
      double sum = 0;
      for (int64_t i = std::max<int64_t>(0, -start);
           i < std::min(taps, length - start); ++i)
        sum += filter.coefficients[static_cast<size_t>(i)] *
               static_cast<double>(in[static_cast<size_t>(start + i)]);
      out[static_cast<size_t>(j)] = static_cast<float>(sum);
    }
  }
}

} // namespace

bool isWav(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && std::memcmp(bytes.data(), "RIFF", 4) == 0 &&
         std::memcmp(bytes.data() + 8, "WAVE", 4) == 0;
}

Result<Audio> decodeWav(std::span<const std::byte> bytes,
                        const std::string &name) {
  if (!isWav(bytes))
    return usageError("'" + name + "': not a WAV file");
  const auto header = riffChunk("fmt ", bytes);
  const auto data = riffChunk("data", bytes);
  if (!header || !data)
    return badWav(name,
                  !header ? "it has no format chunk" : "it has no data chunk");
  Result<WavHeader> format = wavFormat(*header, name);
  if (!format)
    return format.takeError();
  return catchingOutOfMemory("'" + name + "'", [&]() -> Result<Audio> {
    return Audio{format->rate, wavSamples(*format, *data)};
  });
}

Tensor wavSamples(const WavHeader &header, std::span<const std::byte> bytes) {
  const auto length = static_cast<int64_t>(bytes.size()) / header.frameBytes;
  Tensor tensor(ElementType::F32, {header.channels, length});
  const std::span<float> samples = tensor.mutableValues<float>();
  const std::byte *from = bytes.data();
  for (int64_t i = 0; i < length; ++i)
    for (int64_t channel = 0; channel < header.channels; ++channel) {
      samples[static_cast<size_t>(channel * length + i)] =
          wavSample(header, from);
      from += header.bytes;
    }
  return tensor;
}

Result<std::optional<WavHeader>> wavHeader(std::span<const std::byte> bytes,
                                           const std::string &name) {
  constexpr uint32_t endless = 0x7fff0000;
  const std::optional<WavHeader> goesOn;
  if (bytes.size() < riffHeaderSize)
    return goesOn;
  if (!isWav(bytes))
    return usageError("'" + name + "': not a WAV file");
  std::optional<WavHeader> header;
  for (size_t at = riffHeaderSize; bytes.size() - at >= riffChunkHeaderSize;) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + at + 4, sizeof(size));
    const auto isCalled = [&](const char *id) {
      return std::memcmp(bytes.data() + at, id, 4) == 0;
    };
    const size_t left = bytes.size() - at - riffChunkHeaderSize;
    if (isCalled("data") && !header)
      return badWav(name, "it has no format chunk before its samples");
    if (isCalled("data")) {
      header->begin = at + riffChunkHeaderSize;
      if (size != 0 && size < endless)
        header->size = size;
      return header;
    }
    const uint64_t whole = uint64_t(size) + (size & 1);
    if (left < whole)
      return goesOn;
    if (isCalled("fmt ")) {
      Result<WavHeader> read =
          wavFormat(bytes.subspan(at + riffChunkHeaderSize, size), name);
      if (!read)
        return read.takeError();
      header = *read;
    }
    at += riffChunkHeaderSize + whole;
  }
  return goesOn;
}

Audio toMono(Audio audio) {
  if (audio.channels() == 1)
    return audio;
  const int64_t length = audio.length(), channels = audio.channels();
  Tensor mono(ElementType::F32, {1, length});
  const std::span<const float> in = audio.samples.values<float>();
  for (int64_t i = 0; i < length; ++i) {
    double sum = 0;
    for (int64_t channel = 0; channel < channels; ++channel)
      sum += static_cast<double>(in[static_cast<size_t>(channel * length + i)]);
    mono.set(i, static_cast<float>(sum / static_cast<double>(channels)));
  }
  audio.samples = std::move(mono);
  return audio;
}

Result<Audio> resampled(Audio audio, int64_t rate) {
  if (rate < 1 || rate > maxAudioRate)
    return usageError("a rate of " + std::to_string(rate) + " Hz; it is 1 to " +
                      std::to_string(maxAudioRate));
  if (audio.rate == rate)
    return audio;
  const int64_t divisor = std::gcd(audio.rate, rate);
  const int64_t from = audio.rate / divisor, to = rate / divisor;
  const int64_t length = audio.length();
  if (length > std::numeric_limits<int64_t>::max() / to)
    return usageError("audio of " + std::to_string(length) +
                      " samples is too long for a rate of " +
                      std::to_string(rate) + " Hz");
  const int64_t count = length * to / from + (length * to % from != 0 ? 1 : 0);
  return catchingOutOfMemory("the resampled audio", [&]() -> Result<Audio> {
    Audio result{rate, Tensor(ElementType::F32, {audio.channels(), count})};
    for (int64_t channel = 0; channel < audio.channels(); ++channel)
      resampleChannel(
          audio.samples.values<float>().subspan(
              static_cast<size_t>(channel * length),
              static_cast<size_t>(length)),
          result.samples.mutableValues<float>().subspan(
              static_cast<size_t>(channel * count), static_cast<size_t>(count)),
          from, to);
    return result;
  });
}

/// Why the audio is no such input; empty if it is.
static std::string whyNoAudio(const Audio &audio, const TensorSpec &spec) {
  const size_t rank = spec.shape.size();
  if (!isFloat(spec.type))
    return "audio is a tensor of floats";
  if (rank < 1 || rank > 3)
    return "audio has 1 to 3 dimensions: batch, channels, length";
  if (rank == 3 && spec.shape[0] >= 0 && spec.shape[0] != 1)
    return "audio fills a batch of 1 only";
  const int64_t channels = rank == 1 ? 1 : spec.shape[rank - 2];
  if (channels >= 0 && channels != 1 && channels != audio.channels())
    return "the audio has " + std::to_string(audio.channels()) + " channels";
  const int64_t length = spec.shape[rank - 1];
  if (length >= 0 && length != audio.length())
    return "the audio has " + std::to_string(audio.length()) +
           " samples of each channel at " + std::to_string(audio.rate) + " Hz";
  return "";
}

Result<Tensor> audioToInput(Audio audio, const TensorSpec &spec,
                            std::optional<int64_t> rate) {
  const size_t rank = spec.shape.size();
  const bool keepsChannels = rank > 1 && spec.shape[rank - 2] > 1;
  return catchingOutOfMemory("the audio", [&]() -> Result<Tensor> {
    if (!keepsChannels)
      audio = toMono(std::move(audio));
    if (rate) {
      Result<Audio> other = resampled(std::move(audio), *rate);
      if (!other)
        return other.takeError();
      audio = std::move(*other);
    }
    if (std::string why = whyNoAudio(audio, spec); !why.empty())
      return usageError("input '" + spec.name + "' (" +
                        toString(spec.type, spec.shape) +
                        ") cannot be this audio: " + why);
    Shape shape(rank, 1);
    shape[rank - 1] = audio.length();
    if (rank > 1)
      shape[rank - 2] = audio.channels();
    Tensor input(spec.type, shape);
    dispatch(spec.type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!isStdComplex<T> && !std::is_integral_v<T>)
        for (int64_t i = 0; i < input.size(); ++i)
          input.set<T>(i, T(audio.samples.at<float>(i)));
    });
    return input;
  });
}

} // namespace sinter
