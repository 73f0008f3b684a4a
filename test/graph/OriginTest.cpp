#include "graph/Origin.h"

#include "graph/Model.h"
#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace sinter {
namespace {

TEST(Origin, IsTheFirstName) {
  auto context = makeContext();
  Builder builder(context.get());
  const Location unknown = builder.getUnknownLoc();
  const Location conv = NameLoc::get(builder.getStringAttr("conv"));
  const Location relu = NameLoc::get(builder.getStringAttr("relu"));
  EXPECT_EQ(originOf(unknown), "");
  EXPECT_EQ(originOf(conv), "conv");
  EXPECT_EQ(originOf(Location(FusedLoc::get(context.get(), {conv, relu}))),
            "conv");
  EXPECT_EQ(originOf(Location(CallSiteLoc::get(relu, conv))), "relu");
}

TEST(Origin, OfAnOperationWithoutOneIsItsName) {
  auto context = makeContext();
  OpBuilder builder(context.get());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  EXPECT_EQ(originOf(module->getOperation()), "module");
  module->getOperation()->setLoc(NameLoc::get(builder.getStringAttr("net")));
  EXPECT_EQ(originOf(module->getOperation()), "net");
}

} // namespace
} // namespace sinter
