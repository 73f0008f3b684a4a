#include "runtime/Strings.h"
#include "runtime/Comparison.h"
#include "runtime/TensorText.h"

#include <gtest/gtest.h>

#include <thread>

using namespace sinter;

namespace {

Tensor of(Shape shape, const std::vector<std::string> &texts) {
  return stringTensor(std::move(shape), std::span<const std::string>(texts));
}

TEST(StringsTest, EqualTextsHaveEqualHandles) {
  const Tensor a = of({3}, {"one", "", "two"}), b = of({2}, {"two", "one"});
  EXPECT_EQ(a.at<StringHandle>(0), b.at<StringHandle>(1));
  EXPECT_EQ(a.at<StringHandle>(2), b.at<StringHandle>(0));
  EXPECT_NE(a.at<StringHandle>(0), a.at<StringHandle>(2));
  EXPECT_EQ(a.at<StringHandle>(1), 0u);
  EXPECT_EQ(stringAt(Tensor(ElementType::STRING, {1}), 0), "");
}

TEST(StringsTest, TensorsHoldTheirTexts) {
  Tensor outer;
  {
    const StringScope scope;
    Tensor made(ElementType::STRING, {2});
    made.set(0, internString("made in a run"));
    made.set(1, internString("too"));
    outer = holdStrings(made);
  }
  EXPECT_EQ(stringAt(outer, 0), "made in a run");
  const Tensor copy = outer.reshaped({1, 2});
  outer = Tensor();
  EXPECT_EQ(stringAt(copy, 1), "too");
  EXPECT_EQ(stringAt(copy.owned(), 1), "too");
}

TEST(StringsTest, ScopesNest) {
  const StringScope outer;
  StringHandle handle;
  {
    const StringScope inner;
    handle = internString("of the inner scope");
  }
  EXPECT_EQ(stringOf(handle), "of the inner scope");
}

TEST(StringsTest, ThreadsShareTexts) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const Tensor one = of({2}, {"text " + std::to_string(round % 7), "x"});
        wrong += stringAt(one, 0) != "text " + std::to_string(round % 7);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(StringsTest, CompareAsEqualOrNot) {
  const Tensor a = of({2}, {"a", "b"});
  EXPECT_TRUE(expect(a, of({2}, {"a", "b"}), Expectation::within({})));
  Result<void> differs =
      expect(of({2}, {"a", "c\n"}), a, Expectation::within({1, 1, 1}));
  ASSERT_FALSE(differs);
  EXPECT_EQ(differs.error().message(),
            "1 of 2 values differ, most at [1]: got \"c\\u000a\", expected "
            "\"b\"");
  EXPECT_FALSE(expect(a, of({1}, {"a"}), Expectation::equal()));
}

TEST(StringsTest, Print) {
  EXPECT_EQ(elementText(of({}, {"a\"\xff"}), 0), "\"a\\\"\\ufffd\"");
  EXPECT_EQ(tensorText(of({1}, {"a"})), "tensor<1xstring> {\n  [\"a\"]\n}");
}

} // namespace
