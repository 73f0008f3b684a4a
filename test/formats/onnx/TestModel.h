//===- TestModel.h - small ONNX models for tests --------------------------===//

#ifndef SINTER_TEST_FORMATS_ONNX_TESTMODEL_H
#define SINTER_TEST_FORMATS_ONNX_TESTMODEL_H

#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <initializer_list>
#include <sstream>
#include <stdlib.h>
#include <string>

namespace sinter::onnx::test {

/// A folder that is gone when the test is over.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "sinter-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const {
    return (path / name).string();
  }

private:
  std::filesystem::path path;
};

inline void writeText(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string readText(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Kilobytes of RssAnon, from /proc/self/status.
inline long anonymousMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:"))
      return std::atol(line.c_str() + 8);
  return -1;
}

inline ModelProto emptyModel() {
  ModelProto model;
  model.set_ir_version(8);
  OperatorSetIdProto &opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(17);
  model.mutable_graph()->set_name("g");
  return model;
}

template <typename Owner>
NodeProto &addNode(Owner &owner, const std::string &op,
                   std::initializer_list<const char *> inputs,
                   std::initializer_list<const char *> outputs) {
  NodeProto &node = *owner.add_node();
  node.set_op_type(op);
  for (const char *input : inputs)
    node.add_input(input);
  for (const char *output : outputs)
    node.add_output(output);
  return node;
}

/// A float tensor with raw data 0, 1, 2, ...
inline TensorProto floatTensor(const std::string &name, int count) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.add_dims(count);
  tensor.set_data_type(TensorProto::FLOAT);
  std::string data(count * sizeof(float), '\0');
  for (int i = 0; i < count; ++i) {
    auto value = static_cast<float>(i);
    std::memcpy(data.data() + i * sizeof(float), &value, sizeof(float));
  }
  tensor.set_raw_data(data);
  return tensor;
}

/// y = Add(x, w), where w has \p weights elements.
inline ModelProto addModel(int weights = 4) {
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  graph.add_input()->set_name("x");
  graph.add_output()->set_name("y");
  *graph.add_initializer() = floatTensor("w", weights);
  addNode(graph, "Add", {"x", "w"}, {"y"}).set_name("add");
  return model;
}

inline Result<OnnxFile> load(const ModelProto &model,
                             const std::string &folder = ".") {
  return OnnxFile::fromMemory(model.SerializeAsString(), folder, "test.onnx");
}

/// The one-line message of what went wrong, "" if nothing did.
template <typename T> std::string errorOf(const Result<T> &result) {
  if (result)
    return "";
  EXPECT_EQ(result.error().message().find('\n'), std::string::npos);
  return result.error().message();
}

/// The error of loading \p model.
inline std::string loadError(const ModelProto &model) {
  return errorOf(load(model));
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_PRED2(::sinter::onnx::test::contains, text, part)

} // namespace sinter::onnx::test

#endif // SINTER_TEST_FORMATS_ONNX_TESTMODEL_H
