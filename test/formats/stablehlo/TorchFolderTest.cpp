//===- TorchFolderTest.cpp - programs as PyTorch/XLA saves them -----------===//

#include "formats/stablehlo/TorchFolder.h"

#include "TemporaryFolder.h"
#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/Npy.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

const char *const torchProgram = R"(
func.func @main(%bias: tensor<2xf32>, %x: tensor<2xf32>, %scale: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.multiply %x, %scale : tensor<2xf32>
  %1 = stablehlo.add %0, %bias : tensor<2xf32>
  return %1 : tensor<2xf32>
})";

const char *const meta = R"({"name": "forward", "stablehlo_version": "0.0.0",
  "input_signature": [], "output_signature": [],
  "input_locations": [
    {"type_": "parameter", "position": -1, "name": "fc.bias"},
    {"type_": "input_arg", "position": 0, "name": ""},
    {"type_": "constant", "position": 0, "name": ""}],
  "unused_inputs": []})";

class TorchFolder : public testing::Test {
protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    for (const char *name : {"functions", "data", "constants"})
      fs::create_directory(folder.file(name));
    folder.write("functions/forward.mlir", torchProgram);
    folder.write("functions/forward.meta", meta);
    write("data/fc.bias", {1, 2});
    write("constants/0", {3, 4});
  }
  void write(const std::string &name, std::vector<float> values) {
    const Shape shape = {static_cast<int64_t>(values.size())};
    ASSERT_TRUE(writeNpy(folder.file(name),
                         Tensor::of<float>(ElementType::F32, shape, values)));
  }
  void fails(const std::string &why) {
    auto model = readTorchFolder(folder.path());
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message().find(folder.path()), std::string::npos);
    EXPECT_NE(model.error().message().find(why), std::string::npos)
        << model.error().message();
  }

  test::TemporaryFolder folder;
};

TEST_F(TorchFolder, BindsWeightsByTheirNames) {
  ASSERT_TRUE(isStablehloFolder(folder.path()));
  auto model = readStablehlo(folder.path());
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->inputs()[0].name, "arg0");
  std::map<std::string, float> constants;
  model->module().walk([&](stablehlo::ConstantOp constant) {
    constants[constantName(constant).str()] =
        constantTensor(constant)->at<float>(1);
  });
  EXPECT_EQ(constants, (std::map<std::string, float>{{"fc.bias", 2.0f},
                                                     {"constant_0", 4.0f}}));
}

TEST_F(TorchFolder, PrefersTheArtifact) {
  auto model = readStablehlo(folder.file("functions/forward.mlir"));
  ASSERT_TRUE(model);
  ASSERT_TRUE(writeStablehlo(*model, folder.file("functions/forward.bytecode"),
                             StablehloForm::Artifact, "1.0.0"));
  folder.write("functions/forward.mlir", "no program");
  auto again = readTorchFolder(folder.path());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->inputs().size(), 1u);
}

TEST_F(TorchFolder, KeepsWeightsThatWereNotSavedAsArguments) {
  std::filesystem::remove_all(folder.file("data"));
  auto model = readTorchFolder(folder.path());
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->inputs().size(), 2u);
  EXPECT_EQ(model->inputs()[0].name, "fc.bias");
}

TEST_F(TorchFolder, TellsWhatIsWrong) {
  write("data/fc.bias", {1, 2, 3});
  fails("tensor<3xf32>, and the program wants tensor<2xf32>");
  std::filesystem::remove(folder.file("data/fc.bias"));
  fails("fc.bias");
  folder.write("functions/forward.meta", "{\"input_locations\": []}");
  fails("0 input_locations for 3 arguments");
  folder.write("functions/forward.meta", "[1");
  fails("no JSON");
  folder.write(
      "functions/forward.meta",
      R"({"input_locations": [{"type_": "parameter", "name": "../x"}]})");
  fails("input_locations[0]");
}

} // namespace
