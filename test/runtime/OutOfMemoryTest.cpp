//===- OutOfMemoryTest.cpp - memory that is refused is an error -----------===//
//
// Covers: runtime Allocator Arena Tensor
//
//===----------------------------------------------------------------------===//

#include "runtime/OutOfMemory.h"
#include "Sanitizers.h"
#include "runtime/Allocator.h"
#include "runtime/Arena.h"
#include "runtime/GuardedThread.h"
#include "runtime/Tensor.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <sys/resource.h>

using namespace sinter;

// Sanitizers take as much address space as they like.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SINTER_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SINTER_IS_SANITIZED 1
#endif
#endif

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max();
/// More than any address space has.
const Shape absurd = {int64_t(1) << 50};
const std::string refused = "4503599627370496 bytes were wanted";

TEST(OutOfMemoryTest, TensorsOfAbsurdSizes) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  const auto tensor = Tensor::allocate(ElementType::F32, absurd);
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().kind, ErrorKind::System);
  EXPECT_EQ(tensor.error().message(),
            "not enough memory for 1125899906842624xf32; " + refused);
  EXPECT_EQ(
      Tensor::allocate(ElementType::F32, {most, most}).error().message(),
      "not enough memory for 9223372036854775807x9223372036854775807xf32; "
      "more bytes than can be counted were wanted");
  EXPECT_EQ(Tensor::allocate(ElementType::F32, {-1}).error().kind,
            ErrorKind::System);
  const auto some = Tensor::allocate(ElementType::F32, {2, 3});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->bytes(), 24u);
  EXPECT_THROW(Tensor(ElementType::F32, absurd), OutOfMemory);
}

TEST(OutOfMemoryTest, ArenasOfAbsurdSizes) {
  sinter::Arena arena = std::move(*sinter::Arena::allocate(100));
  arena.data()[99] = std::byte(7);
  for (size_t bytes : {size_t(1) << 60, SIZE_MAX}) {
    const auto grown = arena.grow(bytes, 100);
    ASSERT_FALSE(grown);
    EXPECT_EQ(grown.error().kind, ErrorKind::System);
    EXPECT_NE(grown.error().message().find(std::to_string(bytes) + " bytes"),
              std::string::npos)
        << grown.error().message();
  }
  EXPECT_EQ(arena.size(), 100u);
  ASSERT_TRUE(arena.grow(5000, 100));
  EXPECT_EQ(arena.data()[99], std::byte(7));
}

namespace {

/// Gives up to 1000 bytes, none of them 0.
class SmallMemory : public sinter::Allocator {
public:
  void *allocate(size_t bytes, size_t alignment) override {
    if (bytes > 1000)
      return nullptr;
    ++live;
    void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                     alignment * alignment);
    std::memset(memory, 0x7f, bytes);
    return memory;
  }
  void free(void *memory, size_t, size_t) override {
    --live;
    std::free(memory);
  }

  int live = 0;
};

} // namespace

TEST(OutOfMemoryTest, AnAllocatorMayHaveNoMore) {
  const auto memory = std::make_shared<SmallMemory>();
  {
    sinter::Arena arena(memory);
    ASSERT_TRUE(arena.grow(100));
    EXPECT_EQ(arena.data()[99], std::byte(0));
    arena.data()[99] = std::byte(7);
    const auto grown = arena.grow(2000, 100);
    ASSERT_FALSE(grown);
    EXPECT_NE(grown.error().message().find("2000 bytes"), std::string::npos)
        << grown.error().message();
    ASSERT_TRUE(arena.grow(200, 100));
    EXPECT_EQ(arena.data()[99], std::byte(7));
    EXPECT_EQ(memory->live, 1);
    const Tensor tensor = sinter::makeTensor(memory, ElementType::F32, {3});
    EXPECT_EQ(tensor.at<float>(2), 0);
    EXPECT_TRUE(tensor.isAligned(64));
    EXPECT_EQ(memory->live, 2);
    EXPECT_THROW(sinter::makeTensor(memory, ElementType::F32, {300}),
                 OutOfMemory);
    EXPECT_THROW(sinter::makeTensor(memory, ElementType::F32, {-1}),
                 OutOfMemory);
  }
  EXPECT_EQ(memory->live, 0);
}

TEST(OutOfMemoryTest, CatchesWhatBodiesThrow) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  const auto tensor = catchingOutOfMemory("this", [] {
    return Result<Tensor>(Tensor(ElementType::I8, {most - 1000}));
  });
  EXPECT_EQ(
      tensor.error().message(),
      "not enough memory for this; 9223372036854774807 bytes were wanted");
  // A function whose calls nobody may leave out, unlike those of `new`.
  const auto block = catchingOutOfMemory("that", []() -> Result<void> {
    ::operator delete(::operator new(size_t(1) << 60));
    return {};
  });
  EXPECT_EQ(block.error().message().find("not enough memory for that"), 0u);
  const auto longest = catchingOutOfMemory("all", []() -> Result<size_t> {
    return std::string().append(SIZE_MAX, 'x').size();
  });
  EXPECT_EQ(longest.error().kind, ErrorKind::System);
  EXPECT_FALSE(CatchesOutOfMemory::isCurrent());
  const auto another = []() -> Result<void> {
    throw std::runtime_error("another");
  };
  EXPECT_THROW(static_cast<void>(catchingOutOfMemory("", another)),
               std::runtime_error);
  EXPECT_FALSE(CatchesOutOfMemory::isCurrent());
}

/// Stands for frames that no exception may cross.
void withoutExceptions(void (*work)()) noexcept { work(); }

TEST(OutOfMemoryTest, GuardedThreadsStop) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  const auto stopped = runGuarded(
      [] { withoutExceptions([] { Tensor(ElementType::F32, absurd); }); });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::System);
  EXPECT_EQ(stopped.error().message(), "not enough memory; " + refused);
  // Where somebody catches it, the thread goes on.
  Error error = usageError("");
  const auto done = runGuarded(
      [&] { error = Tensor::allocate(ElementType::F32, absurd).takeError(); });
  EXPECT_TRUE(done);
  EXPECT_EQ(error.kind, ErrorKind::System);
}

TEST(OutOfMemoryTest, GuardedThreadsStopForNew) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  stopThreadsWithoutMemory();
  stopThreadsWithoutMemory();
  const auto work = [] {
    withoutExceptions(
        [] { static_cast<void>(::operator new(size_t(1) << 60)); });
  };
  const auto stopped = runGuarded(work);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message(), "not enough memory");
  // Other threads find things as they were.
  EXPECT_THROW(static_cast<void>(::operator new(size_t(1) << 60)),
               std::bad_alloc);
  EXPECT_EQ(::operator new(size_t(1) << 60, std::nothrow), nullptr);
}

#if !defined(SINTER_IS_SANITIZED)
/// Sizes that make sense, where a limit leaves no room for them.
TEST(OutOfMemoryTest, LimitsOfTheProcess) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  EXPECT_EXIT(
      {
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = size_t(1) << 30;
        ::setrlimit(RLIMIT_AS, &limit);
        const Shape twoGigabytes = {int64_t(1) << 29};
        const auto tensor = Tensor::allocate(ElementType::F32, twoGigabytes);
        const auto arena = sinter::Arena::allocate(size_t(1) << 31);
        const bool isRefused =
            !tensor && !arena &&
            tensor.error().message().find("2147483648 bytes were wanted") !=
                std::string::npos &&
            arena.error().message().find("2147483648 bytes") !=
                std::string::npos;
        // What fits does.
        const bool goesOn = bool(Tensor::allocate(ElementType::F32, {1 << 20}));
        ::_exit(isRefused && goesOn ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

} // namespace
