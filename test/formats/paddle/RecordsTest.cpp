//===- RecordsTest.cpp - what is kept of a program to write it again ------===//

#include "formats/paddle/Records.h"
#include "formats/paddle/PaddleMessages.h"
#include "formats/paddle/PaddleReader.h"
#include "formats/paddle/WritePaddle.h"
#include "graph/Model.h"
#include "graph/nn/NnOps.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

/// \p count relus, one behind the other.
Result<Model> readChain(int count, const ReadOptions &options) {
  const auto name = [](int i) {
    return i == 0 ? std::string("x") : "t" + std::to_string(i);
  };
  std::vector<std::string> operators = {
      operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"x"}}}, intOf("col", 0))};
  std::string variables = sinter::test::variableOf("x", 7, 5, {-1, 4});
  for (int i = 0; i < count; ++i) {
    operators.push_back(
        operatorOf("relu", {{"X", {name(i)}}}, {{"Out", {name(i + 1)}}}, ""));
    variables += sinter::test::variableOf(name(i + 1), 7, 5, {-1, 4});
  }
  operators.push_back(operatorOf("fetch", {{"X", {name(count)}}},
                                 {{"Out", {"fetch"}}}, intOf("col", 0)));
  Result<PaddleFile> file = PaddleFile::fromMemory(
      programOf({blockOf(0, -1, operators, variables)}), "", "chain");
  if (!file)
    return file.takeError();
  return readPaddle(*file, options);
}

ReadOptions writingOptions() {
  ReadOptions options;
  options.keepsSource = true;
  return options;
}

} // namespace

TEST(PaddleRecords, AreKeptForThoseWhoWriteOnly) {
  ReadOptions options;
  options.keepsUnknown = true;
  Result<Model> looked = readChain(3, options);
  ASSERT_TRUE(looked) << looked.error().message();
  EXPECT_FALSE(looked->module()->hasAttr(programAttribute));
  EXPECT_FALSE(looked->module()->hasAttr(sourceRecordsAttribute));
  const auto none = keptProgram(looked->module());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  Result<Model> written = readChain(3, writingOptions());
  ASSERT_TRUE(written) << written.error().message();
  const auto program = keptProgram(written->module());
  ASSERT_TRUE(program && *program);
  EXPECT_EQ((*program)->blocks.front().operators.size(), 3u);
  EXPECT_TRUE(isUntouched(written->module()));
}

TEST(PaddleRecords, ThatAreBrokenAreAnError) {
  Result<Model> model = readChain(3, writingOptions());
  ASSERT_TRUE(model) << model.error().message();
  model->module()->setAttr(
      programAttribute, mlir::StringAttr::get(model->context(), "no program"));
  for (const auto &error :
       {keptProgram(model->module()).error(), toProgram(*model).error()}) {
    EXPECT_EQ(error.kind, ErrorKind::InvalidModel);
    EXPECT_NE(error.message().find("sinter.source.program"), std::string::npos)
        << error.message();
  }
}

/// The text that is hashed comes in several pieces here.
TEST(PaddleRecords, NoticeAChangeWhereverItIs) {
  constexpr int count = 150'000;
  Result<Model> model = readChain(count, writingOptions());
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_TRUE(isUntouched(model->module()));
  std::vector<mlir::Operation *> relus;
  model->module().walk([&](nn::ReluOp op) { relus.push_back(op); });
  ASSERT_EQ(relus.size(), size_t(count));
  for (size_t i : {0, 1, count / 2, count - 1}) {
    relus[i]->setAttr("changed", mlir::UnitAttr::get(model->context()));
    EXPECT_FALSE(isUntouched(model->module())) << i;
    relus[i]->removeAttr("changed");
    ASSERT_TRUE(isUntouched(model->module())) << i;
  }
}
