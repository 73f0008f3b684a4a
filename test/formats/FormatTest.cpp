#include "formats/Format.h"
#include "runtime/ByteStream.h"

#include <gtest/gtest.h>
#include <set>

namespace sinter {
namespace {

TEST(Format, RowsAreWhole) {
  std::set<llvm::StringRef> names, suffixes;
  for (const Format *format : allFormats()) {
    EXPECT_TRUE(names.insert(format->name).second);
    EXPECT_FALSE(format->title.empty());
    EXPECT_TRUE(format->recognises && format->open && format->write);
    for (const Extension &each : format->extensions) {
      EXPECT_TRUE(suffixes.insert(each.suffix).second) << each.suffix.str();
      // Or the whole name of a file, of which users are not told.
      EXPECT_TRUE(each.suffix.starts_with(".") || each.suffix == "/" ||
                  !each.isListed);
      EXPECT_TRUE(!each.isVersioned || format->checkVersion);
    }
  }
}

TEST(Format, IsFoundByNameOrContents) {
  auto titleOf = [](const std::string &path, std::string_view contents) {
    const Format *format = formatOf(path, bytesOf(contents));
    return format ? format->title.str() : "";
  };
  EXPECT_EQ(titleOf("a.onnx", "x"), "ONNX");
  EXPECT_EQ(titleOf("a", "x"), "ONNX");
  EXPECT_EQ(titleOf("a.mlir", "x"), "StableHLO");
  // Broken perhaps, but what else is called so.
  EXPECT_EQ(titleOf("a.json", " [[[["), "PaddlePaddle");
  EXPECT_EQ(titleOf("a.json", "{\"b\": 1}"), "PaddlePaddle");
  // An artifact is one whatever it is called.
  EXPECT_EQ(titleOf("a.onnx", "ML\xEFR\x0DStableHLO_v1.0.0"), "StableHLO");
  // A folder that nobody saved a model in.
  EXPECT_EQ(titleOf("/", ""), "");
}

TEST(Format, IsWrittenByTheLongestExtension) {
  auto wayOf = [](const std::string &path) {
    auto form = writtenForm(path);
    return form ? form->extension->suffix.str() : form.error().message();
  };
  EXPECT_EQ(wayOf("a.onnx"), ".onnx");
  EXPECT_EQ(wayOf("a.mlir"), ".mlir");
  EXPECT_EQ(wayOf("a.mlir.bc"), ".mlir.bc");
  EXPECT_EQ(wayOf("a.mlirbc"), ".mlirbc");
  EXPECT_TRUE(llvm::StringRef(wayOf("a.txt"))
                  .starts_with("'a.txt': the extension says in which format to "
                               "write: .onnx, .mlir (text), .mlir.bc or "
                               ".stablehlo (portable artifact)"))
      << wayOf("a.txt");
}

TEST(Format, HasVersionsWhereItSaysSo) {
  EXPECT_TRUE(checkTargetVersion("a.onnx", ""));
  EXPECT_TRUE(checkTargetVersion("a.stablehlo", "1.0.0"));
  for (auto [path, version, part] :
       {std::tuple("a.stablehlo", "99.0.0", "99.0.0"),
        std::tuple("a.mlir", "1.0.0",
                   ".mlir.bc or .stablehlo (portable artifact), not for "
                   "'a.mlir'"),
        std::tuple("a.onnx", "1.0.0", "not for 'a.onnx'"),
        std::tuple("a", "", "the extension")}) {
    auto checked = checkTargetVersion(path, version);
    ASSERT_FALSE(checked) << path;
    EXPECT_EQ(checked.error().kind, ErrorKind::Usage);
    EXPECT_NE(checked.error().message().find(part), std::string::npos)
        << checked.error().message();
  }
}

} // namespace
} // namespace sinter
