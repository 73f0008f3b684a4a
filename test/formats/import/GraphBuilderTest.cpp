#include "formats/import/GraphBuilder.h"

#include "formats/import/Building.h"
#include "graph/Model.h"
#include "graph/Source.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <gtest/gtest.h>

namespace sinter::formats {
namespace {

constexpr int64_t unknown = mlir::ShapedType::kDynamic;

/// Builds in a function of two arguments, [?, 3] and [3].
struct GraphBuilderTest : testing::Test {
  GraphBuilderTest() : builder(context.get()), diagnostics(context.get()) {
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto function = builder.create<mlir::func::FuncOp>(
        builder.getUnknownLoc(), entryName, builder.getFunctionType({}, {}));
    mlir::Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    auto add = [&](llvm::ArrayRef<int64_t> shape) {
      return block->addArgument(
          mlir::RankedTensorType::get(shape, builder.getF32Type()),
          builder.getUnknownLoc());
    };
    rows = add({unknown, 3});
    row = add({3});
  }
  GraphBuilder node(std::optional<int64_t> source = std::nullopt) {
    return GraphBuilder(builder, known, diagnostics,
                        mlir::NameLoc::get(builder.getStringAttr("node")),
                        source);
  }

  std::shared_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  FirstError diagnostics;
  KnownValues known;
  mlir::Value rows, row;
};

TEST_F(GraphBuilderTest, MarksWhatItMakes) {
  GraphBuilder graph = node(5);
  mlir::Value sum = graph.binary<stablehlo::AddOp>(rows, row);
  ASSERT_TRUE(sum);
  // The row is repeated for a size that is not known.
  ASSERT_EQ(graph.operations().size(), 2u);
  EXPECT_TRUE(mlir::isa<nn::BroadcastLikeOp>(graph.operations()[0]));
  for (mlir::Operation *op : graph.operations())
    EXPECT_EQ(sourceOf(op), 5);
  mlir::Value one = graph.scalar(graph.f32(), 1);
  EXPECT_FALSE(sourceOf(one.getDefiningOp()));
  EXPECT_EQ(graph.operations().size(), 2u);
  GraphBuilder other = node();
  other.op<nn::ReluOp>(rows);
  EXPECT_FALSE(sourceOf(other.operations()[0]));
}

TEST_F(GraphBuilderTest, KeepsTheFirstError) {
  GraphBuilder graph = node();
  mlir::Value wrong =
      graph.binary<stablehlo::AddOp>(row, graph.splat(graph.f32(), 0, {4}));
  EXPECT_FALSE(wrong);
  ASSERT_TRUE(graph.failed());
  EXPECT_EQ(graph.error()->kind, ErrorKind::InvalidModel);
  EXPECT_EQ(graph.error()->reason, "[3] and [4] do not broadcast together");
  // Null goes through, nothing is made, nothing else is complained of.
  EXPECT_FALSE(graph.op<nn::ReluOp>(wrong));
  EXPECT_FALSE(graph.op<nn::ReluOp>(row));
  graph.unsupported("something else");
  EXPECT_EQ(graph.error()->reason, "[3] and [4] do not broadcast together");
  EXPECT_TRUE(graph.operations().empty());
}

TEST_F(GraphBuilderTest, TellsWhatAVerifierSays) {
  GraphBuilder graph = node();
  int64_t twice[] = {0, 0};
  EXPECT_FALSE(graph.op<stablehlo::TransposeOp>(rows, twice));
  ASSERT_TRUE(graph.failed());
  EXPECT_NE(graph.error()->reason, "");
}

TEST_F(GraphBuilderTest, WaitsForSizes) {
  GraphBuilder graph = node();
  EXPECT_FALSE(graph.splat(graph.f32(), 0, {unknown}));
  ASSERT_TRUE(graph.failed());
  EXPECT_EQ(graph.error()->kind, ErrorKind::Unsupported);
  EXPECT_TRUE(graph.error()->waits);
}

TEST_F(GraphBuilderTest, RefusesWhatFitsNowhere) {
  GraphBuilder graph = node();
  mlir::Value one = graph.scalar(graph.f32(), 1);
  EXPECT_FALSE(
      graph.broadcastInDim(one, {int64_t(1) << 40, int64_t(1) << 40}, {}));
  EXPECT_TRUE(graph.failed());
}

TEST_F(GraphBuilderTest, FollowsSizes) {
  const int64_t n = known.symbolNamed("n");
  known.setSymbol(rows, 0, n);
  GraphBuilder graph = node();
  // [n, 3] -> sizes -> their product, and back to one of them.
  mlir::Value sizes = graph.extents(graph.dims(rows));
  auto elements = graph.knownElements(sizes);
  ASSERT_TRUE(elements);
  EXPECT_EQ((*elements)[0], Element::symbol(n));
  EXPECT_EQ((*elements)[1], Element::integer(3));
  mlir::Value index = graph.integers({-1});
  mlir::Value last =
      graph.op<nn::TakeOp>(sizes, index, static_cast<uint64_t>(0));
  EXPECT_EQ(graph.knownIntegers(last), Ints{3});
  mlir::Value flat = graph.reshape(rows, {graph.product(graph.dims(rows))});
  EXPECT_EQ(graph.type(flat).getRank(), 1);
  EXPECT_FALSE(graph.failed());
}

} // namespace
} // namespace sinter::formats
