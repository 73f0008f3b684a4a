// Covers: runtime Npy NpyStrings

#include "runtime/Npy.h"
#include "TemporaryFolder.h"
#include "runtime/MappedFile.h"
#include "runtime/Strings.h"

#include <gtest/gtest.h>

#include <complex>
#include <numeric>

using namespace sinter;
using sinter::test::TemporaryFolder;

namespace {

/// A .npy file of version 1 or 2.
std::string npy(std::string header, std::string data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1)
    file += {'\0', '\0'};
  return file + header + data;
}

Result<Tensor> parse(const std::string &file) {
  auto owner = std::make_shared<std::string>(file);
  return parseNpy(std::as_bytes(std::span(*owner)), owner, "x.npy");
}

TEST(NpyTest, EveryTypeRoundTrips) {
  TemporaryFolder folder;
#define X(enumerator, text, size, bits, kind)                                  \
  if (ElementType::enumerator != ElementType::STRING) {                        \
    Tensor tensor(ElementType::enumerator, {2, 3});                            \
    for (size_t i = 0; i < tensor.bytes(); ++i)                                \
      tensor.mutableBytes()[i] = std::byte(i % 2);                             \
    ASSERT_TRUE(writeNpy(folder.file("t"), tensor)) << text;                   \
    auto back = readNpy(folder.file("t"));                                     \
    ASSERT_TRUE(back) << text;                                                 \
    EXPECT_EQ(back->shape(), tensor.shape()) << text;                          \
    EXPECT_TRUE(back->isAligned()) << text;                                    \
    EXPECT_EQ(std::memcmp(back->data(), tensor.data(), tensor.bytes()), 0);    \
    if (size > 1)                                                              \
      EXPECT_EQ(back->type(), ElementType::enumerator) << text;                \
  }
  SINTER_ELEMENT_TYPES(X)
#undef X
}

/// Whether \p tensor has these strings.
bool hasStrings(const Result<Tensor> &tensor, Shape shape,
                const std::vector<std::string> &texts) {
  if (!tensor || tensor->type() != ElementType::STRING ||
      tensor->shape() != shape)
    return false;
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (stringAt(*tensor, i) != texts[i])
      return false;
  return true;
}

TEST(NpyTest, StringsRoundTrip) {
  TemporaryFolder folder;
  for (const std::vector<std::string> &texts :
       {std::vector<std::string>{"", "a", "\u00e9\u4e2d", "\U0001F600 x"},
        std::vector<std::string>{"\xff", "abc", "", "d"},
        std::vector<std::string>{"", "", "", ""}}) {
    const Tensor tensor =
        stringTensor({2, 2}, std::span<const std::string>(texts));
    ASSERT_TRUE(writeNpy(folder.file("t"), tensor));
    EXPECT_TRUE(hasStrings(readNpy(folder.file("t")), {2, 2}, texts));
  }
  const std::string zero[] = {std::string("a\0", 2)};
  EXPECT_FALSE(writeNpy(folder.file("t"),
                        stringTensor({1}, std::span<const std::string>(zero))));
}

TEST(NpyTest, StringsOfNumPy) {
  const std::string rest = ",'fortran_order':False,'shape':(2,)}\n";
  EXPECT_TRUE(hasStrings(
      parse(npy("{'descr':'|S3'" + rest, std::string("ab\0c\0\0", 6))), {2},
      {"ab", "c"}));
  EXPECT_TRUE(hasStrings(parse(npy("{'descr':'>U1'" + rest,
                                   std::string("\0\0\0a\0\0\x20\xac", 8))),
                         {2}, {"a", "\u20ac"}));
  EXPECT_TRUE(
      hasStrings(parse(npy("{'descr':'<U0'" + rest, "")), {2}, {"", ""}));
  EXPECT_TRUE(hasStrings(
      parse(
          npy("{'descr':'|S1','fortran_order':True,'shape':(2,2)}\n", "acbd")),
      {2, 2}, {"a", "b", "c", "d"}));
  for (const char *bad : {"<U", "<U-1", "<Ux", "<U99999999999", "|O"})
    EXPECT_FALSE(parse(npy("{'descr':'" + std::string(bad) + "'" + rest, "")))
        << bad;
  // A surrogate; too few bytes.
  EXPECT_FALSE(
      parse(npy("{'descr':'<U1'" + rest, std::string("\0\xd8\0\0a\0\0\0", 8))));
  EXPECT_FALSE(parse(npy("{'descr':'<U1'" + rest, "abcd")));
  EXPECT_FALSE(parse(npy("{'descr':'<U0','fortran_order':False,'shape':("
                         "4611686018427387904,)}\n",
                         "")));
  // They are no more than the file has bytes.
  EXPECT_FALSE(parse(
      npy("{'descr':'|S0','fortran_order':False,'shape':(100000,)}\n", "")));
  // Texts without characters are in no order.
  EXPECT_FALSE(parse(npy("{'descr':'<U0','fortran_order':True,'shape':("
                         "4611686018427387904,)}\n",
                         "x")));
}

TEST(NpyTest, Bf16InOtherTypes) {
  const Tensor bits = Tensor::of<uint16_t>(ElementType::UI16, {2},
                                           {{0x3f80, 0xc000}}),
               values =
                   Tensor::of<float>(ElementType::F32, {2}, {{1.001F, -2}});
  for (const Tensor &each : {bits, values}) {
    const Tensor stored = asStored(each, ElementType::BF16);
    EXPECT_EQ(stored.type(), ElementType::BF16);
    EXPECT_EQ(stored.toDouble(0), 1);
    EXPECT_EQ(stored.toDouble(1), -2);
  }
  // Other types hold no bits, and other floats no values.
  const Tensor signedBits(ElementType::I16, {2});
  EXPECT_EQ(asStored(signedBits, ElementType::BF16).type(), ElementType::I16);
  EXPECT_EQ(asStored(bits, ElementType::F16).type(), ElementType::UI16);
  EXPECT_EQ(asStored(values, ElementType::F16).type(), ElementType::F32);
  EXPECT_EQ(asStored(values, ElementType::F64).type(), ElementType::F32);
}

TEST(NpyTest, ShapesRoundTrip) {
  TemporaryFolder folder;
  for (Shape shape :
       {Shape{}, Shape{0}, Shape{7}, Shape{2, 0, 3}, Shape{1, 2, 3, 4, 5}}) {
    ASSERT_TRUE(writeNpy(folder.file("t"), Tensor(ElementType::F32, shape)));
    auto back = readNpy(folder.file("t"));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->shape(), shape);
  }
}

TEST(NpyTest, FortranOrderAndBigEndian) {
  auto fortran =
      parse(npy("{'descr':'|i1','fortran_order':True,'shape':(2,3)}\n",
                std::string("\1\4\2\5\3\6", 6)));
  ASSERT_TRUE(fortran);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(fortran->at<int8_t>(i), i + 1);
  auto big = parse(npy("{\"descr\": '>i2', 'fortran_order': False, "
                       "'shape': (2L,), }",
                       std::string("\0\1\1\0", 4), 2));
  ASSERT_TRUE(big);
  EXPECT_EQ(big->at<int16_t>(0), 1);
  EXPECT_EQ(big->at<int16_t>(1), 256);
  auto complex = parse(npy("{'descr':'>c8','fortran_order':False,'shape':()}",
                           std::string("\x3f\x80\0\0\x40\0\0\0", 8), 3));
  ASSERT_TRUE(complex);
  EXPECT_EQ(complex->at<std::complex<float>>(0), std::complex<float>(1, 2));
}

TEST(NpyTest, BooleansAreZeroOrOne) {
  auto booleans = parse(npy(
      "{'descr':'|b1','fortran_order':False,'shape':(2,)}", {'\x02', '\0'}));
  ASSERT_TRUE(booleans);
  EXPECT_EQ(booleans->at<uint8_t>(0), 1);
}

TEST(NpyTest, BadFilesAreErrors) {
  const std::string data(64, 'x');
  const std::string headers[] = {
      "",
      "{",
      "{}",
      "{'descr':'<f4'}",
      "{'descr':'<f4','fortran_order':Maybe,'shape':(1,)}",
      "{'descr':'<f4','fortran_order':False,'shape':(-1,)}",
      "{'descr':'<f4','fortran_order':False,'shape':(17,)}",
      "{'descr':'<f4','fortran_order':False,'shape':(1 2)}",
      "{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}",
      "{'descr':'<f4','fortran_order':False,'shape':(4294967296,4294967296)}",
      "{'descr':'<f4','fortran_order':False,'shape':(1,",
      "{'descr':'|O','fortran_order':False,'shape':(1,)}",
      "{'descr':[('a','<f4')],'fortran_order':False,'shape':(1,)}",
      "{'descr':'<f4' 'fortran_order':False,'shape':(1,)}",
  };
  for (const std::string &header : headers)
    EXPECT_FALSE(parse(npy(header, data))) << header;
  EXPECT_FALSE(
      parse(npy("{'descr':'<f4','fortran_order':False,'shape':()}", data, 4)));
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("\x93NUMPY"));
  EXPECT_FALSE(parse("\x93NUMPY\1"));
  EXPECT_FALSE(parse(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13)));
  auto wrong = parse("hello");
  EXPECT_EQ(wrong.error().message(), "'x.npy': not a .npy file");
}

} // namespace
