//===- PipeFramesTest.cpp - windows of what comes from a pipe -------------===//
//
// Covers: data PipeFrames PipeReader
//
//===----------------------------------------------------------------------===//

#include "data/PipeFrames.h"
#include "runtime/ByteStream.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>

using namespace sinter;

namespace {

/// A pipe into which a thread writes pieces.
class Pieces {
public:
  explicit Pieces(std::vector<std::string> pieces) {
    EXPECT_EQ(::pipe(ends), 0);
    // Who reads may have gone after a header.
    std::signal(SIGPIPE, SIG_IGN);
    writer = std::thread([this, pieces = std::move(pieces)] {
      for (const std::string &each : pieces)
        if (::write(ends[1], each.data(), each.size()) < 0)
          break;
      ::close(ends[1]);
    });
  }
  ~Pieces() {
    ::close(ends[0]);
    writer.join();
  }
  int descriptor() const { return ends[0]; }

private:
  int ends[2] = {};
  std::thread writer;
};

ModelInput inputOf(Shape shape, ElementType type = ElementType::F32) {
  ModelInput input;
  input.spec = {"x", type, std::move(shape)};
  return input;
}

template <typename T> std::string rawOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

template <typename T> std::vector<T> ramp(size_t count, T first = 0) {
  std::vector<T> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = static_cast<T>(first + static_cast<T>(i));
  return all;
}

/// The elements of all windows that \p pieces give.
std::vector<std::vector<double>> windowsOf(std::vector<std::string> pieces,
                                           const ModelInput &input,
                                           const PipeOptions &options,
                                           std::string *error = nullptr) {
  const Pieces pipe(std::move(pieces));
  std::vector<std::vector<double>> windows;
  auto frames = PipeFrames::open(pipe.descriptor(), "pipe", input, options);
  if (!frames) {
    EXPECT_NE(error, nullptr) << frames.error().message();
    if (error)
      *error = frames.error().message();
    return windows;
  }
  while (true) {
    Result<std::optional<Tensor>> next = (*frames)->next();
    if (!next && error)
      *error = next.error().message();
    EXPECT_TRUE(next || error) << next.error().message();
    if (!next || !*next)
      return windows;
    std::vector<double> &values = windows.emplace_back();
    for (int64_t i = 0; i < (*next)->size(); ++i)
      values.push_back((*next)->toDouble(i));
  }
}

using Windows = std::vector<std::vector<double>>;

/// A WAV header of 16 bits.
std::string wavHeaderText(uint16_t channels, uint32_t size) {
  const auto number = [](auto value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  return "RIFF" + number(uint32_t(0xffffffff)) + "WAVEfmt " +
         number(uint32_t(16)) + number(uint16_t(1)) + number(channels) +
         number(uint32_t(8000)) + number(uint32_t(16000U * channels)) +
         number(uint16_t(2 * channels)) + number(uint16_t(16)) + "data" +
         number(size);
}

TEST(PipeFrames, RawElementsAndHops) {
  const std::string bytes = rawOf(ramp<float>(11));
  // However the pipe cuts them.
  for (size_t cut : {1U, 7U, 13U, 44U}) {
    std::vector<std::string> pieces;
    for (size_t i = 0; i < bytes.size(); i += cut)
      pieces.push_back(bytes.substr(i, cut));
    EXPECT_EQ(windowsOf(pieces, inputOf({1, 4}), {.windows = {.hop = 3}}),
              (Windows{{0, 1, 2, 3}, {3, 4, 5, 6}, {6, 7, 8, 9}}));
    EXPECT_EQ(windowsOf(pieces, inputOf({1, 2}), {.windows = {.hop = 5}}),
              (Windows{{0, 1}, {5, 6}}))
        << cut;
  }
}

TEST(PipeFrames, ADynamicLengthAndTheRest) {
  PipeOptions options;
  options.windows.frame = 3;
  const Pieces pipe({rawOf(ramp<float>(7))});
  auto frames =
      PipeFrames::open(pipe.descriptor(), "pipe", inputOf({-1, -1}), options);
  ASSERT_TRUE(frames) << frames.error().message();
  for (bool isThere : {true, true, false}) {
    Result<std::optional<Tensor>> next = (*frames)->next();
    ASSERT_TRUE(next) << next.error().message();
    EXPECT_EQ(next->has_value(), isThere);
  }
  EXPECT_EQ((*frames)->left(), 1);
  std::string error;
  windowsOf({rawOf(ramp<float>(7))}, inputOf({1, -1, 2}), options, &error);
  EXPECT_NE(error.find("the sizes of input 'x'"), std::string::npos) << error;
}

TEST(PipeFrames, TimeInFrontAndChannels) {
  // Interleaved channels become rows.
  EXPECT_EQ(windowsOf({rawOf(ramp<float>(8))}, inputOf({1, 2, 2}), {}),
            (Windows{{0, 2, 1, 3}, {4, 6, 5, 7}}));
  // Frames of pixels.
  PipeOptions options;
  options.windows.axis = 0;
  EXPECT_EQ(windowsOf({rawOf(ramp<uint8_t>(12))},
                      inputOf({1, 2, 3}, ElementType::UI8), options),
            (Windows{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}));
}

TEST(PipeFrames, IntegersBecomeFloats) {
  PipeOptions options;
  options.raw = ElementType::I16;
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16,
                           ElementType::BF16})
    EXPECT_EQ(windowsOf({rawOf<int16_t>({-32768, 16384, 0, 8192})},
                        inputOf({2}, type), options),
              (Windows{{-1, 0.5}, {0, 0.25}}));
  options.raw = ElementType::UI8;
  EXPECT_EQ(windowsOf({rawOf<uint8_t>({0, 128, 192})}, inputOf({1}), options),
            (Windows{{-1}, {0}, {0.5}}));
  std::string error;
  windowsOf({rawOf<uint8_t>({0})}, inputOf({1}, ElementType::I32), options,
            &error);
  EXPECT_NE(error.find("'pipe' holds ui8"), std::string::npos) << error;
}

TEST(PipeFrames, WavWithAndWithoutAnEnd) {
  const std::string samples = rawOf<int16_t>({16384, 0, -16384, 8192});
  for (uint32_t size : {0U, 0xffffffffU, 0x7fffffffU, 8U})
    EXPECT_EQ(windowsOf({wavHeaderText(1, size), samples}, inputOf({1, 2}), {}),
              (Windows{{0.5, 0}, {-0.5, 0.25}}))
        << size;
  // What is behind the samples.
  EXPECT_EQ(windowsOf({wavHeaderText(1, 4) + samples}, inputOf({1, 2}), {}),
            (Windows{{0.5, 0}}));
  // Two channels: their mean, or both.
  EXPECT_EQ(windowsOf({wavHeaderText(2, 0), samples}, inputOf({1, 2}), {}),
            (Windows{{0.25, -0.125}}));
  EXPECT_EQ(windowsOf({wavHeaderText(2, 0), samples}, inputOf({1, 2, 2}), {}),
            (Windows{{0.5, -0.5, 0, 0.25}}));
  std::string error;
  windowsOf({wavHeaderText(1, 0), samples}, inputOf({1, 2}), {.rate = 16000},
            &error);
  EXPECT_NE(error.find("8000 samples per second, not 16000"), std::string::npos)
      << error;
  windowsOf({wavHeaderText(1, 0).substr(0, 30)}, inputOf({1, 2}), {}, &error);
  EXPECT_NE(error.find("cut short"), std::string::npos) << error;
}

TEST(PipeFrames, ArraysFollowEachOther) {
  const auto npyOf = [](Shape shape, size_t count, float first) {
    const Tensor tensor = Tensor::of<float>(ElementType::F32, std::move(shape),
                                            ramp<float>(count, first));
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (int64_t size : tensor.shape())
      text += std::to_string(size) + ", ";
    text += "), }";
    text.resize(117, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text +
           std::string(reinterpret_cast<const char *>(tensor.data()),
                       tensor.bytes());
  };
  EXPECT_EQ(
      windowsOf({npyOf({3}, 3, 0), npyOf({4}, 4, 3)}, inputOf({1, 2}), {}),
      (Windows{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(windowsOf({npyOf({2, 1}, 2, 0), npyOf({2, 2}, 4, 10)},
                      inputOf({1, 2, 3}), {}),
            (Windows{{0, 10, 11, 1, 12, 13}}));
  std::string error;
  windowsOf({npyOf({2, 1}, 2, 0), npyOf({3, 1}, 3, 0)}, inputOf({1, 2, 3}), {},
            &error);
  EXPECT_NE(error.find("does not go on from 2x1xf32"), std::string::npos)
      << error;
  windowsOf({npyOf({2, 1}, 2, 0).substr(0, 130)}, inputOf({1, 2, 3}), {},
            &error);
  EXPECT_NE(error.find("cut short"), std::string::npos) << error;
}

TEST(PipeFrames, NothingAndNoWindow) {
  std::string error;
  EXPECT_TRUE(windowsOf({}, inputOf({1, 2}), {}, &error).empty());
  EXPECT_NE(error.find("'pipe' is empty"), std::string::npos) << error;
  EXPECT_TRUE(windowsOf({rawOf(ramp<float>(1))}, inputOf({1, 2}), {}).empty());
  windowsOf({rawOf(ramp<float>(1))}, inputOf({1, 0}), {}, &error);
  EXPECT_NE(error.find("input 'x'"), std::string::npos) << error;
}

} // namespace
