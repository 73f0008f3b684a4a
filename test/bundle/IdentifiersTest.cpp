#include "bundle/Identifiers.h"

#include "gtest/gtest.h"

using namespace sinter;

static std::vector<std::string>
fieldsOf(const std::vector<std::string> &tensors) {
  std::vector<BundleTensor> all;
  for (const std::string &name : tensors)
    all.push_back({{name, ElementType::F32, {1}}, {}, 4, 4, 0});
  return fieldNames(all);
}

TEST(Identifiers, BundleNames) {
  for (const char *good : {"a", "net", "Net_2", "a__b"})
    EXPECT_TRUE(isBundleName(good)) << good;
  for (const char *bad :
       {"", "_a", "1a", "a-b", "a b", "a.b", "\xC3\xA4", "a;"})
    EXPECT_FALSE(isBundleName(bad)) << bad;
  EXPECT_TRUE(isBundleName(std::string(100, 'a')));
  EXPECT_FALSE(isBundleName(std::string(101, 'a')));
  EXPECT_FALSE(isBundleName(std::string_view("a\0b", 3)));
}

TEST(Identifiers, NamesFromText) {
  const std::pair<const char *, const char *> cases[] = {
      {"net", "net"},
      {"ResNet-50.v2", "ResNet_50_v2"},
      {"1 net", "model_1_net"},
      {"--", "model"},
      {"", "model"},
      {"\xC3\xA4", "model"},
      {"a--b--", "a_b"}};
  for (const auto &[text, name] : cases) {
    EXPECT_EQ(bundleNameFrom(text), name);
    EXPECT_TRUE(isBundleName(bundleNameFrom(text)));
  }
  EXPECT_TRUE(isBundleName(bundleNameFrom(std::string(1000, '1'))));
}

TEST(Identifiers, FieldsAreUniqueInCapitals) {
  EXPECT_EQ(fieldsOf({"x", "X", "x_1", "a.b", "a-b"}),
            (std::vector<std::string>{"x", "X_1", "x_1_1", "a_b", "a_b_1"}));
}

TEST(Identifiers, FieldsAreNoWords) {
  EXPECT_EQ(fieldsOf({"for", "class", "linux", "NULL", "errno"}),
            (std::vector<std::string>{"for_1", "class_1", "linux_1", "NULL_1",
                                      "errno_1"}));
}

TEST(Identifiers, FieldsBeginWithALetter) {
  EXPECT_EQ(fieldsOf({"", "1", "_x", "__", "\n"}),
            (std::vector<std::string>{"tensor", "tensor_1", "x", "tensor_2",
                                      "tensor_3"}));
}

TEST(Identifiers, FieldsOfSizes) {
  const std::vector<BundleSize> sizes = {
      {"N", {}, 1}, {"n", {}, 1}, {"x[0]", 4, 1}, {"2", {}, 1}, {"", {}, 1}};
  EXPECT_EQ(fieldNames(sizes),
            (std::vector<std::string>{"N", "n_1", "x_0", "size_2", "size"}));
}
