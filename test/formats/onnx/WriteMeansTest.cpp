// Sums that are divided by how many were added: one node where that is what
// they are, and the same values in any case.
//
// Covers: formats/onnx/write Means

#include "TemporaryFolder.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"
#include <gtest/gtest.h>

using namespace sinter;

namespace {

/// The mean over the last two dimensions of what %r is, with texts in the place
/// of what a negative test has otherwise.
struct MeanBody {
  std::string x = "?x4x?x5xf32", kept = "?x4x1x1xf32", sum = "?x4xf32";
  std::string element = "f32", start = "0.0", first = "2", second = "3";
  std::string more = "", result = "%y";
  /// What the number of images is read from, and its rank.
  std::string images = "%r", imagesType = "?x4x?x5xf32", imagesRank = "4";

  std::string text() const {
    const std::string from = "tensor<" + x + ">", to = "tensor<" + kept + ">",
                      flat = "tensor<" + sum + ">",
                      number = "tensor<" + element + ">";
    return "func.func @main(%x: " + from + ") -> " + to + R"( {
  %zero = stablehlo.constant dense<)" +
           start + "> : " + number + R"(
  %r = nn.relu %x : )" +
           from + R"(
  %s = "stablehlo.reduce"(%r, %zero) ({
  ^bb0(%a: )" +
           number + ", %b: " + number + R"():
    %t = stablehlo.add %a, %b : )" +
           number + R"(
    stablehlo.return %t : )" +
           number + R"(
  }) {dimensions = array<i64: 2, 3>} : ()" +
           from + ", " + number + ") -> " + flat + R"(
  %d = nn.shape %r : ()" +
           from + R"() -> tensor<4xi64>
  %i = nn.shape )" +
           images + " : (tensor<" + (images == "%r" ? x : imagesType) +
           ">) -> tensor<" + imagesRank + R"(xi64>
  %n = stablehlo.slice %i [0:1] : (tensor<)" +
           imagesRank + R"(xi64>) -> tensor<1xi64>
  %rest = stablehlo.constant dense<[4, 1, 1]> : tensor<3xi64>
  %sizes = stablehlo.concatenate %n, %rest, dim = 0 : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
  %k = stablehlo.dynamic_reshape %s, %sizes : ()" +
           flat + ", tensor<4xi64>) -> " + to + R"(
  %h = stablehlo.slice %d [)" +
           first + ":" + std::to_string(std::stoi(first) + 1) +
           R"(] : (tensor<4xi64>) -> tensor<1xi64>
  %w = stablehlo.slice %d [)" +
           second + ":" + std::to_string(std::stoi(second) + 1) +
           R"(] : (tensor<4xi64>) -> tensor<1xi64>
  %c = stablehlo.multiply %h, %w : tensor<1xi64>
  %e = stablehlo.reshape %c : (tensor<1xi64>) -> tensor<i64>
  %f = stablehlo.convert %e : (tensor<i64>) -> )" +
           number + R"(
  %g = nn.broadcast_like %f, %k : ()" +
           number + ", " + to + ") -> " + to + R"(
  %y = stablehlo.divide %k, %g : )" +
           to + "\n" + more + "  return " + result + " : " + to + "\n}";
  }
};

struct MeanCase {
  const char *name;
  std::string text;
  /// "Relu GlobalAveragePool": what is written; "" where it is no mean.
  std::string nodes;
  Shape shapes[2];
};

const MeanCase meanCases[] = {
    {"pool",
     MeanBody().text(),
     "Relu GlobalAveragePool",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"pool_shaped_like_its_sum",
     MeanBody{.images = "%s", .imagesType = "?x4xf32", .imagesRank = "2"}
         .text(),
     "Relu GlobalAveragePool",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"pool_f64",
     MeanBody{.x = "?x4x?x5xf64",
              .kept = "?x4x1x1xf64",
              .sum = "?x4xf64",
              .element = "f64"}
         .text(),
     "Relu ReduceMean",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"half_loses_digits",
     MeanBody{.x = "?x4x?x5xf16",
              .kept = "?x4x1x1xf16",
              .sum = "?x4xf16",
              .element = "f16"}
         .text(),
     "",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"other_start",
     MeanBody{.start = "1.0"}.text(),
     "",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"other_dimension",
     MeanBody{.first = "0"}.text(),
     "",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"one_dimension_twice",
     MeanBody{.second = "2"}.text(),
     "",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"sum_is_read",
     MeanBody{.more = "  %z = stablehlo.add %y, %k : tensor<?x4x1x1xf32>\n",
              .result = "%z"}
         .text(),
     "",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"count_is_read",
     MeanBody{.more = "  %z = stablehlo.add %y, %g : tensor<?x4x1x1xf32>\n",
              .result = "%z"}
         .text(),
     "",
     {{2, 4, 3, 5}, {1, 4, 7, 5}}},
    {"known_count",
     R"(func.func @main(%x: tensor<?x6xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %six = stablehlo.constant dense<6.0> : tensor<f32>
  %s = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<?x6xf32>, tensor<f32>) -> tensor<?xf32>
  %g = nn.broadcast_like %six, %s : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  %y = stablehlo.divide %s, %g : tensor<?xf32>
  return %y : tensor<?xf32>
})",
     "ReduceMean",
     {{2, 6}, {5, 6}}},
    {"other_count",
     R"(func.func @main(%x: tensor<2x6xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %five = stablehlo.constant dense<5.0> : tensor<2xf32>
  %s = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
  %y = stablehlo.divide %s, %five : tensor<2xf32>
  return %y : tensor<2xf32>
})",
     "Constant ReduceSum Div",
     {{2, 6}, {2, 6}}},
};

class WriteMeans : public testing::TestWithParam<MeanCase> {};

TEST_P(WriteMeans, OneNodeAndTheSameValues) {
  const MeanCase &given = GetParam();
  auto context = makeContext();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(given.text, context.get());
  ASSERT_TRUE(module);
  const Model model(context, std::move(module));
  sinter::test::TemporaryFolder folder;
  auto written = writeOnnx(model, folder.file("model.onnx"));
  ASSERT_TRUE(written) << written.error().message();
  auto file = onnx::OnnxFile::open(folder.file("model.onnx"));
  ASSERT_TRUE(file) << file.error().message();
  std::string nodes;
  for (const onnx::NodeProto &node : file->model().graph().node())
    nodes += (nodes.empty() ? "" : " ") + node.op_type();
  if (given.nodes.empty())
    EXPECT_EQ(nodes.find("Mean"), std::string::npos) << nodes;
  else
    EXPECT_EQ(nodes, given.nodes);
  if (given.nodes.empty())
    EXPECT_EQ(nodes.find("Pool"), std::string::npos) << nodes;
  auto back = readOnnx(folder.file("model.onnx"));
  ASSERT_TRUE(back) << back.error().message();
  for (const Shape &shape : given.shapes) {
    std::vector<Tensor> inputs;
    inputs.emplace_back(model.inputs()[0].type, shape);
    fillRandom(inputs.back(), 7);
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = interpret(back->entry(), inputs);
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_EQ((*got)[0].shape(), (*expected)[0].shape());
    for (int64_t i = 0; i < (*got)[0].size(); ++i)
      ASSERT_NEAR((*got)[0].toDouble(i), (*expected)[0].toDouble(i), 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, WriteMeans, testing::ValuesIn(meanCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
