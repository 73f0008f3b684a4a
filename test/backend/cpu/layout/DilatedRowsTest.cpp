//===- DilatedRowsTest.cpp - dilated convolutions as dense ones -----------===//
//
// Convolutions of 3x3 taps that stand apart, by Winograd's method, against the
// oracle, of known sizes and others.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/layout DilatedRows

#include "backend/cpu/ConstantText.h"
#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/ProgramText.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// A convolution of 64 to 70 channels, padded by its dilation, and a relu.
std::string dilatedConvolution(const std::vector<int64_t> &input,
                               int64_t dilation) {
  auto shaped = [&](int64_t channels) {
    std::vector<int64_t> shape = input;
    shape[1] = channels;
    return typeOf(shape);
  };
  const Shape kernel = {70, 64, 3, 3};
  const std::string to = shaped(70), d = std::to_string(dilation),
                    pad = "[" + d + ", " + d + "]";
  return "(" + argument("%x", input) + ") -> " + to +
         " {\n%k = " + weights(kernel, "f32", 1) +
         "\n%c = stablehlo.convolution(%x, %k) dim_numbers = "
         "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [" +
         pad + ", " + pad + "], rhs_dilate = " + pad +
         "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
         shaped(64) + ", " + typeOf(kernel) + ") -> " + to +
         "\n%t = stablehlo.tanh %c : " + to + "\nreturn %t : " + to + "\n}";
}

TEST(DilatedRows, OfKnownSizes) {
  for (const int64_t dilation : {2, 3, 4})
    for (auto [images, height, width] :
         {std::array<int64_t, 3>{1, 16, 20}, {2, 17, 31}, {1, 33, 18}})
      EXPECT_EQ(
          differs(dilatedConvolution({images, 64, height, width}, dilation),
                  {1e-3, 1e-3}),
          "")
          << dilation << " of " << height << " x " << width;
}

TEST(DilatedRows, OfAnySize) {
  for (const int64_t dilation : {2, 4}) {
    SCOPED_TRACE(dilation);
    DynamicCase test;
    test.inputs = {{batch, 64, length, length}};
    test.body = dilatedConvolution(test.inputs[0], dilation);
    test.lengths = {1, 7, 16, 29};
    test.isAsClosed = false;
    test.relative = test.absolute = 1e-3;
    checkProgram(test, {});
  }
}

} // namespace
