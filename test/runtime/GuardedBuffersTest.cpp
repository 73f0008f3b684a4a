#include "runtime/GuardedBuffers.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace sinter;

namespace {

/// A kernel's call with a buffer to read and one to write, of \p bytes each.
struct Call {
  explicit Call(size_t bytes)
      : input(bytes, 'i'), output(bytes, 'o'),
        contract{1, {{bytes, 64, false}, {bytes, 64, true}}} {}

  Result<void> run(const std::function<void(char *, char *)> &kernel) {
    void *const buffers[] = {input.data(), output.data()};
    return callGuarded(contract, buffers, [&](void *const *copies) {
      kernel(static_cast<char *>(copies[0]), static_cast<char *>(copies[1]));
    });
  }

  std::vector<char> input, output;
  KernelContract contract;
};

} // namespace

TEST(GuardedBuffers, WhatIsWrittenComesBack) {
  for (const size_t bytes : {0, 1, 64, 100, 4096, 5000}) {
    Call call(bytes);
    ASSERT_TRUE(call.run([&](char *in, char *out) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(in) % 64, 0u);
      EXPECT_TRUE(std::all_of(in, in + bytes, [](char c) { return c == 'i'; }));
      EXPECT_TRUE(
          std::all_of(out, out + bytes, [](char c) { return c == 'o'; }));
      std::memset(out, 'x', bytes);
    }));
    EXPECT_EQ(call.output, std::vector<char>(bytes, 'x'));
    EXPECT_EQ(call.input, std::vector<char>(bytes, 'i'));
  }
}

TEST(GuardedBuffers, WritingBesideIsFound) {
  Call call(100);
  Result<void> after = call.run([](char *, char *out) { out[100] = 1; });
  ASSERT_FALSE(after);
  EXPECT_NE(after.error().message().find("beside its buffer 1 of 100 bytes"),
            std::string::npos);
  EXPECT_FALSE(call.run([](char *, char *out) { out[-1] = 1; }));
  EXPECT_FALSE(call.run([](char *in, char *) { in[127] = 1; }));
}

TEST(GuardedBuffers, WritingToWhatIsReadIsFound) {
  Call call(100);
  Result<void> done = call.run([](char *in, char *) { in[3] = 1; });
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("buffer 0, which it only reads"),
            std::string::npos);
}

TEST(GuardedBuffersDeathTest, ThePageBehindMayNotBeTouched) {
  Call call(128);
  EXPECT_DEATH((void)call.run([](char *in, char *out) { out[0] = in[128]; }),
               "");
  EXPECT_DEATH((void)call.run([](char *, char *out) { out[128] = 1; }), "");
  EXPECT_DEATH((void)call.run([](char *in, char *out) { out[0] = in[-4096]; }),
               "");
}
