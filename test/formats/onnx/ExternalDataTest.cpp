//===- ExternalDataTest.cpp -----------------------------------------------===//
//
// Covers: formats/onnx/file ExternalData
// Covers: runtime OpenBeneath

#include "formats/onnx/file/ExternalData.h"
#include "runtime/OpenBeneath.h"

#include <gtest/gtest.h>

#include "formats/onnx/TestModel.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;
namespace fs = std::filesystem;

namespace {

void setEntry(TensorProto &tensor, const char *key, const std::string &value) {
  StringStringEntryProto &entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

/// Four floats at \p location.
TensorProto externalTensor(const std::string &location) {
  TensorProto tensor = floatTensor("w", 4);
  tensor.clear_raw_data();
  tensor.set_data_location(TensorProto::EXTERNAL);
  setEntry(tensor, "location", location);
  return tensor;
}

class External : public testing::Test {
protected:
  External() {
    fs::create_directory(folder / "model");
    fs::create_directory(folder / "model/sub");
    data = floatTensor("", 4).raw_data();
    for (const char *file : {"model/w.bin", "model/sub/w.bin", "outside.bin"})
      writeText(folder / file, data);
  }

  /// The error of reading \p tensor, "" if its elements are 0, 1, 2, 3.
  std::string read(const TensorProto &tensor) {
    ModelProto model = addModel();
    *model.mutable_graph()->mutable_initializer(0) = tensor;
    Result<OnnxFile> file = load(model, folder / "model");
    if (!file)
      return errorOf(file);
    Result<Tensor> result =
        file->tensorOf(file->model().graph().initializer(0));
    if (!result)
      return errorOf(result);
    return result->at<float>(3) == 3 ? "" : "wrong values";
  }
  std::string read(const std::string &location) {
    return read(externalTensor(location));
  }
  /// The error of opening \p location without openat2.
  std::string walk(const std::string &location) {
    Result<int> descriptor =
        openBeneath(folder / "model", location, OpenMethod::ByComponent);
    if (descriptor)
      close(*descriptor);
    return errorOf(descriptor);
  }

  TemporaryFolder folder;
  std::string data;
};

} // namespace

TEST_F(External, ReadsInsideTheFolder) {
  for (const char *location :
       {"w.bin", "./w.bin", "sub/w.bin", "sub//w.bin", "sub/./w.bin"}) {
    EXPECT_EQ(read(location), "");
    EXPECT_EQ(walk(location), "");
  }
}

TEST_F(External, RefusesToLeaveTheFolder) {
  for (const std::string &location :
       {std::string("../outside.bin"), std::string("sub/../w.bin"),
        std::string("sub/../../outside.bin"), folder / "outside.bin",
        folder / "model/w.bin", std::string(), std::string("."),
        std::string("w.bin\0x", 7)}) {
    EXPECT_CONTAINS(read(location), "is not a path inside the model's folder");
    EXPECT_CONTAINS(walk(location), "is not a path inside the model's folder");
  }
}

TEST_F(External, RefusesLinks) {
  fs::create_symlink("../outside.bin", folder / "model/link.bin");
  fs::create_symlink("w.bin", folder / "model/inner.bin");
  fs::create_directory_symlink("..", folder / "model/up");
  fs::create_directory_symlink("sub", folder / "model/same");
  for (const char *location :
       {"link.bin", "inner.bin", "up/outside.bin", "same/w.bin"}) {
    EXPECT_CONTAINS(read(location), "symbolic link");
    EXPECT_CONTAINS(walk(location), "symbolic link");
  }
  fs::create_hard_link(folder / "outside.bin", folder / "model/hard.bin");
  EXPECT_CONTAINS(read("hard.bin"), "hard link");
  EXPECT_CONTAINS(walk("hard.bin"), "hard link");
}

TEST_F(External, RefusesWhatIsNoFile) {
  ASSERT_EQ(mkfifo((folder / "model/pipe").c_str(), 0600), 0);
  for (const char *location : {"pipe", "sub"}) {
    EXPECT_CONTAINS(read(location), "is not a regular file");
    EXPECT_CONTAINS(walk(location), "is not a regular file");
  }
  EXPECT_CONTAINS(read("missing.bin"), "test.onnx: tensor 'w': external data "
                                       "'missing.bin': there is no such file");
}

TEST_F(External, ChecksOffsetAndLength) {
  auto with = [&](const char *key, const std::string &value) {
    TensorProto tensor = externalTensor("w.bin");
    setEntry(tensor, key, value);
    return read(tensor);
  };
  EXPECT_EQ(with("length", "16"), "");
  EXPECT_EQ(with("checksum", "0"), "");
  EXPECT_CONTAINS(with("length", "12"), "length is 12 bytes, the tensor's "
                                        "shape says 16");
  EXPECT_CONTAINS(with("length", "-16"), "'-16' is not a non-negative number");
  EXPECT_CONTAINS(with("offset", "1"), "16 bytes at offset 1 go past");
  EXPECT_CONTAINS(with("offset", "9223372036854775807"), "go past");
  EXPECT_CONTAINS(with("offset", "9223372036854775808"), "is not a");
  EXPECT_CONTAINS(with("offset", "0x1"), "is not a non-negative number");
  EXPECT_CONTAINS(with("offset", ""), "is not a non-negative number");
  EXPECT_CONTAINS(with("location", "w.bin"), "'location' is given twice");
  TensorProto tensor = externalTensor("w.bin");
  tensor.clear_external_data();
  EXPECT_CONTAINS(read(tensor), "no location is given");
}
