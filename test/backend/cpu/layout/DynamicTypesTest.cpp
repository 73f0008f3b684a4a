//===- DynamicTypesTest.cpp - one program for all sizes, of every type ----===//
//
// Half precision, f64, quantised tensors and narrow weights of dynamic sizes.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/DynamicCase.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// x : [N, S, 40], converted to \p element, by weights of it; the result in
/// f32.
DynamicCase productOf(const std::string &element, double tolerance) {
  const std::string x = "tensor<?x?x40x" + element + ">",
                    w = "tensor<40x24x" + element + ">",
                    y = "tensor<?x?x24x" + element + ">";
  return {"product of " + element,
          "(" + argument("%x", {batch, length, 40}) +
              ") -> tensor<?x?x24xf32> {\n %c = stablehlo.convert %x : "
              "(tensor<?x?x40xf32>) -> " +
              x + "\n %i = stablehlo.iota dim = 0 : " + w +
              "\n %w = stablehlo.sine %i : " + w +
              "\n %y = stablehlo.dot_general %c, %w, contracting_dims = [2] x "
              "[0] : (" +
              x + ", " + w + ") -> " + y + "\n %t = stablehlo.tanh %y : " + y +
              "\n %r = stablehlo.convert %t : (" + y +
              ") -> tensor<?x?x24xf32>\n return %r : tensor<?x?x24xf32>\n}",
          {{batch, length, 40}},
          {0, 1, 7, 40},
          true,
          tolerance,
          tolerance};
}

/// Each row by all others of its sample.
DynamicCase activationsOf(const std::string &element, double tolerance) {
  const std::string x = "tensor<?x?x16x" + element + ">",
                    y = "tensor<?x?x?x" + element + ">";
  return {"activations of " + element,
          "(" + argument("%x", {batch, length, 16}) +
              ") -> tensor<?x?x?xf32> {\n %c = stablehlo.convert %x : "
              "(tensor<?x?x16xf32>) -> " +
              x +
              "\n %y = stablehlo.dot_general %c, %c, batching_dims = [0] x "
              "[0], contracting_dims = [2] x [2] : (" +
              x + ", " + x + ") -> " + y + "\n %r = stablehlo.convert %y : (" +
              y + ") -> tensor<?x?x?xf32>\n return %r : tensor<?x?x?xf32>\n}",
          {{batch, length, 16}},
          {0, 2, 7, 40, 70},
          true,
          tolerance,
          tolerance};
}

/// Weights of \p element, converted and multiplied by \p scale, which is of
/// \p scaleType and repeated along \p dims of the weights.
DynamicCase narrowOf(const std::string &element, const std::string &scale,
                     bool isAsClosed) {
  return {"weights of " + element,
          "(" + argument("%x", {batch, length, 64}) +
              R"() -> tensor<?x?x40xf32> {
       %i = stablehlo.iota dim = 0 : tensor<64x40xi32>
       %j = stablehlo.iota dim = 1 : tensor<64x40xi32>
       %m = stablehlo.multiply %i, %j : tensor<64x40xi32>
       %seven = stablehlo.constant dense<7> : tensor<64x40xi32>
       %s = stablehlo.and %m, %seven : tensor<64x40xi32>
       %w = stablehlo.convert %s : (tensor<64x40xi32>) -> tensor<64x40x)" +
              element + R"(>
       %f = stablehlo.convert %w : (tensor<64x40x)" +
              element + ">) -> tensor<64x40xf32>\n" + scale + R"(
       %v = stablehlo.multiply %f, %scale : tensor<64x40xf32>
       %y = stablehlo.dot_general %x, %v, contracting_dims = [2] x [0] :
           (tensor<?x?x64xf32>, tensor<64x40xf32>) -> tensor<?x?x40xf32>
       return %y : tensor<?x?x40xf32>
     })",
          {{batch, length, 64}},
          {0, 1, 5, 33, 70},
          isAsClosed,
          1e-4,
          1e-3};
}

const std::string ofColumns = R"(
       %k = stablehlo.iota dim = 0 : tensor<40xf32>
       %e = stablehlo.exponential %k : tensor<40xf32>
       %l = stablehlo.logistic %e : tensor<40xf32>
       %scale = stablehlo.broadcast_in_dim %l, dims = [1] :
           (tensor<40xf32>) -> tensor<64x40xf32>)";
const std::string ofBlocks = R"(
       %k = stablehlo.iota dim = 1 : tensor<2x40xf32>
       %c = stablehlo.cosine %k : tensor<2x40xf32>
       %b = stablehlo.broadcast_in_dim %c, dims = [0, 2] :
           (tensor<2x40xf32>) -> tensor<2x32x40xf32>
       %scale = stablehlo.reshape %b :
           (tensor<2x32x40xf32>) -> tensor<64x40xf32>)";

/// Images of \p element, by a convolution and a pool.
DynamicCase imagesOf(const std::string &element, double tolerance) {
  const std::string x = "tensor<?x3x9x11x" + element + ">",
                    w = "tensor<20x3x3x3x" + element + ">",
                    y = "tensor<?x20x9x11x" + element + ">",
                    p = "tensor<?x20x4x5x" + element + ">";
  return {"images of " + element,
          "(" + argument("%x", {batch, 3, 9, 11}) +
              ") -> tensor<?x20x4x5xf32> {\n %c = stablehlo.convert %x : "
              "(tensor<?x3x9x11xf32>) -> " +
              x + "\n %i = stablehlo.iota dim = 0 : " + w +
              "\n %w = stablehlo.sine %i : " + w + R"(
       %y = stablehlo.convolution(%c, %w)
           dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
           window = {pad = [[1, 1], [1, 1]]}
           {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : ()" +
              x + ", " + w + ") -> " + y +
              "\n %p = nn.max_pool %y, window = "
              "[2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, "
              "padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, "
              "0>} : (" +
              y + ") -> " + p + "\n %r = stablehlo.convert %p : (" + p +
              ") -> tensor<?x20x4x5xf32>\n return %r : "
              "tensor<?x20x4x5xf32>\n}",
          {{batch, 3, 9, 11}},
          {1},
          true,
          tolerance,
          tolerance};
}

const DynamicCase typeCases[] = {
    productOf("f16", 2e-3),
    productOf("bf16", 1e-2),
    productOf("f64", 1e-5),
    activationsOf("f16", 4e-3),
    activationsOf("bf16", 3e-2),
    activationsOf("f64", 1e-5),
    narrowOf("i8", ofColumns, true),
    narrowOf("i4", ofColumns, true),
    // Of known rows, sums of blocks may be multiplied by the scales.
    narrowOf("i8", ofBlocks, false),
    narrowOf("i4", ofBlocks, false),
    narrowOf("f16", ofColumns, true),
    imagesOf("f16", 4e-3),
    imagesOf("bf16", 3e-2),
    {"quantised product",
     "(" + argument("%x", {batch, length, 40}) + R"() -> tensor<?x?x24xf32> {
       %q = stablehlo.uniform_quantize %x : (tensor<?x?x40xf32>) ->
           tensor<?x?x40x!quant.uniform<i8:f32, 0.05:3>>
       %i = stablehlo.iota dim = 0 : tensor<40x24xf32>
       %s = stablehlo.sine %i : tensor<40x24xf32>
       %w = stablehlo.uniform_quantize %s : (tensor<40x24xf32>) ->
           tensor<40x24x!quant.uniform<i8:f32, 0.01>>
       %y = stablehlo.dot_general %q, %w, contracting_dims = [2] x [0] :
           (tensor<?x?x40x!quant.uniform<i8:f32, 0.05:3>>,
            tensor<40x24x!quant.uniform<i8:f32, 0.01>>) ->
           tensor<?x?x24x!quant.uniform<i8:f32, 0.1:-7>>
       %r = stablehlo.uniform_dequantize %y :
           (tensor<?x?x24x!quant.uniform<i8:f32, 0.1:-7>>) ->
           tensor<?x?x24xf32>
       return %r : tensor<?x?x24xf32>
     })",
     {{batch, length, 40}},
     {0, 1, 7, 40},
     true,
     0,
     1e-5},
    {"quantised images",
     "(" + argument("%x", {batch, 16, 6, 7}) + R"() -> tensor<?x32x6x7xf32> {
       %q = stablehlo.uniform_quantize %x : (tensor<?x16x6x7xf32>) ->
           tensor<?x16x6x7x!quant.uniform<i8:f32, 0.05:3>>
       %i = stablehlo.iota dim = 1 : tensor<32x16x3x3xf32>
       %s = stablehlo.sine %i : tensor<32x16x3x3xf32>
       %w = stablehlo.uniform_quantize %s : (tensor<32x16x3x3xf32>) ->
           tensor<32x16x3x3x!quant.uniform<i8:f32, 0.01>>
       %y = stablehlo.convolution(%q, %w)
           dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
           window = {pad = [[1, 1], [1, 1]]}
           {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
           (tensor<?x16x6x7x!quant.uniform<i8:f32, 0.05:3>>,
            tensor<32x16x3x3x!quant.uniform<i8:f32, 0.01>>) ->
           tensor<?x32x6x7x!quant.uniform<i8:f32, 0.3:-8>>
       %r = stablehlo.uniform_dequantize %y :
           (tensor<?x32x6x7x!quant.uniform<i8:f32, 0.3:-8>>) ->
           tensor<?x32x6x7xf32>
       return %r : tensor<?x32x6x7xf32>
     })",
     {{batch, 16, 6, 7}},
     {1},
     true,
     0,
     1e-5},
    {"quantised activations",
     "(" + argument("%x", {batch, length, 16}) + R"() -> tensor<?x?x16xf32> {
       %q = stablehlo.uniform_quantize %x : (tensor<?x?x16xf32>) ->
           tensor<?x?x16x!quant.uniform<i8:f32, 0.05>>
       %s = stablehlo.dot_general %q, %q, batching_dims = [0] x [0],
           contracting_dims = [2] x [2] :
           (tensor<?x?x16x!quant.uniform<i8:f32, 0.05>>,
            tensor<?x?x16x!quant.uniform<i8:f32, 0.05>>) ->
           tensor<?x?x?x!quant.uniform<i8:f32, 0.1>>
       %y = stablehlo.dot_general %s, %q, batching_dims = [0] x [0],
           contracting_dims = [2] x [1] :
           (tensor<?x?x?x!quant.uniform<i8:f32, 0.1>>,
            tensor<?x?x16x!quant.uniform<i8:f32, 0.05>>) ->
           tensor<?x?x16x!quant.uniform<i8:f32, 0.5>>
       %r = stablehlo.uniform_dequantize %y :
           (tensor<?x?x16x!quant.uniform<i8:f32, 0.5>>) -> tensor<?x?x16xf32>
       return %r : tensor<?x?x16xf32>
     })",
     {{batch, length, 16}},
     {0, 2, 9, 40},
     /*isAsClosed=*/false,
     0,
     // The exact number may lie in the middle of two.
     0.51},
    // Depths beyond those that a plan is for, and of no whole words.
    {"products of computed bytes",
     "(" + argument("%x", {batch, length, 24}) + R"() -> tensor<?x?x24xf32> {
       %low = stablehlo.constant dense<0.0> : tensor<f32>
       %high = stablehlo.constant dense<255.0> : tensor<f32>
       %qfs = stablehlo.constant dense<40.0> : tensor<f32>
       %qf = nn.broadcast_like %qfs, %x :
           (tensor<f32>, tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
       %qos = stablehlo.constant dense<130.0> : tensor<f32>
       %qo = nn.broadcast_like %qos, %x :
           (tensor<f32>, tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
       %qm = stablehlo.multiply %x, %qf : tensor<?x?x24xf32>
       %qr = stablehlo.round_nearest_even %qm : tensor<?x?x24xf32>
       %qa = stablehlo.add %qr, %qo : tensor<?x?x24xf32>
       %qc = stablehlo.clamp %low, %qa, %high :
           (tensor<f32>, tensor<?x?x24xf32>, tensor<f32>) -> tensor<?x?x24xf32>
       %qu = stablehlo.convert %qc : (tensor<?x?x24xf32>) -> tensor<?x?x24xui8>
       %qi = stablehlo.convert %qu : (tensor<?x?x24xui8>) ->
           tensor<?x?x24xi32>
       %qzs = stablehlo.constant dense<130> : tensor<i32>
       %qz = nn.broadcast_like %qzs, %qi :
           (tensor<i32>, tensor<?x?x24xi32>) -> tensor<?x?x24xi32>
       %qd = stablehlo.subtract %qi, %qz : tensor<?x?x24xi32>
       %s = stablehlo.dot_general %qd, %qd, batching_dims = [0] x [0],
           contracting_dims = [2] x [2] :
           (tensor<?x?x24xi32>, tensor<?x?x24xi32>) -> tensor<?x?x?xi32>
       %sx = stablehlo.convert %s : (tensor<?x?x?xi32>) -> tensor<?x?x?xf32>
       %wfs = stablehlo.constant dense<0.01> : tensor<f32>
       %wf = nn.broadcast_like %wfs, %sx :
           (tensor<f32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
       %wos = stablehlo.constant dense<100.0> : tensor<f32>
       %wo = nn.broadcast_like %wos, %sx :
           (tensor<f32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
       %wm = stablehlo.multiply %sx, %wf : tensor<?x?x?xf32>
       %wr = stablehlo.round_nearest_even %wm : tensor<?x?x?xf32>
       %wa = stablehlo.add %wr, %wo : tensor<?x?x?xf32>
       %wc = stablehlo.clamp %low, %wa, %high :
           (tensor<f32>, tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?x?xf32>
       %wu = stablehlo.convert %wc : (tensor<?x?x?xf32>) -> tensor<?x?x?xui8>
       %wi = stablehlo.convert %wu : (tensor<?x?x?xui8>) ->
           tensor<?x?x?xi32>
       %wzs = stablehlo.constant dense<100> : tensor<i32>
       %wz = nn.broadcast_like %wzs, %wi :
           (tensor<i32>, tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
       %wd = stablehlo.subtract %wi, %wz : tensor<?x?x?xi32>
       %y = stablehlo.dot_general %wd, %qd, batching_dims = [0] x [0],
           contracting_dims = [2] x [1] :
           (tensor<?x?x?xi32>, tensor<?x?x24xi32>) -> tensor<?x?x24xi32>
       %f = stablehlo.convert %y : (tensor<?x?x24xi32>) -> tensor<?x?x24xf32>
       return %f : tensor<?x?x24xf32>
     })",
     {{batch, length, 24}},
     {1, 3, 17, 290},
     true,
     0,
     0},
    {"attention of f16",
     "(" + argument("%x", {batch, 2, length, 16}) +
         R"() -> tensor<?x2x?x16xf32> {
       %q = stablehlo.convert %x : (tensor<?x2x?x16xf32>) ->
           tensor<?x2x?x16xf16>
       %o = nn.attention %q, %q, %q scale = 0.5 :
           (tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>)
           -> tensor<?x2x?x16xf16>
       %r = stablehlo.convert %o : (tensor<?x2x?x16xf16>) ->
           tensor<?x2x?x16xf32>
       return %r : tensor<?x2x?x16xf32>
     })",
     {{batch, 2, length, 16}},
     {2, 17, 64, 90},
     true,
     2e-3,
     2e-3},
};

class DynamicTypes : public ::testing::TestWithParam<DynamicCase> {};

} // namespace

TEST_P(DynamicTypes, AreRunByOneProgram) {
  SCOPED_TRACE(GetParam().name);
  checkProgram(GetParam(), {});
}

// Without instructions for bytes, or for half precision.
TEST_P(DynamicTypes, OfNarrowerVectors) {
  SCOPED_TRACE(GetParam().name);
  for (const cpu::Target &target : lesserTargets()) {
    cpu::CpuOptions options;
    options.target = target;
    checkProgram(GetParam(), options);
  }
}

INSTANTIATE_TEST_SUITE_P(Open, DynamicTypes, ::testing::ValuesIn(typeCases));
