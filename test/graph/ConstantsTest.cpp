#include "graph/Constants.h"

#include "graph/Model.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace sinter {
namespace {

/// Keys of resources are printed without quotes, and must be read again.
TEST(Constants, PrintsResourcesWhateverTheirNames) {
  const int64_t size = largestDenseConstant + 1;
  for (const char *name :
       {"", "weight", "0.weight", "onnx::MatMul_3", "with blanks",
        "a \"quoted\" one", "back\\slash",
        "gr\xc3\xb6\xc3\x9f"
        "e",
        "-1", "$", ".", "true", "i32", "line\nbreak", "#-}", "\xff"}) {
    auto context = makeContext();
    std::vector<float> numbers(static_cast<size_t>(size));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(i);
    const Tensor tensor = Tensor::of<float>(ElementType::F32, {size}, numbers);
    auto module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get()));
    mlir::OwningOpRef<mlir::ModuleOp> owner = module;
    for (const char *attribute : {"test.first", "test.second"})
      module->setAttr(attribute, toAttribute(tensor, name, context.get()));
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    auto other = makeContext();
    auto again = mlir::parseSourceString<mlir::ModuleOp>(text, other.get());
    ASSERT_TRUE(again) << name << "\n" << text;
    for (const char *attribute : {"test.first", "test.second"}) {
      auto value = (*again)->getAttrOfType<mlir::ElementsAttr>(attribute);
      ASSERT_TRUE(value) << name;
      std::optional<Tensor> read = toTensor(value);
      ASSERT_TRUE(read) << name;
      EXPECT_EQ(read->toDouble(size - 1), static_cast<double>(size - 1));
    }
  }
}

} // namespace
} // namespace sinter
