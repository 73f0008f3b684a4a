// Which axes there are, where sizes split and merge and where they are unknown.

#include "graph/Model.h"
#include "graph/interfaces/Axes.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace sinter;

namespace {

/// `[a b, c] -> [a, b c]`: a letter an axis. Behind one that is not kept stands
/// its kind: + reduced, * repeated, ! mixed, ~ resized.
std::string textOf(const Axes &axes) {
  std::map<unsigned, char> letters;
  auto ofTensor = [&](const TensorAxes &tensor) {
    std::string text;
    for (const AxisList &list : tensor) {
      text += text.empty() ? "" : ",";
      for (unsigned axis : list) {
        text += text.empty() ? "" : " ";
        auto letter = static_cast<char>('a' + letters.size());
        text += letters.try_emplace(axis, letter).first->second;
        constexpr const char *marks[] = {"", "+", "*", "!", "~"};
        text += marks[static_cast<int>(axes.axes[axis].kind)];
      }
    }
    return "[" + text + "]";
  };
  std::string text;
  for (const TensorAxes &tensor : axes.operands)
    text += (text.empty() ? "" : " ") + ofTensor(tensor);
  text += " ->";
  for (const TensorAxes &tensor : axes.results)
    text += " " + ofTensor(tensor);
  return text;
}

/// Of the last operation of a function.
std::string axesIn(const std::string &body) {
  auto context = makeContext();
  Model model(context, parseSourceString<ModuleOp>("func.func @main" + body,
                                                   context.get()));
  EXPECT_TRUE(model.module()) << body;
  if (!model.module())
    return "";
  return textOf(*axesOf(model.entry().front().getTerminator()->getPrevNode()));
}

std::string ofReshape(const std::string &from, const std::string &to) {
  return axesIn("(%x: tensor<" + from + "xf32>) -> tensor<" + to +
                "xf32> { %y = stablehlo.reshape %x : (tensor<" + from +
                "xf32>) -> tensor<" + to + "xf32>\n return %y : tensor<" + to +
                "xf32> }");
}

} // namespace

TEST(AxesText, Reshapes) {
  EXPECT_EQ(ofReshape("2x3x4", "6x4"), "[a, b, c] -> [a b, c]");
  EXPECT_EQ(ofReshape("6x4", "2x12"), "[a b, c] -> [a, b c]");
  EXPECT_EQ(ofReshape("4x3", "2x6"), "[a b, c] -> [a, b c]");
  EXPECT_EQ(ofReshape("6x4", "4x6"), "[a b!, c! d] -> [a e!, f! d]");
  EXPECT_EQ(ofReshape("2x3", "3x2"), "[a!, b!] -> [c!, d!]");
  EXPECT_EQ(ofReshape("5x2x3", "5x3x2"), "[a, b!, c!] -> [a, d!, e!]");
}

TEST(AxesText, ReshapesWithUnits) {
  EXPECT_EQ(ofReshape("2x1x3", "2x1x3x1"), "[a, b, c] -> [a, b, c, d!]");
  EXPECT_EQ(ofReshape("2x1x3", "2x3"), "[a, b!, c] -> [a, c]");
  EXPECT_EQ(ofReshape("1x1", "1"), "[a, b!] -> [a]");
}

TEST(AxesText, ReshapesOfNothing) {
  EXPECT_EQ(ofReshape("0x3", "5x0"), "[a!, b!] -> [c!, d!]");
}

TEST(AxesText, ReshapesOfUnknownSizes) {
  EXPECT_EQ(ofReshape("?x4", "3x8"), "[a b, c] -> [a, b c]");
  auto open = [](const std::string &from, const std::string &to) {
    const std::string rank = std::to_string(llvm::count(to, 'x') + 1);
    return axesIn("(%x: tensor<" + from + "xf32>, %s: tensor<" + rank +
                  "xi64>) -> tensor<" + to +
                  "xf32> { %y = stablehlo.dynamic_reshape %x, %s : (tensor<" +
                  from + "xf32>, tensor<" + rank + "xi64>) -> tensor<" + to +
                  "xf32>\n return %y : tensor<" + to + "xf32> }");
  };
  EXPECT_EQ(open("?x4x8", "?x32"), "[a, b, c] [d!] -> [a, b c]");
  EXPECT_EQ(open("?x32", "?x4x8"), "[a, b c] [d!] -> [a, b, c]");
  // The only unknown size may take up others.
  EXPECT_EQ(open("?x4", "?"), "[a, b] [c!] -> [a b]");
  EXPECT_EQ(open("3x4", "?"), "[a, b] [c!] -> [a b]");
  EXPECT_EQ(open("?x8", "?x4"), "[a, b c] [d!] -> [a b, c]");
  // Of two nothing is known.
  EXPECT_EQ(open("?x?x4", "?x?x4"), "[a!, b!, c] [d!] -> [e!, f!, c]");
}

TEST(AxesText, DynamicReshapes) {
  // A size that is the operand's is the same axis.
  EXPECT_EQ(axesIn(R"((%x: tensor<?x8x?xf32>) -> tensor<?x2x4x?xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8x?xf32>) -> tensor<i32>
    %l = stablehlo.get_dimension_size %x, dim = 2 : (tensor<?x8x?xf32>) -> tensor<i32>
    %a = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %b = stablehlo.reshape %l : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
    %s = stablehlo.concatenate %a, %c, %b, dim = 0 : (tensor<1xi32>, tensor<2xi32>, tensor<1xi32>) -> tensor<4xi32>
    %y = stablehlo.dynamic_reshape %x, %s : (tensor<?x8x?xf32>, tensor<4xi32>) -> tensor<?x2x4x?xf32>
    return %y : tensor<?x2x4x?xf32> })"),
            "[a, b c, d] [e!] -> [a, b, c, d]");
}

TEST(AxesText, BroadcastsOfUnknownSizes) {
  auto broadcast = [](const std::string &from, const std::string &like) {
    return axesIn("(%x: tensor<" + from + "xf32>, %l: tensor<" + like +
                  "xf32>) -> tensor<?x?xf32> { %y = nn.broadcast_like %x, %l "
                  ": (tensor<" +
                  from + "xf32>, tensor<" + like +
                  "xf32>) -> tensor<?x?xf32>\n return %y : tensor<?x?xf32> }");
  };
  EXPECT_EQ(broadcast("1x1", "?x?"), "[a!, b!] [c*, d*] -> [c*, d*]");
  EXPECT_EQ(broadcast("?", "?x1"), "[a] [b*, c!] -> [b*, a]");
  // Either may be 1.
  EXPECT_EQ(broadcast("?x1", "?x?"), "[a!, b!] [c!, d*] -> [e!, d*]");
}

TEST(AxesText, GroupsOfFeatures) {
  EXPECT_EQ(
      axesIn(
          R"((%x: tensor<?x4x5xf32>, %k: tensor<6x2x3xf32>) -> tensor<?x6x3xf32> {
    %y = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
        : (tensor<?x4x5xf32>, tensor<6x2x3xf32>) -> tensor<?x6x3xf32>
    return %y : tensor<?x6x3xf32> })"),
      "[a, b c+, d~] [b e, c+, f!] -> [a, b e, d~]");
}

TEST(AxesText, PartsOfProcesses) {
  auto collective = [](const std::string &name, const std::string &attributes,
                       const std::string &from, const std::string &to) {
    return axesIn("(%x: tensor<" + from + "xf32>) -> tensor<" + to +
                  "xf32> {\n %y = \"stablehlo." + name + "\"(%x) <{" +
                  attributes +
                  ", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : "
                  "(tensor<" +
                  from + "xf32>) -> tensor<" + to +
                  "xf32>\n return %y : tensor<" + to + "xf32> }");
  };
  EXPECT_EQ(collective("all_gather", "all_gather_dim = 1 : i64", "3x4", "3x8"),
            "[a, b] -> [a, c! b]");
  EXPECT_EQ(collective("all_gather", "all_gather_dim = 1 : i64", "?x4", "?x?"),
            "[a, b] -> [a, c! b]");
  EXPECT_EQ(collective("all_gather", "all_gather_dim = 1 : i64", "3x4", "3x4"),
            "[a, b] -> [a, b]");
  const std::string split =
      "split_count = 2 : i64, split_dimension = 0 : i64, ";
  EXPECT_EQ(collective("all_to_all", split + "concat_dimension = 1 : i64",
                       "6x4", "3x8"),
            "[a! b, c] -> [b, d! c]");
  EXPECT_EQ(collective("all_to_all", split + "concat_dimension = 0 : i64",
                       "6x4", "6x4"),
            "[a! b, c] -> [a! b, c]");
}
