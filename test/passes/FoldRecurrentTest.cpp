// What scales and shifts the inputs of recurrent layers goes into their weights
// and biases: {layer} x {directions} x {bias} x {what stands before it}.

#include "passes/FoldBatchNorm.h"

#include "passes/FoldCells.h"

using namespace sinter;
using namespace sinter::test;

namespace {

struct RecurrentLayer {
  const char *name;
  int gates;
  int results;
  const char *attributes, *segments;
};
const RecurrentLayer recurrentLayers[] = {
    {"lstm", 4, 3, ", input_forget = false", ", 0, 0, 0, 0"},
    {"gru", 3, 2, ", linear_before_reset = true", ", 0, 0"},
    {"gru", 3, 2, ", linear_before_reset = false", ", 0, 0"},
    {"rnn", 1, 2, "", ", 0, 0"},
};

enum class RecurrentBias { None, Constant, Argument };

struct RecurrentCase {
  RecurrentLayer layer;
  int directions = 1;
  RecurrentBias bias = RecurrentBias::Constant;
  bool scales = true, shifts = true;
  bool isTransposed = false;
  const char *type = "f32";
};

std::string recurrentShape(std::initializer_list<int> sizes, const char *type) {
  std::string text = "tensor<";
  for (int size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// A constant of numbers that differ.
std::string drawnConstant(const std::string &name, int rows, int columns,
                          const std::string &type, int seed) {
  std::string text = "  " + name + " = stablehlo.constant dense<[";
  for (int i = 0; i < rows; ++i) {
    text += i ? ", [" : "[";
    for (int j = 0; j < columns; ++j)
      text += (j ? ", " : "") +
              std::to_string(((i * 7 + j * 13 + seed * 5) % 17 - 8) / 16.0);
    text += "]";
  }
  return text + "]> : " + type + "\n";
}

/// x [T, N, I], or [N, T, I] and transposed, times s plus t, and the layer.
std::string recurrentText(const RecurrentCase &test) {
  constexpr int steps = 3, batch = 2, inputs = 5, hidden = 4;
  const char *type = test.type;
  const int directions = test.directions, rows = test.layer.gates * hidden;
  const std::string x = recurrentShape({steps, batch, inputs}, type),
                    given = test.isTransposed
                                ? recurrentShape({batch, steps, inputs}, type)
                                : x,
                    flat = recurrentShape({directions * rows, inputs}, type),
                    w = recurrentShape({directions, rows, inputs}, type),
                    flatR = recurrentShape({directions * rows, hidden}, type),
                    r = recurrentShape({directions, rows, hidden}, type),
                    bias = recurrentShape({directions, 2 * rows}, type),
                    channels = recurrentShape({1, inputs}, type),
                    y = recurrentShape({steps, directions, batch, hidden},
                                       type),
                    state = recurrentShape({directions, batch, hidden}, type);
  std::string text = "func.func @main(%x: " + given;
  if (test.bias == RecurrentBias::Argument)
    text += ", %b: " + bias;
  text += ") -> " + y + " {\n";
  text += drawnConstant("%fw", directions * rows, inputs, flat, 1) +
          drawnConstant("%fr", directions * rows, hidden, flatR, 2) +
          drawnConstant("%s", 1, inputs, channels, 3) +
          drawnConstant("%t", 1, inputs, channels, 4);
  text += "  %w = stablehlo.reshape %fw : (" + flat + ") -> " + w +
          "\n  %r = stablehlo.reshape %fr : (" + flatR + ") -> " + r + "\n";
  if (test.bias == RecurrentBias::Constant)
    text += drawnConstant("%b", directions, 2 * rows, bias, 5);
  std::string at = "%x";
  for (auto [does, name, op] :
       {std::tuple(test.scales, "%s", "multiply"), {test.shifts, "%t", "add"}})
    if (does) {
      const std::string all = std::string(name) + "_all",
                        next = std::string(name) + "_done";
      text += "  " + all + " = stablehlo.broadcast_in_dim " + name +
              ", dims = [1, 2] : (" + channels + ") -> " + given + "\n  " +
              next + " = stablehlo." + op + " " + at + ", " + all + " : " +
              given + "\n";
      at = next;
    }
  if (test.isTransposed) {
    text += "  %turned = stablehlo.transpose " + at + ", dims = [1, 0, 2] : (" +
            given + ") -> " + x + "\n";
    at = "%turned";
  }
  const bool hasBias = test.bias != RecurrentBias::None;
  const bool isLstm = test.layer.results == 3;
  std::string functions;
  for (int i = 0; i < directions; ++i)
    functions += (i ? ", " : "") +
                 std::string(isLstm ? R"("Sigmoid", "Tanh", "Tanh")"
                             : test.layer.gates == 3 ? R"("Sigmoid", "Tanh")"
                                                     : R"("Tanh")");
  text += "  %y:" + std::to_string(test.layer.results) + " = \"nn." +
          test.layer.name + "\"(" + at + ", %w, %r" + (hasBias ? ", %b" : "") +
          ") <{direction = \"" +
          (directions == 2 ? "bidirectional" : "forward") +
          "\", activations = [" + functions + "]" + test.layer.attributes +
          ", operandSegmentSizes = array<i32: 1, 1, 1, " +
          (hasBias ? "1" : "0") + test.layer.segments + ">}> : (" + x + ", " +
          w + ", " + r + (hasBias ? ", " + bias : "") + ") -> (" + y;
  for (int i = 1; i < test.layer.results; ++i)
    text += ", " + state;
  return text + ")\n  return %y#0 : " + y + "\n}";
}

int operationsNamed(Model &model, llvm::StringRef name) {
  int count = 0;
  model.entry().walk([&](mlir::Operation *op) {
    count += op->getName().getStringRef() == name;
  });
  return count;
}

TEST(FoldRecurrent, TakesUpWhatStandsBefore) {
  for (const RecurrentLayer &layer : recurrentLayers)
    for (int directions : {1, 2})
      for (RecurrentBias bias : {RecurrentBias::None, RecurrentBias::Constant})
        for (auto [scales, shifts] :
             {std::pair(true, true), {true, false}, {false, true}})
          for (const char *type : {"f32", "f64"}) {
            const RecurrentCase test{layer,  directions, bias, scales,
                                     shifts, false,      type};
            SCOPED_TRACE(recurrentText(test));
            Model model = parseModel(recurrentText(test));
            ASSERT_TRUE(model.entry());
            const std::vector<Tensor> before = run(model);
            applyPass(model, createFoldBatchNorm());
            EXPECT_EQ(operationsNamed(model, "stablehlo.multiply"), 0);
            EXPECT_EQ(operationsNamed(model, "stablehlo.add"), 0);
            expectClose(before, run(model), 1e-5);
          }
}

TEST(FoldRecurrent, TakesUpWhatIsTransposedOnTheWay) {
  Model model = parseModel(recurrentText(
      {recurrentLayers[0], 2, RecurrentBias::Constant, true, true, true}));
  const std::vector<Tensor> before = run(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(operationsNamed(model, "stablehlo.multiply"), 0);
  EXPECT_EQ(operationsNamed(model, "stablehlo.add"), 0);
  EXPECT_EQ(operationsNamed(model, "stablehlo.transpose"), 1);
  expectClose(before, run(model), 1e-5);
}

TEST(FoldRecurrent, LeavesAShiftBeforeABiasThatIsComputed) {
  for (const RecurrentLayer &layer : recurrentLayers) {
    Model model = parseModel(
        recurrentText({layer, 1, RecurrentBias::Argument, false, true}));
    ASSERT_TRUE(model.entry());
    applyPass(model, createFoldBatchNorm());
    EXPECT_EQ(operationsNamed(model, "stablehlo.add"), 1);
    // A scale asks nothing of it.
    Model scaled = parseModel(
        recurrentText({layer, 1, RecurrentBias::Argument, true, false}));
    const std::vector<Tensor> before = run(scaled);
    applyPass(scaled, createFoldBatchNorm());
    EXPECT_EQ(operationsNamed(scaled, "stablehlo.multiply"), 0);
    expectClose(before, run(scaled), 1e-5);
  }
}

TEST(FoldRecurrent, LeavesWhatStandsBehind) {
  // The result is no product of the weight.
  Model model = parseModel(
      R"(func.func @main(%x: tensor<3x2x5xf32>) -> tensor<3x1x2x4xf32> {
    %w = stablehlo.constant dense<0.25> : tensor<1x4x5xf32>
    %r = stablehlo.constant dense<0.5> : tensor<1x4x4xf32>
    %y:2 = "nn.rnn"(%x, %w, %r) <{direction = "forward",
        activations = ["Tanh"],
        operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> :
        (tensor<3x2x5xf32>, tensor<1x4x5xf32>, tensor<1x4x4xf32>)
        -> (tensor<3x1x2x4xf32>, tensor<1x2x4xf32>)
    %s = stablehlo.constant dense<[2.0, 3.0, 4.0, 5.0]> : tensor<4xf32>
    %a = stablehlo.broadcast_in_dim %s, dims = [3] :
        (tensor<4xf32>) -> tensor<3x1x2x4xf32>
    %z = stablehlo.multiply %y#0, %a : tensor<3x1x2x4xf32>
    return %z : tensor<3x1x2x4xf32>
  })");
  ASSERT_TRUE(model.entry());
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(operationsNamed(model, "stablehlo.multiply"), 1);
}

} // namespace
