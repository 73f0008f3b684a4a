//===- MatrixUnitsTest.cpp - permission to use the matrix units -----------===//

#include "runtime/MatrixUnits.h"

#include "runtime/CpuFeatures.h"

#include <gtest/gtest.h>

#if defined(__x86_64__) && defined(__linux__)

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <immintrin.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace sinter;

namespace {

bool hasTiles() {
  return std::ranges::binary_search(hostCpuFeatures(), "amx-int8");
}

/// What a test says that cannot be done here.
#define SKIP_WITHOUT_TILES()                                                   \
  if (!hasTiles())                                                             \
  GTEST_SKIP() << "there are no matrix units here"                             \
               << (whyNoTiles().empty() ? "" : ": " + whyNoTiles())

/// Intel SDM volume 1, 18.3.1: the shape of each tile.
struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0;
  std::array<uint8_t, 14> reserved = {};
  std::array<uint16_t, 16> bytesOfRow = {};
  std::array<uint8_t, 16> rows = {};
};

/// Two bytes by two bytes, 16 sums of 16 products of 64 each, \p between the
/// tiles are loaded and multiplied. Whether they are right.
__attribute__((target("amx-tile,amx-int8"))) bool
multipliesTiles(const std::function<void()> &between = [] {}) {
  alignas(64) std::array<int8_t, 1024> lhs, rhs;
  alignas(64) std::array<int32_t, 256> sums = {};
  for (int i = 0; i < 1024; ++i) {
    lhs[i] = static_cast<int8_t>(i * 7 % 11 - 5);
    rhs[i] = static_cast<int8_t>(i * 5 % 13 - 6);
  }
  TileShapes shapes;
  for (int tile = 0; tile < 3; ++tile) {
    shapes.bytesOfRow[tile] = 64;
    shapes.rows[tile] = 16;
  }
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_loadd(1, lhs.data(), 64);
  _tile_loadd(2, rhs.data(), 64);
  between();
  _tile_dpbssd(0, 1, 2);
  _tile_stored(0, sums.data(), 64);
  _tile_release();
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      int32_t expected = 0;
      for (int k = 0; k < 64; ++k)
        expected += lhs[row * 64 + k] * rhs[k / 4 * 64 + column * 4 + k % 4];
      if (sums[row * 16 + column] != expected)
        return false;
    }
  return true;
}

/// The exit code of a child in which \p work says whether all is well.
int inChild(const std::function<bool()> &work) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(work() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// An alternate signal stack for the thread, while it lives.
class SignalStack {
public:
  explicit SignalStack(size_t bytes) : memory(bytes) {
    stack_t stack = {};
    stack.ss_sp = memory.data();
    stack.ss_size = bytes;
    isSet = ::sigaltstack(&stack, nullptr) == 0;
  }
  SignalStack(const SignalStack &) = delete;
  ~SignalStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  bool isSet = false;

private:
  std::vector<char> memory;
};

/// What a signal's frame takes at most, every state of the processor included.
size_t leastSignalStack() { return ::getauxval(AT_MINSIGSTKSZ); }

int handled = 0;
/// Multiplies itself, so that what was interrupted must be put back.
void handle(int) { handled += multipliesTiles(); }

bool raisesOnOwnStack() {
  const SignalStack stack(leastSignalStack() + (16 << 10));
  struct sigaction action = {}, before = {};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGUSR1, &action, &before);
  handled = 0;
  const bool isRight =
      stack.isSet && multipliesTiles([] { ::raise(SIGUSR1); }) && handled == 1;
  ::sigaction(SIGUSR1, &before, nullptr);
  return isRight;
}

} // namespace

TEST(MatrixUnits, AreFeaturesWhereTheyMayBeUsed) {
  const bool mayUse = errorOfTilePermission() == 0;
  EXPECT_EQ(mayUse, whyNoTiles().empty());
  if (!mayUse) {
    EXPECT_FALSE(hasTiles());
  }
  EXPECT_TRUE(isMatrixFeature("amx-bf16"));
  EXPECT_FALSE(isMatrixFeature("avx512bf16"));
}

TEST(MatrixUnits, Multiply) {
  SKIP_WITHOUT_TILES();
  EXPECT_TRUE(multipliesTiles());
}

TEST(MatrixUnits, MultiplyOnThreadsOfAnyOrigin) {
  SKIP_WITHOUT_TILES();
  bool ofLibrary = false, ofSystem = false, ofThread = false;
  std::thread([&] {
    ofLibrary = multipliesTiles();
    std::thread([&] { ofThread = multipliesTiles(); }).join();
  }).join();
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  ASSERT_EQ(::pthread_create(
                &thread, &attributes,
                [](void *result) -> void * {
                  *static_cast<bool *>(result) = multipliesTiles();
                  return nullptr;
                },
                &ofSystem),
            0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  EXPECT_TRUE(ofLibrary && ofThread && ofSystem);
}

TEST(MatrixUnits, MultiplyInForkedProcesses) {
  SKIP_WITHOUT_TILES();
  EXPECT_EQ(inChild([] { return multipliesTiles(); }), 0);
  EXPECT_EQ(inChild([] {
              bool isRight = false;
              std::thread([&] { isRight = multipliesTiles(); }).join();
              return isRight && inChild([] { return multipliesTiles(); }) == 0;
            }),
            0);
  // Tiles that are loaded are the child's, too.
  EXPECT_TRUE(multipliesTiles(
      [] { EXPECT_EQ(inChild([] { return multipliesTiles(); }), 0); }));
}

TEST(MatrixUnits, SurviveSignals) {
  SKIP_WITHOUT_TILES();
  EXPECT_TRUE(raisesOnOwnStack());
  bool isRight = false;
  std::thread([&] { isRight = raisesOnOwnStack(); }).join();
  EXPECT_TRUE(isRight);
}

TEST(MatrixUnits, LetNoSmallSignalStackBeSetUp) {
  SKIP_WITHOUT_TILES();
  EXPECT_FALSE(SignalStack(leastSignalStack() - (4 << 10)).isSet);
}

/// In a process that has not asked: run by the test below.
TEST(MatrixUnits, DISABLED_AreRefusedBesideSmallSignalStacks) {
  const SignalStack stack(leastSignalStack() - (4 << 10));
  ASSERT_TRUE(stack.isSet);
  EXPECT_EQ(errorOfTilePermission(), ENOSPC);
  EXPECT_FALSE(hasTiles());
  const std::vector<std::string> needed = {"amx-tile"};
  const Result<void> fits = checkHost("x86_64-unknown-linux-gnu", needed);
  ASSERT_FALSE(fits);
  EXPECT_NE(fits.error().message().find("amx-tile"), std::string::npos);
  EXPECT_NE(fits.error().message().find("signal stack"), std::string::npos);
}

TEST(MatrixUnits, AreRefusedPolitely) {
  SKIP_WITHOUT_TILES();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "test", "--gtest_filter=*RefusedBesideSmall*",
            "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

#endif
