//===- OnnxWriterTest.cpp -------------------------------------------------===//
//
// Covers: formats/onnx/file OnnxWriter Splice

#include "formats/onnx/file/OnnxWriter.h"

#include <gtest/gtest.h>

#include "formats/onnx/TestModel.h"
#include "formats/onnx/file/TensorFile.h"

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;
namespace fs = std::filesystem;

static Tensor ramp(int64_t count) {
  Tensor tensor(ElementType::F32, {count});
  for (int64_t i = 0; i < count; ++i)
    tensor.set<float>(i, static_cast<float>(i));
  return tensor;
}

/// The last element of the initialiser of the model at \p path.
static double lastWeight(const std::string &path) {
  Result<OnnxFile> file = OnnxFile::open(path);
  EXPECT_EQ(errorOf(file), "");
  if (!file)
    return -1;
  Result<Tensor> tensor = file->tensorOf(file->model().graph().initializer(0));
  EXPECT_EQ(errorOf(tensor), "");
  return tensor ? tensor->toDouble(tensor->size() - 1) : -1;
}

TEST(OnnxWriter, WritesNewAndOldData) {
  TemporaryFolder folder;
  for (int64_t count : {3, 5000}) {
    OnnxWriter writer;
    ModelProto model = addModel();
    TensorProto &weights = *model.mutable_graph()->mutable_initializer(0);
    ASSERT_EQ(errorOf(writer.setData(weights, ramp(count))), "");
    ASSERT_EQ(errorOf(writer.write(model, folder / "a.onnx")), "");
    EXPECT_EQ(lastWeight(folder / "a.onnx"), count - 1);
    // protobuf itself reads it.
    ModelProto parsed;
    ASSERT_TRUE(parsed.ParseFromString(readText(folder / "a.onnx")));
    EXPECT_EQ(parsed.graph().initializer(0).raw_data().size(), 4u * count);
    EXPECT_EQ(parsed.graph().initializer(0).name(), "w");

    Result<OnnxFile> file = OnnxFile::open(folder / "a.onnx");
    ASSERT_EQ(errorOf(file), "");
    OnnxWriter second(*file);
    ASSERT_EQ(errorOf(second.write(file->model(), folder / "b.onnx")), "");
    EXPECT_EQ(readText(folder / "a.onnx"), readText(folder / "b.onnx"));
  }
}

TEST(OnnxWriter, ExternalWeightsAndBack) {
  TemporaryFolder folder;
  fs::create_directory(folder / "other");
  OnnxWriter writer;
  ModelProto model = addModel();
  GraphProto &graph = *model.mutable_graph();
  ASSERT_EQ(errorOf(writer.setData(*graph.mutable_initializer(0), ramp(5000))),
            "");
  graph.add_initializer()->set_name("v");
  ASSERT_EQ(errorOf(writer.setData(*graph.mutable_initializer(1), ramp(700))),
            "");
  std::string path = folder / "a.onnx";
  ASSERT_EQ(errorOf(writer.write(model, path, ExternalWeights::Always)), "");
  EXPECT_LT(fs::file_size(path), 1000u);
  EXPECT_EQ(fs::file_size(path + ".data"), 5u * 4096 + 2800);
  EXPECT_EQ(lastWeight(path), 4999);

  Result<OnnxFile> file = OnnxFile::open(path);
  ASSERT_EQ(errorOf(file), "");
  OnnxWriter second(*file);
  std::string inside = folder / "other/b.onnx";
  ASSERT_EQ(errorOf(second.write(file->model(), inside)), "");
  EXPECT_FALSE(fs::exists(inside + ".data"));
  EXPECT_EQ(lastWeight(inside), 4999);
}

TEST(OnnxWriter, LeavesNothingHalfWritten) {
  TemporaryFolder folder;
  ModelProto model = addModel();
  TensorProto &weights = *model.mutable_graph()->mutable_initializer(0);
  weights.clear_raw_data();
  weights.add_payload()->set_tensor(7);
  OnnxWriter writer;
  EXPECT_CONTAINS(errorOf(writer.write(model, folder / "a.onnx")),
                  "refers to data that were never given");
  EXPECT_FALSE(fs::exists(folder / "a.onnx"));
  EXPECT_FALSE(writer.write(addModel(), folder / "missing/a.onnx"));
}

TEST(TensorFile, WritesAndReadsTensors) {
  TemporaryFolder folder;
  std::string path = folder / "t.pb";
  for (int64_t count : {0, 3, 5000}) {
    ASSERT_EQ(errorOf(writeTensorFile(path, ramp(count), "t")), "");
    Result<Tensor> back = readTensorFile(path);
    ASSERT_EQ(errorOf(back), "");
    EXPECT_EQ(back->shape(), Shape{count});
    if (count)
      EXPECT_EQ(back->at<float>(count - 1), count - 1);
  }
  writeText(path, "junk");
  EXPECT_CONTAINS(errorOf(readTensorFile(path)), "t.pb: not an ONNX value");
}

TEST(TensorFile, ReadsSequencesAndOptionals) {
  TemporaryFolder folder;
  SequenceProto sequence;
  sequence.set_elem_type(SequenceProto::TENSOR);
  *sequence.add_tensor_values() = floatTensor("a", 2);
  *sequence.add_tensor_values() = floatTensor("b", 300);
  writeText(folder / "s.pb", sequence.SerializeAsString());
  Result<FileValue> value = readValueFile(folder / "s.pb", ValueForm::Sequence);
  ASSERT_EQ(errorOf(value), "");
  auto &tensors = std::get<std::vector<Tensor>>(*value);
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[1].at<float>(299), 299);

  OptionalProto optional;
  optional.set_elem_type(OptionalProto::SEQUENCE);
  *optional.mutable_sequence_value() = sequence;
  writeText(folder / "o.pb", optional.SerializeAsString());
  value = readValueFile(folder / "o.pb", ValueForm::Optional);
  ASSERT_EQ(errorOf(value), "");
  EXPECT_EQ(std::get<std::vector<Tensor>>(*value).size(), 2u);

  writeText(folder / "e.pb", "");
  value = readValueFile(folder / "e.pb", ValueForm::Optional);
  ASSERT_EQ(errorOf(value), "");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(*value));
}
