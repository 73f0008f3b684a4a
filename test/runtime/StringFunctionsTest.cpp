// Covers: runtime StringFunctions StringNumbers RegularExpressions

#include "runtime/StringFunctions.h"
#include "runtime/Strings.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>

using namespace sinter;

namespace {

using Parts = std::vector<std::string_view>;

TEST(StringFunctionsTest, Split) {
  EXPECT_EQ(partsOfString("a,b,,c", ",", -1), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(partsOfString("a,b,,c", ",", 1), (Parts{"a", "b,,c"}));
  EXPECT_EQ(partsOfString("", ",", -1), (Parts{""}));
  EXPECT_EQ(partsOfString("a", ",", 0), (Parts{"a"}));
  EXPECT_EQ(partsOfString("", "", -1), (Parts{}));
  EXPECT_EQ(partsOfString(" a \t b ", "", -1), (Parts{"a", "b"}));
  EXPECT_EQ(partsOfString(" a  b c ", "", 1), (Parts{"a", "b c "}));
  EXPECT_EQ(partsOfString("a\u2003b", "", -1), (Parts{"a", "b"}));
  EXPECT_EQ(partsOfString("\xff \xe2", "", -1), (Parts{"\xff", "\xe2"}));
}

TEST(StringFunctionsTest, Case) {
  EXPECT_EQ(withCase("aZ \u00e9\u0436\U00010428", true, "en_US"),
            "AZ \u00c9\u0416\U00010400");
  EXPECT_EQ(withCase("aZ \u00c9\u0416", false, ""), "az \u00e9\u0436");
  EXPECT_EQ(withCase("iI", true, "tr_TR"), "\u0130I");
  EXPECT_EQ(withCase("iI", false, "az"), "i\u0131");
  EXPECT_EQ(withCase("\u00df", true, "de_DE"), "\u00df");
  EXPECT_EQ(withCase("a\xff", true, "en_US"), std::nullopt);
}

TEST(StringFunctionsTest, Patterns) {
  EXPECT_TRUE(StringPattern::of("a+(b|c)*"));
  for (const char *bad : {"(", "a**b(", "[z-a]", "\\8", "(?=a)",
                          "((((a{1000}){1000}){1000}){1000})"})
    EXPECT_FALSE(StringPattern::of(bad)) << bad;
}

/// The text of a number of type \p type.
template <typename T> std::string written(ElementType type, T value) {
  return numberAsString(Tensor::of<T>(type, {1}, {{value}}), 0);
}

TEST(StringFunctionsTest, Numbers) {
  EXPECT_EQ(written(ElementType::F32, 0.1F), "0.1");
  EXPECT_EQ(written(ElementType::F32, 1.0F), "1.0");
  EXPECT_EQ(written(ElementType::F32, 1e16F), "1e+16");
  EXPECT_EQ(written(ElementType::F32, -1e-5F), "-1e-05");
  EXPECT_EQ(written(ElementType::F64, 0.1), "0.1");
  EXPECT_EQ(written(ElementType::F32, -HUGE_VALF), "-inf");
  EXPECT_EQ(written(ElementType::F32, std::nanf("")), "nan");
  EXPECT_EQ(written<uint16_t>(ElementType::F16, 0x2e66), "0.1");
  EXPECT_EQ(written<uint16_t>(ElementType::BF16, 0x3dcd), "0.1");
  EXPECT_EQ(written<uint8_t>(ElementType::I1, 1), "1");
  EXPECT_EQ(written<uint64_t>(ElementType::UI64, ~0ULL),
            "18446744073709551615");
}

/// The number in \p text as a double; nothing if it is refused.
std::optional<double> read(ElementType type, const std::string &text) {
  const std::string texts[] = {text};
  Tensor to(type, {1});
  if (!parseNumbers(stringTensor({1}, std::span<const std::string>(texts)), to))
    return std::nullopt;
  return to.toDouble(0);
}

TEST(StringFunctionsTest, Parse) {
  EXPECT_EQ(read(ElementType::F32, "1e-5"), 1e-5F);
  EXPECT_EQ(read(ElementType::F32, " +.5\n"), 0.5);
  EXPECT_EQ(read(ElementType::F32, "-1e99"), -HUGE_VAL);
  EXPECT_EQ(read(ElementType::F64, "+INF"), HUGE_VAL);
  EXPECT_EQ(read(ElementType::F16, "0.1"), 0.0999755859375);
  EXPECT_EQ(read(ElementType::I8, "-128"), -128);
  EXPECT_EQ(read(ElementType::UI4, "15"), 15);
  EXPECT_EQ(read(ElementType::I1, "2"), 1);
  for (const char *bad : {"", "x", "1 2", "1e", "--1", "+-1", "0x"})
    EXPECT_FALSE(read(ElementType::F32, bad)) << bad;
  EXPECT_FALSE(read(ElementType::I8, "128"));
  EXPECT_FALSE(read(ElementType::UI4, "16"));
  EXPECT_FALSE(read(ElementType::UI8, "-1"));
  EXPECT_FALSE(read(ElementType::I64, "9223372036854775808"));
  EXPECT_FALSE(read(ElementType::I32, "1.0"));
}

TEST(StringFunctionsTest, NumbersOfAnyLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  bool hasComma = false;
  for (const char *name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"})
    hasComma = hasComma || std::setlocale(LC_NUMERIC, name);
  if (!hasComma)
    GTEST_SKIP() << "there is no locale with another point";
  EXPECT_EQ(written<uint16_t>(ElementType::F16, 0x2e66), "0.1");
  EXPECT_EQ(read(ElementType::F32, "-1.5e99"), -HUGE_VAL);
  EXPECT_EQ(read(ElementType::F64, "1.5e-999"), 0);
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(StringFunctionsTest, PlacesOfOtherKeys) {
  const std::string texts[] = {"b", "c", "a"}, keys[] = {"a", "b", "a"},
                    others[] = {"c"};
  const Tensor x = stringTensor({3}, texts);
  const Tensor first = stringTensor({3}, keys),
               second = stringTensor({1}, others);
  Tensor to(ElementType::I64, {3});
  StringPlaces places;
  for (int round = 0; round < 2; ++round) {
    places.setKeys(first);
    places.find(x, to);
    EXPECT_EQ(to.at<int64_t>(0), 1);
    EXPECT_EQ(to.at<int64_t>(1), -1);
    EXPECT_EQ(to.at<int64_t>(2), 0);
    places.setKeys(first);
    places.setKeys(second);
    places.find(x, to);
    EXPECT_EQ(to.at<int64_t>(0), -1);
    EXPECT_EQ(to.at<int64_t>(1), 0);
  }
  places.setKeys(Tensor(ElementType::STRING, {0}));
  places.find(x, to);
  EXPECT_EQ(to.at<int64_t>(1), -1);
}

} // namespace
