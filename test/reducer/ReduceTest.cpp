//===- ReduceTest.cpp - what is left of a program -------------------------===//
//
// Covers: reducer Reductions

#include "reducer/Reduce.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace sinter {
namespace {

Model parse(const std::string &text) {
  std::shared_ptr<MLIRContext> context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  EXPECT_TRUE(module);
  return Model(context, std::move(module));
}

bool contains(const Model &model, StringRef name) {
  bool found = false;
  model.module().walk(
      [&](Operation *op) { found |= op->getName().getStringRef() == name; });
  return found;
}

/// The program's text after it was reduced to what still has \p names.
std::string reducedTo(const std::string &text,
                      const std::vector<std::string> &names) {
  Model model = parse(text);
  ReduceOptions options;
  options.isInteresting = [&](const Model &candidate) {
    EXPECT_TRUE(succeeded(verify(candidate.module())));
    return llvm::all_of(names, [&](const std::string &name) {
      return contains(candidate, name);
    });
  };
  Result<ReduceReport> report = reduceProgram(model, options);
  EXPECT_TRUE(report) << report.error().message();
  std::string result;
  llvm::raw_string_ostream stream(result);
  model.module().print(stream);
  return result;
}

const char *const network = R"(
func.func private @scale(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<4x6xf32>
  %r = stablehlo.multiply %x, %c : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @main(%x: tensor<4x6xf32>, %p: tensor<i1>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %a = stablehlo.tanh %x : tensor<4x6xf32>
  %b = func.call @scale(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = "stablehlo.if"(%p) ({
    %i = stablehlo.sine %b : tensor<4x6xf32>
    stablehlo.return %i : tensor<4x6xf32>
  }, {
    %i = stablehlo.cosine %b : tensor<4x6xf32>
    stablehlo.return %i : tensor<4x6xf32>
  }) : (tensor<i1>) -> tensor<4x6xf32>
  %d = stablehlo.add %c, %a : tensor<4x6xf32>
  %e = stablehlo.transpose %d, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %d, %e : tensor<4x6xf32>, tensor<6x4xf32>
})";

TEST(ReduceTest, LeavesTheOperationAlone) {
  EXPECT_EQ(reducedTo(network, {"stablehlo.add"}),
            "module {\n"
            "  func.func @main(%arg0: tensor<1x1xf32>, %arg1: tensor<1x1xf32>) "
            "-> tensor<1x1xf32> {\n"
            "    %0 = stablehlo.add %arg1, %arg0 : tensor<1x1xf32>\n"
            "    return %0 : tensor<1x1xf32>\n  }\n}\n");
}

TEST(ReduceTest, InlinesBranches) {
  const std::string text = reducedTo(network, {"stablehlo.cosine"});
  EXPECT_EQ(text.find("stablehlo.if"), std::string::npos) << text;
  EXPECT_EQ(text.find("@scale"), std::string::npos) << text;
}

TEST(ReduceTest, KeepsAChain) {
  const std::string text =
      reducedTo(network, {"stablehlo.add", "stablehlo.transpose"});
  EXPECT_EQ(text.find("stablehlo.tanh"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<1x1xf32>"), std::string::npos) << text;
}

TEST(ReduceTest, WhatDoesNotFailIsRefused) {
  Model model = parse(network);
  ReduceOptions options;
  options.isInteresting = [](const Model &) { return false; };
  Result<ReduceReport> report = reduceProgram(model, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::Usage);
}

} // namespace
} // namespace sinter
