// Sums of each channel of blocked maps, by value: as norms in training take
// them, in every shape that leaves tails, and how exact they are.

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ProgramText.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// A convolution, whose result stands in blocks, and `%s` of it.
std::string ofConvolution(const Shape &map, const std::string &reduction,
                          const std::string &type) {
  const Shape input = {map[0], 3, map[2], map[3]}, kernel = {map[1], 3, 1, 1};
  return "(%x: " + typeOf(input) + ", %k: " + typeOf(kernel) +
         ", %z: " + "tensor<f32>) -> " + type +
         " {\n%c = stablehlo.convolution(%x, %k) dim_numbers = "
         "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
         "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
         typeOf(input) + ", " + typeOf(kernel) + ") -> " + typeOf(map) +
         "\n%n = stablehlo.constant dense<0.0> : tensor<f32>\n" + reduction +
         "\nreturn %s : " + type + "\n}";
}

std::string sumOf(const std::string &operand, const Shape &map,
                  const std::string &dimensions, const std::string &result,
                  const std::string &initial = "%n",
                  const std::string &kind = "add") {
  return "%s = stablehlo.reduce(" + operand + " init: " + initial +
         ") applies stablehlo." + kind + " across dimensions = " + dimensions +
         " : (" + typeOf(map) + ", tensor<f32>) -> " + result;
}

} // namespace

TEST(ChannelSums, OfEveryShape) {
  for (int64_t images : {1, 3})
    for (int64_t channels : {16, 20})
      for (auto [height, width] : {std::pair<int64_t, int64_t>{1, 1},
                                   {1, 7},
                                   {3, 8},
                                   {5, 13},
                                   {9, 65}}) {
        const Shape map = {images, channels, height, width};
        const std::string channel = typeOf({channels}),
                          plane = typeOf({images, channels});
        for (const std::string &reduction :
             {sumOf("%c", map, "[0, 2, 3]", channel),
              sumOf("%c", map, "[0, 2, 3]", channel, "%z"),
              sumOf("%c", map, "[0, 2, 3]", channel, "%n", "maximum"),
              "%q = stablehlo.multiply %c, %c : " + typeOf(map) + "\n" +
                  sumOf("%q", map, "[0, 2, 3]", channel)})
          EXPECT_EQ(differs(ofConvolution(map, reduction, channel)), "")
              << channel << reduction;
        EXPECT_EQ(differs(ofConvolution(
                      map, sumOf("%c", map, "[2, 3]", plane, "%z"), plane)),
                  "");
      }
}

/// Of squares, which are all positive: one chain of 65,536 numbers loses two
/// digits more than sums of sums do.
TEST(ChannelSums, AreExact) {
  const Shape map = {16, 16, 64, 64};
  const std::string body =
      ofConvolution(map,
                    "%q = stablehlo.multiply %c, %c : " + typeOf(map) + "\n" +
                        sumOf("%q", map, "[0, 2, 3]", "tensor<16xf32>"),
                    "tensor<16xf32>");
  auto program = cpu::compileForCpu(parseModel(body), {});
  ASSERT_TRUE(program) << program.error().message();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor) << executor.error().message();
  Tensor x(ElementType::F32, {16, 3, 64, 64}),
      k(ElementType::F32, {16, 3, 1, 1});
  fillRandom(x, 1);
  fillRandom(k, 2);
  auto sums =
      (*executor)->run(std::vector<Tensor>{x, k, Tensor(ElementType::F32, {})});
  ASSERT_TRUE(sums) << sums.error().message();
  constexpr int64_t pixels = 64 * 64;
  for (int64_t channel = 0; channel < 16; ++channel) {
    double want = 0;
    for (int64_t image = 0; image < 16; ++image)
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        double value = 0;
        for (int64_t c = 0; c < 3; ++c)
          value += x.toDouble((image * 3 + c) * pixels + pixel) *
                   k.toDouble(channel * 3 + c);
        want += value * value;
      }
    EXPECT_NEAR((*sums)[0].toDouble(channel), want, 4e-7 * want);
  }
}
