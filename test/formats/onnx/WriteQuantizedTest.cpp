// Quantised tensors, written as ONNX and read again: the same values but for
// one step of a scale, whatever sizes are known.
//
// Covers: formats/import QdqForm
// Covers: formats/onnx/write BlockScales Quantized

#include "TemporaryFolder.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "formats/stablehlo/StablehloReader.h"
#include "interpreter/Interpreter.h"
#include "runtime/Random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace sinter;

namespace {

struct QuantizedCase {
  std::string name;
  /// `$Q` is the quantised element type, `$E` what it stands for, `$N` a size
  /// that may be unknown (3).
  std::string text;
  /// The nodes in order, with those of QuantizeLinear as Q and of the other D.
  std::string nodes;
  double step;
  std::string element = "!quant.uniform<i8:$E, 0.05:3>";
};

void PrintTo(const QuantizedCase &test, std::ostream *os) { *os << test.name; }

std::string filled(std::string text, llvm::StringRef from,
                   const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// f(quantised x) of [N, 4, 6], dequantised.
std::string around(const std::string &body, const std::string &result) {
  return "func.func @main(%x: tensor<$Nx4x6x$E>) -> tensor<" + result +
         "x$E> {\n"
         "%q = stablehlo.uniform_quantize %x : (tensor<$Nx4x6x$E>) -> "
         "tensor<$Nx4x6x$Q>\n" +
         body + "%y = stablehlo.uniform_dequantize %r : (tensor<" + result +
         "x$Q>) -> tensor<" + result + "x$E>\nreturn %y : tensor<" + result +
         "x$E>\n}\n";
}

const std::string weight =
    "%w = \"stablehlo.constant\"() {value = dense<[[1, -2, 3], [-4, 5, -6], "
    "[7, 8, -9], [10, -11, 12], [13, 14, 15], [-16, 17, 18]]> : "
    "tensor<6x3xi8>} : () -> tensor<6x3x$W>\n";
const std::string kernel =
    "%k = \"stablehlo.constant\"() {value = dense<[[[1, -2], [3, -4], [5, 6], "
    "[7, -8]], [[-9, 10], [11, 12], [-13, 14], [15, 16]]]> : "
    "tensor<2x4x2xi8>} : () -> tensor<2x4x2x$W>\n";

/// A product with integers that have a scale for a block of them, which lie in
/// \p wide as the dimensions \p dims say.
std::string blocks(const std::string &dims, const std::string &wide,
                   const std::string &shape) {
  const bool isLast = wide == "6x1x3";
  return "func.func @main(%x: tensor<$Nx4x6x$E>) -> tensor<$Nx4x3x$E> {\n"
         "%i = stablehlo.constant dense<[[1, -2, 3], [-4, 5, -6], [7, -8, 1], "
         "[2, -3, 4], [-5, 6, -7], [0, 1, -1]]> : tensor<6x3xi4>\n"
         "%s = stablehlo.constant dense<" +
         std::string(isLast ? "[[0.5], [0.25], [1.0], [2.0], [0.125], [4.0]]> "
                              ": tensor<6x1x$E>\n"
                            : "[[0.5, 0.25, 1.0], [2.0, 0.125, 4.0]]> : "
                              "tensor<2x3x$E>\n") +
         "%b = stablehlo.broadcast_in_dim %s, " + dims + " : (tensor<" +
         (isLast ? "6x1" : "2x3") + "x$E>) -> tensor<" + wide +
         "x$E>\n"
         "%r = stablehlo.reshape %b : (tensor<" +
         wide + "x$E>) -> tensor<" + shape +
         "x$E>\n"
         "%c = stablehlo.convert %i : (tensor<6x3xi4>) -> tensor<6x3x$E>\n"
         "%w = stablehlo.multiply %c, %r : tensor<6x3x$E>\n"
         "%y = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : "
         "(tensor<$Nx4x6x$E>, tensor<6x3x$E>) -> tensor<$Nx4x3x$E>\n"
         "return %y : tensor<$Nx4x3x$E>\n}";
}

/// dot_general with a weight of type \p element, to a result of type \p result.
std::string product(const std::string &element, const std::string &result) {
  return filled(
      "func.func @main(%x: tensor<$Nx4x6x$E>) -> tensor<$Nx4x3x$E> {\n" +
          weight +
          "%q = stablehlo.uniform_quantize %x : (tensor<$Nx4x6x$E>) -> "
          "tensor<$Nx4x6x$Q>\n"
          "%p = stablehlo.dot_general %q, %w, contracting_dims = [2] x [0] : "
          "(tensor<$Nx4x6x$Q>, tensor<6x3x$W>) -> tensor<$Nx4x3x" +
          result +
          ">\n"
          "%y = stablehlo.uniform_dequantize %p : (tensor<$Nx4x3x" +
          result + ">) -> tensor<$Nx4x3x$E>\nreturn %y : tensor<$Nx4x3x$E>\n}",
      "$W", element);
}

std::string convolution(const std::string &element, const std::string &result) {
  return filled(
      "func.func @main(%x: tensor<$Nx4x6x$E>) -> tensor<$Nx2x5x$E> {\n" +
          kernel +
          "%q = stablehlo.uniform_quantize %x : (tensor<$Nx4x6x$E>) -> "
          "tensor<$Nx4x6x$Q>\n"
          "%p = stablehlo.convolution(%q, %k) dim_numbers = [b, f, "
          "0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, "
          "feature_group_count = 1 : i64} : (tensor<$Nx4x6x$Q>, "
          "tensor<2x4x2x$W>) -> tensor<$Nx2x5x" +
          result +
          ">\n"
          "%y = stablehlo.uniform_dequantize %p : (tensor<$Nx2x5x" +
          result + ">) -> tensor<$Nx2x5x$E>\nreturn %y : tensor<$Nx2x5x$E>\n}",
      "$W", element);
}

const std::string binary =
    around("%t = stablehlo.$OP %q, %q : tensor<$Nx4x6x$Q>\n"
           "%r = stablehlo.maximum %t, %q : tensor<$Nx4x6x$Q>\n",
           "$Nx4x6");

/// Between elements, or by a bound for each column.
std::string clamped(bool isByColumn) {
  const std::string bound = isByColumn ? "$Nx4x6x$Q" : "$Q";
  const std::string constant = "\"stablehlo.constant\"() {value = dense<";
  const std::string low =
      isByColumn
          ? "%l = stablehlo.maximum %q, %q : tensor<$Nx4x6x$Q>\n"
          : "%l = " + constant + "-7> : tensor<i8>} : () -> tensor<$Q>\n";
  const std::string high =
      isByColumn
          ? "%h = stablehlo.minimum %q, %l : tensor<$Nx4x6x$Q>\n"
          : "%h = " + constant + "12> : tensor<i8>} : () -> tensor<$Q>\n";
  return around(low + high + "%r = stablehlo.clamp %l, %q, %h : (tensor<" +
                    bound + ">, tensor<$Nx4x6x$Q>, tensor<" + bound +
                    ">) -> tensor<$Nx4x6x$Q>\n",
                "$Nx4x6");
}

std::vector<QuantizedCase> quantizedCases() {
  std::vector<QuantizedCase> all = {
      {"reverse",
       around("%r = stablehlo.reverse %q, dims = [1] : tensor<$Nx4x6x$Q>\n",
              "$Nx4x6"),
       "Q Slice D", 0},
      {"add", filled(binary, "$OP", "add"), "Q D Add Q D Max Q D", 0.05},
      {"multiply", filled(binary, "$OP", "multiply"), "Q D Mul Q D Max Q D",
       0.05},
      {"rounded_first",
       filled(around("%r = nn.relu %q : tensor<$Nx4x6x$Q>\n", "$Nx4x6"),
              "%q = stablehlo.uniform_quantize", "%q = nn.quantize"),
       "Q D Relu Q D", 0.05},
      {"another_scale",
       around("%s = nn.relu %q : (tensor<$Nx4x6x$Q>) -> "
              "tensor<$Nx4x6x!quant.uniform<i8:$E, 0.01:-7>>\n"
              "%r = nn.quantize %s : "
              "(tensor<$Nx4x6x!quant.uniform<i8:$E, 0.01:-7>>) -> "
              "tensor<$Nx4x6x$Q>\n",
              "$Nx4x6"),
       "Q D Relu Q D Q D", 0.05},
      {"clamp", clamped(false), "", 0.05},
      {"clamp_by_column", clamped(true), "Q D Max Q D Min Q D Max Min Q D",
       0.05},
      {"clamp_of_words", filled(clamped(false), "tensor<i8>", "tensor<i16>"),
       "Q D D D Clip Q D", 0.001, "!quant.uniform<i16:$E, 0.001:7>"},
      {"transpose",
       around("%r = stablehlo.transpose %q, dims = [1, 0, 2] : "
              "(tensor<$Nx4x6x$Q>) -> tensor<4x$Nx6x$Q>\n",
              "4x$Nx6"),
       "Q Transpose D", 0},
      {"pad",
       around("%z = \"stablehlo.constant\"() {value = dense<3> : tensor<i8>} : "
              "() -> tensor<$Q>\n"
              "%r = stablehlo.pad %q, %z, low = [0, 1, 0], high = [0, 0, 2], "
              "interior = [0, 0, 0] : (tensor<$Nx4x6x$Q>, tensor<$Q>) -> "
              "tensor<$Nx5x8x$Q>\n",
              "$Nx5x8"),
       "Q Pad D", 0},
      {"concatenate",
       around("%r = stablehlo.concatenate %q, %q, dim = 1 : "
              "(tensor<$Nx4x6x$Q>, tensor<$Nx4x6x$Q>) -> tensor<$Nx8x6x$Q>\n",
              "$Nx8x6"),
       "Q Concat D", 0},
      {"reduce_window",
       around("%m = \"stablehlo.constant\"() {value = dense<-128> : "
              "tensor<i8>} : () -> tensor<$Q>\n"
              "%r = \"stablehlo.reduce_window\"(%q, %m) <{window_dimensions = "
              "array<i64: 1, 1, 2>, window_strides = array<i64: 1, 1, 2>}> "
              "({\n^bb0(%a: tensor<$Q>, %b: tensor<$Q>):\n"
              "%c = stablehlo.maximum %a, %b : tensor<$Q>\n"
              "stablehlo.return %c : tensor<$Q>\n"
              "}) : (tensor<$Nx4x6x$Q>, tensor<$Q>) -> tensor<$Nx4x3x$Q>\n",
              "$Nx4x3"),
       "", 0.05},
      {"dot", product("!quant.uniform<i8:$E, 0.02>", "$Q"), "Q D D MatMul Q D",
       0.05},
      {"dot_of_sums",
       product("!quant.uniform<i8:$E, 0.02>", "!quant.uniform<i32:$E, 0.001>"),
       "Q D D MatMul", 0.001},
      {"dot_per_axis",
       product("!quant.uniform<i8:$E:1, {0.02, 0.03, 0.01}>", "$Q"),
       "Q D D MatMul Q D", 0.05},
      {"dot_per_axis_to_per_axis",
       product("!quant.uniform<i8:$E:1, {0.02, 0.03, 0.01}>",
               "!quant.uniform<i8:$E:2, {0.05, 0.1, 0.025}>"),
       "Q D D MatMul Q D", 0.1},
      {"convolution", convolution("!quant.uniform<i8:$E, 0.02>", "$Q"),
       "Q D D Conv Q D", 0.05},
      {"convolution_per_axis",
       convolution("!quant.uniform<i8:$E:0, {0.02, 0.01}>",
                   "!quant.uniform<i8:$E:1, {0.1, 0.05}>"),
       "Q D D Conv Q D", 0.1},
      {"convolution_of_sums",
       convolution("!quant.uniform<i8:$E:0, {0.02, 0.01}>",
                   "!quant.uniform<i32:$E:1, {0.001, 0.0005}>"),
       "Q D D Conv", 0.001},
      {"rounded_sums",
       product("!quant.uniform<i8:$E, 0.02>", "!quant.uniform<i32:$E, 0.01:5>"),
       "Q D D MatMul Cast Div Round Add Clip Cast Sub D", 0.01},
      {"rescale",
       "func.func @main(%x: tensor<$Nx4x$E>) -> tensor<$Nx4x$E> {\n"
       "%q = stablehlo.uniform_quantize %x : (tensor<$Nx4x$E>) -> "
       "tensor<$Nx4x!quant.uniform<i8:$E, 0.01>>\n"
       "%r = stablehlo.uniform_quantize %q : (tensor<$Nx4x!quant.uniform<i8:"
       "$E, 0.01>>) -> tensor<$Nx4x!quant.uniform<u8:$E, 0.03:128>>\n"
       "%y = stablehlo.uniform_dequantize %r : (tensor<$Nx4x!quant.uniform<u8:"
       "$E, 0.03:128>>) -> tensor<$Nx4x$E>\n"
       "return %y : tensor<$Nx4x$E>\n}",
       "Q D Q D", 0.03},
      {"narrow_range",
       around("%r = stablehlo.maximum %q, %q : "
              "tensor<$Nx4x6x$Q>\n",
              "$Nx4x6"),
       "", 0.02, "!quant.uniform<i8<-5:20>:$E, 0.02:2>"},
      {"weights_alone",
       filled(
           "func.func @main(%x: tensor<$Nx4x6x$E>) -> tensor<$Nx4x3x$E> {\n" +
               weight +
               "%y = stablehlo.dot_general %x, %w, contracting_dims = [2] x "
               "[0] : (tensor<$Nx4x6x$E>, tensor<6x3x$W>) -> "
               "tensor<$Nx4x3x$E>\nreturn %y : tensor<$Nx4x3x$E>\n}",
           "$W", "!quant.uniform<i8:$E:1, {0.02, 0.03, 0.01}>"),
       "D MatMul", 1e-4},
      {"words", filled(binary, "$OP", "add"), "Q D Add Q D Max Q D", 0.001,
       "!quant.uniform<i16:$E, 0.001:7>"},
      {"nibbles", filled(binary, "$OP", "add"), "Q D Add Q D Max Q D", 0.6,
       "!quant.uniform<i4:$E, 0.3:1>"},
      {"per_axis_add",
       around("%r = stablehlo.add %q, %q : tensor<$Nx4x6x$Q>\n", "$Nx4x6"),
       "Q D Add Q D", 0.2, "!quant.uniform<i8:$E:1, {0.1, 0.05, 0.02, 0.01}>"},
      {"per_axis_transposed",
       "func.func @main(%x: tensor<$Nx4x6x$E>) -> tensor<4x$Nx6x$E> {\n"
       "%q = stablehlo.uniform_quantize %x : (tensor<$Nx4x6x$E>) -> "
       "tensor<$Nx4x6x$Q>\n"
       "%r = stablehlo.transpose %q, dims = [1, 0, 2] : (tensor<$Nx4x6x$Q>) -> "
       "tensor<4x$Nx6x!quant.uniform<i8:$E:0, {0.1, 0.05, 0.02, 0.01}>>\n"
       "%y = stablehlo.uniform_dequantize %r : "
       "(tensor<4x$Nx6x!quant.uniform<i8:$E:0, {0.1, 0.05, 0.02, 0.01}>>) -> "
       "tensor<4x$Nx6x$E>\nreturn %y : tensor<4x$Nx6x$E>\n}",
       "Q Transpose D", 0, "!quant.uniform<i8:$E:1, {0.1, 0.05, 0.02, 0.01}>"},
      {"blocks", blocks("dims = [0, 2]", "2x3x3", "6x3"), "D MatMul", 0},
      {"blocks_last", blocks("dims = [0, 1]", "6x1x3", "6x3"), "D MatMul", 0},
      // Neighbours do not share these.
      {"no_blocks", blocks("dims = [1, 2]", "3x2x3", "6x3"),
       "Unsqueeze Expand Reshape Cast Mul MatMul", 0},
  };
  return all;
}

std::string nodesOf(const std::string &path) {
  auto file = onnx::OnnxFile::open(path);
  EXPECT_TRUE(file);
  std::vector<std::string> names;
  for (const auto &node : file->model().graph().node())
    names.push_back(node.op_type() == "QuantizeLinear"     ? "Q"
                    : node.op_type() == "DequantizeLinear" ? "D"
                                                           : node.op_type());
  return llvm::join(names, " ");
}

Tensor inputOf(const Model &model, int64_t size) {
  TensorSpec spec = model.inputs().front();
  for (int64_t &each : spec.shape)
    if (each < 0)
      each = size;
  Tensor tensor(spec.type, spec.shape);
  fillRandom(tensor, 3, {-1, 1, 16});
  return tensor;
}

class WriteQuantized
    : public testing::TestWithParam<
          std::tuple<QuantizedCase, std::string, std::string>> {};

TEST_P(WriteQuantized, GivesTheSameValues) {
  const auto &[test, size, expressed] = GetParam();
  std::string text = filled(test.text, "$Q", test.element);
  text = filled(filled(text, "$E", expressed), "$N", size);
  auto model = parseStablehlo(text, "quantised.mlir");
  ASSERT_TRUE(model) << model.error().message() << text;
  sinter::test::TemporaryFolder folder;
  const std::string path = folder.file("written.onnx");
  auto done = writeOnnx(*model, path);
  ASSERT_TRUE(done) << done.error().message();
  // The nodes do not know f64.
  if (expressed == "f64")
    EXPECT_EQ(nodesOf(path).find("Q"), std::string::npos);
  else if (!test.nodes.empty())
    EXPECT_EQ(nodesOf(path), test.nodes);
  else
    EXPECT_NE(nodesOf(path).find("Q"), std::string::npos);
  auto again = readOnnx(path);
  ASSERT_TRUE(again) << again.error().message();
  const double precision = expressed == "bf16"  ? 1e-1
                           : expressed == "f16" ? 1e-2
                                                : 1e-5;
  for (int64_t each : {3, 5}) {
    if (each != 3 && size != "?")
      continue;
    const std::vector<Tensor> inputs = {inputOf(*model, each)};
    auto before = interpret(model->entry(), inputs);
    auto after = interpret(again->entry(), inputs);
    ASSERT_TRUE(before) << before.error().message();
    ASSERT_TRUE(after) << after.error().message();
    ASSERT_EQ((*before)[0].shape(), (*after)[0].shape());
    ASSERT_EQ((*before)[0].type(), (*after)[0].type());
    for (int64_t i = 0; i < (*before)[0].size(); ++i)
      ASSERT_NEAR((*before)[0].toDouble(i), (*after)[0].toDouble(i),
                  test.step +
                      precision * (1 + std::abs((*before)[0].toDouble(i))))
          << i << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, WriteQuantized,
                         testing::Combine(testing::ValuesIn(quantizedCases()),
                                          testing::Values("3", "?"),
                                          testing::Values("f32", "f64", "f16",
                                                          "bf16")),
                         [](const auto &info) {
                           return std::get<0>(info.param).name +
                                  (std::get<1>(info.param) == "?" ? "_open_"
                                                                  : "_fixed_") +
                                  std::get<2>(info.param);
                         });

/// Bytes are clipped as they are, in a file that is read as that again.
TEST(WriteQuantized, ClipsBytes) {
  for (const char *expressed : {"f32", "f16"}) {
    auto model =
        parseStablehlo(filled(filled(filled(clamped(false), "$Q",
                                            "!quant.uniform<i8:$E, 0.05:3>"),
                                     "$E", expressed),
                              "$N", "3"),
                       "quantised.mlir");
    ASSERT_TRUE(model) << model.error().message();
    sinter::test::TemporaryFolder folder;
    const std::string path = folder.file("written.onnx");
    ASSERT_TRUE(writeOnnx(*model, path));
    EXPECT_EQ(nodesOf(path), "Q Clip D");
  }
}

/// What ONNX has no form for is refused, and nothing is written.
TEST(WriteQuantized, Refusals) {
  const std::pair<std::string, std::string> refused[] = {
      {filled(filled(around("%r = \"stablehlo.sort\"(%q) ({\n^bb0(%a: "
                            "tensor<$Q>, %b: tensor<$Q>):\n"
                            "%c = stablehlo.compare LT, %a, %b : (tensor<$Q>, "
                            "tensor<$Q>) -> tensor<i1>\n"
                            "stablehlo.return %c : tensor<i1>\n}) {dimension = "
                            "1 : i64} : (tensor<$Nx4x6x$Q>) -> "
                            "tensor<$Nx4x6x$Q>\n",
                            "$Nx4x6"),
                     "$Q", "!quant.uniform<i8:$E, 0.1>"),
              "$E", "f32"),
       "stablehlo.sort (of quantised values)"},
      // Each step of such a sum is cut to the range.
      {filled(filled(around("%z = \"stablehlo.constant\"() {value = dense<0> : "
                            "tensor<i8>} : () -> tensor<$Q>\n"
                            "%r = stablehlo.reduce(%q init: %z) applies "
                            "stablehlo.add across dimensions = [0] : "
                            "(tensor<$Nx4x6x$Q>, tensor<$Q>) -> tensor<4x6x$Q>"
                            "\n",
                            "4x6"),
                     "$Q", "!quant.uniform<i8:$E, 0.1>"),
              "$E", "f32"),
       "stablehlo.reduce (of quantised values)"}};
  for (const auto &[text, reason] : refused) {
    auto model = parseStablehlo(filled(text, "$N", "3"), "quantised.mlir");
    ASSERT_TRUE(model) << model.error().message() << text;
    sinter::test::TemporaryFolder folder;
    auto done = writeOnnx(*model, folder.file("written.onnx"));
    ASSERT_FALSE(done) << text;
    EXPECT_EQ(done.error().kind, ErrorKind::Unsupported);
    EXPECT_NE(done.error().message().find(reason), std::string::npos)
        << done.error().message();
    EXPECT_FALSE(std::filesystem::exists(folder.file("written.onnx")));
  }
}

} // namespace
