//===- DimTest.cpp - dimensions: static, named, unknown -------------------===//

#include "graph/Dim.h"

#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace sinter;

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max();

TEST(Dim, IsOneOfThree) {
  const Dim fixed = 128, named = Dim::named(3), unknown = Dim::unknown();
  EXPECT_TRUE(fixed.isStatic());
  EXPECT_FALSE(fixed.isDynamic());
  EXPECT_EQ(fixed.value(), 128);
  EXPECT_EQ(fixed.number(), 128);
  EXPECT_EQ(fixed.name(), std::nullopt);

  EXPECT_TRUE(named.isNamed());
  EXPECT_FALSE(named.isStatic());
  EXPECT_EQ(named.name(), 3);
  EXPECT_EQ(named.number(), std::nullopt);
  EXPECT_EQ(named.valueOr(7), 7);

  EXPECT_TRUE(unknown.isUnknown());
  EXPECT_TRUE(unknown.isDynamic());
  EXPECT_FALSE(unknown.isNamed());

  EXPECT_TRUE(Dim(0).isStatic());
  EXPECT_TRUE(Dim(-1).isStatic());
  EXPECT_TRUE(Dim(most).isStatic());
}

TEST(Dim, ComparesByWhatItIs) {
  EXPECT_EQ(Dim::named(3), Dim::named(3));
  EXPECT_NE(Dim::named(3), Dim::named(4));
  EXPECT_NE(Dim::named(3), Dim(3));
  EXPECT_NE(Dim::named(3), Dim::unknown());
  EXPECT_LT(Dim(2), Dim(3));
  EXPECT_GE(Dim(3), Dim(3));
  for (const Dim dynamic : {Dim::named(0), Dim::named(5), Dim::unknown()}) {
    EXPECT_GT(dynamic, Dim(most));
    EXPECT_LT(Dim(-1), dynamic);
    EXPECT_FALSE(dynamic < dynamic);
    EXPECT_EQ(dynamic.upTo(64), 64);
  }
  EXPECT_EQ(Dim(5).upTo(64), 5);
  EXPECT_EQ(Dim(100).upTo(64), 64);
}

TEST(Dim, CountsWithNumbers) {
  EXPECT_EQ(Dim(3) + Dim(4), Dim(7));
  EXPECT_EQ(Dim(3) - Dim(4), Dim(-1));
  EXPECT_EQ(Dim(3) * Dim(4), Dim(12));
  EXPECT_EQ(Dim(14) / 4, Dim(3));
  EXPECT_EQ(Dim(14) % 4, Dim(2));
  EXPECT_EQ(ceilDivide(Dim(14), 4), Dim(4));
  Dim product = 2;
  product *= 5;
  product += 1;
  EXPECT_EQ(product, Dim(11));
}

/// What has a name still has it only where nothing is changed.
TEST(Dim, LosesItsName) {
  const Dim named = Dim::named(9);
  EXPECT_EQ(named + 0, named);
  EXPECT_EQ(Dim(0) + named, named);
  EXPECT_EQ(named - 0, named);
  EXPECT_EQ(named * 1, named);
  EXPECT_EQ(Dim(1) * named, named);
  EXPECT_EQ(named / 1, named);
  EXPECT_EQ(named % 1, Dim(0));
  EXPECT_EQ(named * 0, Dim(0));

  for (const Dim lost :
       {named + 1, named + named, named - 1, Dim(1) - named, named * 2,
        named * named, named / 2, named % 2, ceilDivide(named, 16)}) {
    EXPECT_TRUE(lost.isUnknown());
    EXPECT_TRUE((lost + 1).isUnknown());
  }
}

TEST(Dim, NeverWraps) {
  EXPECT_TRUE((Dim(most) + 1).isUnknown());
  EXPECT_TRUE((Dim(-most) - 2).isUnknown());
  EXPECT_TRUE((Dim(most) * 2).isUnknown());
  EXPECT_TRUE(ceilDivide(Dim(most), 64).isUnknown());
}

TEST(Dim, HasText) {
  EXPECT_EQ(Dim(128).text(), "128");
  EXPECT_EQ(Dim::named(3).text(), "size 3");
  EXPECT_EQ(Dim::unknown().text(), "?");
}

TEST(Dim, StandsInTypes) {
  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  const RankedTensorType fixed = typeOfDims({2, 3}, f32);
  EXPECT_EQ(fixed, RankedTensorType::get({2, 3}, f32));
  EXPECT_FALSE(hasNamedSizes(fixed));
  EXPECT_TRUE(isStaticShape(dimsOf(fixed)));
  EXPECT_EQ(staticSizes(dimsOf(fixed)), (SmallVector<int64_t>{2, 3}));

  const RankedTensorType dynamic = typeOfDims({Dim::named(1), 3}, f32);
  EXPECT_TRUE(dynamic.isDynamicDim(0));
  EXPECT_EQ(dynamic.getDimSize(1), 3);
  EXPECT_TRUE(hasNamedSizes(dynamic));
  EXPECT_TRUE(hasNamedDim(dimsOf(dynamic)));
  EXPECT_EQ(dimsOf(dynamic), ArrayRef<Dim>({Dim::named(1), Dim(3)}));
  EXPECT_NE(dynamic, typeOfDims({Dim::named(2), 3}, f32));

  const RankedTensorType unknown =
      RankedTensorType::get({ShapedType::kDynamic, 3}, f32);
  EXPECT_TRUE(dimsOf(unknown)[0].isUnknown());
  EXPECT_FALSE(hasNamedDim(dimsOf(unknown)));
  EXPECT_EQ(encodedDims(dimsIn({4, 5})), ArrayRef<int64_t>({4, 5}));
}

} // namespace
