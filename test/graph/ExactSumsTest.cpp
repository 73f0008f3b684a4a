#include "graph/ExactSums.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace sinter;

namespace {

class ExactSumsTest : public testing::Test {
protected:
  ExactSumsTest() : builder(&context) {
    context
        .loadDialect<func::FuncDialect, sinter::stablehlo::StablehloDialect>();
  }

  /// Of the operation before the last one of \p text.
  std::optional<double> products(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    return productsPerSum(
        function.getBody().front().getTerminator()->getPrevNode());
  }

  MLIRContext context;
  Builder builder;
  OwningOpRef<ModuleOp> module;
};

/// Whether \p number is one of \p type, by rounding it to the type.
bool isNumberOf(FloatType type, double number) {
  llvm::APFloat value(number);
  bool losesInfo = false;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return !losesInfo;
}

} // namespace

TEST_F(ExactSumsTest, FloatsHaveAllIntegersUpToTheirMagnitude) {
  for (FloatType type : {FloatType(builder.getF16Type()), builder.getBF16Type(),
                         builder.getF32Type(), builder.getF64Type()}) {
    const double most = exactMagnitude(type);
    for (double number : {most, most - 1, most / 2 + 1, -most, 1 - most})
      EXPECT_TRUE(isNumberOf(type, number)) << number;
    if (!type.isF64())
      EXPECT_FALSE(isNumberOf(type, most + 1));
    EXPECT_TRUE(holds(type, {-most, most}));
    EXPECT_FALSE(holds(type, {0, 2 * most}));
    EXPECT_FALSE(holds(type, {-2 * most, 0}));
  }
}

TEST_F(ExactSumsTest, IntegersHoldTheirNumbersAndNoOther) {
  Type i8 = builder.getIntegerType(8);
  EXPECT_TRUE(holds(i8, {-128, 127}));
  EXPECT_FALSE(holds(i8, {0, 128}));
  EXPECT_FALSE(holds(i8, {-129, 0}));
  Type ui8 = builder.getIntegerType(8, /*isSigned=*/false);
  EXPECT_TRUE(holds(ui8, {0, 255}));
  EXPECT_FALSE(holds(ui8, {-1, 255}));
  // Ranges beyond 2^53 are rounded, so the last numbers are left out.
  Type i64 = builder.getI64Type();
  EXPECT_TRUE(holds(i64, {-0x1p62, 0x1p62}));
  EXPECT_FALSE(holds(i64, {0, 0x1p63}));
}

TEST_F(ExactSumsTest, TheFirstTypeThatHoldsThemIsTaken) {
  Type types[] = {builder.getF32Type(), builder.getI32Type(),
                  builder.getF64Type()};
  EXPECT_EQ(firstHolding(types, {-0x1p24, 0x1p24}), types[0]);
  EXPECT_EQ(firstHolding(types, {-0x1p24, 0x1p24 + 1}), types[1]);
  EXPECT_EQ(firstHolding(types, {0, 0x1p31}), types[2]);
  EXPECT_FALSE(firstHolding(types, {0, 0x1p54}));
}

TEST_F(ExactSumsTest, RangesOfSumsHoldEveryPartOfEverySum) {
  std::mt19937 random(7);
  auto draw = [&](double low, double high) {
    return double(
        std::uniform_int_distribution<int>(int(low), int(high))(random));
  };
  const IntegerRange ranges[] = {
      {-128, 127}, {0, 255}, {-7, -3}, {2, 5}, {0, 0}};
  for (const IntegerRange &lhs : ranges)
    for (const IntegerRange &rhs : ranges) {
      const int count = 5;
      IntegerRange sums = IntegerRange::ofSums(lhs, rhs, count);
      for (int trial = 0; trial < 200; ++trial) {
        double sum = 0;
        for (int i = 0; i < count; ++i) {
          sum += draw(lhs.low, lhs.high) * draw(rhs.low, rhs.high);
          EXPECT_GE(sum, sums.low);
          EXPECT_LE(sum, sums.high);
        }
      }
      // No wider than the extremes, which are reached.
      double corners[] = {lhs.low * rhs.low, lhs.low * rhs.high,
                          lhs.high * rhs.low, lhs.high * rhs.high};
      EXPECT_EQ(sums.high,
                count * std::max(0.0, *std::max_element(corners, corners + 4)));
      EXPECT_EQ(sums.low,
                count * std::min(0.0, *std::min_element(corners, corners + 4)));
    }
}

TEST_F(ExactSumsTest, ProductsOfASumAreCounted) {
  EXPECT_EQ(products(R"mlir(
    func.func @f(%a: tensor<2x3x5xi8>, %b: tensor<5x2x7x3xi8>) -> tensor<2x7xi32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1],
        contracting_dims = [1, 2] x [3, 0]
        : (tensor<2x3x5xi8>, tensor<5x2x7x3xi8>) -> tensor<2x7xi32>
      return %0 : tensor<2x7xi32>
    })mlir"),
            15);
  EXPECT_EQ(products(R"mlir(
    func.func @f(%a: tensor<?x8x9x9xi8>, %b: tensor<6x4x3x2xi8>) -> tensor<?x6x7x8xi32> {
      %0 = stablehlo.convolution(%a, %b)
        dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
        : (tensor<?x8x9x9xi8>, tensor<6x4x3x2xi8>) -> tensor<?x6x7x8xi32>
      return %0 : tensor<?x6x7x8xi32>
    })mlir"),
            24);
  EXPECT_EQ(products(R"mlir(
    func.func @f(%a: tensor<2x?xi8>, %b: tensor<?x3xi8>) -> tensor<2x3xi32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<2x?xi8>, tensor<?x3xi8>) -> tensor<2x3xi32>
      return %0 : tensor<2x3xi32>
    })mlir"),
            std::nullopt);
}
