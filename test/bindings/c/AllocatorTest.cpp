//===- AllocatorTest.cpp - sessions in memory of the caller ---------------===//
//
// Covers: bindings/c HostAllocator
// Covers: runtime Allocator Arena ProgramExecutorBuffers
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>

namespace {

using sinter::test::sized, sinter::test::tensor;

/// Two layers, so that there are temporaries, and a state.
const std::string layers = R"(
func.func @main(%x: tensor<?x64xf32> {sinter.name = "x"}, %s: tensor<64xf32> {sinter.state = "s", sinter.initial = dense<1.0> : tensor<64xf32>})
    -> (tensor<?x64xf32>, tensor<64xf32> {sinter.state = "s"}) {
  %w = stablehlo.constant dense<0.125> : tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %1 = stablehlo.tanh %0 : tensor<?x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %3 = chlo.broadcast_add %2, %s : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %4 = stablehlo.add %s, %s : tensor<64xf32>
  return %3, %4 : tensor<?x64xf32>, tensor<64xf32>
}
)";

/// Counts what it gives, and refuses from a number of bytes on.
struct Memory {
  struct Block {
    size_t size, alignment;
  };
  std::mutex mutex = {};
  std::map<void *, Block> blocks = {};
  size_t most = SIZE_MAX, shift = 0;
  int given = 0, wrong = 0;

  static void *allocate(void *user, size_t size, size_t alignment) {
    auto &memory = *static_cast<Memory *>(user);
    const std::lock_guard lock(memory.mutex);
    memory.wrong += size == 0 || alignment == 0 ||
                    (alignment & (alignment - 1)) != 0 || alignment > 4096;
    if (size > memory.most)
      return nullptr;
    ++memory.given;
    const size_t whole = (size + alignment - 1) / alignment * alignment;
    auto *block = static_cast<char *>(
        std::aligned_alloc(alignment, whole + (memory.shift ? alignment : 0)));
    // What is not zero was never zeroed.
    std::fill(block, block + whole, char(0x7f));
    memory.blocks[block + memory.shift] = {size, alignment};
    return block + memory.shift;
  }

  static void release(void *user, void *block, size_t size, size_t alignment) {
    auto &memory = *static_cast<Memory *>(user);
    const std::lock_guard lock(memory.mutex);
    const auto found = memory.blocks.find(block);
    if (found == memory.blocks.end() || found->second.size != size ||
        found->second.alignment != alignment) {
      ++memory.wrong;
      return;
    }
    memory.blocks.erase(found);
    std::free(static_cast<char *>(block) - memory.shift);
  }

  bool has(const void *address) {
    const std::lock_guard lock(mutex);
    return blocks.contains(const_cast<void *>(address));
  }

  sinter_allocator allocator() {
    auto all = sized<sinter_allocator>();
    all.user = this;
    all.allocate = allocate;
    all.release = release;
    return all;
  }
};

class CAllocator : public sinter::test::InterfaceFixture {
protected:
  void TearDown() override {
    InterfaceFixture::TearDown();
    EXPECT_TRUE(memory.blocks.empty());
    EXPECT_EQ(memory.wrong, 0);
  }

  void use() {
    const sinter_allocator all = memory.allocator();
    SINTER_ASSERT_OK(sinter_options_set_allocator(options, &all, &error));
  }

  sinter_status run(int64_t count, sinter_value **value, sinter_tensor &output,
                    sinter_error **error) {
    x.assign(static_cast<size_t>(count) * 64, 0);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(static_cast<float>(i));
    shape = {count, 64};
    const sinter_tensor input = tensor(x, shape);
    output = sized<sinter_tensor>();
    return sinter_session_run(session, &input, 1, &output, 1, value, nullptr,
                              error);
  }

  Memory memory;
  std::vector<float> x;
  std::vector<int64_t> shape;
};

TEST_F(CAllocator, ResultsAndTemporariesAreInIt) {
  open(layers);
  std::vector<std::vector<float>> results;
  for (const bool isOurs : {false, true}) {
    if (isOurs)
      use();
    compile();
    for (int64_t count : {3, 100, 7}) {
      sinter_value *value = nullptr;
      sinter_tensor output;
      SINTER_ASSERT_OK(run(count, &value, output, &error));
      EXPECT_EQ(memory.has(output.data), isOurs);
      const auto *y = static_cast<const float *>(output.data);
      results.emplace_back(y, y + count * 64);
      sinter_value_free(value);
    }
    ASSERT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    session = nullptr;
  }
  ASSERT_EQ(results.size(), 6U);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(results[i], results[i + 3]);
  // Results of three sizes, a state and temporaries.
  EXPECT_GE(memory.given, 5);
}

TEST_F(CAllocator, AValueOutlivesItsSession) {
  use();
  open(layers);
  compile();
  sinter_value *value = nullptr;
  sinter_tensor output;
  SINTER_ASSERT_OK(run(2, &value, output, &error));
  ASSERT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
  session = nullptr;
  EXPECT_EQ(memory.blocks.size(), 1U);
  EXPECT_TRUE(memory.has(output.data));
  sinter_value_free(value);
}

TEST_F(CAllocator, AFreedResultIsUsedAgain) {
  use();
  open(layers);
  compile();
  const auto once = [&](const void *&data) {
    sinter_value *value = nullptr;
    sinter_tensor output;
    SINTER_ASSERT_OK(run(5, &value, output, &error));
    data = output.data;
    sinter_value_free(value);
  };
  const void *first = nullptr, *second = nullptr;
  once(first);
  const int given = memory.given;
  once(second);
  EXPECT_EQ(first, second);
  EXPECT_EQ(memory.given, given);
}

TEST_F(CAllocator, WhatIsHeldIsNotWrittenAgain) {
  use();
  open(layers);
  compile();
  sinter_value *values[3] = {};
  sinter_tensor outputs[3];
  float first[3] = {};
  for (int i = 0; i < 3; ++i) {
    SINTER_ASSERT_OK(run(5, &values[i], outputs[i], &error));
    first[i] = *static_cast<const float *>(outputs[i].data);
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(*static_cast<const float *>(outputs[i].data), first[i]);
  EXPECT_NE(first[0], first[1]);
  for (sinter_value *each : values)
    sinter_value_free(each);
}

TEST_F(CAllocator, TheInterpretersResultsAreInItToo) {
  use();
  open(layers);
  SINTER_ASSERT_OK(
      sinter_options_set(options, "backend", "interpreter", &error));
  compile();
  sinter_value *value = nullptr;
  sinter_tensor output;
  SINTER_ASSERT_OK(run(2, &value, output, &error));
  EXPECT_TRUE(memory.has(output.data));
  sinter_value_free(value);
}

TEST_F(CAllocator, ABindingsOwnOutputsAreInIt) {
  use();
  open(layers);
  compile();
  sinter_binding *binding = nullptr;
  SINTER_ASSERT_OK(sinter_binding_new(session, &binding, &error));
  x.assign(4 * 64, 0.5F);
  shape = {4, 64};
  const sinter_tensor input = tensor(x, shape);
  SINTER_ASSERT_OK(sinter_binding_set_input(binding, 0, &input, &error));
  SINTER_ASSERT_OK(sinter_binding_run(binding, nullptr, &error));
  auto output = sized<sinter_tensor>();
  SINTER_ASSERT_OK(sinter_binding_output(binding, 0, &output, &error));
  EXPECT_TRUE(memory.has(output.data));
  SINTER_ASSERT_OK(sinter_binding_free(binding, &error));
}

TEST_F(CAllocator, WithoutMemoryACallFailsAndTheNextWorks) {
  use();
  open(layers);
  compile();
  sinter_value *value = nullptr;
  sinter_tensor output;
  memory.most = 1000;
  SINTER_EXPECT_REFUSED(SINTER_SYSTEM, "bytes",
                        run(1000, &value, output, &error));
  EXPECT_EQ(value, nullptr);
  memory.most = SIZE_MAX;
  SINTER_ASSERT_OK(run(1000, &value, output, &error));
  sinter_value_free(value);
}

TEST_F(CAllocator, WithoutMemoryForStatesNothingIsCompiled) {
  use();
  open(layers);
  memory.most = 0;
  SINTER_ASSERT_OK(sinter_options_set(options, "shape", "x:4x64", &error));
  SINTER_EXPECT_REFUSED(SINTER_SYSTEM, "bytes",
                        sinter_compile(model, options, &session, &error));
  EXPECT_EQ(session, nullptr);
}

TEST_F(CAllocator, MemoryOfWrongAlignmentIsAnError) {
  use();
  open(layers);
  memory.shift = 16;
  SINTER_ASSERT_OK(sinter_options_set(options, "shape", "x:4x64", &error));
  SINTER_EXPECT_REFUSED(SINTER_SYSTEM, "not aligned to",
                        sinter_compile(model, options, &session, &error));
}

TEST_F(CAllocator, WrongArgumentsAreRefused) {
  sinter_allocator all = memory.allocator();
  all.allocate = nullptr;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "allocator.allocate is NULL",
                        sinter_options_set_allocator(options, &all, &error));
  all = memory.allocator();
  all.release = nullptr;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "allocator.release is NULL",
                        sinter_options_set_allocator(options, &all, &error));
  all = memory.allocator();
  all.struct_size = 4;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "struct_size",
                        sinter_options_set_allocator(options, &all, &error));
  all.struct_size = sizeof(all) + 8;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "newer",
                        sinter_options_set_allocator(options, &all, &error));
  SINTER_ASSERT_OK(sinter_options_set_allocator(options, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "options is NULL",
                        sinter_options_set_allocator(nullptr, &all, &error));
}

} // namespace
