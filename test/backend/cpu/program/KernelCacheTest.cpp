// The code of kernels that is kept from run to run.

#include "backend/cpu/program/KernelCache.h"

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/program/Compiler.h"
#include "runtime/ProgramExecutor.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

using namespace sinter;
namespace fs = std::filesystem;

namespace {

/// y = exp(x) * number, and the sums of its rows; the second model has one
/// kernel in common with the first.
std::string modelOf(const char *function, const char *number) {
  return std::string(
             R"((%x: tensor<8x40xf32>) -> (tensor<8x40xf32>, tensor<8xf32>) {
%n = stablehlo.constant dense<)") +
         number + R"(> : tensor<8x40xf32>
%z = stablehlo.constant dense<0.0> : tensor<f32>
%e = stablehlo.)" +
         function + R"( %x : tensor<8x40xf32>
%y = stablehlo.multiply %e, %n : tensor<8x40xf32>
%s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
  : (tensor<8x40xf32>, tensor<f32>) -> tensor<8xf32>
return %y, %s : tensor<8x40xf32>, tensor<8xf32> })";
}

class KernelCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(::testing::TempDir()) /
             ("kernels-" + std::to_string(::getpid()));
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Compiles and runs \p text; how many kernels were not there before.
  size_t stored(const std::string &text, const char *compiler = "a") {
    cpu::CpuOptions options;
    options.threads = 1;
    options.kernelFolder = folder;
    options.compiler = compiler;
    const size_t before = kept().size();
    Result<Program> program =
        cpu::compileForCpu(test::parseModel(text), options);
    EXPECT_TRUE(program) << program.error().message();
    EXPECT_EQ(program->kernels.size(), 2u);
    auto executor =
        ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                                std::make_shared<ThreadPool>(1));
    EXPECT_TRUE(executor) << executor.error().message();
    const Tensor x(ElementType::F32, {8, 40});
    auto results = (*executor)->run(std::span(&x, 1));
    EXPECT_TRUE(results);
    // The input is zeros.
    EXPECT_EQ((*results)[1].toDouble(7), 0.0);
    lastValue = (*results)[0].toDouble(3);
    return kept().size() - before;
  }

  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    if (fs::is_directory(folder))
      for (const auto &entry : fs::directory_iterator(folder))
        files.push_back(entry.path());
    return files;
  }

  std::map<fs::path, std::string> contents() const {
    std::map<fs::path, std::string> all;
    for (const fs::path &path : kept()) {
      std::ifstream file(path, std::ios::binary);
      all[path].assign(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }

  fs::path folder;
  double lastValue = 0;
};

} // namespace

TEST_F(KernelCacheTest, FindsWhatItKept) {
  EXPECT_EQ(stored(modelOf("exponential", "0.5")), 2u);
  EXPECT_EQ(lastValue, 0.5);
  EXPECT_EQ(stored(modelOf("exponential", "0.5")), 0u);
  EXPECT_EQ(lastValue, 0.5);
}

TEST_F(KernelCacheTest, AnotherModelFindsWhatTheyShare) {
  stored(modelOf("exponential", "0.5"));
  EXPECT_EQ(stored(modelOf("cosine", "0.5")), 1u);
  EXPECT_EQ(lastValue, 0.5);
  EXPECT_EQ(stored(modelOf("exponential", "0.25")), 1u);
  EXPECT_EQ(lastValue, 0.25);
}

TEST_F(KernelCacheTest, AnotherCompilerFindsNothing) {
  stored(modelOf("exponential", "0.5"), "a");
  EXPECT_EQ(stored(modelOf("exponential", "0.5"), "b"), 2u);
}

TEST_F(KernelCacheTest, WhatIsDamagedIsMadeAnew) {
  stored(modelOf("exponential", "0.5"));
  const std::map<fs::path, std::string> whole = contents();
  for (const size_t place : {size_t(0), size_t(9), size_t(21), size_t(400)}) {
    for (auto [path, bytes] : whole) {
      ASSERT_GT(bytes.size(), place);
      bytes[place] = static_cast<char>(bytes[place] ^ 0x55);
      std::ofstream(path, std::ios::binary) << bytes;
    }
    EXPECT_EQ(stored(modelOf("exponential", "0.5")), 0u);
    EXPECT_EQ(lastValue, 0.5);
    EXPECT_TRUE(contents() == whole) << place;
  }
  for (const fs::path &path : kept())
    fs::resize_file(path, fs::file_size(path) - 1);
  stored(modelOf("exponential", "0.5"));
  EXPECT_EQ(lastValue, 0.5);
  EXPECT_TRUE(contents() == whole);
}

TEST_F(KernelCacheTest, LookupSaysWhatIsThere) {
  const Result<cpu::Target> target = cpu::Target::host();
  ASSERT_TRUE(target);
  const cpu::KernelCache cache(folder, "a", *target);
  const Hash128 key = cache.keyOf("text");
  EXPECT_FALSE(cache.lookup(key, 1));
  cpu::KernelCode kernel;
  kernel.object = {'x', 'y'};
  kernel.features = {"amx-tile"};
  kernel.contracts = {{7, {{64, 32, true}, {8, 64, false}}}};
  cache.store(key, kernel);
  auto found = cache.lookup(key, 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, kernel.object);
  EXPECT_EQ(found->contracts, kernel.contracts);
  EXPECT_EQ(found->features, kernel.features);
  EXPECT_FALSE(cache.lookup(key, 2));
  EXPECT_FALSE(cache.lookup(cache.keyOf("other"), 1));
  cpu::Target other = *target;
  other.l2Bytes *= 2;
  EXPECT_NE(cpu::KernelCache(folder, "a", other).keyOf("text"), key);
  const cpu::KernelCache none("", "a", *target);
  none.store(key, kernel);
  EXPECT_FALSE(none.lookup(key, 1));
}

TEST_F(KernelCacheTest, AFolderThatCannotBeMadeIsNoError) {
  std::ofstream(folder) << "a file";
  EXPECT_EQ(stored(modelOf("exponential", "0.5")), 0u);
  EXPECT_EQ(lastValue, 0.5);
}
