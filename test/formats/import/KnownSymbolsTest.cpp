// Unknown sizes that are the same have the same symbol.

#include "formats/import/KnownValues.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::formats;

namespace {

/// The names of the unknown sizes of the results of the function's last
/// operation, "?" for a symbol without a name. The names of the arguments'
/// unknown sizes are \p names, in order.
std::string symbolsOf(const std::string &body, ArrayRef<StringRef> names) {
  auto context = makeContext();
  auto module =
      parseSourceString<ModuleOp>("func.func @main" + body, context.get());
  EXPECT_TRUE(module) << body;
  if (!module)
    return "";
  Model model(context, std::move(module));
  KnownValues known;
  const StringRef *next = names.begin();
  for (BlockArgument argument : model.entry().getArguments())
    for (auto [i, size] :
         llvm::enumerate(cast<RankedTensorType>(argument.getType()).getShape()))
      if (ShapedType::isDynamic(size))
        known.setSymbol(argument, i, known.symbolNamed(*next++));
  Block &block = model.entry().front();
  for (Operation &op : block.without_terminator())
    known.observe(&op);
  std::string text;
  for (Value result : block.getTerminator()->getPrevNode()->getResults()) {
    text += text.empty() ? "" : " | ";
    for (auto [i, size] :
         llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape())) {
      if (i)
        text += " ";
      StringRef name = ShapedType::isDynamic(size)
                           ? known.nameOf(known.sizeOf(result, i).value)
                           : "=";
      text += name.empty() ? "?" : name.str();
    }
  }
  return text;
}

} // namespace

TEST(KnownSymbols, FollowAxes) {
  EXPECT_EQ(
      symbolsOf(
          R"((%a: tensor<?x?x3xf32>, %b: tensor<?x3x?xf32>) -> tensor<?x?x?xf32> {
    %y = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<?x?x3xf32>, tensor<?x3x?xf32>) -> tensor<?x?x?xf32>
    return %y : tensor<?x?x?xf32> })",
          {"N", "M", "N", "K"}),
      "N M K");
  EXPECT_EQ(symbolsOf(R"((%x: tensor<?x4x?xf32>) -> tensor<?x?xf32> {
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1]
        : (tensor<?x4x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32> })",
                      {"N", "L"}),
            "N L");
  EXPECT_EQ(symbolsOf(R"((%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32> })",
                      {"N", "L"}),
            "L N");
  EXPECT_EQ(
      symbolsOf(R"((%x: tensor<?x?xf32>) -> (tensor<?x2xf32>, tensor<?x2xi64>) {
    %v, %i = nn.top_k %x, k = 2, axis = 1 {largest = true} : (tensor<?x?xf32>) -> (tensor<?x2xf32>, tensor<?x2xi64>)
    return %v, %i : tensor<?x2xf32>, tensor<?x2xi64> })",
                {"N", "L"}),
      "N = | N =");
  // Axes that are mixed are as large as before.
  EXPECT_EQ(symbolsOf(R"((%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = nn.softmax %x, axes = [1] : tensor<?x?xf32>
    return %y : tensor<?x?xf32> })",
                      {"N", "L"}),
            "N L");
  EXPECT_EQ(
      symbolsOf(
          R"((%x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = stablehlo.concatenate %x, %z, dim = 1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32> })",
          {"N", "L", "N", "M"}),
      "N ?");
}

/// A part of a dimension that is sampled at its own resolution is smaller.
TEST(KnownSymbols, ResizedPartsAreOfOtherSizes) {
  auto resized = [](const char *region) {
    return std::string(R"((%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %y = "nn.resize"(%x) <{scales = array<f64: 1.0, 1.0>, mode = "linear", coordinates = "tf_crop_and_resize",
        nearest = "floor", exclude_outside = false, antialias = false, roi = array<f64: )") +
           region + R"(>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32> })";
  };
  EXPECT_EQ(symbolsOf(resized("0.0, 0.0, 1.0, 1.0"), {"N", "L"}), "N L");
  EXPECT_EQ(symbolsOf(resized("0.0, 0.25, 1.0, 0.75"), {"N", "L"}), "N ?");
}
