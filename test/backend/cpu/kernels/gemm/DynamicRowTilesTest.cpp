//===- DynamicRowTilesTest.cpp - products of any number of rows -----------===//
//
// Covers: backend/cpu/kernels/gemm MatMulTiles DynamicRowTiles

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/WithoutMatrixUnits.h"
#include "interpreter/Interpreter.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

#include <utility>

using namespace sinter;
using namespace sinter::test;

namespace {

/// x [N, depth] by weights [depth, columns], and what follows.
std::string productBody(int64_t depth, int64_t columns,
                        const std::string &rest) {
  const std::string row = std::to_string(columns),
                    result = "tensor<?x" + row + "xf32>",
                    weights =
                        "tensor<" + std::to_string(depth) + "x" + row + "xf32>",
                    given = "tensor<?x" + std::to_string(depth) + "xf32>";
  return "(%x: " + given + " {sinter.dims = [\"N\", \"\"]}) -> " + result +
         " {\n%i = stablehlo.iota dim = 0 : " + weights +
         "\n%j = stablehlo.iota dim = 1 : " + weights +
         "\n%s = stablehlo.add %i, %j : " + weights +
         "\n%w = stablehlo.sine %s : " + weights +
         "\n%p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
         "(" +
         given + ", " + weights + ") -> " + result + "\n" + rest +
         "\nreturn %y : " + result + "\n}";
}

/// Runs one program with 0 to 61 rows.
void checkRows(const std::string &body, int64_t depth,
               const cpu::CpuOptions &options) {
  SCOPED_TRACE(body);
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(body, options);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(2));
  ASSERT_TRUE(executor) << executor.error().message();
  for (int64_t rows = 0; rows <= 61; ++rows) {
    SCOPED_TRACE(std::to_string(rows) + " rows");
    Tensor x(ElementType::F32, Shape{rows, depth});
    fillRandom(x, 1 + rows);
    auto expected = interpret(model.entry(), {&x, 1});
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = (*executor)->run({&x, 1});
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_EQ((*got)[0].shape(), (*expected)[0].shape());
    for (int64_t i = 0; i < (*got)[0].size(); ++i)
      ASSERT_NEAR((*got)[0].at<float>(i), (*expected)[0].at<float>(i), 1e-5)
          << "element " << i;
  }
}

} // namespace

// Tiles of one to six vectors, whole and not; epilogues that are repeated for
// each row of a tile, and those that are shared (tanh).
TEST(DynamicRowTiles, HoldAnyNumberOfRows) {
  std::vector<cpu::Target> targets = lesserTargets();
  targets.push_back(hostWithoutMatrixUnits());
  for (const cpu::Target &target : targets) {
    cpu::CpuOptions options;
    options.target = target;
    for (int64_t columns : {5, 16, 32, 41, 48, 64, 96, 112}) {
      const std::string type = "tensor<?x" + std::to_string(columns) + "xf32>";
      for (const std::string op : {"negate", "tanh"})
        checkRows(
            productBody(3, columns, "%y = stablehlo." + op + " %p : " + type),
            3, options);
    }
    // Deep enough for what fetches weights; panels of a pair, and one alone.
    for (const std::string op : {"negate", "tanh"})
      checkRows(productBody(40, 144,
                            "%y = stablehlo." + op + " %p : tensor<?x144xf32>"),
                40, options);
    // So deep that a subroutine has the sums: of few columns, groups of panels
    // and what is left of them, and weights that are fetched.
    for (const auto &[depth, columns] : {std::pair<int64_t, int64_t>{50, 5},
                                         {51, 16},
                                         {64, 41},
                                         {64, 64},
                                         {130, 144},
                                         {259, 144}})
      for (const std::string op : {"negate", "tanh"})
        checkRows(productBody(depth, columns,
                              "%y = stablehlo." + op + " %p : tensor<?x" +
                                  std::to_string(columns) + "xf32>"),
                  depth, options);
  }
}
