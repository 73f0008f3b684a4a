#include "passes/Specialize.h"

#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// Flattens all but the batch, by way of the shape.
const char *const flatten = R"(
func.func @main(%x: tensor<?x3x?xf32> {sinter.name = "x", sinter.dims = ["N", "", "S"]},
                %z: tensor<?xf32> {sinter.name = "z", sinter.dims = ["N"]}) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<1xi64>
  %minus = stablehlo.constant dense<12> : tensor<1xi64>
  %s = nn.shape %x : (tensor<?x3x?xf32>) -> tensor<3xi64>
  %n = nn.take %s, %zero, axis = 0 : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %to = stablehlo.concatenate %n, %minus, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %r = stablehlo.dynamic_reshape %x, %to : (tensor<?x3x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %b = nn.broadcast_like %c, %z : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  %y = stablehlo.add %z, %b : tensor<?xf32>
  return %r, %y : tensor<?x?xf32>, tensor<?xf32>
})";

TEST(Specialize, BindsSymbolsAndResolvesShapes) {
  Model model = parseModel(flatten);
  auto done = specialize(model, {{"x", {2, 3, 4}}});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(model.outputs()[0].shape, Shape({2, 12}));
  EXPECT_EQ(model.outputs()[1].shape, Shape({2}));
  EXPECT_EQ(model.inputs()[1].shape, Shape({2}));
  EXPECT_EQ(countOps(model, "stablehlo.reshape"), 1);
  EXPECT_EQ(countOps(model, "nn.broadcast_like"), 0);
  EXPECT_EQ(countOps(model, "stablehlo.dynamic_reshape"), 0);
  std::vector<Tensor> results = run(model);
  ASSERT_EQ(results.size(), 2u);
}

TEST(Specialize, BySymbol) {
  Model model = parseModel(flatten);
  SpecializeOptions options;
  options.symbols = {{"N", 5}, {"S", 4}};
  auto done = specialize(model, options);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(model.inputs()[0].shape, Shape({5, 3, 4}));
}

TEST(Specialize, Errors) {
  struct {
    std::map<std::string, Shape> shapes;
    ErrorKind kind;
    const char *text;
  } cases[] = {
      {{{"q", {1}}}, ErrorKind::Usage, "no input 'q'"},
      {{{"x", {2, 3}}}, ErrorKind::Usage, "has 3 dimensions"},
      {{{"x", {2, 4, 4}}}, ErrorKind::Usage, "dimension 1 of input 'x' is 3"},
      {{{"x", {2, 3, 4}}, {"z", {3}}}, ErrorKind::Usage, "is N, which is 2"},
      {{{"z", {3}}}, ErrorKind::Unsupported, "(S) is unknown"},
      {{{"x", {2, 3, 5}}}, ErrorKind::InvalidModel, "dynamic_reshape"},
  };
  for (auto &each : cases) {
    Model model = parseModel(flatten);
    auto done = specialize(model, each.shapes);
    ASSERT_FALSE(done) << each.text;
    EXPECT_EQ(done.error().kind, each.kind) << done.error().message();
    EXPECT_NE(done.error().message().find(each.text), std::string::npos)
        << done.error().message();
    EXPECT_EQ(model.inputs()[0].shape, Shape({-1, 3, -1}));
  }
}

/// An operation whose result type does not follow from its operands.
TEST(Specialize, RefusesSizesThatAnOperationRefuses) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x"}) -> tensor<6xf32> {
  %r = stablehlo.reshape %x : (tensor<?x3xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
})");
  auto done = specialize(model, {{"x", {3, 3}}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::InvalidModel);
  EXPECT_NE(done.error().message().find("the shapes do not fit: "),
            std::string::npos)
      << done.error().message();
}

TEST(Specialize, RegionsAndConvolutions) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<?x3x?x8xf32>, %k: tensor<4x3x3x3xf32>, %c: tensor<i1>) -> tensor<?x4x?x6xf32> {
  %y = "stablehlo.if"(%c) ({
    %p = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x6xf32>
    stablehlo.return %p : tensor<?x4x?x6xf32>
  }, {
    %p = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x6xf32>
    %n = stablehlo.negate %p : tensor<?x4x?x6xf32>
    stablehlo.return %n : tensor<?x4x?x6xf32>
  }) : (tensor<i1>) -> tensor<?x4x?x6xf32>
  return %y : tensor<?x4x?x6xf32>
})");
  auto done = specialize(model, {{"arg0", {2, 3, 9, 8}}});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(model.outputs()[0].shape, Shape({2, 4, 7, 6}));
}

TEST(Specialize, CallsWithDifferentShapes) {
  Model model = parseModel(R"(
func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = stablehlo.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = func.call @twice(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = func.call @twice(%z) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
})");
  auto done = specialize(model, {{"arg0", {2}}, {"arg1", {3}}});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(model.outputs()[0].shape, Shape({2}));
  EXPECT_EQ(model.outputs()[1].shape, Shape({3}));
}

/// What raise-quantized looks for once shapes are known.
TEST(Specialize, QuantizedConstantsStay) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x3xf32> {
  %w = stablehlo.constant() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}
      : () -> tensor<2x3x!quant.uniform<i8:f32, 0.5>>
  %d = stablehlo.uniform_dequantize %w : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3xf32>
  %y = stablehlo.dot_general %x, %d, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})");
  auto done = specialize(model, {{"arg0", {2, 2}}});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(countOps(model, "stablehlo.uniform_dequantize"), 1);
}

} // namespace
