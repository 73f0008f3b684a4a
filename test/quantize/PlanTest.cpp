// Which layers compute with integers, and who shares a scale.

#include "quantize/Plan.h"

#include "mlir/IR/Verifier.h"
#include "quantize/QuantizeGraph.h"

namespace sinter::quantize {
namespace {

using test::QuantizeGraph;

/// x -> product -> $middle -> product -> $end
std::string chain(const std::string &middle, const std::string &end = "") {
  return test::fill(
      R"(
func.func @main(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<[[0.5, 1.0, -0.5], [0.25, 0.5, 1.0], [-1.0, 0.75, 0.125]]> : tensor<3x3xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  $middle
  %q = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  $end
})",
      {{"middle", middle},
       {"end", end.empty() ? "return %q : tensor<2x3xf32>" : end}});
}

TEST(Plan, AChainHandsOnIntegers) {
  QuantizeGraph graph(
      chain("%m = stablehlo.multiply %p, %z : tensor<2x3xf32>"));
  graph.profileAll(-1, 1);
  graph.makePlan();
  EXPECT_TRUE(graph.isQuantized("dot_general", 0));
  EXPECT_TRUE(graph.isQuantized("multiply"));
  EXPECT_TRUE(graph.isQuantized("dot_general", 1));
  for (const char *op : {"multiply", "dot_general"})
    EXPECT_TRUE(graph.plan.values.contains(graph.at(op).result)) << op;
  // Nobody reads what the last gives with integers.
  EXPECT_FALSE(graph.plan.values.contains(graph.at("dot_general", 1).result));
}

TEST(Plan, WhatOnlyFloatLayersReadStaysFloat) {
  QuantizeGraph graph(chain("%m = stablehlo.multiply %p, %z : tensor<2x3xf32>",
                            "%e = stablehlo.add %q, %z : tensor<2x3xf32>\n"
                            "return %e : tensor<2x3xf32>"));
  graph.profileAll(-1, 1);
  graph.makePlan();
  EXPECT_FALSE(graph.isQuantized("add"));
  EXPECT_EQ(graph.reason("add"),
            "it gives an output of the model, which is of floats");
}

TEST(Plan, WhatReadsFloatLayersStaysFloat) {
  QuantizeGraph graph(
      chain("%k = stablehlo.dot_general %z, %z, contracting_dims = [1] x [1] : "
            "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>\n"
            "%e = stablehlo.dot_general %k, %z, contracting_dims = [1] x [0] : "
            "(tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "%m = stablehlo.multiply %p, %e : tensor<2x3xf32>"));
  graph.profileAll(-1, 1);
  graph.makePlan();
  ASSERT_EQ(graph.kind("dot_general", 2), UnitKind::Other);
  EXPECT_FALSE(graph.isQuantized("multiply"));
  EXPECT_EQ(graph.reason("multiply"), "its inputs come from float layers");
  EXPECT_TRUE(graph.isQuantized("dot_general", 3));
}

// So does what was there for such a layer only.
TEST(Plan, NothingIsRoundedThatOnlyFloatLayersRead) {
  QuantizeGraph graph(
      chain("%a = stablehlo.multiply %p, %p : tensor<2x3xf32>\n"
            "%k = stablehlo.dot_general %z, %z, contracting_dims = [1] x [1] : "
            "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>\n"
            "%e = stablehlo.dot_general %k, %z, contracting_dims = [1] x [0] : "
            "(tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "%m = stablehlo.add %a, %e : tensor<2x3xf32>"));
  graph.profileAll(-1, 1);
  graph.makePlan();
  EXPECT_FALSE(graph.isQuantized("add"));
  EXPECT_FALSE(graph.isQuantized("multiply"));
  EXPECT_FALSE(graph.plan.values.contains(graph.at("multiply").result));
  EXPECT_FALSE(graph.plan.values.contains(graph.at("dot_general").result));
}

TEST(Plan, Patterns) {
  QuantizeGraph graph(
      chain("%m = stablehlo.multiply %p, %z : tensor<2x3xf32>"));
  graph.profileAll(-1, 1);
  QuantizeOptions options;
  options.keepFloat = {"mul*"};
  graph.makePlan(options);
  EXPECT_FALSE(graph.isQuantized("multiply"));
  EXPECT_EQ(graph.reason("multiply"), "keep-float");
  EXPECT_TRUE(graph.isQuantized("dot_general", 0));
  options.keepFloat = {"dot_general"};
  graph.makePlan(options);
  EXPECT_FALSE(graph.isQuantized("dot_general", 0));
  EXPECT_FALSE(graph.isQuantized("multiply"));
  EXPECT_TRUE(graph.plan.values.empty());
  options = {};
  options.only = {"multiply"};
  graph.makePlan(options);
  EXPECT_FALSE(graph.isQuantized("dot_general", 0));
  EXPECT_EQ(graph.reason("dot_general", 0), "only names others");
  for (const char *pattern : {"nothing", "["}) {
    options.only = {pattern};
    auto refused = graph.tryPlan(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
    EXPECT_NE(refused.error().message().find("only '"), std::string::npos);
  }
}

// As the file calls them; a name may be that of nodes of several kinds.
TEST(Plan, PatternsOfOperationsInTheFile) {
  QuantizeGraph graph(R"(
module attributes {sinter.source.format = "f", sinter.source.records = [
    {name = "first", op_type = "Gemm"}, {name = "first", op_type = "MatMul"}, unit, {}, {name = "second"}]} {
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc("first")
  %q = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc("second")
  return %q : tensor<2x3xf32>
}
})");
  graph.profileAll(-1, 1);
  QuantizeOptions options;
  for (const char *pattern : {"MatMul", "Gemm", "Mat*"}) {
    options.only = {pattern};
    graph.makePlan(options);
    EXPECT_TRUE(graph.isQuantized("dot_general", 0)) << pattern;
    EXPECT_FALSE(graph.isQuantized("dot_general", 1)) << pattern;
  }
  options.only = {"Conv"};
  auto refused = graph.tryPlan(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find(
                "the operations are Gemm, MatMul, or by Sinter's names "
                "dot_general, and -v"),
            std::string::npos)
      << refused.error().message();
}

TEST(Plan, WhatIsMovedKeepsItsScale) {
  QuantizeGraph graph(
      chain("%c = stablehlo.concatenate %p, %z, dim = 0 : (tensor<2x3xf32>, "
            "tensor<2x3xf32>) -> tensor<4x3xf32>\n"
            "%m = stablehlo.slice %c [1:3, 0:3] : (tensor<4x3xf32>) -> "
            "tensor<2x3xf32>"));
  graph.profileAll(-1, 1);
  mlir::Value wide = graph.model.entry().getArgument(1);
  graph.profile(wide, -9, 30);
  graph.makePlan();
  ASSERT_TRUE(graph.isQuantized("concatenate"));
  ASSERT_TRUE(graph.isQuantized("slice"));
  const LinearCode &code = graph.plan.values.find(wide)->second.code;
  for (mlir::Value value :
       {graph.at("dot_general").result, graph.at("concatenate").result,
        graph.at("slice").result}) {
    const auto found = graph.plan.values.find(value);
    ASSERT_NE(found, graph.plan.values.end());
    EXPECT_EQ(found->second.code.scale, code.scale);
    EXPECT_EQ(found->second.code.zeroPoint, code.zeroPoint);
  }
}

struct Seen {
  const char *reason;
  void (*change)(TensorProfile &);
};

TEST(Plan, WhatWasSeenMayForbidIt) {
  const Seen all[] = {
      {"never computed",
       [](TensorProfile &seen) {
         seen = TensorProfile();
         seen.name = "v";
       }},
      {"not finite", [](TensorProfile &seen) { seen.notFinite = 1; }},
      {"had no elements", [](TensorProfile &seen) { seen.elements = 0; }},
      {"beyond 1e30", [](TensorProfile &seen) { seen.greatest = 1e31; }},
  };
  for (const Seen &each : all) {
    QuantizeGraph graph(
        chain("%m = stablehlo.multiply %p, %z : tensor<2x3xf32>"));
    graph.profileAll(-1, 1);
    mlir::Value middle = graph.at("multiply").result;
    each.change(graph.profiles[middle]);
    graph.makePlan();
    EXPECT_FALSE(graph.isQuantized("dot_general", 1));
    EXPECT_NE(graph.reason("dot_general", 1).find(each.reason),
              std::string::npos)
        << graph.reason("dot_general", 1);
    EXPECT_TRUE(graph.isQuantized("dot_general", 0));
    EXPECT_FALSE(graph.plan.values.contains(middle));
  }
  QuantizeGraph unknown(chain("%m = nn.relu %p : tensor<2x3xf32>"));
  unknown.makePlan();
  EXPECT_EQ(unknown.reason("dot_general", 0), "the profile lacks its inputs");
}

/// What one of its readers has in 16 bits all have, the others stay in 8.
TEST(Plan, SomeIn16Bits) {
  const std::string text = R"(
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %w = stablehlo.constant() {value = dense<0.5> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
      %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %u = stablehlo.reshape %t : (tensor<8x4xf32>) -> tensor<4x8xf32>
      %b = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      return %b : tensor<4x8xf32>
    })";
  for (Scheme scheme : {Scheme::Asymmetric, Scheme::Symmetric,
                        Scheme::SymmetricU8, Scheme::PowerOfTwo})
    for (unsigned wide : {0u, 1u}) {
      QuantizeGraph graph(text);
      graph.profileAll(-2, 3);
      QuantizeOptions options;
      options.scheme = scheme;
      Exceptions exceptions;
      exceptions.wide.insert(
          static_cast<unsigned>(graph.unit("dot_general", wide)));
      const Plan &plan = graph.makePlan(options, exceptions);
      mlir::Value x = graph.model.entry().getArgument(0);
      const auto storageOf = [&](mlir::Value value) {
        auto found = plan.values.find(value);
        return found == plan.values.end() ? ElementType::F64
                                          : found->second.code.storage;
      };
      EXPECT_EQ(storageOf(x) == ElementType::I16, wide == 0);
      for (const char *moves : {"transpose", "reshape"})
        EXPECT_EQ(storageOf(graph.at(moves).data.front()->get()) ==
                      ElementType::I16,
                  wide == 1)
            << moves;
      EXPECT_TRUE(plan.layers[graph.unit("dot_general", wide)].isWide);
      EXPECT_FALSE(plan.layers[graph.unit("dot_general", 1 - wide)].isWide);
      graph.insert(options);
      EXPECT_GT(graph.plan.layers[graph.unit("dot_general", wide)].weightNoise,
                -1);
    }
}

TEST(Plan, WeightsAlone) {
  QuantizeGraph graph(
      chain("%m = stablehlo.multiply %p, %z : tensor<2x3xf32>"));
  QuantizeOptions options;
  options.weightsOnly = true;
  graph.makePlan(options);
  EXPECT_TRUE(graph.isQuantized("dot_general", 0));
  EXPECT_TRUE(graph.isQuantized("dot_general", 1));
  EXPECT_EQ(graph.reason("multiply"), "only weights become integers");
  EXPECT_TRUE(graph.plan.values.empty());
}

} // namespace
} // namespace sinter::quantize
