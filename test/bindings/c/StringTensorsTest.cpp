//===- StringTensorsTest.cpp - strings in and out of the C interface ------===//

#include "InterfaceFixture.h"

namespace {

using sinter::test::sized;

class StringTensorsTest : public sinter::test::InterfaceFixture {
protected:
  void SetUp() override {
    InterfaceFixture::SetUp();
    open(R"(
func.func @main(%x: tensor<?x2x!text.string>) -> (tensor<?x2x!text.string>, tensor<?x2xi64>) {
  %0 = text.concat %x, %x : (tensor<?x2x!text.string>, tensor<?x2x!text.string>) -> tensor<?x2x!text.string>
  %1 = text.rank %x : (tensor<?x2x!text.string>) -> tensor<?x2xi64>
  return %0, %1 : tensor<?x2x!text.string>, tensor<?x2xi64>
})");
    compile();
  }

  sinter_status run(const sinter_tensor &input, sinter_tensor *outputs,
                    sinter_value **values, sinter_error **error) {
    return sinter_session_run(session, &input, 1, outputs, 2, values, nullptr,
                              error);
  }
};

TEST_F(StringTensorsTest, InAndOut) {
  sinter_value_info info = sized<sinter_value_info>();
  SINTER_ASSERT_OK(sinter_session_input(session, 0, &info, &error));
  EXPECT_EQ(info.type, SINTER_STRING);
  EXPECT_EQ(sinter_type_size(SINTER_STRING), sizeof(sinter_string));
  EXPECT_STREQ(sinter_type_name(SINTER_STRING), "string");
  // By columns, with a zero inside.
  std::string columns[] = {"b", std::string("a\0", 2), "", "c"};
  std::vector<sinter_string> strings;
  for (const std::string &each : columns)
    strings.push_back({each.data(), each.size()});
  const int64_t shape[] = {2, 2};
  const int64_t strides[] = {sizeof(sinter_string), 2 * sizeof(sinter_string)};
  sinter_tensor input = sized<sinter_tensor>();
  input.type = SINTER_STRING;
  input.rank = 2;
  input.shape = shape;
  input.strides = strides;
  input.data = strings.data();
  sinter_tensor outputs[] = {sized<sinter_tensor>(), sized<sinter_tensor>()};
  sinter_value *values[2] = {};
  SINTER_ASSERT_OK(run(input, outputs, values, &error));
  // The results have texts of their own.
  for (std::string &each : columns)
    each.assign(each.size(), '?');
  EXPECT_EQ(outputs[0].type, SINTER_STRING);
  const auto *got = static_cast<const sinter_string *>(outputs[0].data);
  const std::string wanted[] = {"bb", "", std::string("a\0a\0", 4), "cc"};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(std::string(got[i].data ? got[i].data : "", got[i].size),
              wanted[i]);
  const auto *ranks = static_cast<const int64_t *>(outputs[1].data);
  EXPECT_EQ(std::vector<int64_t>(ranks, ranks + 4),
            (std::vector<int64_t>{2, 0, 1, 3}));
  sinter_tensor again = sized<sinter_tensor>();
  SINTER_ASSERT_OK(sinter_value_tensor(values[0], &again, &error));
  EXPECT_EQ(again.data, outputs[0].data);
  for (sinter_value *value : values)
    sinter_value_free(value);
}

TEST_F(StringTensorsTest, Refused) {
  sinter_string strings[] = {{"a", 1}, {nullptr, 1}};
  const int64_t shape[] = {1, 2};
  sinter_tensor input = sized<sinter_tensor>();
  input.type = SINTER_STRING;
  input.rank = 2;
  input.shape = shape;
  input.data = strings;
  sinter_tensor outputs[] = {sized<sinter_tensor>(), sized<sinter_tensor>()};
  sinter_value *values[2] = {};
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "string 1 is NULL",
                        run(input, outputs, values, &error));
  strings[1] = {nullptr, 0};
  outputs[0] = input;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "whose data are NULL",
                        run(input, outputs, values, &error));
  input.data = nullptr;
  outputs[0] = sized<sinter_tensor>();
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "", run(input, outputs, values, &error));
}

} // namespace
