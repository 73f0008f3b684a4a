//===- ModelInfoTest.cpp - what a model says of itself --------------------===//
//
// Covers: bindings/c ModelInfo ValueInfo
// Covers: engine ModelDescription
// Covers: formats/onnx OnnxFormat
// Covers: formats/paddle PaddleFormat
// Covers: formats/stablehlo StablehloFormat StablehloReader
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"
#include "TemporaryFolder.h"

namespace {

using sinter::test::Caught, sinter::test::sized;

const std::string rows = R"(
module @rows attributes {mhlo.num_partitions = 2 : i32, test.exact = true, test.maker = "nobody"} {
func.func @main(%x: tensor<?x3xf32> {sinter.dims = ["N", ""]}) -> (tensor<?x3xf32> {sinter.name = "y", sinter.dims = ["N", ""]}) {
  %0 = stablehlo.add %x, %x : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
}
)";

/// A field of a message of protobuf.
std::string field(int number, const std::string &content) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         static_cast<char>(content.size()) + content;
}

class CModelInfo : public sinter::test::InterfaceFixture {
protected:
  sinter_model_info describe() {
    auto info = sized<sinter_model_info>();
    Caught error;
    EXPECT_EQ(sinter_model_describe(model, &info, &error), SINTER_OK)
        << error.message();
    return info;
  }

  /// The model as a file in memory.
  std::string saved(const char *name) {
    sinter_files *files = nullptr;
    EXPECT_EQ(sinter_model_save_memory(model, name, nullptr, &files, nullptr),
              SINTER_OK);
    size_t size = 0;
    const void *data = sinter_files_data(files, 0, &size);
    std::string bytes(static_cast<const char *>(data), size);
    sinter_files_free(files);
    return bytes;
  }

  void reopen(const std::string &bytes, const char *name) {
    ASSERT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    model = nullptr;
    open(bytes, name);
  }
};

TEST_F(CModelInfo, TellsOfAStablehloModule) {
  open(rows);
  const sinter_model_info info = describe();
  EXPECT_STREQ(info.format, "stablehlo");
  EXPECT_STREQ(info.graph, "rows");
  EXPECT_STREQ(info.producer, "");
  EXPECT_EQ(info.version, 0);
  EXPECT_EQ(info.operator_set_count, 0U);
  ASSERT_EQ(info.metadata_count, 3U);
  EXPECT_STREQ(info.metadata_names[0], "mhlo.num_partitions");
  EXPECT_STREQ(info.metadata_values[0], "2");
  EXPECT_STREQ(sinter_model_metadata(model, "test.maker"), "nobody");
  EXPECT_STREQ(sinter_model_metadata(model, "test.exact"), "1");
  EXPECT_EQ(sinter_model_metadata(model, "test"), nullptr);
}

TEST_F(CModelInfo, TellsWhatWroteAnArtifact) {
  open(rows);
  reopen(saved("rows.stablehlo"), "rows.stablehlo");
  const sinter_model_info info = describe();
  EXPECT_STREQ(info.producer, "StableHLO");
  EXPECT_NE(std::string(info.producer_version).find('.'), std::string::npos)
      << info.producer_version;
}

TEST_F(CModelInfo, TellsAllOfAnOnnxFile) {
  open(rows);
  // Fields that are appended to a message of protobuf are merged into it.
  const std::string version = {5 << 3, 7};
  reopen(saved("rows.onnx") + field(2, "maker") + field(3, "1.2") +
             field(4, "org.example") + version + field(6, "doubles rows") +
             field(14, field(1, "labels") + field(2, "cat,dog")) +
             field(14, field(1, "empty") + field(2, "")),
         "rows.onnx");
  const sinter_model_info info = describe();
  EXPECT_STREQ(info.format, "onnx");
  EXPECT_GT(std::stoi(info.format_version), 3);
  EXPECT_STREQ(info.producer, "maker");
  EXPECT_STREQ(info.producer_version, "1.2");
  EXPECT_STREQ(info.domain, "org.example");
  EXPECT_STREQ(info.description, "doubles rows");
  EXPECT_EQ(info.version, 7);
  ASSERT_GE(info.operator_set_count, 1U);
  EXPECT_STREQ(info.operator_set_domains[0], "");
  EXPECT_GT(info.operator_set_versions[0], 12);
  ASSERT_EQ(info.metadata_count, 2U);
  EXPECT_STREQ(info.metadata_names[0], "labels");
  EXPECT_STREQ(info.metadata_values[0], "cat,dog");
  EXPECT_STREQ(sinter_model_metadata(model, "empty"), "");
}

TEST_F(CModelInfo, TellsTheVersionOfAPaddleProgram) {
  open(rows);
  const sinter::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/rows.pdmodel";
  SINTER_ASSERT_OK(sinter_model_save(model, path.c_str(), nullptr, &error));
  ASSERT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
  model = nullptr;
  SINTER_ASSERT_OK(sinter_model_open(path.c_str(), options, &model, &error));
  const sinter_model_info info = describe();
  EXPECT_STREQ(info.format, "paddle");
  EXPECT_NE(std::string(info.format_version).find('.'), std::string::npos)
      << info.format_version;
  EXPECT_EQ(info.metadata_count, 0U);
}

TEST_F(CModelInfo, TheCacheKeepsIt) {
  const sinter::test::TemporaryFolder folder;
  sinter_options *cached = nullptr;
  SINTER_ASSERT_OK(sinter_options_new(&cached, &error));
  SINTER_ASSERT_OK(
      sinter_options_set(cached, "cache-dir", folder.path().c_str(), &error));
  std::swap(options, cached);
  for (int time = 0; time < 2; ++time) {
    open(rows);
    compile();
    EXPECT_STREQ(sinter_model_metadata(model, "test.maker"), "nobody");
    auto info = sized<sinter_value_info>();
    SINTER_ASSERT_OK(sinter_session_output(session, 0, &info, &error));
    EXPECT_STREQ(info.symbols[0], "N");
    ASSERT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    session = nullptr;
    ASSERT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    model = nullptr;
  }
  std::swap(options, cached);
  ASSERT_EQ(sinter_options_free(cached, nullptr), SINTER_OK);
}

TEST_F(CModelInfo, OutputsHaveTheSymbolsThatTheyFollow) {
  open(rows);
  for (const char *name : {"rows.mlir", "rows.onnx"}) {
    auto input = sized<sinter_value_info>(),
         output = sized<sinter_value_info>();
    SINTER_ASSERT_OK(sinter_model_input(model, 0, &input, &error));
    SINTER_ASSERT_OK(sinter_model_output(model, 0, &output, &error));
    EXPECT_STREQ(output.name, "y");
    EXPECT_STREQ(input.symbols[0], "N") << name;
    EXPECT_STREQ(output.symbols[0], "N") << name;
    EXPECT_STREQ(output.symbols[1], "");
    if (std::string(name) == "rows.mlir")
      reopen(saved("rows.onnx"), "rows.onnx");
  }
}

TEST_F(CModelInfo, InputsHaveTheirOtherNames) {
  open(rows);
  auto info = sized<sinter_value_info>();
  SINTER_ASSERT_OK(sinter_model_input(model, 0, &info, &error));
  EXPECT_STREQ(info.name, "arg0");
  ASSERT_EQ(info.alias_count, 1U);
  EXPECT_STREQ(info.aliases[0], "x");
  // By which options may call it.
  SINTER_ASSERT_OK(sinter_options_set(options, "shape", "x:4x3", &error));
  compile();
  SINTER_ASSERT_OK(sinter_model_output(model, 0, &info, &error));
  EXPECT_EQ(info.alias_count, 0U);
}

TEST_F(CModelInfo, TellsOfStatesBeforeTheModelIsCompiled) {
  open(R"(
func.func @main(%x: tensor<?xf32>, %s: tensor<2x3xi64> {sinter.state = "sum", sinter.initial = dense<1> : tensor<2x3xi64>})
    -> (tensor<?xf32>, tensor<2x3xi64> {sinter.state = "sum"}) {
  return %x, %s : tensor<?xf32>, tensor<2x3xi64>
}
)");
  compile();
  ASSERT_EQ(sinter_model_state_count(model), 1U);
  ASSERT_EQ(sinter_session_state_count(session), 1U);
  auto info = sized<sinter_value_info>();
  SINTER_ASSERT_OK(sinter_model_state(model, 0, &info, &error));
  EXPECT_STREQ(info.name, "sum");
  EXPECT_EQ(info.type, SINTER_I64);
  ASSERT_EQ(info.rank, 2);
  EXPECT_EQ(info.shape[1], 3);
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "no state 1",
                        sinter_model_state(model, 1, &info, &error));
}

TEST_F(CModelInfo, WrongArgumentsAreRefused) {
  open(rows);
  auto info = sized<sinter_model_info>();
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "model is NULL",
                        sinter_model_describe(nullptr, &info, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "info is NULL",
                        sinter_model_describe(model, nullptr, &error));
  info.struct_size = 0;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "struct_size",
                        sinter_model_describe(model, &info, &error));
  info.struct_size = sizeof(info) + 8;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "newer",
                        sinter_model_describe(model, &info, &error));
  EXPECT_EQ(sinter_model_metadata(nullptr, "a"), nullptr);
  EXPECT_EQ(sinter_model_metadata(model, nullptr), nullptr);
  EXPECT_EQ(sinter_model_state_count(nullptr), 0U);
  // A struct of an earlier version has less.
  info = {};
  info.struct_size = offsetof(sinter_model_info, producer);
  SINTER_ASSERT_OK(sinter_model_describe(model, &info, &error));
  EXPECT_STREQ(info.format, "stablehlo");
  EXPECT_EQ(info.producer, nullptr);
}

} // namespace
