//===- Wav.h - WAV files as samples of audio ------------------------------===//
//
// RIFF files of WAVE data, by Microsoft's "Multimedia Programming Interface and
// Data Specifications 1.0" and WAVEFORMATEXTENSIBLE:
//
//     integers of 8 (unsigned), 16, 24 or 32 bits; floats of 32 or 64 bits
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_WAV_H
#define SINTER_RUNTIME_WAV_H

#include "runtime/Executor.h"
#include "runtime/Tensor.h"

#include <optional>
#include <span>
#include <string>

namespace sinter {

/// Samples of one or more channels.
struct Audio {
  /// Samples of each channel per second.
  int64_t rate = 0;
  /// f32 [channels, samples of each]. Integers are divided by their largest
  /// magnitude, so that they lie in -1..1; floats are as in the file.
  Tensor samples;

  int64_t channels() const { return samples.dim(0); }
  /// Samples of each channel.
  int64_t length() const { return samples.dim(1); }
};

/// The most channels of a file that is decoded, and the highest rate.
inline constexpr int64_t maxAudioChannels = 256, maxAudioRate = 768'000;

/// Whether \p bytes begin like a WAV file.
bool isWav(std::span<const std::byte> bytes);

/// Decodes a WAV file. A data chunk that claims to go on behind the end of the
/// file, as programs that write to a pipe leave it, ends there with the last
/// whole sample. System errors for damaged files and unknown encodings; \p name
/// is for messages.
Result<Audio> decodeWav(std::span<const std::byte> bytes,
                        const std::string &name);

/// How the samples of a WAV file are encoded, and where they are.
struct WavHeader {
  bool areFloats = false;
  int64_t channels = 1, rate = 1;
  /// Bytes of a sample of all channels, and of one.
  int64_t frameBytes = 1, bytes = 1;
  /// Where the samples begin, and their bytes; nothing: they go on to the end.
  size_t begin = 0;
  std::optional<uint64_t> size;
};

/// The header of a WAV file that begins with \p bytes; nothing if it goes on
/// behind them. A data chunk of 0 or of more than 2 GB minus 64 kB goes on to
/// the end, as programs write to a pipe. Errors as of decodeWav().
Result<std::optional<WavHeader>> wavHeader(std::span<const std::byte> bytes,
                                           const std::string &name);
/// The whole samples in \p bytes, f32 [channels, samples of each].
Tensor wavSamples(const WavHeader &header, std::span<const std::byte> bytes);

/// The mean of the channels: one channel.
Audio toMono(Audio audio);

/// The audio at another rate, 1..maxAudioRate, by a windowed-sinc filter that
/// cuts off at 0.99 of the lower of the two Nyquist frequencies: with from and
/// to the rates and f = 0.99 * min(from, to),
///
///     y[j] = f / from * sum over i of x[i] * h(f * (j / to - i / from))
///     h(t) = sin(pi t) / (pi t) * cos(pi t / 12)^2   for |t| < 6, else 0
///
/// in double, which is what torchaudio.functional.resample computes by default.
/// The length becomes ceil(length * to / from). Usage errors for other rates.
Result<Audio> resampled(Audio audio, int64_t rate);

/// \p audio as the model's input \p spec of a floating-point type, at \p rate
/// if that is given:
///
///     [length]    [1, length]    [1, 1, length]      one channel: their mean
///     [channels, length]    [1, channels, length]    if the number is static
///                                                    and more than 1
///
/// A dynamic length is the audio's. Usage errors name \p spec.
Result<Tensor> audioToInput(Audio audio, const TensorSpec &spec,
                            std::optional<int64_t> rate);

} // namespace sinter

#endif // SINTER_RUNTIME_WAV_H
