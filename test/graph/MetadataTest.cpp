#include "graph/Metadata.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace sinter {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

TEST(Metadata, SetsAndReplaces) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  EXPECT_EQ(metadataOf(*module), Entries());
  setMetadata(*module, "sinter.labels", "cat\ndog");
  setMetadata(*module, "sinter.a", "");
  EXPECT_EQ(metadataOf(*module),
            (Entries{{"sinter.a", ""}, {"sinter.labels", "cat\ndog"}}));
  setMetadata(*module, "sinter.labels", "fox");
  EXPECT_EQ(metadataOf(*module),
            (Entries{{"sinter.a", ""}, {"sinter.labels", "fox"}}));
}

TEST(Metadata, OfOtherTools) {
  MLIRContext context;
  Builder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  (*module)->setAttr(metadataAttribute, builder.getI64IntegerAttr(1));
  EXPECT_EQ(metadataOf(*module), Entries());
  (*module)->setAttr(
      metadataAttribute,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("number", builder.getI64IntegerAttr(1)),
           builder.getNamedAttr("text", builder.getStringAttr("a"))}));
  EXPECT_EQ(metadataOf(*module), (Entries{{"text", "a"}}));
}

} // namespace
} // namespace sinter
