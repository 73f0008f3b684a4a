//===- RandomGraphTest.cpp - fusion against the oracle --------------------===//
//
// Graphs of random operations on matrices: whatever the compiler computes
// together, the results are those of one operation after the other.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/fusion CollapseDimensions FusionConditions FusionGroup
// Covers: backend/cpu/ir OperationKind
// Covers: backend/cpu/program Schedule ScheduleControlFlow ScheduleKernels
// Covers: backend/cpu/program MemoryPlan
// Covers: backend/cpu/emit Elemental ElementalModels ElementalTable
// Covers: backend/cpu/emit KernelEmitter LoopKernel LoopNest
// Covers: backend/cpu/kernels/common KernelBuilder

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>
#include <random>

using namespace sinter::test;

namespace {

struct Matrix {
  std::string name;
  int64_t rows, columns;

  std::string type() const {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xf32>";
  }
};

class GraphGenerator {
public:
  explicit GraphGenerator(unsigned seed) : random(seed) {}

  std::string graph(int operations) {
    const int64_t sizes[] = {1, 3, 8, 17, 40};
    for (int i = 0; i < 3; ++i)
      values.push_back(
          {"%in" + std::to_string(i), sizes[pick(5)], sizes[pick(5)]});
    std::string arguments, results, types;
    for (const Matrix &value : values)
      arguments +=
          (arguments.empty() ? "" : ", ") + value.name + ": " + value.type();
    for (int i = 0; i < operations; ++i)
      addOperation();
    for (int i = 0; i < 3; ++i) {
      const Matrix &value = i == 0 ? values.back() : any();
      results += (i ? ", " : "") + value.name;
      types += (i ? ", " : "") + value.type();
    }
    return "(" + arguments + ") -> (" + types +
           ") {\n  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n" +
           text + "  return " + results + " : " + types + "\n}";
  }

private:
  int pick(int count) {
    return std::uniform_int_distribution<int>(0, count - 1)(random);
  }
  const Matrix &any() { return values[pick(values.size())]; }

  Matrix add(int64_t rows, int64_t columns, const std::string &right,
             const std::string &signature) {
    Matrix result{"%v" + std::to_string(next++), rows, columns};
    text +=
        "  " + result.name + " = stablehlo." + right + " : " + signature + "\n";
    values.push_back(result);
    return result;
  }

  void addOperation() {
    Matrix a = any();
    std::string to = " -> ";
    switch (pick(8)) {
    case 0: {
      const char *ops[] = {"tanh", "negate", "logistic", "abs", "cosine"};
      add(a.rows, a.columns, ops[pick(5)] + (" " + a.name), a.type());
      return;
    }
    case 1: {
      Matrix b = any();
      if (b.rows != a.rows || b.columns != a.columns)
        b = a;
      const char *ops[] = {"add", "multiply", "subtract", "maximum"};
      add(a.rows, a.columns, ops[pick(4)] + (" " + a.name + ", " + b.name),
          a.type());
      return;
    }
    case 2: {
      Matrix t{"", a.columns, a.rows};
      add(t.rows, t.columns, "transpose " + a.name + ", dims = [1, 0]",
          "(" + a.type() + ")" + to + t.type());
      return;
    }
    case 3:
    case 4:
      return addReduction(a, pick(2));
    case 5: {
      Matrix t{"", 1, a.rows * a.columns};
      add(t.rows, t.columns, "reshape " + a.name,
          "(" + a.type() + ")" + to + t.type());
      return;
    }
    case 6: {
      Matrix t{"", a.rows, a.columns * 2};
      if (t.columns > 1000)
        return;
      add(t.rows, t.columns,
          "concatenate " + a.name + ", " + a.name + ", dim = 1",
          "(" + a.type() + ", " + a.type() + ")" + to + t.type());
      return;
    }
    default: {
      Matrix t{"", a.rows, (a.columns + 1) / 2};
      add(t.rows, t.columns,
          "slice " + a.name + " [0:" + std::to_string(a.rows) +
              ", 0:" + std::to_string(a.columns) + ":2]",
          "(" + a.type() + ")" + to + t.type());
    }
    }
  }

  /// The mean along a dimension, subtracted from the operand.
  void addReduction(const Matrix &a, int dim) {
    std::string vector =
        "tensor<" + std::to_string(dim ? a.rows : a.columns) + "xf32>";
    std::string sum = "%s" + std::to_string(next);
    text += "  " + sum + " = stablehlo.reduce(" + a.name +
            " init: %zero) applies stablehlo.add across dimensions = [" +
            std::to_string(dim) + "] : (" + a.type() + ", tensor<f32>) -> " +
            vector + "\n";
    Matrix wide = add(a.rows, a.columns,
                      "broadcast_in_dim " + sum + ", dims = [" +
                          std::to_string(1 - dim) + "]",
                      "(" + vector + ") -> " + a.type());
    add(a.rows, a.columns, "subtract " + a.name + ", " + wide.name, a.type());
    Matrix difference = values.back();
    add(a.rows, a.columns, "tanh " + difference.name, a.type());
  }

  std::mt19937 random;
  std::vector<Matrix> values;
  std::string text;
  int next = 0;
};

} // namespace

TEST(RandomGraph, AgreesWithTheInterpreter) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::string graph = GraphGenerator(seed).graph(6 + seed % 20);
    EXPECT_EQ(differs(graph, {1e-3, 1e-3}), "") << graph;
  }
}
