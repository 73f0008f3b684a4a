//===- HalfPrecisionTest.cpp - networks in f16 and bf16 -------------------===//
//
// Convolutions, pools, products and sums of floats narrower than f32, with what
// surrounds them, against the oracle.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/codegen Codegen HalfOperations Image KernelFunction
// Covers: backend/cpu/codegen LowerToLLVM Optimizer
// Covers: backend/cpu/target Target
// Covers: backend/cpu/emit ElementalReduce RowKernel RowParts WideSum
// Covers: backend/cpu/precision ExactWidening
// Covers: backend/cpu/precision CarryBiases WidenOnce
// Covers: backend/cpu/weights HalfWeights
// Covers: graph/stablehlo Sums

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ConstantText.h"
#include "backend/cpu/WithoutMatrixUnits.h"
#include "backend/cpu/program/Compiler.h"
#include "graph/Constants.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace sinter;
using namespace sinter::test;

namespace {

Tolerance halfToleranceOf(const std::string &element) {
  return element == "bf16" ? Tolerance{3e-2, 3e-2} : Tolerance{4e-3, 4e-3};
}

/// Convolution, bias, relu, pool, convolution.
std::string network(const std::string &element, const std::string &pool) {
  auto type = [&](const std::string &shape) {
    return "tensor<" + shape + "x" + element + ">";
  };
  auto convolution = [&](const std::string &result, const std::string &operand,
                         const std::string &kernel, const std::string &from,
                         const std::string &by, const std::string &to) {
    return result + " = stablehlo.convolution(" + operand + ", " + kernel +
           ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
           "{pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
           "feature_group_count = 1 : i64} : (" +
           type(from) + ", " + type(by) + ") -> " + type(to) + "\n";
  };
  std::string wide = type("2x20x13x11"), half = type("2x20x7x6");
  return "(%x: " + type("2x3x13x11") + ") -> (" + type("2x9x7x6") + ", " +
         half + ") {\n%k = " + weights({20, 3, 3, 3}, element, 1) +
         "%l = " + weights({9, 20, 3, 3}, element, 2) +
         "%b = " + weights({20}, element, 3) +
         convolution("%c", "%x", "%k", "2x3x13x11", "20x3x3x3", "2x20x13x11") +
         "%w = stablehlo.broadcast_in_dim %b, dims = [1] : (" + type("20") +
         ") -> " + wide + "\n%s = stablehlo.add %c, %w : " + wide +
         "\n%r = nn.relu %s : " + wide + "\n%p = " + pool + " : (" + wide +
         ") -> " + half + "\n" +
         convolution("%y", "%p", "%l", "2x20x7x6", "9x20x3x3", "2x9x7x6") +
         "return %y, %p : " + type("2x9x7x6") + ", " + half + "\n}";
}

TEST(HalfPrecision, ConvolutionsAndPools) {
  const std::string window =
      "window = [3, 3] strides = [2, 2] {dilations = array<i64: 1, 1>, "
      "padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>";
  const std::string pools[] = {
      "nn.max_pool %r, " + window + "}",
      "nn.average_pool %r, " + window + ", count_padding = false}",
      "nn.average_pool %r, " + window + ", count_padding = true}",
      "nn.lp_pool %r, " + window + ", p = 2 : i64}"};
  for (const char *element : {"f16", "bf16", "f32"})
    for (const std::string &pool : pools)
      EXPECT_EQ(differs(network(element, pool), halfToleranceOf(element)), "")
          << element << " " << pool;
  for (const cpu::Target &target : lesserTargets())
    for (const char *element : {"f16", "bf16"})
      for (const std::string &pool : pools)
        EXPECT_EQ(differs(network(element, pool), halfToleranceOf(element),
                          nullptr, target),
                  "")
            << element << " " << pool << " on " << target.cpu;
}

/// The same as StableHLO spells it: channels last, windows for pools.
TEST(HalfPrecision, ChannelsLastWithWindows) {
  for (const char *element : {"f16", "bf16"}) {
    auto type = [&](const std::string &shape) {
      return "tensor<" + shape + element + ">";
    };
    auto windows = [&](const std::string &result, const std::string &operand,
                       const std::string &operation, const std::string &init,
                       const std::string &from, const std::string &to) {
      return result + "_i = stablehlo.constant dense<" + init +
             "> : " + type("") + "\n" + result +
             " = \"stablehlo.reduce_window\"(" + operand + ", " + result +
             "_i) ({\n^bb0(%a: " + type("") + ", %b: " + type("") +
             "):\n%o = stablehlo." + operation + " %a, %b : " + type("") +
             "\nstablehlo.return %o : " + type("") +
             "\n}) {window_dimensions = array<i64: 1, 3, 3, 1>, "
             "window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, "
             "0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>} : (" +
             type(from) + ", " + type("") + ") -> " + type(to) + "\n";
    };
    const std::string least =
        element == std::string("f16") ? "0xFC00" : "0xFF80";
    EXPECT_EQ(
        differsRaised(
            "(%x: " + type("2x16x16x3x") + ") -> (" + type("2x4x4x24x") + ", " +
                type("2x24x") +
                ") {\n%k = " + weights({3, 3, 3, 24}, element, 1) +
                "%c = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, "
                "f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, "
                "1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
                "i64} : (" +
                type("2x16x16x3x") + ", " + type("3x3x3x24x") + ") -> " +
                type("2x16x16x24x") + "\n" +
                windows("%m", "%c", "maximum", least, "2x16x16x24x",
                        "2x8x8x24x") +
                windows("%s", "%m", "add", "0.0", "2x8x8x24x", "2x4x4x24x") +
                "%z = stablehlo.constant dense<0.0> : " + type("") +
                "\n%t = stablehlo.reduce(%m init: %z) applies stablehlo.add "
                "across dimensions = [1, 2] : (" +
                type("2x8x8x24x") + ", " + type("") + ") -> " + type("2x24x") +
                "\nreturn %s, %t : " + type("2x4x4x24x") + ", " +
                type("2x24x") + "\n}",
            halfToleranceOf(element)),
        "")
        << element;
  }
}

/// What follows a convolution of integers keeps their type.
TEST(HalfPrecision, PoolsOfOtherTypesBehindConvolutions) {
  for (const char *element : {"i8", "ui8", "i16", "i32", "f64"}) {
    std::string narrow = std::string("tensor<1x20x8x8x") + element + ">";
    std::string half = std::string("tensor<1x20x4x4x") + element + ">";
    EXPECT_EQ(
        differs(
            "(%x: tensor<1x3x8x8xf32>) -> " + half +
                " {\n%k = " + weights({20, 3, 3, 3}, "f32", 1) +
                "%c = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, "
                "1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, "
                "1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
                "i64} : (tensor<1x3x8x8xf32>, tensor<20x3x3x3xf32>) -> "
                "tensor<1x20x8x8xf32>\n%a = stablehlo.abs %c : "
                "tensor<1x20x8x8xf32>\n%i = stablehlo.convert %a : "
                "(tensor<1x20x8x8xf32>) -> " +
                narrow +
                "\n%p = nn.max_pool %i, window = [2, 2] strides = [2, 2] "
                "{dilations = array<i64: 1, 1>, padding_low = array<i64: 0, "
                "0>, padding_high = array<i64: 0, 0>} : (" +
                narrow + ") -> " + half + "\nreturn %p : " + half + "\n}",
            {1e-4, element[0] == 'f' ? 1e-4 : 1.0}),
        "")
        << element;
  }
}

/// \p operations on %x, of numbers from 80 to 120, whose sums are beyond f16.
std::string onHundreds(const std::string &shape, const std::string &element,
                       const std::string &operations,
                       const std::string &result) {
  auto type = [&](const std::string &of) {
    return "tensor<" + (of.empty() ? "" : of + "x") + element + ">";
  };
  auto spread = [&](const std::string &name, const std::string &number) {
    return name + "_s = stablehlo.constant dense<" + number +
           "> : " + type("") + "\n" + name + " = stablehlo.broadcast_in_dim " +
           name + "_s, dims = [] : (" + type("") + ") -> " + type(shape) + "\n";
  };
  return "(%given: " + type(shape) + ") -> " + type(result) + " {\n" +
         spread("%scale", "20.0") + spread("%offset", "100.0") +
         "%scaled = stablehlo.multiply %given, %scale : " + type(shape) +
         "\n%x = stablehlo.add %scaled, %offset : " + type(shape) +
         "\n%zero = stablehlo.constant dense<0.0> : " + type("") +
         "\n%one = stablehlo.constant dense<1.0> : " + type("") + "\n" +
         operations + "\nreturn %r : " + type(result) + "\n}";
}

/// What the CPU backend computes by \p body of inputs that are all 1.
std::vector<double> resultOf(const std::string &body,
                             const std::vector<std::string> &allowed = {}) {
  cpu::CpuOptions options;
  options.passes.allowed = allowed;
  Result<Program> program = compileRaised(body, options);
  EXPECT_TRUE(program) << program.error().message();
  if (!program)
    return {};
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(executor) << executor.error().message();
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : parseModel(body).inputs())
    inputs.push_back(tensorOfDoubles(
        spec.type, spec.shape,
        std::vector<double>(Tensor(spec.type, spec.shape).size(), 1)));
  auto got = (*executor)->run(inputs);
  EXPECT_TRUE(got) << got.error().message();
  std::vector<double> numbers;
  for (int64_t i = 0; got && i < got->front().size(); ++i)
    numbers.push_back(got->front().toDouble(i));
  return numbers;
}

// A product of 2 + d, in the middle of 2 and the next number, 2 + 2 d, and a
// bias of d: rounded before the bias, 2 is left, and 2 again.
TEST(HalfPrecision, AProductAndItsBiasAreRoundedOnceIfAllowed) {
  for (auto [element, small] : {std::pair("f16", 0x1p-10), {"bf16", 0x1p-7}}) {
    auto type = [&](const std::string &shape) {
      return "tensor<" + shape + "x" + element + ">";
    };
    auto constant = [&](double number, const std::string &shape) {
      return "stablehlo.constant dense<" + std::to_string(number) +
             "> : " + type(shape) + "\n";
    };
    // 2 by the first weights, small by the others: the sum lies in the middle.
    const std::string body =
        "(%x: " + type("4x16") + ") -> " + type("4x32") +
        " {\n%a = " + constant(2, "1x32") + "%b = " + constant(small, "1x32") +
        "%c = " + constant(0, "14x32") +
        "%w = stablehlo.concatenate %a, %b, %c, dim = 0 : (" + type("1x32") +
        ", " + type("1x32") + ", " + type("14x32") + ") -> " + type("16x32") +
        "\n%o = " + constant(small, "32") +
        "%p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" +
        type("4x16") + ", " + type("16x32") + ") -> " + type("4x32") +
        "\n%r = stablehlo.broadcast_in_dim %o, dims = [1] : (" + type("32") +
        ") -> " + type("4x32") +
        "\n%s = stablehlo.add %p, %r : " + type("4x32") +
        "\nreturn %s : " + type("4x32") + "\n}";
    for (double number : resultOf(body, {"contract"}))
      EXPECT_EQ(number, 2 + 2 * small) << element;
    for (double number : resultOf(body))
      EXPECT_EQ(number, 2) << element;
  }
}

TEST(HalfPrecision, SumsDoNotOverflowOnTheWay) {
  struct Case {
    std::string shape, operations, result;
  };
  auto sum = [](const std::string &dimensions, const std::string &shape,
                const std::string &result) {
    return "%r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across "
           "dimensions = [" +
           dimensions + "] : (tensor<" + shape + "xT>, tensor<T>) -> tensor<" +
           result + "xT>";
  };
  const std::string window = "window = [64, 64] strides = [64, 64] {dilations "
                             "= array<i64: 1, 1>, padding_low = array<i64: 0, "
                             "0>, padding_high = array<i64: 0, 0>";
  const std::string vector =
      "%v = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<T>) -> "
      "tensor<6xT>\n";
  const Case cases[] = {
      // Partial sums are beyond f16; the sums of signed numbers are not.
      {"5x400",
       "%n = stablehlo.negate %x : tensor<5x400xT>\n%c = "
       "stablehlo.concatenate %x, %n, dim = 1 : (tensor<5x400xT>, "
       "tensor<5x400xT>) -> tensor<5x800xT>\n%r = "
       "stablehlo.reduce(%c init: %zero) applies stablehlo.add across "
       "dimensions = [1] : (tensor<5x800xT>, tensor<T>) -> "
       "tensor<5xT>",
       "5"},
      {"400x5",
       "%n = stablehlo.negate %x : tensor<400x5xT>\n%c = "
       "stablehlo.concatenate %x, %n, dim = 0 : (tensor<400x5xT>, "
       "tensor<400x5xT>) -> tensor<800x5xT>\n%r = "
       "stablehlo.reduce(%c init: %zero) applies stablehlo.add across "
       "dimensions = [0] : (tensor<800x5xT>, tensor<T>) -> "
       "tensor<5xT>",
       "5"},
      {"3x90x70", sum("1", "3x90x70", "3x70"), "3x70"},
      {"90x3x70", sum("0, 1", "90x3x70", "70"), "70"},
      {"70x2000", sum("0", "70x2000", "2000"), "2000"},
      {"1x3x64x64",
       "%r = nn.average_pool %x, " + window +
           ", count_padding = false} : (tensor<1x3x64x64xT>) -> "
           "tensor<1x3x1x1xT>",
       "1x3x1x1"},
      {"1x3x64x64",
       "%r = nn.lp_pool %x, " + window +
           ", p = 2 : i64} : (tensor<1x3x64x64xT>) -> tensor<1x3x1x1xT>",
       "1x3x1x1"},
      {"2x6x64x64",
       vector + "%r = nn.group_norm %x, %v, %v groups = 6 {epsilon = 1.0e-5 : "
                "f64} : (tensor<2x6x64x64xT>, tensor<6xT>, tensor<6xT>) -> "
                "tensor<2x6x64x64xT>",
       "2x6x64x64"},
      {"9000x6",
       vector + "%r, %m, %i = nn.layer_norm %x, %v, %v axis = 1 {compute_type "
                "= T, epsilon = 1.0e-5 : f64} : (tensor<9000x6xT>, "
                "tensor<6xT>, tensor<6xT>) -> (tensor<9000x6xT>, "
                "tensor<9000x1xT>, tensor<9000x1xT>)",
       "9000x6"},
      {"5x9000", "%r = nn.softmax %x, axes = [1] : tensor<5x9000xT>", "5x9000"},
      {"5x9000", "%r = nn.log_softmax %x, axes = [1] : tensor<5x9000xT>",
       "5x9000"},
      {"2x40x5",
       "%r = nn.lrn %x {size = 9 : i64, alpha = 1.0e-1 : f64, beta = 7.5e-1 : "
       "f64, bias = 1.0 : f64} : tensor<2x40x5xT>",
       "2x40x5"},
      {"3x5000",
       "%r = nn.lp_normalize %x, axis = 1 {p = 2 : i64} : tensor<3x5000xT>",
       "3x5000"},
      {"2x6x40x40",
       vector + "%r, %m, %d = \"stablehlo.batch_norm_training\"(%x, %v, %v) "
                "{epsilon = 1.0e-5 : f32, feature_index = 1 : i64} : "
                "(tensor<2x6x40x40xT>, tensor<6xT>, tensor<6xT>) -> "
                "(tensor<2x6x40x40xT>, tensor<6xT>, tensor<6xT>)",
       "2x6x40x40"},
  };
  for (const char *element : {"f16", "bf16"})
    for (const Case &test : cases) {
      std::string operations = test.operations;
      for (size_t at; (at = operations.find("xT>")) != std::string::npos;)
        operations.replace(at + 1, 1, element);
      for (size_t at; (at = operations.find("<T>")) != std::string::npos;)
        operations.replace(at + 1, 1, element);
      for (size_t at; (at = operations.find("= T,")) != std::string::npos;)
        operations.replace(at + 2, 1, element);
      EXPECT_EQ(
          differs(onHundreds(test.shape, element, operations, test.result),
                  halfToleranceOf(element)),
          "")
          << element << " " << operations;
    }
}

//===----------------------------------------------------------------------===//
// What lies in memory between products
//===----------------------------------------------------------------------===//

/// Random numbers whose sums of products are of the order of 1.
std::string scaledWeights(const Shape &shape, const std::string &element,
                          uint64_t seed) {
  Tensor numbers(ElementType::F64, shape);
  fillRandom(numbers, seed);
  const int64_t terms = shape.size() == 4   ? shape[1] * shape[2] * shape[3]
                        : shape.size() == 2 ? shape[0]
                                            : 1;
  std::vector<double> scaled;
  for (double number : numbers.values<double>())
    scaled.push_back(number / std::sqrt(double(terms)));
  const ElementType type = element == "f16"    ? ElementType::F16
                           : element == "bf16" ? ElementType::BF16
                                               : ElementType::F32;
  return constantText(tensorOfDoubles(type, shape, scaled),
                      "tensor<" + toString(type, shape) + ">");
}

/// Text of a function of one input and one result on tensors of one element
/// type, an operation after the other.
class HalfText {
public:
  /// Of an island, inputs and results are of f32.
  explicit HalfText(std::string element, bool isIsland = false)
      : element(std::move(element)), border(isIsland ? "f32" : this->element) {}

  std::string type(const Shape &shape) const { return type(shape, element); }
  std::string input(const Shape &shape) {
    std::string name = "%" + fresh();
    parameters +=
        (parameters.empty() ? "" : ", ") + name + ": " + type(shape, border);
    return border == element
               ? remember(name, shape)
               : add("stablehlo.convert " + name,
                     "(" + type(shape, border) + ") -> " + type(shape), shape);
  }
  std::string weight(const Shape &shape) {
    std::string name = "%" + fresh();
    body += name + " = " + scaledWeights(shape, element, count);
    return remember(name, shape);
  }
  std::string number(const std::string &value, const Shape &shape) {
    return add("stablehlo.constant dense<" + value + ">", type(shape), shape);
  }
  std::string add(const std::string &operation, const std::string &types,
                  const Shape &shape) {
    std::string name = "%" + fresh();
    body += name + " = " + operation + " : " + types + "\n";
    return remember(name, shape);
  }
  std::string elementwise(const std::string &operation, const std::string &x,
                          const std::string &y = "") {
    return add(operation + " " + x + (y.empty() ? "" : ", " + y),
               type(shapes[x]), shapes[x]);
  }
  std::string addBias(const std::string &x, int64_t dim) {
    const Shape shape = shapes[x];
    std::string bias = weight({shape[dim]});
    std::string wide =
        add("stablehlo.broadcast_in_dim " + bias + ", dims = [" +
                std::to_string(dim) + "]",
            "(" + type({shape[dim]}) + ") -> " + type(shape), shape);
    return elementwise("stablehlo.add", x, wide);
  }
  std::string reshape(const std::string &x, const Shape &shape) {
    return add("stablehlo.reshape " + x,
               "(" + type(shapes[x]) + ") -> " + type(shape), shape);
  }
  std::string transpose(const std::string &x) {
    const Shape &of = shapes[x];
    const Shape shape = {of[0], of[2], of[1], of[3]};
    return add("stablehlo.transpose " + x + ", dims = [0, 2, 1, 3]",
               "(" + type(of) + ") -> " + type(shape), shape);
  }
  std::string product(const std::string &x, int64_t columns) {
    Shape shape = shapes[x];
    std::string w = weight({shape.back(), columns});
    const std::string from = "(" + type(shape) + ", " + type(shapes[w]) + ")";
    const std::string last = std::to_string(shape.size() - 1);
    shape.back() = columns;
    return add("stablehlo.dot_general " + x + ", " + w +
                   ", contracting_dims = [" + last + "] x [0]",
               from + " -> " + type(shape), shape);
  }
  std::string convolution(const std::string &x, int64_t outputs, int64_t size,
                          int64_t stride, int64_t groups = 1) {
    Shape shape = shapes[x];
    std::string k = weight({outputs, shape[1] / groups, size, size});
    auto text = [](int64_t number) { return std::to_string(number); };
    const std::string from = "(" + type(shape) + ", " + type(shapes[k]) + ")";
    const std::string pad = text(size / 2);
    shape[1] = outputs;
    for (size_t i : {2, 3})
      shape[i] = (shape[i] + size / 2 * 2 - size) / stride + 1;
    return add("stablehlo.convolution(" + x + ", " + k +
                   ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
                   "window = {stride = [" +
                   text(stride) + ", " + text(stride) + "], pad = [[" + pad +
                   ", " + pad + "], [" + pad + ", " + pad +
                   "]]} {batch_group_count = 1 : i64, feature_group_count = " +
                   text(groups) + " : i64}",
               from + " -> " + type(shape), shape);
  }
  std::string attention(const std::string &q, const std::string &k,
                        const std::string &v, const std::string &attributes) {
    return add("nn.attention " + q + ", " + k + ", " + v + " " + attributes,
               "(" + type(shapes[q]) + ", " + type(shapes[k]) + ", " +
                   type(shapes[v]) + ") -> " + type(shapes[q]),
               shapes[q]);
  }
  std::string function(std::string result) {
    const std::string given = type(shapes.at(result)),
                      returned = type(shapes.at(result), border);
    if (given != returned)
      result = add("stablehlo.convert " + result,
                   "(" + given + ") -> " + returned, shapes.at(result));
    return "(" + parameters + ") -> " + returned + " {\n" + body + "return " +
           result + " : " + returned + "\n}";
  }

private:
  static std::string type(const Shape &shape, const std::string &element) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element + ">";
  }
  std::string fresh() { return "v" + std::to_string(++count); }
  std::string remember(const std::string &name, const Shape &shape) {
    shapes[name] = shape;
    return name;
  }

  std::string element, border, parameters, body;
  int count = 0;
  std::map<std::string, Shape> shapes;
};

/// Values that a convolution and a sum read, and more than one convolution.
std::string residualNetwork(const std::string &element, int64_t channels,
                            int64_t size, bool isIsland = false) {
  HalfText text(element, isIsland);
  std::string x = text.input({1, 3, size, size});
  auto relu = [&](const std::string &of) {
    return text.elementwise("nn.relu", text.addBias(of, 1));
  };
  std::string y = relu(text.convolution(x, channels, 3, 1));
  for (int64_t stride : {1, 2}) {
    std::string inner = relu(text.convolution(y, channels, 1, 1));
    inner = relu(text.convolution(inner, channels, 3, stride, channels));
    inner = text.addBias(text.convolution(inner, channels, 3, 1), 1);
    std::string beside =
        stride == 1 ? y : text.convolution(y, channels, 1, stride);
    y = text.elementwise("nn.relu",
                         text.elementwise("stablehlo.add", inner, beside));
  }
  return text.function(y);
}

/// Attention, products and sums beside them.
std::string transformer(const std::string &element, int64_t rows, int64_t heads,
                        int64_t size, const std::string &attributes,
                        bool isIsland = false) {
  HalfText text(element, isIsland);
  const int64_t width = heads * size;
  std::string x = text.input({1, rows, width});
  x = text.elementwise("stablehlo.tanh", x);
  auto headsOf = [&](const std::string &of) {
    return text.transpose(text.reshape(of, {1, rows, heads, size}));
  };
  std::string q = headsOf(text.addBias(text.product(x, width), 2)),
              k = headsOf(text.addBias(text.product(x, width), 2)),
              v = headsOf(text.addBias(text.product(x, width), 2));
  std::string o = text.transpose(text.attention(q, k, v, attributes));
  o = text.reshape(o, {1, rows, width});
  o = text.addBias(text.product(o, width), 2);
  o = text.elementwise("stablehlo.add", o, x);
  std::string wide = text.elementwise(
      "stablehlo.logistic", text.addBias(text.product(o, 2 * width + 3), 2));
  std::string last = text.addBias(text.product(wide, width), 2);
  return text.function(text.elementwise("stablehlo.add", last, o));
}

/// Steps that do nothing but convert, but for those that round an input.
int conversions(const Program &program) {
  int count = 0;
  for (const Step &step : program.steps)
    count +=
        step.op == "convert" && step.buffers[0].space != BufferSpace::Input;
  return count;
}

TEST(HalfPrecision, NetworksHaveNoStepsThatOnlyConvert) {
  for (const char *element : {"f16", "bf16"}) {
    const Tolerance tolerance = halfToleranceOf(element);
    for (auto [channels, size] : {std::pair(20, 13), std::pair(48, 10)}) {
      std::shared_ptr<Program> program;
      EXPECT_EQ(differs(residualNetwork(element, channels, size), tolerance,
                        &program),
                "")
          << element << " of " << channels << " channels";
      ASSERT_TRUE(program);
      EXPECT_EQ(conversions(*program), 0) << element << " " << channels;
    }
    for (auto [rows, heads, size] :
         {std::tuple(37, 3, 16), std::tuple(64, 2, 21), std::tuple(600, 1, 16)})
      for (const char *attributes : {"scale = 0.3", "scale = 0.3 causal"}) {
        std::shared_ptr<Program> program;
        EXPECT_EQ(differs(transformer(element, rows, heads, size, attributes),
                          tolerance, &program),
                  "")
            << element << " " << rows << "x" << heads << "x" << size;
        ASSERT_TRUE(program);
        EXPECT_EQ(conversions(*program), 0) << element << " " << rows;
      }
  }
}

/// Conversions on both sides join the products and loops beside them.
TEST(HalfPrecision, IslandsBetweenCastsHaveNoStepsThatOnlyConvert) {
  for (const char *element : {"f16", "bf16"})
    for (const std::string &body :
         {residualNetwork(element, 20, 13, /*isIsland=*/true),
          transformer(element, 37, 3, 16, "scale = 0.3", /*isIsland=*/true)}) {
      std::shared_ptr<Program> program;
      EXPECT_EQ(differs(body, halfToleranceOf(element), &program), "")
          << element;
      ASSERT_TRUE(program);
      EXPECT_EQ(conversions(*program), 0) << element;
    }
}

/// On machines with narrower vectors and without conversions, too.
TEST(HalfPrecision, NetworksOnLesserMachines) {
  for (const cpu::Target &target : lesserTargets())
    for (const char *element : {"f16", "bf16"})
      for (const std::string &body :
           {residualNetwork(element, 20, 11),
            transformer(element, 37, 3, 16, "scale = 0.3")})
        EXPECT_EQ(differs(body, halfToleranceOf(element), nullptr, target), "")
            << element << " on " << target.cpu;
}

/// A norm of rows whose every operation rounds.
std::string speltOutNorm(const std::string &element, int64_t rows,
                         int64_t columns) {
  HalfText text(element);
  const Shape all = {rows, columns}, perRow = {rows};
  std::string x = text.elementwise(
      "stablehlo.add", text.addBias(text.input(all), 1), text.input(all));
  std::string zero = text.number("0.0", {}),
              count = text.number(std::to_string(columns) + ".0", perRow),
              epsilon = text.number("1.0e-3", perRow);
  auto mean = [&](const std::string &of) {
    std::string sum = text.add("stablehlo.reduce(" + of + " init: " + zero +
                                   ") applies stablehlo.add across dimensions "
                                   "= [1]",
                               "(" + text.type(all) + ", " + text.type({}) +
                                   ") -> " + text.type(perRow),
                               perRow);
    return text.elementwise("stablehlo.divide", sum, count);
  };
  auto spread = [&](const std::string &of) {
    return text.add("stablehlo.broadcast_in_dim " + of + ", dims = [0]",
                    "(" + text.type(perRow) + ") -> " + text.type(all), all);
  };
  std::string d = text.elementwise("stablehlo.subtract", x, spread(mean(x)));
  std::string variance = text.elementwise(
      "stablehlo.add", mean(text.elementwise("stablehlo.multiply", d, d)),
      epsilon);
  std::string normal =
      text.elementwise("stablehlo.divide", d,
                       spread(text.elementwise("stablehlo.sqrt", variance)));
  return text.function(text.addBias(normal, 1));
}

TEST(HalfPrecision, NormsThatRoundEachOperation) {
  for (const char *element : {"f16", "bf16"}) {
    for (auto [rows, columns] :
         {std::pair(3, 256), std::pair(5, 77), std::pair(2, 7)})
      EXPECT_EQ(differs(speltOutNorm(element, rows, columns),
                        halfToleranceOf(element)),
                "")
          << element << " " << rows << "x" << columns;
    for (const cpu::Target &target : lesserTargets())
      EXPECT_EQ(differs(speltOutNorm(element, 3, 77), halfToleranceOf(element),
                        nullptr, target),
                "")
          << element << " on " << target.cpu;
  }
}

/// Weights beyond the second-level cache lie there in 16 bits, whatever the
/// type of the activations.
TEST(HalfPrecision, LargeWeightsOfConvolutionsStayNarrow) {
  const int64_t channels = 432; // 746 kB of f32
  for (const char *element : {"f16", "bf16", "f32"}) {
    HalfText text(element);
    std::string x = text.input({1, channels, 7, 5});
    std::shared_ptr<Program> program;
    EXPECT_EQ(differs(text.function(text.convolution(x, channels, 1, 1)),
                      element[0] == 'f' && element[1] == '3'
                          ? Tolerance{2e-5, 1e-4}
                          : halfToleranceOf(element),
                      &program, hostWithoutMatrixUnits()),
              "")
        << element;
    ASSERT_TRUE(program);
    uint64_t bytes = 0;
    for (const ConstantData &constant : program->constants)
      bytes += constant.bytes.size();
    EXPECT_EQ(bytes, uint64_t(channels * channels) *
                         (element == std::string("f32") ? 4 : 2))
        << element;
  }
}

//===----------------------------------------------------------------------===//
// Weights of other types than their product's
//===----------------------------------------------------------------------===//

/// x : 3xK times a weight of K x N, which follows from a constant \p w.
struct WeightCase {
  std::string element;
  ElementType stored;
  /// From %w, of `stored`, to %k, of `element`.
  std::string operations;
};

constexpr int64_t depth = 600, columns = 700;

std::string productOf(const WeightCase &test, int64_t rows, bool isTransposed) {
  auto type = [](const std::string &shape, const std::string &element) {
    return "tensor<" + shape + "x" + element + ">";
  };
  std::string sizes = isTransposed ? "700x600" : "600x700";
  Tensor stored(test.stored,
                isTransposed ? Shape{columns, depth} : Shape{depth, columns});
  fillRandom(stored, 7);
  std::string left = type(std::to_string(rows) + "x600", test.element);
  std::string right = type(sizes, test.element);
  std::string result = type(std::to_string(rows) + "x700", test.element);
  std::string operations = test.operations;
  for (size_t at; (at = operations.find("KxN")) != std::string::npos;)
    operations.replace(at, 3, sizes);
  return "(%x: " + left + ") -> " + result + " {\n%w = " +
         constantText(stored,
                      "tensor<" + toString(test.stored, stored.shape()) + ">") +
         operations +
         "\n%r = stablehlo.dot_general %x, %k, contracting_dims = "
         "[1] x [" +
         (isTransposed ? "1" : "0") + "] : (" + left + ", " + right + ") -> " +
         result + "\nreturn %r : " + result + "\n}";
}

const std::vector<WeightCase> &weightCases() {
  static const std::string quantised =
      "%i = stablehlo.convert %w : (tensor<KxNxi8>) -> tensor<KxNxf32>\n"
      "%z = stablehlo.constant dense<3.0> : tensor<f32>\n"
      "%zs = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> "
      "tensor<KxNxf32>\n"
      "%d = stablehlo.subtract %i, %zs : tensor<KxNxf32>\n"
      "%s = stablehlo.constant dense<0.01> : tensor<f32>\n"
      "%ss = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> "
      "tensor<KxNxf32>\n"
      "%k = stablehlo.multiply %d, %ss : tensor<KxNxf32>";
  static const std::vector<WeightCase> cases = {
      {"f16", ElementType::F16, "%k = stablehlo.negate %w : tensor<KxNxf16>"},
      {"f32", ElementType::F16,
       "%k = stablehlo.convert %w : (tensor<KxNxf16>) -> tensor<KxNxf32>"},
      {"bf16", ElementType::BF16, "%k = stablehlo.abs %w : tensor<KxNxbf16>"},
      {"f32", ElementType::I8, quantised},
  };
  return cases;
}

TEST(HalfPrecision, LargeWeightsAreComputedAsTheProgramIsMade) {
  for (const WeightCase &test : weightCases())
    for (int64_t rows : {1, 40})
      for (bool isTransposed : {false, true}) {
        std::string body = productOf(test, rows, isTransposed);
        const cpu::CpuOptions options = optionsWithoutMatrixUnits();
        EXPECT_EQ(differsWith(body,
                              test.element == "f32" ? Tolerance{1e-4, 1e-3}
                                                    : Tolerance{2e-2, 2e-2},
                              options),
                  "")
            << test.element << " of " << std::string(name(test.stored));
        Result<Program> program = cpu::compileForCpu(parseModel(body), options);
        ASSERT_TRUE(program) << program.error().message();
        bool isPacked = false;
        uint64_t bytes = 0;
        for (const Step &step : program->steps)
          isPacked |= step.kernelName == "matmul-packed";
        for (const ConstantData &constant : program->constants)
          bytes += constant.bytes.size();
        EXPECT_TRUE(isPacked);
        // Packed once, and nothing beside.
        EXPECT_LE(bytes, uint64_t(depth * (columns + 64) * 4 + 4096));
      }
}

} // namespace
