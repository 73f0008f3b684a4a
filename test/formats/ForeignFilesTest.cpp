#include "formats/ForeignFiles.h"
#include "TemporaryFolder.h"
#include "formats/WireReader.h"
#include "runtime/ByteStream.h"

#include <fstream>
#include <gtest/gtest.h>

namespace sinter {
namespace {

std::string whatIs(std::string_view contents) {
  const auto found = foreignFile(bytesOf(contents));
  return found ? std::string(found->what) : "";
}

std::string number(uint64_t value, unsigned size) {
  std::string bytes;
  for (unsigned i = 0; i < size; ++i)
    bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// A zip archive of empty files, as PKWARE's APPNOTE.TXT describes it.
std::string zipOf(const std::vector<std::string> &names) {
  std::string files, directory;
  for (const std::string &name : names) {
    const std::string common = number(0, 2) + number(0, 2) + number(0, 4) +
                               number(0, 4) + number(0, 4) + number(0, 4) +
                               number(name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + common +
                 number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(files.size(), 4) + name;
    files += "PK\x03\x04" + number(20, 2) + common + name;
  }
  return files + directory + "PK\x05\x06" + number(0, 4) +
         number(names.size(), 2) + number(names.size(), 2) +
         number(directory.size(), 4) + number(files.size(), 4) + number(0, 2);
}

/// A field of bytes of a protobuf message.
std::string bytesField(uint32_t number, std::string_view content) {
  std::string field;
  appendTag(field, number, WireType::Bytes);
  appendVarint(field, content.size());
  return field += content;
}

std::string numberField(uint32_t number, uint64_t value) {
  std::string field;
  appendTag(field, number, WireType::Varint);
  appendVarint(field, value);
  return field;
}

TEST(ForeignFiles, TellsArchivesByTheFilesInThem) {
  EXPECT_EQ(whatIs(zipOf({"archive/data.pkl", "archive/data/0"})),
            "a PyTorch checkpoint");
  EXPECT_EQ(whatIs(zipOf({"net/data.pkl", "net/code/__torch__.py",
                          "net/constants.pkl"})),
            "a TorchScript program of PyTorch");
  EXPECT_EQ(whatIs(zipOf({"net/archive_format", "net/models/model.json"})),
            "a program of torch.export");
  EXPECT_EQ(whatIs(zipOf({"metadata.json", "config.json", "model.weights.h5"})),
            "a Keras model");
  EXPECT_EQ(whatIs(zipOf({"x.npy", "y.npy"})), "an archive of NumPy arrays");
  EXPECT_EQ(whatIs(zipOf({"x.npy", "notes.txt"})), "a zip archive");
  // A directory that is missing, or cut short.
  EXPECT_EQ(whatIs("PK\x03\x04"), "a zip archive");
  std::string cut = zipOf({"archive/data.pkl"});
  EXPECT_EQ(whatIs(cut.substr(0, cut.size() - 22)), "a zip archive");
}

TEST(ForeignFiles, TellsPicklesApart) {
  const std::string torch =
      std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
  EXPECT_EQ(whatIs(torch), "a PyTorch checkpoint");
  EXPECT_EQ(whatIs("\x80\x04\x95 csklearn.linear_model"),
            "a pickled model of scikit-learn");
  EXPECT_EQ(whatIs("\x80\x05K\x01."),
            "a Python pickle (a PyTorch checkpoint, perhaps)");
  EXPECT_EQ(whatIs("\x80\x01K\x01."), "");
  EXPECT_EQ(whatIs("\x80"), "");
}

TEST(ForeignFiles, TellsHdf5Apart) {
  EXPECT_EQ(whatIs("\x89HDF\r\n\x1a\n...keras_version..."),
            "a Keras model (HDF5)");
  EXPECT_EQ(whatIs("\x89HDF\r\n\x1a\n..."), "an HDF5 file");
}

TEST(ForeignFiles, KnowsOpenVino) {
  const std::string net = "<net name=\"n\" version=\"11\">\n<layers>\n";
  EXPECT_EQ(whatIs(net), "an OpenVINO network (IR)");
  EXPECT_EQ(whatIs("<?xml version=\"1.0\"?>\n" + net),
            "an OpenVINO network (IR)");
  EXPECT_EQ(whatIs("\xEF\xBB\xBF<?xml version=\"1.0\"?>\n" + net),
            "an OpenVINO network (IR)");
  EXPECT_EQ(whatIs("<?xml version=\"1.0\"?>\n<html></html>"), "");
  EXPECT_EQ(whatIs("text <net name=\"n\"><layers>"), "");
}

TEST(ForeignFiles, KnowsSafetensors) {
  const std::string header =
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string what = "a safetensors file, which has weights but no graph";
  EXPECT_EQ(whatIs(number(header.size(), 8) + header + number(0, 4)), what);
  EXPECT_EQ(whatIs(number(2, 8) + "{}"), what);
  // A header that ends behind the file, and what is no header.
  EXPECT_EQ(whatIs(number(header.size() + 5, 8) + header + number(0, 4)), "");
  EXPECT_EQ(whatIs(number(~uint64_t(0), 8) + header), "");
  EXPECT_EQ(whatIs(number(4, 8) + "{12}"), "");
}

TEST(ForeignFiles, KnowsTensorFlow) {
  const std::string node =
      bytesField(1, "input") + bytesField(2, "Placeholder");
  const std::string graph = bytesField(1, node) + bytesField(1, node);
  EXPECT_EQ(whatIs(graph), "a graph of TensorFlow");
  const std::string meta =
      bytesField(1, bytesField(4, "serve")) + bytesField(2, graph);
  EXPECT_EQ(whatIs(numberField(1, 1) + bytesField(2, meta)),
            "a SavedModel of TensorFlow");
  EXPECT_EQ(whatIs(bytesField(1, bytesField(1, "x") + bytesField(2, "a b"))),
            "");
}

TEST(ForeignFiles, KnowsCoreMlAndCaffe) {
  EXPECT_EQ(whatIs(numberField(1, 8) + bytesField(2, bytesField(1, "x")) +
                   bytesField(502, numberField(1, 1))),
            "a Core ML model");
  EXPECT_EQ(
      whatIs(bytesField(1, "LeNet") + bytesField(100, bytesField(1, "conv1"))),
      "a Caffe network");
}

/// The files that are read may not be mistaken for others.
TEST(ForeignFiles, LeavesModelsAlone) {
  const std::string graph =
      bytesField(7, bytesField(1, bytesField(1, "x") + bytesField(2, "y") +
                                      bytesField(4, "Relu")) +
                        bytesField(2, "g"));
  // ONNX: version, producer, graph, operator set.
  EXPECT_EQ(whatIs(numberField(1, 8) + bytesField(2, "pytorch") +
                   bytesField(3, "2.1") + graph +
                   bytesField(8, numberField(2, 17))),
            "");
  EXPECT_EQ(whatIs("module {\n  func.func @main() {\n    return\n  }\n}\n"),
            "");
  EXPECT_EQ(whatIs("ML\xEFR\x0DStableHLO_v1.0.0"), "");
  EXPECT_EQ(whatIs("{\"base_code\": {\"magic\": \"pir\"}}"), "");
  EXPECT_EQ(whatIs(""), "");
}

TEST(ForeignFiles, KnowsMagicNumbers) {
  for (auto [contents, what] : std::vector<std::pair<std::string, std::string>>{
           {number(28, 4) + "TFL3", "a TensorFlow Lite model"},
           {number(28, 4) + "ORTM",
            "a model in ONNX Runtime's own format (ORT)"},
           {number(28, 4) + "ET12", "an ExecuTorch program"},
           {"GGUF" + number(3, 4),
            "a GGUF file, which has weights for llama.cpp but no graph"},
           {"ftrt", "an engine of TensorRT, compiled for one GPU"},
           {"\x93NUMPY\x01", "a NumPy array"},
           {"\x89PNG\r\n", "a PNG image"}})
    EXPECT_EQ(whatIs(contents), what);
  // Shorter than the magic number, or than its offset.
  EXPECT_EQ(whatIs("GGU"), "");
  EXPECT_EQ(whatIs("abc"), "");
}

TEST(ForeignFiles, KnowsFolders) {
  const auto whatIsFolder = [](const std::vector<std::string> &files) {
    const test::TemporaryFolder folder;
    for (const std::string &file : files)
      std::ofstream(folder.file(file)) << "x";
    const auto found = foreignFolder(folder.path());
    return found ? std::string(found->what) : "";
  };
  EXPECT_EQ(whatIsFolder({"saved_model.pb", "keras_metadata.pb"}),
            "a SavedModel of TensorFlow");
  EXPECT_EQ(whatIsFolder({"Manifest.json", "Data"}), "a Core ML package");
  EXPECT_EQ(whatIsFolder({"config.json", "model-00001.safetensors"}),
            "a model of Hugging Face Transformers");
  EXPECT_EQ(whatIsFolder({"config.json"}), "");
  EXPECT_EQ(whatIsFolder({}), "");
  EXPECT_FALSE(foreignFolder("no such folder"));
}

TEST(ForeignFiles, KnowsNames) {
  EXPECT_EQ(foreignName("a/net.plan")->what, "an engine of TensorRT");
  EXPECT_EQ(foreignName("net.pth")->what, "a PyTorch checkpoint");
  EXPECT_FALSE(foreignName("net.onnx"));
  EXPECT_FALSE(foreignName("plan"));
}

} // namespace
} // namespace sinter
