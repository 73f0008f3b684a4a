#include "graph/Source.h"

#include "graph/Model.h"
#include "graph/nn/NnOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace sinter {
namespace {

struct SourceTest : testing::Test {
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef attributes) {
    const std::string text = ("module attributes {" + attributes + R"(} {
      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = nn.relu %x {sinter.source = 7 : i64, other.note = 1 : i64} : tensor<2xf32>
        %1 = nn.relu %0 : tensor<2xf32>
        return %1 : tensor<2xf32>
      }
    })")
                                 .str();
    return mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  }
  static std::vector<mlir::Operation *> relus(mlir::ModuleOp module) {
    std::vector<mlir::Operation *> all;
    module.walk([&](nn::ReluOp op) { all.push_back(op); });
    return all;
  }

  std::shared_ptr<mlir::MLIRContext> context = makeContext();
};

TEST_F(SourceTest, IsTheNumberOfANode) {
  auto module = parse("");
  auto all = relus(*module);
  EXPECT_EQ(sourceOf(all[0]), 7);
  EXPECT_EQ(sourceOf(all[1]), std::nullopt);
  setSource(all[1], 3);
  removeSource(all[0]);
  EXPECT_EQ(sourceOf(all[0]), std::nullopt);
  EXPECT_EQ(sourceOf(all[1]), 3);
}

TEST_F(SourceTest, IsNoNumberThatCannotBeANodes) {
  auto module = parse("");
  mlir::Operation *op = relus(*module).front();
  for (int64_t number : {std::numeric_limits<int64_t>::max(),
                         std::numeric_limits<int64_t>::min(), int64_t(-1)}) {
    setSource(op, number);
    EXPECT_EQ(sourceOf(op), std::nullopt) << number;
  }
}

/// Attributes come from strangers: notes that are no texts are none.
TEST_F(SourceTest, TakesTextsAloneForNotes) {
  auto module = parse(R"(sinter.source.notes = [1, "one", [2]])");
  EXPECT_EQ(sourceNotes(*module), std::vector<std::string>{"one"});
}

TEST_F(SourceTest, IsReadByTheFormatThatKeptIt) {
  auto module =
      parse(R"(sinter.source.format = "a", sinter.source.records = [{}, {}])");
  auto recordsOf = [&](llvm::StringRef format) {
    return keptOfSource<mlir::ArrayAttr>(*module, format,
                                         sourceRecordsAttribute);
  };
  ASSERT_TRUE(recordsOf("a"));
  EXPECT_EQ(recordsOf("a").size(), 2u);
  EXPECT_FALSE(recordsOf("b"));
  module = parse("sinter.source.records = [{}]");
  EXPECT_FALSE(recordsOf("a"));
}

TEST_F(SourceTest, GoesWithoutAnythingElse) {
  auto module = parse(
      R"(sinter.source.format = "a", sinter.source.own = 1 : i64, sinter.sources = 1 : i64,
         sinter.source.notes = ["one", "two"])");
  EXPECT_EQ(sourceNotes(*module), (std::vector<std::string>{"one", "two"}));
  dropSources(*module);
  EXPECT_EQ(sourceNotes(*module), std::vector<std::string>());
  EXPECT_FALSE((*module)->hasAttr(sourceFormatAttribute));
  EXPECT_FALSE((*module)->hasAttr("sinter.source.own"));
  EXPECT_TRUE((*module)->hasAttr("sinter.sources"));
  EXPECT_FALSE(relus(*module)[0]->hasAttr(sourceAttribute));
  EXPECT_TRUE(relus(*module)[0]->hasAttr("other.note"));
}

} // namespace
} // namespace sinter
