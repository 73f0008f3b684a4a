#include "runtime/Wav.h"
#include "runtime/ByteStream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

using namespace sinter;

namespace {

/// A chunk, with the byte that makes its size even.
std::string wavChunk(const std::string &id, const std::string &contents) {
  ByteWriter out;
  out.raw(bytesOf(id));
  out.number(static_cast<uint32_t>(contents.size()));
  out.raw(bytesOf(contents));
  if (contents.size() % 2 != 0)
    out.number<uint8_t>(0);
  return {reinterpret_cast<const char *>(out.bytes().data()), out.size()};
}

std::string wavFormatChunk(uint16_t encoding, uint16_t channels, uint32_t rate,
                           uint16_t bits, const std::string &rest = "") {
  ByteWriter out;
  out.number(encoding);
  out.number(channels);
  out.number(rate);
  out.number(rate * channels * bits / 8);
  out.number(static_cast<uint16_t>(channels * bits / 8));
  out.number(bits);
  out.raw(bytesOf(rest));
  return wavChunk(
      "fmt ", {reinterpret_cast<const char *>(out.bytes().data()), out.size()});
}

std::string wavOf(const std::string &chunks) {
  ByteWriter out;
  out.raw(bytesOf("RIFF"));
  out.number(static_cast<uint32_t>(chunks.size() + 4));
  out.raw(bytesOf("WAVE"));
  out.raw(bytesOf(chunks));
  return {reinterpret_cast<const char *>(out.bytes().data()), out.size()};
}

template <typename T> std::string wavData(std::vector<T> values) {
  return wavChunk("data", {reinterpret_cast<const char *>(values.data()),
                           values.size() * sizeof(T)});
}

std::vector<float> samplesOf(const Result<Audio> &audio) {
  const std::span<const float> all = audio->samples.values<float>();
  return {all.begin(), all.end()};
}

Audio sine(int64_t rate, double frequency, int64_t length) {
  Audio audio{rate, Tensor(ElementType::F32, {1, length})};
  for (int64_t i = 0; i < length; ++i)
    audio.samples.set(
        i, static_cast<float>(std::sin(2 * std::numbers::pi * frequency *
                                       static_cast<double>(i) /
                                       static_cast<double>(rate))));
  return audio;
}

TEST(Wav, IntegersOfAllWidths) {
  const std::pair<uint16_t, std::string> all[] = {
      {8, wavData<uint8_t>({128, 192, 0})},
      {16, wavData<int16_t>({0, 16384, -32768})},
      {24, wavData<uint8_t>({0, 0, 0, 0, 0, 0x40, 0, 0, 0x80})},
      {32, wavData<int32_t>({0, 1 << 30, INT32_MIN})}};
  for (const auto &[bits, data] : all) {
    const std::string file = wavOf(wavFormatChunk(1, 1, 8000, bits) + data);
    ASSERT_TRUE(isWav(bytesOf(file)));
    auto audio = decodeWav(bytesOf(file), "x");
    ASSERT_TRUE(audio) << audio.error().message();
    EXPECT_EQ(audio->rate, 8000);
    EXPECT_EQ(samplesOf(audio), (std::vector<float>{0, 0.5F, -1})) << bits;
  }
}

TEST(Wav, FloatsAndChannels) {
  auto narrow = decodeWav(bytesOf(wavOf(wavFormatChunk(3, 2, 48000, 32) +
                                        wavData<float>({1, 2, 3, 4}))),
                          "x");
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->samples.shape(), (Shape{2, 2}));
  EXPECT_EQ(samplesOf(narrow), (std::vector<float>{1, 3, 2, 4}));
  const Audio mono = toMono(*narrow);
  EXPECT_EQ(mono.samples.shape(), (Shape{1, 2}));
  EXPECT_EQ(mono.samples.at<float>(0), 1.5F);
  auto wide = decodeWav(bytesOf(wavOf(wavFormatChunk(3, 1, 48000, 64) +
                                      wavData<double>({0.25, -2}))),
                        "x");
  ASSERT_TRUE(wide);
  EXPECT_EQ(samplesOf(wide), (std::vector<float>{0.25F, -2}));
}

TEST(Wav, ExtendedFormatAndOtherChunks) {
  ByteWriter extension;
  extension.number<uint16_t>(22);
  extension.number<uint16_t>(16);
  extension.number<uint32_t>(4);
  extension.number<uint16_t>(1);
  extension.raw(bytesOf(std::string_view(
      "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14)));
  const std::string rest(
      reinterpret_cast<const char *>(extension.bytes().data()),
      extension.size());
  // A chunk of an odd size, with its byte of padding.
  const std::string file = wavOf(
      wavChunk("LIST", "abc") + wavFormatChunk(0xfffe, 1, 16000, 16, rest) +
      wavData<int16_t>({16384}) + wavChunk("id3 ", "x"));
  auto audio = decodeWav(bytesOf(file), "x");
  ASSERT_TRUE(audio) << audio.error().message();
  EXPECT_EQ(samplesOf(audio), std::vector<float>{0.5F});
}

TEST(Wav, DataThatEndEarly) {
  std::string file =
      wavOf(wavFormatChunk(1, 1, 8000, 16) + wavData<int16_t>({1, 2, 3}));
  // As a program leaves it that writes to a pipe.
  const size_t size = file.find("data") + 4;
  file.replace(size, 4, "\xff\xff\xff\xff");
  file.pop_back();
  auto audio = decodeWav(bytesOf(file), "x");
  ASSERT_TRUE(audio);
  EXPECT_EQ(audio->length(), 2);
}

TEST(Wav, WhatIsRefused) {
  const std::string data = wavData<int16_t>({1, 2});
  const std::pair<std::string, std::string> all[] = {
      {wavOf(data), "no format chunk"},
      {wavOf(wavFormatChunk(1, 1, 8000, 16)), "no data chunk"},
      {wavOf(wavChunk("fmt ", "abc") + data), "too short"},
      {wavOf(wavFormatChunk(1, 1, 8000, 12) + data), "12 bits"},
      {wavOf(wavFormatChunk(6, 1, 8000, 8) + data), "encoding 6"},
      {wavOf(wavFormatChunk(3, 1, 8000, 16) + data), "16 bits"},
      {wavOf(wavFormatChunk(0xfffe, 1, 8000, 16) + data), "neither"},
      {wavOf(wavFormatChunk(1, 0, 8000, 16) + data), "0 channels"},
      {wavOf(wavFormatChunk(1, 1, 0, 16) + data), "0 Hz"},
      {wavOf(wavFormatChunk(1, 1, 1000000, 16) + data), "1000000 Hz"}};
  for (const auto &[file, what] : all) {
    auto audio = decodeWav(bytesOf(file), "x");
    ASSERT_FALSE(audio) << what;
    EXPECT_NE(audio.error().message().find(what), std::string::npos)
        << audio.error().message();
    EXPECT_TRUE(audio.error().message().starts_with("'x': "));
  }
  EXPECT_EQ(decodeWav(bytesOf("RIFF"), "x").error().kind, ErrorKind::Usage);
}

TEST(Wav, DamagedFilesDoNotCrash) {
  const std::string file =
      wavOf(wavChunk("LIST", "abc") + wavFormatChunk(1, 2, 8000, 24) +
            wavData<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  for (size_t size = 0; size <= file.size(); ++size)
    (void)decodeWav(bytesOf(file.substr(0, size)), "x");
  for (size_t i = 0; i < file.size(); ++i)
    for (unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      std::string bad = file;
      bad[i] = static_cast<char>(value);
      (void)decodeWav(bytesOf(bad), "x");
    }
}

TEST(Resampled, SinesStaySines) {
  // From and to rates with and without a common divisor, up and down.
  for (auto [from, to] : {std::pair<int64_t, int64_t>(44100, 16000),
                          {8000, 16000},
                          {48000, 16000},
                          {16000, 44100},
                          {7919, 8009}}) {
    const int64_t length = from / 5;
    auto audio = resampled(sine(from, 440, length), to);
    ASSERT_TRUE(audio);
    EXPECT_EQ(audio->rate, to);
    EXPECT_EQ(audio->length(), (length * to + from - 1) / from);
    const Audio expected = sine(to, 440, audio->length());
    // The filter reaches over the ends, where there is silence.
    for (int64_t i = 100; i + 100 < audio->length(); ++i)
      ASSERT_NEAR(audio->samples.at<float>(i), expected.samples.at<float>(i),
                  2e-3)
          << from << " to " << to << " at " << i;
  }
}

TEST(Resampled, WhatTheNewRateCannotHoldIsGone) {
  auto audio = resampled(sine(48000, 15000, 4800), 16000);
  ASSERT_TRUE(audio);
  for (int64_t i = 50; i + 50 < audio->length(); ++i)
    EXPECT_NEAR(audio->samples.at<float>(i), 0, 5e-3);
}

TEST(Resampled, Channels) {
  Audio stereo{2, Tensor::of<float>(ElementType::F32, {2, 2},
                                    std::vector<float>{1, 2, 3, 4})};
  auto same = resampled(stereo, 2);
  ASSERT_TRUE(same);
  EXPECT_EQ(samplesOf(same), (std::vector<float>{1, 2, 3, 4}));
  auto twice = resampled(stereo, 4);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->samples.shape(), (Shape{2, 4}));
  auto one = resampled({2, stereo.samples.reshaped({1, 4})}, 4);
  ASSERT_TRUE(one);
  EXPECT_NE(twice->samples.at<float>(3), one->samples.at<float>(3));
  EXPECT_FALSE(resampled(stereo, 0));
  EXPECT_FALSE(resampled(stereo, maxAudioRate + 1));
  auto empty = resampled({8000, Tensor(ElementType::F32, {1, 0})}, 16000);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->length(), 0);
}

TEST(AudioToInput, Forms) {
  const Audio stereo{8000, Tensor::of<float>(ElementType::F32, {2, 2},
                                             std::vector<float>{1, 2, 3, 4})};
  const auto shapeFor = [&](Shape shape, std::optional<int64_t> rate = {},
                            ElementType type = ElementType::F32) {
    auto input = audioToInput(stereo, {"x", type, std::move(shape)}, rate);
    return input ? input->shape() : Shape();
  };
  EXPECT_EQ(shapeFor({-1}), (Shape{2}));
  EXPECT_EQ(shapeFor({1, -1}), (Shape{1, 2}));
  EXPECT_EQ(shapeFor({-1, -1}), (Shape{1, 2}));
  EXPECT_EQ(shapeFor({2, 2}), (Shape{2, 2}));
  EXPECT_EQ(shapeFor({1, 2, -1}), (Shape{1, 2, 2}));
  EXPECT_EQ(shapeFor({-1, 1, -1}), (Shape{1, 1, 2}));
  EXPECT_EQ(shapeFor({1, -1}, 16000), (Shape{1, 4}));
  EXPECT_EQ(shapeFor({-1}, {}, ElementType::F16), (Shape{2}));
  // Another length, number of channels, batch, rank, type or rate.
  for (const Shape &shape :
       {Shape{3}, {3, -1}, {2, 1, -1}, {1, 1, 1, -1}, Shape{}})
    EXPECT_EQ(shapeFor(shape), Shape());
  EXPECT_EQ(shapeFor({-1}, {}, ElementType::I16), Shape());
  EXPECT_EQ(shapeFor({-1}, 0), Shape());
  auto mean = audioToInput(stereo, {"x", ElementType::F32, {-1}}, {});
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->at<float>(1), 3);
}

} // namespace
