#include "runtime/Float.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

template <typename T> class FloatTest : public testing::Test {};
using AllFormats =
    testing::Types<Half, BFloat16, Float8E4M3, Float8E4M3FN, Float8E4M3FNUZ,
                   Float8E4M3B11FNUZ, Float8E5M2, Float8E5M2FNUZ>;
TYPED_TEST_SUITE(FloatTest, AllFormats);

TYPED_TEST(FloatTest, EveryCodeRoundTrips) {
  using Format = typename TypeParam::Format;
  for (unsigned code = 0; code < 1u << Format::totalBits; ++code) {
    double value = Format::decode(code);
    if (Format::isNan(code))
      EXPECT_TRUE(std::isnan(value) && Format::isNan(Format::encode(value)));
    else
      EXPECT_EQ(Format::encode(value), code);
  }
}

TYPED_TEST(FloatTest, MidpointsRoundToEven) {
  using Format = typename TypeParam::Format;
  for (unsigned code = 0; code < Format::maxFinite; ++code) {
    double low = Format::decode(code), high = Format::decode(code + 1);
    double middle = (low + high) / 2;
    EXPECT_EQ(Format::encode(middle), code + (code & 1));
    EXPECT_EQ(Format::encode(std::nextafter(middle, low)), code);
    EXPECT_EQ(Format::encode(std::nextafter(middle, high)), code + 1);
  }
}

TYPED_TEST(FloatTest, BeyondTheRange) {
  using Limits = std::numeric_limits<TypeParam>;
  TypeParam over(1e39);
  if (Limits::has_infinity)
    EXPECT_EQ(over, Limits::infinity());
  else
    EXPECT_NE(over, over);
  EXPECT_EQ(TypeParam::saturated(-1e39), Limits::lowest());
  EXPECT_EQ(double(TypeParam(1e-60)), 0.0);
}

TEST(FloatTest, KnownLimits) {
  EXPECT_EQ(double(std::numeric_limits<Half>::max()), 65504);
  EXPECT_EQ(double(std::numeric_limits<Float8E4M3>::max()), 240);
  EXPECT_EQ(double(std::numeric_limits<Float8E4M3FN>::max()), 448);
  EXPECT_EQ(double(std::numeric_limits<Float8E4M3FNUZ>::max()), 240);
  EXPECT_EQ(double(std::numeric_limits<Float8E4M3B11FNUZ>::max()), 30);
  EXPECT_EQ(double(std::numeric_limits<Float8E5M2>::max()), 57344);
  EXPECT_EQ(double(std::numeric_limits<Float8E5M2FNUZ>::max()), 57344);
  EXPECT_EQ(double(std::numeric_limits<Half>::denorm_min()), 0x1p-24);
}

TEST(FloatTest, DoubleToHalfRoundsOnce) {
  // Through float this would first land on the midpoint and then on even.
  EXPECT_EQ(Half(1.0 + 0x1p-11 + 0x1p-40).bits(), Half(1.0 + 0x1p-10).bits());
}

TEST(FloatTest, LargeIntegersRoundOnce) {
  EXPECT_EQ(double(BFloat16((int64_t(1) << 62) + (int64_t(1) << 54) + 1)),
            0x1p62 + 0x1p55);
  EXPECT_EQ(double(BFloat16(int64_t(-3))), -3.0);
}

TEST(FloatTest, ArithmeticRoundsEveryOperation) {
  EXPECT_EQ(float(Half(2048.0f) + Half(1.0f)), 2048.0f);
  EXPECT_EQ(float(BFloat16(256.0f) + BFloat16(1.0f)), 256.0f);
  EXPECT_LT(Half(1.0f), Half(2.0f));
  EXPECT_EQ(Half(0.0f), -Half(0.0f));
  EXPECT_EQ((-Float8E5M2FNUZ(0.0f)).bits(), 0);
  Half nan = std::numeric_limits<Half>::quiet_NaN();
  EXPECT_NE(nan, nan);
  EXPECT_FALSE(nan < nan);
}

} // namespace
