//===- SessionMemoryTest.cpp - what is closed leaves no memory behind -----===//

#include "sinter.h"

#include "Sanitizers.h"
#include "TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <malloc.h>
#include <string>
#include <unistd.h>

namespace {

const std::string product = R"(
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x64xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<16x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
)";

/// The resident memory of this process in MB, without what free() keeps.
double residentMegabytes() {
  ::malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1e6;
}

/// Opens the product, compiles it, runs it with a session and a binding, and
/// frees it all.
void openAndClose(const sinter_options *options) {
  sinter_model *model = nullptr;
  sinter_session *session = nullptr;
  sinter_binding *binding = nullptr;
  sinter_value *value = nullptr;
  ASSERT_EQ(sinter_model_open_memory(product.data(), product.size(), "p.mlir",
                                     nullptr, options, &model, nullptr),
            SINTER_OK);
  ASSERT_EQ(sinter_compile(model, options, &session, nullptr), SINTER_OK);
  float x[64] = {1};
  const int64_t shape[] = {4, 16};
  const sinter_tensor input = {sizeof(input), SINTER_F32, 2, shape, nullptr, x};
  sinter_tensor output = {};
  output.struct_size = sizeof(output);
  ASSERT_EQ(sinter_session_run(session, &input, 1, &output, 1, &value, nullptr,
                               nullptr),
            SINTER_OK);
  sinter_value_free(value);
  ASSERT_EQ(sinter_binding_new(session, &binding, nullptr), SINTER_OK);
  ASSERT_EQ(sinter_binding_set_input(binding, 0, &input, nullptr), SINTER_OK);
  ASSERT_EQ(sinter_binding_run(binding, nullptr, nullptr), SINTER_OK);
  ASSERT_EQ(sinter_binding_free(binding, nullptr), SINTER_OK);
  ASSERT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
  ASSERT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
}

/// By how many MB memory grows with \p count sessions after \p before of them.
double growthOf(int before, int count, const sinter_options *options) {
  for (int i = 0; i < before; ++i)
    openAndClose(options);
  const double resident = residentMegabytes();
  for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i)
    openAndClose(options);
  return residentMegabytes() - resident;
}

class SessionMemory : public testing::Test {
protected:
  void SetUp() override {
    SKIP_IF_FREED_MEMORY_IS_KEPT();
    ASSERT_EQ(sinter_options_new(&options, nullptr), SINTER_OK);
  }
  void TearDown() override { sinter_options_free(options, nullptr); }

  sinter_options *options = nullptr;
};

TEST_F(SessionMemory, SessionsOfTheCacheLeaveNothingBehind) {
  const sinter::test::TemporaryFolder cache;
  ASSERT_EQ(
      sinter_options_set(options, "cache-dir", cache.path().c_str(), nullptr),
      SINTER_OK);
  EXPECT_LT(growthOf(200, 9800, options), 1);
}

TEST_F(SessionMemory, CompiledSessionsLeaveNothingBehind) {
  ASSERT_EQ(sinter_options_set(options, "no-cache", "true", nullptr),
            SINTER_OK);
  EXPECT_LT(growthOf(10, 20, options), 1);
}

} // namespace
