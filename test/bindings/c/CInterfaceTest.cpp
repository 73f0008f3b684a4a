//===- CInterfaceTest.cpp - the library as programs call it ---------------===//
//
// Needs nothing of Sinter but the public header.
//
// Covers: bindings/c Binding Error Handles Model Options Rewrite Session
// Covers: bindings/c ValueInfo
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using sinter::test::Caught, sinter::test::tensor;

/// y = relu(x w + b), x of N rows.
const std::string dense = R"(
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %w = stablehlo.constant dense<[[1.0, -1.0], [2.0, 0.5], [-3.0, 4.0]]> : tensor<3x2xf32>
  %b = stablehlo.constant dense<[0.25, -0.5]> : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %1 = chlo.broadcast_add %0, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %2 = chlo.broadcast_maximum %1, %zero : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}
)";

std::vector<float> denseOf(const std::vector<float> &x) {
  const float w[3][2] = {{1, -1}, {2, 0.5}, {-3, 4}}, b[2] = {0.25, -0.5};
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / 3; ++row)
    for (int column = 0; column < 2; ++column) {
      float sum = b[column];
      for (int k = 0; k < 3; ++k)
        sum += x[row * 3 + k] * w[k][column];
      y.push_back(std::max(sum, 0.0F));
    }
  return y;
}

class CInterface : public sinter::test::InterfaceFixture {
protected:
  void open(const std::string &text = dense) {
    InterfaceFixture::open(text, "dense.mlir");
  }
};

TEST_F(CInterface, DescribesAModelInMemory) {
  open();
  ASSERT_EQ(sinter_model_input_count(model), 1U);
  ASSERT_EQ(sinter_model_output_count(model), 1U);
  sinter_value_info info = {};
  info.struct_size = sizeof(info);
  SINTER_ASSERT_OK(sinter_model_input(model, 0, &info, &error));
  EXPECT_STREQ(info.name, "arg0");
  EXPECT_EQ(info.type, SINTER_F32);
  ASSERT_EQ(info.rank, 2);
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(info.shape[1], 3);
  EXPECT_STREQ(info.symbols[1], "");
  EXPECT_EQ(info.feeds_shapes, 0);
  EXPECT_STREQ(sinter_type_name(info.type), "f32");
  EXPECT_EQ(sinter_type_size(SINTER_C128), 16U);
  EXPECT_EQ(sinter_type_name(static_cast<sinter_type>(99)), nullptr);
}

TEST_F(CInterface, RunsForEverySizeOfADynamicDimension) {
  open();
  compile();
  for (int64_t rows : {1, 5, 2, 64}) {
    std::vector<float> x(rows * 3);
    std::iota(x.begin(), x.end(), -4.0F);
    std::vector<int64_t> shape = {rows, 3};
    const sinter_tensor input = tensor(x, shape);
    sinter_tensor output = {};
    output.struct_size = sizeof(output);
    sinter_value *value = nullptr;
    SINTER_ASSERT_OK(sinter_session_run(session, &input, 1, &output, 1, &value,
                                        nullptr, &error));
    ASSERT_EQ(output.rank, 2);
    EXPECT_EQ(output.shape[0], rows);
    EXPECT_EQ(output.type, SINTER_F32);
    const auto *y = static_cast<const float *>(output.data);
    EXPECT_EQ(std::vector<float>(y, y + rows * 2), denseOf(x));
    sinter_value_free(value);
  }
}

TEST_F(CInterface, ABindingRunsOnMemoryOfAnyAddressAndStrides) {
  open();
  compile();
  sinter_binding *binding = nullptr;
  SINTER_ASSERT_OK(sinter_binding_new(session, &binding, &error));
  // Four bytes behind a multiple of 64; columns of twice the width.
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, spaced(8, -1);
  std::vector<int64_t> shape = {2, 3}, outShape = {2, 2}, strides = {16, 8};
  sinter_tensor input = tensor(x, shape), output = tensor(spaced, outShape);
  output.strides = strides.data();
  SINTER_ASSERT_OK(sinter_binding_set_input(binding, 0, &input, &error));
  SINTER_ASSERT_OK(sinter_binding_set_output(binding, 0, &output, &error));
  EXPECT_EQ(sinter_binding_copies_input(binding, 0), 0);
  EXPECT_NE(sinter_binding_copies_output(binding, 0), 0);
  for (float factor : {1.0F, 2.0F}) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = factor * static_cast<float>(i);
    SINTER_ASSERT_OK(sinter_binding_run(binding, nullptr, &error));
    const std::vector<float> y = denseOf(x);
    EXPECT_EQ(spaced,
              (std::vector<float>{y[0], -1, y[1], -1, y[2], -1, y[3], -1}));
  }
  // The session is in use.
  Caught error;
  EXPECT_EQ(sinter_session_free(session, &error), SINTER_USAGE);
  EXPECT_NE(error.message().find("in use"), std::string::npos);
  SINTER_ASSERT_OK(sinter_binding_free(binding, &error));
  // What was freed is no binding.
  EXPECT_EQ(sinter_binding_run(binding, nullptr, nullptr), SINTER_USAGE);
}

TEST_F(CInterface, ErrorsSayWhereAndWhatWouldHelp) {
  Caught error;
  EXPECT_EQ(sinter_model_open("/nonexistent/m.onnx", nullptr, &model, &error),
            SINTER_SYSTEM);
  EXPECT_STREQ(sinter_error_file(error.error), "/nonexistent/m.onnx");
  EXPECT_NE(error.message().find("No such file"), std::string::npos);

  const std::string wrong = "func.func @main() {\n  return %x : i32\n}\n";
  Caught parse;
  EXPECT_EQ(sinter_model_open_memory(wrong.data(), wrong.size(), "a.mlir",
                                     nullptr, nullptr, &model, &parse),
            SINTER_INVALID_MODEL);
  EXPECT_NE(std::string(sinter_error_file(parse.error)).find("a.mlir"),
            std::string::npos);
  EXPECT_NE(parse.message().find(":2:"), std::string::npos) << parse.message();

  open();
  SINTER_ASSERT_OK(sinter_options_set(options, "thread", "2", &error));
  Caught unknown;
  EXPECT_EQ(sinter_compile(model, options, &session, &unknown), SINTER_USAGE);
  EXPECT_STREQ(sinter_error_hint(unknown.error), "did you mean 'threads'?");
  EXPECT_STREQ(sinter_error_what(unknown.error),
               "there is no option 'thread' here");
}

TEST_F(CInterface, OptionsHaveTheChecksOfTheCommand) {
  open();
  SINTER_ASSERT_OK(sinter_options_set(options, "shape", "z:2x3", &error));
  Caught error;
  EXPECT_EQ(sinter_compile(model, options, &session, &error), SINTER_USAGE);
  EXPECT_NE(error.message().find("shape: there is no input 'z'"),
            std::string::npos)
      << error.message();
  EXPECT_EQ(error.message().find("--"), std::string::npos) << error.message();
}

TEST_F(CInterface, ALaterCallSetsOptionsAnew) {
  // The same options for both, with one that has one value, and one that may
  // be repeated.
  SINTER_ASSERT_OK(sinter_options_set(options, "cache-dir", "/tmp", &error));
  SINTER_ASSERT_OK(sinter_options_set(options, "shape", "arg0:2x3", &error));
  open();
  compile();
  sinter_value_info info = {};
  info.struct_size = sizeof(info);
  SINTER_ASSERT_OK(sinter_session_input(session, 0, &info, &error));
  EXPECT_EQ(info.shape[1], 3);
  // Twice in one call is as wrong as on the command line.
  SINTER_ASSERT_OK(sinter_options_set(options, "cache-dir", "/", &error));
  sinter_session *again = nullptr;
  Caught error;
  EXPECT_EQ(sinter_compile(model, options, &again, &error), SINTER_USAGE);
  EXPECT_NE(error.message().find("cache-dir"), std::string::npos)
      << error.message();
}

TEST_F(CInterface, WrongTensorsAreErrorsWithWords) {
  open();
  compile();
  std::vector<float> x(6), y(4);
  std::vector<int64_t> shape = {2, 3}, outShape = {2, 2}, wrong = {2, 4};
  sinter_tensor input = tensor(x, shape), output = tensor(y, outShape);
  const auto refused = [&](const sinter_tensor &given, sinter_tensor &to,
                           const std::string &words) {
    Caught error;
    EXPECT_EQ(sinter_session_run(session, &given, 1, &to, 1, nullptr, nullptr,
                                 &error),
              SINTER_USAGE);
    EXPECT_NE(error.message().find(words), std::string::npos)
        << error.message();
  };
  sinter_tensor bad = input;
  bad.shape = wrong.data();
  refused(bad, output, "2x4xf32");
  bad = input;
  bad.type = SINTER_F64;
  refused(bad, output, "f64");
  bad = input;
  bad.struct_size = 8;
  refused(bad, output, "struct_size");
  bad = input;
  bad.data = nullptr;
  refused(bad, output, "input");
  bad = output;
  bad.data = nullptr;
  refused(input, bad, "values");
  bad = output;
  bad.type = static_cast<sinter_type>(77);
  refused(input, bad, "77");
  const int64_t overlapping[] = {4, 4};
  bad = output;
  bad.strides = overlapping;
  refused(input, bad, "share");
}

TEST_F(CInterface, StructsOfANewerHeaderAreRefused) {
  open();
  compile();
  // As the newer one would have them, with another member.
  struct {
    sinter_tensor tensor;
    void *added;
  } newer = {};
  struct {
    sinter_value_info info;
    void *added;
  } newerInfo = {};
  const std::string words = "the program is for a newer Sinter";
  std::vector<float> x(6), y(4);
  std::vector<int64_t> shape = {2, 3}, outShape = {2, 2};
  const auto refused = [&](sinter_status status, Caught &error) {
    EXPECT_EQ(status, SINTER_USAGE);
    EXPECT_NE(error.message().find(words), std::string::npos)
        << error.message();
  };
  sinter_tensor input = tensor(x, shape), output = tensor(y, outShape);
  newer.tensor = input;
  newer.tensor.struct_size = sizeof(newer);
  Caught given;
  refused(sinter_session_run(session, &newer.tensor, 1, &output, 1, nullptr,
                             nullptr, &given),
          given);
  newer.tensor = output;
  newer.tensor.struct_size = sizeof(newer);
  Caught written;
  refused(sinter_session_run(session, &input, 1, &newer.tensor, 1, nullptr,
                             nullptr, &written),
          written);
  newerInfo.info.struct_size = sizeof(newerInfo);
  Caught described;
  refused(sinter_model_input(model, 0, &newerInfo.info, &described), described);
  EXPECT_EQ(newerInfo.info.name, nullptr);
}

TEST_F(CInterface, StructsOfAnOlderHeaderGetWhatTheyHave) {
  open();
  sinter_value_info info = {};
  info.struct_size = offsetof(sinter_value_info, shape);
  SINTER_ASSERT_OK(sinter_model_input(model, 0, &info, &error));
  EXPECT_STREQ(info.name, "arg0");
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.shape, nullptr);
  EXPECT_EQ(info.symbols, nullptr);
}

TEST_F(CInterface, ACancelledRunIsAnError) {
  open();
  compile();
  sinter_cancellation *cancellation = nullptr;
  SINTER_ASSERT_OK(sinter_cancellation_new(&cancellation, &error));
  std::vector<float> x(6), y(4);
  std::vector<int64_t> shape = {2, 3}, outShape = {2, 2};
  const sinter_tensor input = tensor(x, shape);
  sinter_tensor output = tensor(y, outShape);
  sinter_cancellation_cancel(cancellation);
  EXPECT_EQ(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                               cancellation, nullptr),
            SINTER_CANCELLED);
  sinter_cancellation_reset(cancellation);
  SINTER_ASSERT_OK(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                                      cancellation, &error));
  sinter_cancellation_free(cancellation);
}

TEST_F(CInterface, StatesAreReadWrittenAndReset) {
  open(R"(
func.func @main(%x: tensor<2xf32>, %s: tensor<2xf32> {sinter.state = "sum", sinter.initial = dense<[1.0, 2.0]> : tensor<2xf32>})
    -> (tensor<2xf32>, tensor<2xf32> {sinter.state = "sum"}) {
  %0 = stablehlo.add %x, %s : tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}
)");
  compile();
  ASSERT_EQ(sinter_session_state_count(session), 1U);
  sinter_value_info info = {};
  info.struct_size = sizeof(info);
  SINTER_ASSERT_OK(sinter_session_state(session, 0, &info, &error));
  EXPECT_STREQ(info.name, "sum");
  std::vector<float> x = {10, 20}, y(2), held(2);
  std::vector<int64_t> shape = {2};
  const sinter_tensor input = tensor(x, shape);
  sinter_tensor output = tensor(y, shape), state = tensor(held, shape);
  const auto run = [&] {
    SINTER_ASSERT_OK(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                                        nullptr, &error));
  };
  run();
  run();
  EXPECT_EQ(y, (std::vector<float>{21, 42}));
  SINTER_ASSERT_OK(sinter_session_read_state(session, 0, &state, &error));
  EXPECT_EQ(held, y);
  held = {-1, -2};
  SINTER_ASSERT_OK(sinter_session_write_state(session, 0, &state, &error));
  run();
  EXPECT_EQ(y, (std::vector<float>{9, 18}));
  SINTER_ASSERT_OK(sinter_session_reset_states(session, &error));
  run();
  EXPECT_EQ(y, (std::vector<float>{11, 22}));
  EXPECT_EQ(sinter_session_read_state(session, 1, &state, nullptr),
            SINTER_USAGE);
}

TEST_F(CInterface, SavesToMemoryWhatRunsAgain) {
  open();
  sinter_files *files = nullptr;
  SINTER_ASSERT_OK(
      sinter_model_save_memory(model, "dense.onnx", nullptr, &files, &error));
  ASSERT_EQ(sinter_files_count(files), 1U);
  EXPECT_STREQ(sinter_files_name(files, 0), "dense.onnx");
  size_t size = 0;
  const void *bytes = sinter_files_data(files, 0, &size);
  ASSERT_GT(size, 0U);
  sinter_model *again = nullptr;
  SINTER_ASSERT_OK(sinter_model_open_memory(bytes, size, "again.onnx", nullptr,
                                            options, &again, &error));
  sinter_files_free(files);
  SINTER_ASSERT_OK(sinter_compile(again, options, &session, &error));
  std::vector<float> x = {1, 2, 3, -4, 5, 6}, y(4);
  std::vector<int64_t> shape = {2, 3}, outShape = {2, 2};
  const sinter_tensor input = tensor(x, shape);
  sinter_tensor output = tensor(y, outShape);
  SINTER_ASSERT_OK(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                                      nullptr, &error));
  EXPECT_EQ(y, denseOf(x));
  SINTER_ASSERT_OK(sinter_model_free(again, &error));
}

TEST_F(CInterface, OptimisesInMemoryAndReports) {
  open(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.exponential %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
)");
  sinter_model *simple = nullptr;
  char *report = nullptr;
  SINTER_ASSERT_OK(
      sinter_model_optimize(model, nullptr, &simple, &report, &error));
  EXPECT_NE(std::string(report).find("\"stablehlo.negate\":2"),
            std::string::npos)
      << report;
  sinter_string_free(report);
  SINTER_ASSERT_OK(sinter_compile(simple, options, &session, &error));
  SINTER_ASSERT_OK(sinter_model_free(simple, &error));
}

/// Gives one sample after the other of a caller's data.
int32_t sampleOf(void *user, size_t index, sinter_tensor *inputs, size_t) {
  static const int64_t shape[] = {4, 3};
  auto &data = *static_cast<std::vector<float> *>(user);
  inputs[0].type = SINTER_F32;
  inputs[0].rank = 2;
  inputs[0].shape = shape;
  inputs[0].data = data.data() + index * 12;
  return index * 12 + 12 > data.size();
}

TEST_F(CInterface, QuantisesBySamplesOfACallback) {
  open();
  std::vector<float> data(12 * 8);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = std::sin(static_cast<float>(i));
  sinter_model *quantised = nullptr;
  char *report = nullptr;
  SINTER_ASSERT_OK(sinter_options_set(options, "for", "any", &error));
  SINTER_ASSERT_OK(sinter_model_quantize(model, options, sampleOf, &data, 8,
                                         &quantised, &report, &error));
  EXPECT_NE(std::string(report).find("\"samples\":7"), std::string::npos)
      << report;
  sinter_string_free(report);
  SINTER_ASSERT_OK(sinter_model_free(quantised, &error));
  // A callback that fails ends the call.
  EXPECT_EQ(sinter_model_quantize(model, options, sampleOf, &data, 9,
                                  &quantised, nullptr, nullptr),
            SINTER_CANCELLED);
}

TEST_F(CInterface, BindingsRunSideBySide) {
  open();
  compile();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      sinter_binding *binding = nullptr;
      wrong += sinter_binding_new(session, &binding, nullptr) != SINTER_OK;
      std::vector<float> x(3 * (t + 1)), y(2 * (t + 1));
      std::vector<int64_t> shape = {t + 1, 3}, outShape = {t + 1, 2};
      const sinter_tensor input = tensor(x, shape),
                          output = tensor(y, outShape);
      wrong += sinter_binding_set_input(binding, 0, &input, nullptr) != 0;
      wrong += sinter_binding_set_output(binding, 0, &output, nullptr) != 0;
      for (int run = 0; run < 100; ++run) {
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = static_cast<float>(run) + static_cast<float>(i);
        wrong += sinter_binding_run(binding, nullptr, nullptr) != SINTER_OK;
        wrong += y != denseOf(x);
      }
      wrong += sinter_binding_free(binding, nullptr) != SINTER_OK;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CInterface, AForkedProcessIsRefused) {
  open();
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(sinter_compile(model, nullptr, &session, nullptr));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), SINTER_USAGE);
}

TEST_F(CInterface, NullIsAnErrorEverywhere) {
  EXPECT_EQ(sinter_model_open(nullptr, nullptr, &model, nullptr), SINTER_USAGE);
  EXPECT_EQ(sinter_compile(nullptr, nullptr, &session, nullptr), SINTER_USAGE);
  EXPECT_EQ(sinter_session_run(nullptr, nullptr, 0, nullptr, 0, nullptr,
                               nullptr, nullptr),
            SINTER_USAGE);
  EXPECT_EQ(sinter_binding_new(nullptr, nullptr, nullptr), SINTER_USAGE);
  EXPECT_EQ(sinter_options_set(options, nullptr, "1", nullptr), SINTER_USAGE);
  EXPECT_EQ(sinter_model_input_count(nullptr), 0U);
  sinter_error_free(nullptr);
  sinter_value_free(nullptr);
  EXPECT_STREQ(sinter_error_message(nullptr), "");
}

TEST(CInterfaceVersion, IsThatOfTheHeader) {
  EXPECT_EQ(sinter_api_version(), SINTER_API_VERSION);
  EXPECT_NE(std::string(sinter_version()), "");
}

} // namespace
