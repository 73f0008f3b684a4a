//===- OnnxFileTest.cpp ---------------------------------------------------===//
//
// Covers: formats WireReader
// Covers: formats/onnx/file DataTypes OnnxFile Parse

#include "formats/onnx/file/OnnxFile.h"

#include <gtest/gtest.h>

#include "formats/onnx/TestModel.h"
#include "formats/onnx/file/OnnxWriter.h"
#include "formats/onnx/file/TensorFile.h"

#include <cstdlib>
#include <random>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;
namespace fs = std::filesystem;

TEST(OnnxFile, RefusesEveryTruncation) {
  ModelProto model = addModel(/*weights=*/200);
  std::string bytes = model.SerializeAsString();
  ASSERT_TRUE(OnnxFile::fromMemory(bytes, ".", "whole.onnx"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    Result<OnnxFile> file =
        OnnxFile::fromMemory(bytes.substr(0, size), ".", "cut.onnx");
    ASSERT_FALSE(file) << size;
    EXPECT_EQ(file.error().kind, ErrorKind::InvalidModel);
    EXPECT_TRUE(errorOf(file).starts_with("cut.onnx: ")) << errorOf(file);
  }
}

TEST(OnnxFile, RefusesWhatIsNoModel) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char &c : bytes)
      c = static_cast<char>(random());
    EXPECT_FALSE(OnnxFile::fromMemory(bytes, ".", "noise"));
  }
  auto error = [](const std::string &bytes) {
    return errorOf(OnnxFile::fromMemory(bytes, ".", "f"));
  };
  EXPECT_CONTAINS(error(""), "f: not an ONNX model: the file is empty");
  EXPECT_CONTAINS(error("\x93NUMPY\x01"), "f: not an ONNX model");
  EXPECT_CONTAINS(error("module {}\n"), "f: not an ONNX model");
  EXPECT_CONTAINS(error("version https://git-lfs.github.com/spec/v1\noid"),
                  "Git LFS");
  EXPECT_CONTAINS(errorOf(OnnxFile::open("/nowhere/model.onnx")),
                  "/nowhere/model.onnx");
  EXPECT_FALSE(OnnxFile::open("/"));
}

TEST(OnnxFile, ChangedBytesNeverCrash) {
  std::string bytes = addModel(/*weights=*/100).SerializeAsString();
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string changed = bytes;
    for (int j = 0; j < 3; ++j)
      changed[random() % changed.size()] = static_cast<char>(random());
    Result<OnnxFile> file = OnnxFile::fromMemory(changed, ".", "f");
    if (!file)
      continue;
    for (const TensorProto &tensor : file->model().graph().initializer())
      (void)errorOf(file->tensorOf(tensor));
  }
}

TEST(OnnxFile, APayloadInTheFileIsNotBelieved) {
  ModelProto model = addModel();
  TensorProto &tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_raw_data();
  TensorProto::Payload &payload = *tensor.add_payload();
  payload.set_field(TensorProto::kRawDataFieldNumber);
  payload.set_offset(0);
  payload.set_size(16);
  Result<OnnxFile> file = load(model);
  ASSERT_EQ(errorOf(file), "");
  EXPECT_CONTAINS(errorOf(file->tensorOf(file->model().graph().initializer(0))),
                  "tensor 'w': has no data");
}

TEST(OnnxFile, UnknownFieldsSurvive) {
  std::string extra("\xc2\x3e\x03new", 6); // field 1000, three bytes
  std::string bytes = addModel().SerializeAsString() + extra;
  Result<OnnxFile> file = OnnxFile::fromMemory(bytes, ".", "f");
  ASSERT_EQ(errorOf(file), "");
  EXPECT_CONTAINS(file->model().SerializeAsString(), extra);
}

TEST(OnnxFile, WeightsStayInTheFile) {
  TemporaryFolder folder;
  std::string path = folder / "large.onnx";
  constexpr int64_t count = 1 << 20, tensors = 24;
  {
    ModelProto model = emptyModel();
    GraphProto &graph = *model.mutable_graph();
    OnnxWriter writer;
    Tensor weights(ElementType::F32, {count});
    for (int64_t i = 0; i < count; ++i)
      weights.set<float>(i, 1);
    for (int i = 0; i < tensors; ++i) {
      // In initialisers, attributes and nested graphs alike.
      std::string name = "w" + std::to_string(i);
      TensorProto *tensor = graph.add_initializer();
      if (i % 3 > 0) {
        graph.mutable_initializer()->RemoveLast();
        NodeProto &node = addNode(graph, "Constant", {}, {name.c_str()});
        AttributeProto &attribute = *node.add_attribute();
        tensor = i % 3 == 1 ? attribute.mutable_t()
                            : attribute.mutable_g()->add_initializer();
      }
      tensor->set_name(name);
      ASSERT_EQ(errorOf(writer.setData(*tensor, weights)), "");
    }
    ASSERT_EQ(errorOf(writer.write(model, path)), "");
  }
  ASSERT_GT(fs::file_size(path), 4u * count * tensors);
  long before = anonymousMemory();
  Result<OnnxFile> file = OnnxFile::open(path);
  ASSERT_EQ(errorOf(file), "");
  double sum = 0;
  for (const TensorProto &proto : file->model().graph().initializer()) {
    Result<Tensor> tensor = file->tensorOf(proto);
    ASSERT_EQ(errorOf(tensor), "");
    for (int64_t i = 0; i < tensor->size(); ++i)
      sum += tensor->at<float>(i);
  }
  EXPECT_EQ(sum, count * 8.0);
  EXPECT_LT(anonymousMemory() - before, 4 * count * tensors / 1024 / 10);
}

static std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

TEST(OnnxFile, ReadsFilesOverTwoGiB) {
  TemporaryFolder folder;
  std::string path = folder / "huge.onnx";
  // A file of holes, but for the fields around the data.
  constexpr uint64_t size = uint64_t(3) << 30;
  TensorProto weights = floatTensor("w", 0);
  weights.set_dims(0, size / 4);
  weights.clear_raw_data();
  std::string tensor = weights.SerializeAsString() + "\x4a" + varint(size);
  std::string graph = "\x2a" + varint(tensor.size() + size) + tensor;
  ModelProto model = emptyModel();
  model.clear_graph();
  std::string front =
      model.SerializeAsString() + "\x3a" + varint(graph.size() + size) + graph;
  writeText(path, front);
  fs::resize_file(path, front.size() + size);
  Result<OnnxFile> file = OnnxFile::open(path);
  ASSERT_EQ(errorOf(file), "");
  Result<Tensor> result = file->tensorOf(file->model().graph().initializer(0));
  ASSERT_EQ(errorOf(result), "");
  EXPECT_EQ(result->bytes(), size);
  EXPECT_EQ(result->at<float>(result->size() - 1), 0);
}

/// Writes what was read and compares with protobuf's own parse of everything.
static void compareWithFullParse(const fs::path &path,
                                 const std::string &copy) {
  Result<OnnxFile> file = OnnxFile::open(path);
  ASSERT_EQ(errorOf(file), "");
  OnnxWriter writer(*file);
  ASSERT_EQ(errorOf(writer.write(file->model(), copy)), "");
  ModelProto expected, got;
  ASSERT_TRUE(expected.ParseFromString(readText(path)));
  ASSERT_TRUE(got.ParseFromString(readText(copy)));
  EXPECT_TRUE(expected.SerializeAsString() == got.SerializeAsString()) << path;
  for (const TensorProto &tensor : file->model().graph().initializer())
    if (tensor.data_type() != TensorProto::STRING)
      EXPECT_EQ(errorOf(file->tensorOf(tensor)), "");
}

static int compareAllBelow(const fs::path &folder) {
  TemporaryFolder temporary;
  int models = 0;
  for (const auto &entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "model.onnx")
      continue;
    compareWithFullParse(entry.path(), temporary / "copy.onnx");
    ++models;
  }
  return models;
}

static const fs::path onnxTestData = "/usr/share/libonnx-testdata/data";

TEST(OnnxFile, AgreesWithProtobufOnTheOnnxTestData) {
  if (!fs::exists(onnxTestData))
    GTEST_SKIP() << "the package libonnx-testdata is not installed";
  EXPECT_GE(compareAllBelow(onnxTestData), 1000);
}

TEST(OnnxFile, AgreesWithProtobufOnLightModels) {
  const char *shared = std::getenv("SINTER_SHARED");
  fs::path folder = shared ? shared : SINTER_SOURCE_DIR "/../shared";
  if (!fs::exists(folder / "data/onnx-light"))
    GTEST_SKIP() << "there is no " << folder / "data/onnx-light"
                 << " (set SINTER_SHARED)";
  EXPECT_GE(compareAllBelow(folder / "data/onnx-light"), 1);
}

TEST(OnnxFile, ReadsTheTestDataTensors) {
  if (!fs::exists(onnxTestData))
    GTEST_SKIP() << "the package libonnx-testdata is not installed";
  int tensors = 0, large = 0;
  for (const auto &entry : fs::recursive_directory_iterator(onnxTestData)) {
    if (entry.path().extension() != ".pb")
      continue;
    TensorProto full;
    // Sequences and optionals have bytes that are no tensor's.
    if (!full.ParseFromString(readText(entry.path())) || !full.has_data_type())
      continue;
    Result<Tensor> expected = decodeTensor(full, {});
    Result<Tensor> tensor = readTensorFile(entry.path());
    ASSERT_EQ(bool(expected), bool(tensor)) << entry.path();
    if (!expected)
      continue;
    ++tensors;
    large += expected->bytes() >= 256;
    ASSERT_EQ(expected->shape(), tensor->shape());
    ASSERT_EQ(expected->type(), tensor->type());
    ASSERT_EQ(std::memcmp(expected->data(), tensor->data(), tensor->bytes()),
              0);
  }
  EXPECT_GT(tensors, 2000);
  EXPECT_GT(large, 100);
}
