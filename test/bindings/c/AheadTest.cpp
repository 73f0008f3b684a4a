//===- AheadTest.cpp - models compiled to files by programs ---------------===//
//
// Covers: bindings/c Ahead
// Covers: interface AheadOfTime
//
//===----------------------------------------------------------------------===//

#include "sinter.h"
#include "sinter.hpp"

#include "../../TemporaryFolder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <dlfcn.h>
#include <string>

namespace {

const std::string tanhOfX = R"(
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x"}) -> tensor<?x3xf32> {
  %y = stablehlo.tanh %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})";

class CAhead : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sinter_options_new(&options, nullptr), SINTER_OK);
    ASSERT_EQ(sinter_model_open_memory(tanhOfX.data(), tanhOfX.size(),
                                       "some-net.mlir", nullptr, nullptr,
                                       &model, nullptr),
              SINTER_OK);
  }

  void TearDown() override {
    sinter_string_free(report);
    sinter_error_free(error);
    EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(options, nullptr), SINTER_OK);
  }

  void set(const char *name, const char *value) {
    ASSERT_EQ(sinter_options_set(options, name, value, nullptr), SINTER_OK);
  }

  /// Expects that compiling to \p output fails so.
  void expectError(const std::string &output, sinter_status status,
                   const std::string &mentioned) {
    EXPECT_EQ(sinter_model_compile_to(model, output.c_str(), options, &report,
                                      &error),
              status);
    EXPECT_NE(std::string(sinter_error_message(error)).find(mentioned),
              std::string::npos)
        << sinter_error_message(error);
    EXPECT_EQ(report, nullptr);
    sinter_error_free(error);
    error = nullptr;
  }

  sinter::test::TemporaryFolder folder;
  sinter_model *model = nullptr;
  sinter_options *options = nullptr;
  char *report = nullptr;
  sinter_error *error = nullptr;
};

} // namespace

TEST_F(CAhead, MakesAFolder) {
  set("shape", "x:2x3");
  set("parallel", "true");
  const std::string output = folder.file("net");
  ASSERT_EQ(
      sinter_model_compile_to(model, output.c_str(), options, &report, &error),
      SINTER_OK)
      << sinter_error_message(error);
  const nlohmann::json made = nlohmann::json::parse(report);
  EXPECT_EQ(made["name"], "some_net");
  EXPECT_EQ(made["model"], "some-net.mlir");
  EXPECT_EQ(made["parallel"], true);
  EXPECT_EQ(made["inputs"][0]["shape"], nlohmann::json({2, 3}));
  EXPECT_EQ(made["files"].size(), 5u);
  for (const auto &file : made["files"])
    EXPECT_TRUE(std::filesystem::exists(file.get<std::string>())) << file;
  // Not again, unless it may.
  sinter_string_free(report);
  report = nullptr;
  expectError(output, SINTER_USAGE, "exists");
  set("force", "true");
  EXPECT_EQ(
      sinter_model_compile_to(model, output.c_str(), options, nullptr, &error),
      SINTER_OK);
}

TEST_F(CAhead, RefusesWhatItCannotMake) {
  expectError(folder.file("net.exe"), SINTER_USAGE, ".exe");
  set("shape", "x:2x3");
  set("target", "no-such-machine");
  expectError(folder.file("net.o"), SINTER_USAGE, "no-such-machine");
  set("name", "1net");
  expectError(folder.file("net.o"), SINTER_USAGE, "1net");
  set("labels", "none.txt");
  expectError(folder.file("net.o"), SINTER_USAGE, "labels");
  EXPECT_EQ(sinter_model_compile_to(model, nullptr, options, &report, &error),
            SINTER_USAGE);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(CAhead, LibrariesAreLoaded) {
  auto opened = sinter::Model::openMemory(std::as_bytes(std::span(tanhOfX)),
                                          "net.mlir", "", {{"shape", "x:2x3"}});
  ASSERT_TRUE(opened) << opened.error().message();
  const std::string path = folder.file("net.so");
  auto made = opened->compileTo(path, {{"name", "net"}});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(nlohmann::json::parse(*made)["functions"]["run"], "net_run");
  void *library = ::dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  using Run = int(const void *const *, void *const *, void *, void *);
  auto *run = reinterpret_cast<Run *>(::dlsym(library, "net_run"));
  ASSERT_NE(run, nullptr);
  const float x[6] = {0, 100, -100, 0, 0, 0};
  float y[6] = {9, 9, 9, 9, 9, 9};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  EXPECT_EQ(run(inputs, outputs, nullptr, nullptr), 0);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], -1);
  ::dlclose(library);
  EXPECT_FALSE(opened->compileTo(path));
}
