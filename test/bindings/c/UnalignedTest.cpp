//===- UnalignedTest.cpp - caller's memory at any address -----------------===//
//
// Memory that is aligned as its elements are, and no more, is used as it is.
// The allocator tells: what would be copied would be allocated.
//
// Covers: bindings/c Binding
// Covers: runtime CallerBuffers ProgramExecutorBuffers
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace {

using sinter::test::sized;

/// How models use memory: by elements, by vectors, by rows and by windows.
struct Case {
  const char *name, *text;
  /// The sizes of x and y for N, of f32.
  std::vector<int64_t> (*input)(int64_t n), (*output)(int64_t n);
};

const Case cases[] = {
    {"elementwise", R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.tanh %x : tensor<?xf32>
  %1 = stablehlo.add %0, %x : tensor<?xf32>
  return %1 : tensor<?xf32>
})",
     [](int64_t n) { return std::vector<int64_t>{n}; },
     [](int64_t n) { return std::vector<int64_t>{n}; }},
    {"reduce", R"(
func.func @main(%x: tensor<3x?xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
})",
     [](int64_t n) { return std::vector<int64_t>{3, n}; },
     [](int64_t) { return std::vector<int64_t>{3}; }},
    {"matmul", R"(
func.func @main(%x: tensor<?x33xf32>) -> tensor<?x17xf32> {
  %w = stablehlo.constant dense<0.375> : tensor<33x17xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x33xf32>, tensor<33x17xf32>) -> tensor<?x17xf32>
  return %0 : tensor<?x17xf32>
})",
     [](int64_t n) { return std::vector<int64_t>{n, 33}; },
     [](int64_t n) { return std::vector<int64_t>{n, 17}; }},
    {"convolution", R"(
func.func @main(%x: tensor<?x3x9x9xf32>) -> tensor<?x16x9x9xf32> {
  %w = stablehlo.constant dense<0.25> : tensor<16x3x3x3xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x3x9x9xf32>, tensor<16x3x3x3xf32>) -> tensor<?x16x9x9xf32>
  return %0 : tensor<?x16x9x9xf32>
})",
     [](int64_t n) { return std::vector<int64_t>{n, 3, 9, 9}; },
     [](int64_t n) { return std::vector<int64_t>{n, 16, 9, 9}; }}};

size_t countOf(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<size_t>(size);
  return count;
}

/// Memory that begins OFFSET bytes after a multiple of 64.
class Place {
public:
  Place(const std::vector<int64_t> &shape, size_t offset)
      : shape(shape), bytes(countOf(shape) * sizeof(float)),
        block(static_cast<char *>(
            std::aligned_alloc(64, (bytes + offset) / 64 * 64 + 128))),
        begin(block + offset) {}
  Place(const Place &) = delete;
  ~Place() { std::free(block); }

  void fill() {
    for (size_t i = 0; i < bytes / sizeof(float); ++i) {
      const float value = std::sin(static_cast<float>(i) + 1);
      std::memcpy(begin + i * sizeof(float), &value, sizeof(value));
    }
  }
  std::string content() const { return {begin, bytes}; }

  sinter_tensor tensor() const {
    auto all = sized<sinter_tensor>();
    all.type = SINTER_F32;
    all.rank = static_cast<int32_t>(shape.size());
    all.shape = shape.data();
    all.data = begin;
    return all;
  }

private:
  std::vector<int64_t> shape;
  size_t bytes;
  char *block, *begin;
};

class CUnaligned : public sinter::test::InterfaceFixture {
protected:
  void SetUp() override {
    InterfaceFixture::SetUp();
    auto allocator = sized<sinter_allocator>();
    allocator.user = &allocations;
    allocator.allocate = [](void *user, size_t size, size_t alignment) {
      ++*static_cast<std::atomic<int> *>(user);
      return std::aligned_alloc(alignment,
                                (size + alignment - 1) / alignment * alignment);
    };
    allocator.release = [](void *, void *memory, size_t, size_t) {
      std::free(memory);
    };
    SINTER_ASSERT_OK(sinter_options_set_allocator(options, &allocator, &error));
  }

  void close() {
    ASSERT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    ASSERT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    session = nullptr;
    model = nullptr;
  }

  /// Runs \p of on an input and an output at these offsets; what it wrote.
  std::string run(const Case &of, int64_t n, size_t in, size_t out,
                  bool isCopied) {
    Place x(of.input(n), in), y(of.output(n), out);
    x.fill();
    sinter_binding *binding = nullptr;
    const sinter_tensor input = x.tensor(), output = y.tensor();
    EXPECT_EQ(sinter_binding_new(session, &binding, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_binding_set_input(binding, 0, &input, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_binding_set_output(binding, 0, &output, nullptr),
              SINTER_OK);
    EXPECT_EQ(sinter_binding_copies_input(binding, 0) != 0, isCopied);
    EXPECT_EQ(sinter_binding_copies_output(binding, 0) != 0, isCopied);
    EXPECT_EQ(sinter_binding_run(binding, nullptr, nullptr), SINTER_OK);
    // Temporaries are there now; a copy would be made anew where it is needed.
    const int before = allocations;
    EXPECT_EQ(sinter_binding_run(binding, nullptr, nullptr), SINTER_OK);
    if (!isCopied)
      EXPECT_EQ(allocations, before);
    EXPECT_EQ(sinter_binding_free(binding, nullptr), SINTER_OK);
    return y.content();
  }

  /// The allocations of the first run of a binding, which makes copies once.
  int allocationsOf(const Case &of, int64_t n, size_t in, size_t out) {
    const int before = allocations;
    run(of, n, in, out, false);
    return allocations - before;
  }

  std::atomic<int> allocations = 0;
};

TEST_F(CUnaligned, HasTheSameBitsWithoutACopy) {
  for (const Case &of : cases) {
    SCOPED_TRACE(of.name);
    open(of.text);
    compile();
    for (int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127}) {
      SCOPED_TRACE(n);
      const std::string expected = run(of, n, 0, 0, false);
      const int needed = allocationsOf(of, n, 0, 0);
      for (size_t offset : {4, 12, 32, 60}) {
        SCOPED_TRACE(offset);
        EXPECT_EQ(run(of, n, offset, 0, false), expected);
        EXPECT_EQ(run(of, n, 0, offset, false), expected);
        EXPECT_EQ(run(of, n, offset, 64 - offset, false), expected);
        EXPECT_EQ(allocationsOf(of, n, offset, offset), needed);
      }
    }
    close();
  }
}

TEST_F(CUnaligned, OddAddressesAreCopiedAndHaveTheSameBits) {
  for (const Case &of : cases) {
    SCOPED_TRACE(of.name);
    open(of.text);
    compile();
    for (int64_t n : {1, 5, 16, 33}) {
      const std::string expected = run(of, n, 0, 0, false);
      for (size_t offset : {1, 2, 3, 63})
        EXPECT_EQ(run(of, n, offset, offset, true), expected) << n;
    }
    close();
  }
}

} // namespace
