//===- InterfaceFixture.h - models in memory, as programs use them --------===//

#ifndef SINTER_TEST_BINDINGS_C_INTERFACEFIXTURE_H
#define SINTER_TEST_BINDINGS_C_INTERFACEFIXTURE_H

#include "sinter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::test {

/// An error that is freed, with the words of its message for failures.
struct Caught {
  ~Caught() { sinter_error_free(error); }
  sinter_error **operator&() { return &error; }
  std::string message() const { return sinter_error_message(error); }
  bool says(const std::string &words) const {
    return message().find(words) != std::string::npos;
  }

  sinter_error *error = nullptr;
};

#define SINTER_ASSERT_OK(call)                                                 \
  do {                                                                         \
    sinter::test::Caught error;                                                \
    ASSERT_EQ((call), SINTER_OK) << error.message();                           \
  } while (false)

/// Expects that \p call fails as STATUS says, with WORDS in its message.
#define SINTER_EXPECT_REFUSED(status, words, call)                             \
  do {                                                                         \
    sinter::test::Caught error;                                                \
    EXPECT_EQ((call), (status));                                               \
    EXPECT_TRUE(error.says(words)) << error.message();                         \
  } while (false)

inline sinter_tensor tensor(std::vector<float> &data,
                            const std::vector<int64_t> &shape) {
  sinter_tensor t = {};
  t.struct_size = sizeof(t);
  t.type = SINTER_F32;
  t.rank = static_cast<int32_t>(shape.size());
  t.shape = shape.data();
  t.data = data.data();
  return t;
}

/// A struct of the interface with its size.
template <typename Struct> Struct sized() {
  Struct made = {};
  made.struct_size = sizeof(made);
  return made;
}

class InterfaceFixture : public testing::Test {
protected:
  void SetUp() override {
    SINTER_ASSERT_OK(sinter_options_new(&options, &error));
    // Programs of other tests are none of ours.
    SINTER_ASSERT_OK(sinter_options_set(options, "no-cache", "true", &error));
  }

  void TearDown() override {
    if (session)
      EXPECT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(options, nullptr), SINTER_OK);
  }

  void open(const std::string &text, const char *name = "model.mlir") {
    SINTER_ASSERT_OK(sinter_model_open_memory(
        text.data(), text.size(), name, nullptr, options, &model, &error));
  }

  void compile() {
    SINTER_ASSERT_OK(sinter_compile(model, options, &session, &error));
  }

  sinter_options *options = nullptr;
  sinter_model *model = nullptr;
  sinter_session *session = nullptr;
};

} // namespace sinter::test

#endif // SINTER_TEST_BINDINGS_C_INTERFACEFIXTURE_H
