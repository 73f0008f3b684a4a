// Every cell of {product} x {after, before} x {chain} x {element type}: the
// values before and after agree, and the chain is gone.
//
// Covers: graph/stablehlo Products
// Covers: passes ChannelAffine FoldedNames ScaledNumbers WeightedProduct

#include "passes/FoldBatchNorm.h"

#include "passes/FoldCells.h"

using namespace sinter;
using namespace sinter::test;

namespace {

struct TypeCase {
  const char *name;
  double tolerance;
};
const TypeCase types[] = {{"f32", 2e-5},  {"f64", 1e-12},    {"f16", 1e-2},
                          {"bf16", 6e-2}, {"f8E4M3FN", 0.4}, {"f8E5M2", 0.8}};

using FoldCell = std::tuple<ProductCase, ChainCase, TypeCase>;
class FoldBatchNormMatrix : public testing::TestWithParam<FoldCell> {};

/// What stands around a product once all is folded: nothing, or an addition.
int expectedComputations(const ProductCase &product, bool shifts) {
  int regrouping = std::string(product.name) == "grouped_transposed" ? 4 : 0;
  return 1 + regrouping + (shifts ? 2 : 0);
}

TEST_P(FoldBatchNormMatrix, After) {
  auto [product, chain, type] = GetParam();
  Model model = afterModel(product, chain, type.name);
  std::vector<Tensor> before = run(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(countComputations(model),
            expectedComputations(product, chain.shifts))
      << textOf(model);
  expectClose(before, run(model), type.tolerance);
}

TEST_P(FoldBatchNormMatrix, Before) {
  auto [product, chain, type] = GetParam();
  Model model = beforeModel(product, chain, type.name);
  std::vector<Tensor> before = run(model);
  int computations = countComputations(model);
  applyPass(model, createFoldBatchNorm());
  if (product.padded && chain.shifts)
    EXPECT_GT(countComputations(model), expectedComputations(product, false));
  else
    EXPECT_EQ(countComputations(model),
              expectedComputations(product, chain.shifts))
        << textOf(model);
  EXPECT_LE(countComputations(model), computations + 2);
  expectClose(before, run(model), type.tolerance);
}

std::string foldCellName(const testing::TestParamInfo<FoldCell> &info) {
  const auto &[product, chain, type] = info.param;
  return std::string(product.name) + "_" + chain.name + "_" + type.name;
}

INSTANTIATE_TEST_SUITE_P(Cells, FoldBatchNormMatrix,
                         testing::Combine(testing::ValuesIn(products),
                                          testing::ValuesIn(chains),
                                          testing::ValuesIn(types)),
                         foldCellName);

} // namespace
