//===- RescalesTest.cpp - rescales that vanish, on both backends ----------===//
//
// The cases about which is argued: where a rescale goes when it could go either
// way, and what remains. Each is computed as it was and as the passes make it,
// by the interpreter and by the CPU backend.
//
//===----------------------------------------------------------------------===//
//
// Covers: passes RescaleFunction RescaledSums RescaleTree

#include "backend/cpu/CompareWithInterpreter.h"
#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "passes/MoveRescales.h"
#include "passes/Pipelines.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

namespace {

/// Types of every case; products have weights of 3x3.
const std::string prelude = R"(
!x = !quant.uniform<$s:f32, 0.05:3>
!q = !quant.uniform<$s:f32, 0.09:5>
!a = !quant.uniform<$s:f32, 0.1:5>
!b = !quant.uniform<$s:f32, 0.11:7>
!c = !quant.uniform<$s:f32, 0.12:4>
!d = !quant.uniform<$s:f32, 0.13:6>
!w = !quant.uniform<$s:f32, 0.01:1>
!n = !quant.uniform<i8:f32, 0.01>
)";

std::string weights(int64_t out, int64_t in, const std::string &name) {
  std::string list;
  for (int64_t i = 0; i < out * in * 9; ++i)
    list += (i ? ", " : "") + std::to_string((i * 37 + 11) % 23);
  const std::string shape =
      std::to_string(out) + "x" + std::to_string(in) + "x3x3x";
  return "  %" + name + "v = stablehlo.constant() {value = dense<[" + list +
         "]> : tensor<" + std::to_string(out * in * 9) +
         "x$i>} : () -> tensor<" + std::to_string(out * in * 9) + "x!w>\n  %" +
         name + " = stablehlo.reshape %" + name + "v : (tensor<" +
         std::to_string(out * in * 9) + "x!w>) -> tensor<" + shape + "!w>\n";
}

/// %to = convolution of %from, of the same size.
std::string convolution(const std::string &to, const std::string &from,
                        const std::string &weight, int64_t in, int64_t out,
                        int64_t size, const std::string &type,
                        const std::string &result) {
  auto tensor = [&](int64_t channels, const std::string &element) {
    return "tensor<1x" + std::to_string(channels) + "x" + std::to_string(size) +
           "x" + std::to_string(size) + "x" + element + ">";
  };
  return "  %" + to + " = stablehlo.convolution(%" + from + ", %" + weight +
         ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
         "{pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
         "feature_group_count = 1 : i64} : (" +
         tensor(in, type) + ", tensor<" + std::to_string(out) + "x" +
         std::to_string(in) + "x3x3x!w>) -> " + tensor(out, result) + "\n";
}

std::string rescale(const std::string &to, const std::string &from,
                    const std::string &shape, const std::string &type,
                    const std::string &result) {
  return "  %" + to + " = stablehlo.uniform_quantize %" + from + " : (tensor<" +
         shape + type + ">) -> tensor<" + shape + result + ">\n";
}

std::string lrn(const std::string &to, const std::string &from,
                const std::string &shape, const std::string &type,
                const std::string &result) {
  return "  %" + to + " = nn.lrn %" + from +
         " {size = 3 : i64, alpha = 1.0e-3, beta = 0.75, bias = 1.0} : "
         "(tensor<" +
         shape + type + ">) -> tensor<" + shape + result + ">\n";
}

std::string maxPool(const std::string &to, const std::string &from,
                    const std::string &type) {
  return "  %" + to + " = nn.max_pool %" + from +
         ", window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, "
         "padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : "
         "(tensor<1x4x8x8x" +
         type + ">) -> tensor<1x4x4x4x" + type + ">\n";
}

std::string replaceAll(std::string text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A module of the function \p body, of storage \p storage.
std::string moduleOf(const std::string &body, const std::string &storage) {
  const std::string text = prelude + "func.func @main" + body;
  return replaceAll(replaceAll(text, "$s", storage), "$i",
                    storage == "u8" ? "ui8" : storage);
}

/// The text of the entry function behind its name, with all its numbers.
std::string bodyOf(const Model &model) {
  Model whole = model.clone();
  whole.module().walk([&](stablehlo::ConstantOp op) {
    op.setValueAttr(toDenseAttribute(*constantTensor(op), op.getContext()));
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  whole.entry()->print(stream);
  return text.substr(text.find("@main") + 5);
}

Model parsed(const std::string &module) {
  auto context = makeContext();
  auto parsed = parseSourceString<ModuleOp>(module, context.get());
  EXPECT_TRUE(parsed) << module;
  return Model(context, std::move(parsed));
}

std::vector<Tensor> evaluate(const Model &model, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (Type type : model.entry().getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    Tensor input(*elementTypeOf(tensor.getElementType()),
                 Shape(tensor.getShape()));
    const IntegerBounds bounds = boundsOf(quantizedOf(tensor));
    fillRandom(input, seed + inputs.size(),
               {static_cast<double>(bounds.least),
                static_cast<double>(bounds.greatest), 16});
    inputs.push_back(std::move(input));
  }
  auto outputs = interpret(model.entry(), inputs);
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

struct RescaleOutcome {
  uint64_t rescales = 0;
  std::string text;
};

/// What remains of \p body where requantising is allowed. Results may be
/// another by \p units in front of which products stand.
RescaleOutcome check(const std::string &body, const std::string &storage,
                     double units = 1,
                     std::vector<std::string> allowed = {"requantize"}) {
  Model before = parsed(moduleOf(body, storage));
  Model after = before.clone();
  SimplifyOptions options;
  options.allowed = allowed;
  options.keepsQuantizedConstants = true;
  options.verifyNumerics = true;
  auto report = simplify(after, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message())
                      << bodyOf(before);
  RescaleOutcome outcome{countRescales(after.module()), bodyOf(after)};
  SCOPED_TRACE(bodyOf(before) + "\n->\n" + outcome.text);
  for (uint64_t seed : {1, 2, 3}) {
    const auto expected = evaluate(before, seed), got = evaluate(after, seed);
    for (size_t k = 0; k < expected.size() && k < got.size(); ++k)
      for (int64_t i = 0; i < expected[k].size(); ++i) {
        EXPECT_NEAR(expected[k].toDouble(i), got[k].toDouble(i), units);
        if (::testing::Test::HasFailure())
          return outcome;
      }
  }
  // The CPU backend rounds what lies in the middle of two as it likes.
  for (const Model *model : {&before, &after}) {
    EXPECT_EQ(differs(bodyOf(*model), {0, 1}), "");
    EXPECT_EQ(differsRaised(bodyOf(*model), {0, 1}), "");
  }
  return outcome;
}

const char *const storages[] = {"i8", "u8", "i16"};

//===----------------------------------------------------------------------===//
// Convolution -> LRN -> Rescale -> MaxPool -> Convolution
//===----------------------------------------------------------------------===//

/// The rescale stands in front of the LRN (0), behind it (1), or behind the
/// pool (2).
std::string lrnBetweenConvolutions(int place) {
  std::string body = "(%x: tensor<1x3x8x8x!x>) -> tensor<1x2x4x4x!d> {\n" +
                     weights(4, 3, "w1") + weights(2, 4, "w2") +
                     convolution("1", "x", "w1", 3, 4, 8, "!x", "!a");
  std::string at = "1", type = "!a";
  auto rescaleAt = [&](int here, const std::string &shape) {
    if (here != place)
      return;
    body += rescale("r", at, shape, type, "!c");
    at = "r";
    type = "!c";
  };
  rescaleAt(0, "1x4x8x8x");
  const std::string behind = place == 0 ? "!c" : "!b";
  body += lrn("l", at, "1x4x8x8x", type, behind);
  at = "l";
  type = behind;
  rescaleAt(1, "1x4x8x8x");
  body += maxPool("m", at, type);
  at = "m";
  rescaleAt(2, "1x4x4x4x");
  return body + convolution("y", at, "w2", 4, 2, 4, type, "!d") +
         "  return %y : tensor<1x2x4x4x!d>\n}";
}

TEST(Rescales, LrnBetweenConvolutionsEndsWithoutARescaleFromEitherSide) {
  for (const char *storage : storages)
    for (int place : {0, 1, 2}) {
      const RescaleOutcome outcome =
          check(lrnBetweenConvolutions(place), storage, 4);
      EXPECT_EQ(outcome.rescales, 0u) << outcome.text;
    }
}

/// Likewise, but unasked: what is exact only.
TEST(Rescales, LrnBetweenConvolutionsStaysExactUnasked) {
  for (const char *storage : storages)
    for (int place : {0, 1, 2})
      EXPECT_EQ(check(lrnBetweenConvolutions(place), storage, 0, {}).rescales,
                1u);
}

/// The convolution behind has its sums in 32 bits, and a bias.
TEST(Rescales, AConvolutionWithSumsTakesUpARescale) {
  const std::string body =
      "(%x: tensor<1x4x8x8x!c>) -> tensor<1x2x4x4x!d> {\n" +
      replaceAll(replaceAll(weights(2, 4, "w"), "!w", "!n"), "$i", "i8") +
      R"(  %b = stablehlo.constant() {value = dense<[1000, -777]> : tensor<2xi32>} : () -> tensor<2x!sums>
)" + maxPool("m", "x", "!c") +
      rescale("r", "m", "1x4x4x4x", "!c", "!wide") +
      replaceAll(convolution("s", "r", "w", 4, 2, 4, "!wide", "!sums"), "!w>",
                 "!n>") +
      R"(  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2x!sums>) -> tensor<1x2x4x4x!sums>
  %t = stablehlo.add %s, %bb : tensor<1x2x4x4x!sums>
)" + rescale("y", "t", "1x2x4x4x", "!sums", "!d") +
      "  return %y : tensor<1x2x4x4x!d>\n}";
  const std::string text =
      replaceAll(replaceAll(body, "!wide", "!quant.uniform<i8:f32, 0.125:4>"),
                 "!sums", "!quant.uniform<i32:f32, 0.00125>");
  const RescaleOutcome outcome = check(text, "i8", 2);
  EXPECT_EQ(outcome.rescales, 0u) << outcome.text;
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

TEST(Rescales, AMaxPoolBetweenTwoScales) {
  const std::string body =
      "(%x: tensor<1x4x8x8x!a>) -> tensor<1x4x4x4x!d> {\n" +
      rescale("r", "x", "1x4x8x8x", "!a", "!c") + maxPool("m", "r", "!c") +
      rescale("y", "m", "1x4x4x4x", "!c", "!d") +
      "  return %y : tensor<1x4x4x4x!d>\n}";
  for (const char *storage : storages) {
    EXPECT_EQ(check(body, storage, 1).rescales, 0u);
    // Unasked, the first one goes below the pool, where there is less to do.
    const RescaleOutcome exact = check(body, storage, 0, {});
    EXPECT_EQ(exact.rescales, 2u);
    EXPECT_LT(exact.text.find("max_pool"), exact.text.find("uniform_quantize"));
  }
}

/// GoogLeNet: each branch ends in a scale of its own.
std::string fourBranches(const std::string &joint) {
  std::string body =
      "(%x: tensor<1x3x8x8x!x>) -> tensor<1x12x8x8x" + joint + "> {\n";
  const char *const types[] = {"!a", "!b", "!c", "!d"};
  std::string operands, operandTypes;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    body += weights(3, 3, "w" + n) +
            convolution("c" + n, "x", "w" + n, 3, 3, 8, "!x", types[i]) +
            rescale("r" + n, "c" + n, "1x3x8x8x", types[i], joint);
    operands += (i ? ", %r" : "%r") + n;
    operandTypes += (i ? ", " : "") + ("tensor<1x3x8x8x" + joint + ">");
  }
  return body + "  %y = stablehlo.concatenate " + operands + ", dim = 1 : (" +
         operandTypes + ") -> tensor<1x12x8x8x" + joint + ">\n" +
         "  return %y : tensor<1x12x8x8x" + joint + ">\n}";
}

TEST(Rescales, AConcatOfFourBranchesWithFourScales) {
  for (const char *storage : storages) {
    EXPECT_EQ(check(fourBranches("!q"), storage, 1).rescales, 0u);
    EXPECT_EQ(check(fourBranches("!q"), storage, 0, {}).rescales, 4u);
  }
}

/// What a branch's type cuts, a wider joint type would not: it may be all that
/// is left of an activation, so that a clamp cuts it still. Only the branch of
/// the joint's type has nothing to cut.
TEST(Rescales, AConcatOfFourBranchesCutsWhatTheirTypesCut) {
  for (const char *storage : storages) {
    const RescaleOutcome outcome = check(fourBranches("!d"), storage, 1);
    EXPECT_EQ(outcome.rescales, 0u);
    EXPECT_EQ(llvm::StringRef(outcome.text).count("stablehlo.clamp"), 3u)
        << outcome.text;
    EXPECT_EQ(check(fourBranches("!d"), storage, 0, {}).rescales, 3u);
  }
}

/// What takes up a rescale without a clamp does so, on whichever side it is.
TEST(Rescales, AClampIsForWhatNothingElseTakesUp) {
  const std::string body =
      "(%x: tensor<1x3x8x8x!x>) -> tensor<1x2x8x8x!a> {\n" +
      weights(4, 3, "w1") + weights(2, 4, "w2") +
      convolution("1", "x", "w1", 3, 4, 8, "!x", "!a") +
      rescale("r", "1", "1x4x8x8x", "!a", "!d") +
      convolution("y", "r", "w2", 4, 2, 8, "!d", "!a") +
      "  return %y : tensor<1x2x8x8x!a>\n}";
  for (const char *storage : storages) {
    const RescaleOutcome outcome = check(body, storage, 4);
    EXPECT_EQ(outcome.rescales, 0u);
    EXPECT_EQ(outcome.text.find("stablehlo.clamp"), std::string::npos)
        << outcome.text;
  }
}

/// ResNet: what is added is read by the next convolution, too.
TEST(Rescales, AResidualAddWhereOneSideHasTwoReaders) {
  const std::string body =
      "(%x: tensor<1x3x8x8x!x>) -> tensor<1x3x8x8x!d> {\n" +
      weights(3, 3, "w1") + weights(3, 3, "w2") +
      convolution("1", "x", "w1", 3, 3, 8, "!x", "!a") +
      convolution("2", "1", "w2", 3, 3, 8, "!a", "!c") +
      rescale("r", "1", "1x3x8x8x", "!a", "!c") +
      "  %y = stablehlo.add %2, %r : (tensor<1x3x8x8x!c>, tensor<1x3x8x8x!c>) "
      "-> tensor<1x3x8x8x!d>\n  return %y : tensor<1x3x8x8x!d>\n}";
  for (const char *storage : storages) {
    EXPECT_EQ(check(body, storage, 2).rescales, 0u);
    EXPECT_EQ(check(body, storage, 0, {}).rescales, 1u);
  }
}

TEST(Rescales, InFrontOfAnOutputStaysWhereNothingTakesItUp) {
  const std::string body =
      "(%x: tensor<1x4x8x8x!a>) -> tensor<1x4x4x4x!d> {\n" +
      maxPool("m", "x", "!a") + rescale("y", "m", "1x4x4x4x", "!a", "!d") +
      "  return %y : tensor<1x4x4x4x!d>\n}";
  // The pool takes it up: it gives numbers of any scale.
  for (const char *storage : storages)
    EXPECT_EQ(check(body, storage, 1).rescales, 0u);
  const std::string moved =
      "(%x: tensor<4x6x!a>) -> tensor<24x!d> {\n"
      "  %m = stablehlo.reshape %x : (tensor<4x6x!a>) -> tensor<24x!a>\n" +
      rescale("y", "m", "24x", "!a", "!d") + "  return %y : tensor<24x!d>\n}";
  for (const char *storage : storages)
    EXPECT_EQ(check(moved, storage, 0).rescales, 1u);
}

/// Nothing below it lets it through, and what is above takes it up at once.
TEST(Rescales, WhereNothingCanSinkItMergesUpAtOnce) {
  const std::string body =
      "(%x: tensor<4x6x!a>, %y: tensor<4x6x!b>) -> tensor<24x!d> {\n"
      "  %s = stablehlo.add %x, %y : (tensor<4x6x!a>, tensor<4x6x!b>) -> "
      "tensor<4x6x!a>\n"
      "  %m = stablehlo.reshape %s : (tensor<4x6x!a>) -> tensor<24x!a>\n"
      "  %r = stablehlo.reverse %m, dims = [0] : tensor<24x!a>\n" +
      rescale("z", "r", "24x", "!a", "!q") + "  return %z : tensor<24x!q>\n}";
  for (const char *storage : storages)
    EXPECT_EQ(check(replaceAll(body, "24x!d", "24x!q"), storage, 1).rescales,
              0u);
}

/// Down is a pool, up a repetition: each would be cheaper, and it ends.
TEST(Rescales, CombiningUpAgainstSinkingEnds) {
  const std::string body =
      "(%x: tensor<1x4x1x1x!a>) -> tensor<1x4x4x4x!d> {\n"
      "  %b = stablehlo.broadcast_in_dim %x, dims = [0, 1, 2, 3] : "
      "(tensor<1x4x1x1x!a>) -> tensor<1x4x8x8x!a>\n" +
      rescale("r", "b", "1x4x8x8x", "!a", "!d") + maxPool("m", "r", "!d") +
      "  return %m : tensor<1x4x4x4x!d>\n}";
  for (const char *storage : storages)
    EXPECT_EQ(check(body, storage, 0, {}).rescales, 1u);
}

} // namespace
