#include "graph/ConstantScope.h"

#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

constexpr int64_t size = largestDenseConstant + 1;

class ConstantScopeTest : public testing::Test {
protected:
  mlir::ElementsAttr make(double number) {
    const std::vector<double> numbers(size, number);
    Tensor tensor = tensorOfDoubles(ElementType::F32, {size}, numbers);
    tensor.set<float>(0, 0);
    return toAttribute(tensor, "weight", context.get());
  }

  std::shared_ptr<mlir::MLIRContext> context = makeContext();
};

TEST_F(ConstantScopeTest, FreesWhatNoModuleRefersTo) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get()));
  const mlir::ElementsAttr before = make(1);
  ConstantScope scope;
  const mlir::ElementsAttr used = make(2), nested = make(3), replaced = make(4);
  (*module)->setAttr("test.used", used);
  (*module)->setAttr(
      "test.nested",
      mlir::ArrayAttr::get(context.get(), {mlir::Attribute(nested)}));
  scope.keepOnly(*module);
  EXPECT_FALSE(toTensor(replaced));
  for (auto [attribute, number] :
       {std::pair(before, 1), std::pair(used, 2), std::pair(nested, 3)}) {
    const std::optional<Tensor> tensor = toTensor(attribute);
    ASSERT_TRUE(tensor) << number;
    EXPECT_EQ(tensor->toDouble(size - 1), number);
  }
}

TEST_F(ConstantScopeTest, ReleasesItsOwnOnly) {
  const mlir::ElementsAttr before = make(1);
  ConstantScope scope;
  const mlir::ElementsAttr outer = make(2);
  {
    ConstantScope inner;
    const mlir::ElementsAttr own = make(3);
    inner.release(before);
    inner.release(outer);
    inner.release(own);
    EXPECT_FALSE(toTensor(own));
    scope.release(own);
  }
  EXPECT_TRUE(toTensor(before));
  EXPECT_TRUE(toTensor(outer));
  scope.release(outer);
  scope.release(outer);
  EXPECT_FALSE(toTensor(outer));
  EXPECT_TRUE(toTensor(before));
}

/// A reshaped weight shares its bytes.
TEST_F(ConstantScopeTest, KeepsBytesThatATensorHas) {
  ConstantScope scope;
  const mlir::ElementsAttr flat = make(5);
  const mlir::ElementsAttr shaped =
      toAttribute(toTensor(flat)->reshaped({1, size}), "", context.get());
  EXPECT_EQ(toTensor(shaped)->data(), toTensor(flat)->data());
  std::optional<Tensor> tensor = toTensor(flat);
  scope.release(flat);
  EXPECT_FALSE(toTensor(flat));
  EXPECT_EQ(tensor->toDouble(1), 5);
  tensor.reset();
  EXPECT_EQ(toTensor(shaped)->toDouble(1), 5);
  tensor = toTensor(shaped);
  scope.release(shaped);
  context.reset();
  EXPECT_EQ(tensor->toDouble(size - 1), 5);
}

} // namespace
} // namespace sinter
