//===- ParameterFileTest.cpp - tensors as Paddle saves them ---------------===//
//
// Covers: formats/paddle/file DataTypes ParameterFile

#include "formats/paddle/file/ParameterFile.h"
#include "formats/paddle/PaddleMessages.h"

#include <gtest/gtest.h>
#include <limits>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

ParameterBytes bytesIn(const std::string &text) {
  auto kept = std::make_shared<const std::string>(text);
  return {std::as_bytes(std::span(*kept)), kept};
}

Variable parameter(const char *name, ElementType type,
                   std::vector<int64_t> dims) {
  Variable variable;
  variable.name = name;
  variable.type = type;
  variable.dims = std::move(dims);
  variable.isPersistable = true;
  return variable;
}

std::string floats(int64_t count, float first = 0) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += rawOf(first + static_cast<float>(i));
  return text;
}

std::string takeError(const std::string &text) {
  ParameterBytes bytes = bytesIn(text);
  Result<Tensor> tensor = takeTensor(bytes);
  return tensor ? "" : tensor.error().message();
}

const Variable a = parameter("a", ElementType::F32, {2, 3});
const Variable b = parameter("b", ElementType::I64, {});
const std::string both =
    savedTensor(5, {2, 3}, floats(6)) + savedTensor(3, {}, rawOf(int64_t(-9)));

std::string combinedError(const std::string &text) {
  const std::vector<const Variable *> declared = {&a, &b};
  auto tensors = readCombined(bytesIn(text), declared);
  return tensors ? "" : tensors.error().message();
}

} // namespace

TEST(ParameterFile, ReadsWhereTheElementsLie) {
  const std::vector<const Variable *> declared = {&a, &b};
  const ParameterBytes file = bytesIn(both);
  auto tensors = readCombined(file, declared);
  ASSERT_TRUE(tensors) << tensors.error().message();
  ASSERT_EQ(tensors->size(), 2u);
  const Tensor &first = tensors->front();
  EXPECT_EQ(first.shape(), (Shape{2, 3}));
  EXPECT_EQ(first.at<float>(4), 4.0f);
  EXPECT_EQ(tensors->at(1).at<int64_t>(0), -9);
  // Nothing is copied.
  EXPECT_GE(first.data(), file.bytes.data());
  EXPECT_LE(first.data() + first.bytes(),
            file.bytes.data() + file.bytes.size());
}

TEST(ParameterFile, SkipsLevelsOfDetail) {
  const std::string tensor = savedTensor(5, {2}, floats(2, 1));
  std::string text = rawOf(uint32_t(0)) + rawOf(uint64_t(2)) +
                     rawOf(uint64_t(16)) + std::string(16, 'x') +
                     rawOf(uint64_t(0)) + tensor.substr(12);
  ParameterBytes bytes = bytesIn(text);
  Result<Tensor> read = takeTensor(bytes);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->at<float>(1), 2.0f);
  EXPECT_TRUE(bytes.bytes.empty());
}

TEST(ParameterFile, ReadsEveryElementType) {
  const std::pair<int, ElementType> types[] = {
      {0, ElementType::I1},        {1, ElementType::I16},
      {2, ElementType::I32},       {3, ElementType::I64},
      {4, ElementType::F16},       {5, ElementType::F32},
      {6, ElementType::F64},       {20, ElementType::UI8},
      {21, ElementType::I8},       {22, ElementType::BF16},
      {23, ElementType::C64},      {24, ElementType::C128},
      {32, ElementType::F8E4M3FN}, {33, ElementType::F8E5M2},
      {37, ElementType::UI32},     {38, ElementType::UI64}};
  for (const auto &[number, type] : types) {
    const std::string text =
        savedTensor(number, {3}, std::string(3 * byteSize(type), 1));
    ParameterBytes bytes = bytesIn(text);
    Result<Tensor> tensor = takeTensor(bytes);
    ASSERT_TRUE(tensor) << number << tensor.error().message();
    EXPECT_EQ(tensor->type(), type);
    Result<std::string> header = tensorHeader(*tensor);
    ASSERT_TRUE(header);
    EXPECT_EQ(*header + std::string(3 * byteSize(type), 1), text);
  }
  ParameterBytes bytes = bytesIn(savedTensor(0, {3}, std::string("\0\1\7", 3)));
  Result<Tensor> truths = takeTensor(bytes);
  ASSERT_TRUE(truths);
  EXPECT_EQ(truths->at<uint8_t>(2), 1);
  EXPECT_FALSE(tensorHeader(Tensor(ElementType::UI16, {1})));
}

TEST(ParameterFile, KnowsEmptyTensors) {
  ParameterBytes bytes = bytesIn(savedTensor(5, {4, 0}, "") + "rest");
  Result<Tensor> tensor = takeTensor(bytes);
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(tensor->size(), 0);
  EXPECT_EQ(bytes.bytes.size(), 4u);
}

TEST(ParameterFile, NamesTheFirstThatIsAnother) {
  EXPECT_EQ(combinedError(both), "");
  EXPECT_EQ(combinedError(savedTensor(5, {3, 2}, floats(6)) +
                          savedTensor(3, {}, rawOf(int64_t(0)))),
            "parameter 1 of 2, 'a', at byte 0: it is 3x2xf32, and the program "
            "declares 2x3xf32");
  EXPECT_EQ(combinedError(savedTensor(5, {2, 3}, floats(6)) +
                          savedTensor(5, {}, floats(1))),
            "parameter 2 of 2, 'b', at byte 50: it is f32, and the program "
            "declares i64");
  EXPECT_EQ(combinedError(savedTensor(5, {2, 3}, floats(6))),
            "it ends after 1 parameters; the program has 2, next 'b'");
  EXPECT_EQ(combinedError(both + "more"),
            "after the program's 2 parameters there are 4 more bytes");
  EXPECT_EQ(combinedError(both.substr(0, both.size() - 1)),
            "parameter 2 of 2, 'b', at byte 50: the file ends within it");
}

TEST(ParameterFile, SaysWhatIsNoTensor) {
  const std::string good = savedTensor(5, {2, 3}, floats(6));
  for (size_t size = 1; size < good.size(); ++size)
    EXPECT_NE(takeError(good.substr(0, size)), "") << size;
  EXPECT_EQ(takeError("\x80\x02}q"),
            "no tensor as Paddle saves them begins there (its version would "
            "be 1904018048)");
  EXPECT_EQ(takeError(rawOf(uint32_t(0)) + rawOf(~uint64_t(0))),
            "the file ends within it");
  EXPECT_EQ(takeError(rawOf(uint32_t(0)) + rawOf(uint64_t(1)) +
                      rawOf(~uint64_t(0) - 3)),
            "the file ends within it");
  EXPECT_EQ(takeError(std::string(12, '\0') + rawOf(uint32_t(3)) + rawOf(0)),
            "its tensor has version 3, which is not known");
  EXPECT_EQ(takeError(std::string(16, '\0') + rawOf(-1)),
            "its type takes -1 bytes");
  EXPECT_EQ(takeError(std::string(16, '\0') +
                      rawOf(std::numeric_limits<int32_t>::max())),
            "the file ends within it");
  EXPECT_EQ(takeError(std::string(16, '\0') + rawOf(0)),
            "its type is no well-formed message");
  EXPECT_EQ(takeError(savedTensor(25, {1}, "x")),
            "it has elements of type STRING, which no tensor has");
  EXPECT_EQ(takeError(savedTensor(5, {-1, 3}, "")), "its sizes are impossible");
  EXPECT_EQ(takeError(savedTensor(5, {int64_t(1) << 40, int64_t(1) << 40}, "")),
            "its sizes are impossible");
  EXPECT_EQ(takeError(savedTensor(5, {int64_t(1) << 40}, "")),
            "the file ends within it");
}

TEST(ParameterFile, ReadsFilesOfOneParameter) {
  const std::string text = savedTensor(5, {2, 3}, floats(6));
  EXPECT_TRUE(readSeparate(bytesIn(text), a));
  EXPECT_EQ(readSeparate(bytesIn(text + "x"), a).error().message(),
            "after its elements there are 1 more bytes");
  EXPECT_EQ(readSeparate(bytesIn(text), b).error().message(),
            "it is 2x3xf32, and the program declares i64");
  // What the program leaves open is as the file has it.
  Variable open = parameter("a", ElementType::F32, {-1, 3});
  EXPECT_TRUE(readSeparate(bytesIn(text), open));
}
