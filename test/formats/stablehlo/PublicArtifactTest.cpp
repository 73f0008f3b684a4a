//===- PublicArtifactTest.cpp - artifacts that StableHLO itself wrote -----===//
//
// Each artifact of the public suite has a twin in text. They are not part of
// this repository: the folder is named by SINTER_SHARED.
//
//===----------------------------------------------------------------------===//
//
// Covers: formats/stablehlo/vhlo ArtifactReader ArtifactWriter
// Covers: formats/stablehlo/vhlo AttributeConversion BuiltinEntries
// Covers: formats/stablehlo/vhlo BytecodeFile Codes Dialect EntryReader
// Covers: formats/stablehlo/vhlo Expansion ForeignProperties
// Covers: formats/stablehlo/vhlo OperationAttributes OperationModel
// Covers: formats/stablehlo/vhlo OperationReader Operations ShardyEntries Steps
// Covers: formats/stablehlo/vhlo Structures TensorBytes TypeConversion Version

#include "formats/stablehlo/vhlo/ArtifactReader.h"
#include "formats/stablehlo/vhlo/ArtifactWriter.h"
#include "graph/Model.h"
#include "mlir/Parser/Parser.h"
#include "runtime/MappedFile.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace mlir;
using namespace sinter;

namespace {

std::filesystem::path publicFolder() {
  const char *shared = std::getenv("SINTER_SHARED");
  return std::filesystem::path(shared ? shared : "") /
         "data/stablehlo/portable";
}

std::string contentsOf(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const std::byte> asBytes(const std::string &text) {
  return std::as_bytes(std::span(text));
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().assumeVerified());
  return text;
}

/// The version in a name such as `stablehlo_legalize_to_vhlo.1_0_0.mlir.bc`.
std::string versionOf(const std::filesystem::path &path) {
  const std::string name = path.filename().string();
  const size_t begin = name.find('.') + 1;
  std::string version = name.substr(begin, name.find('.', begin) - begin);
  std::replace(version.begin(), version.end(), '_', '.');
  return version;
}

class PublicArtifact : public testing::TestWithParam<std::string> {};

std::vector<std::string> artifacts() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto &entry :
       std::filesystem::directory_iterator(publicFolder(), ignored))
    if (entry.path().extension() == ".bc")
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// \p text without lines that are comments, which name the function behind.
std::string withoutComments(const std::string &text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("//"))
      kept += line + "\n";
  return kept;
}

/// The functions of \p text without those of types that MLIR lacks.
std::string withoutNewTypes(const std::string &text) {
  constexpr const char *lacking[] = {"f8E3M4", "f8E8M0FNU", "f4E2M1FN",
                                     "f6E2M3FN", "f6E3M2FN"};
  std::string kept;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find("\nfunc.func", begin + 1);
    end = end == std::string::npos ? text.size() : end + 1;
    const std::string piece = text.substr(begin, end - begin);
    if (std::none_of(std::begin(lacking), std::end(lacking),
                     [&](const char *type) {
                       return piece.find(type) != std::string::npos;
                     }))
      kept += piece;
    begin = end;
  }
  return kept;
}

/// An artifact has a default whether or not its text did, which says the same.
std::string withoutDefaults(std::string text) {
  constexpr std::string_view accuracy =
      " {result_accuracy = #stablehlo.result_accuracy<mode = "
      "#stablehlo.result_accuracy_mode<DEFAULT>>}";
  for (size_t at; (at = text.find(accuracy)) != std::string::npos;)
    text.erase(at, accuracy.size());
  return text;
}

OwningOpRef<ModuleOp> parse(const std::string &text, MLIRContext *context) {
  return parseSourceString<ModuleOp>(text, context);
}

Result<OwningOpRef<ModuleOp>> read(const std::string &bytes,
                                   MLIRContext *context) {
  return vhlo::readArtifact(asBytes(bytes), nullptr, "test", context);
}

TEST_P(PublicArtifact, ReadsAsItsText) {
  const auto path = publicFolder() / GetParam();
  const std::string bytes = contentsOf(path);
  auto context = makeContext();
  std::string leftOut;
  auto artifact = vhlo::readArtifact(asBytes(bytes), nullptr, "test",
                                     context.get(), &leftOut);
  auto twin = path;
  const std::string text =
      withoutComments(contentsOf(twin.replace_extension()));
  const std::string readable = withoutNewTypes(text);
  EXPECT_EQ(leftOut.find("there is no type f") != std::string::npos,
            readable != text)
      << leftOut;
  ASSERT_TRUE(artifact) << artifact.error().message();
  auto other = makeContext();
  OwningOpRef<ModuleOp> module = parse(readable, other.get());
  ASSERT_TRUE(module);
  EXPECT_EQ(textOf(**artifact), withoutDefaults(textOf(*module)));
}

TEST_P(PublicArtifact, IsWrittenAsItWas) {
  const auto path = publicFolder() / GetParam();
  const std::string bytes = contentsOf(path);
  auto twin = path;
  const std::string text =
      withoutComments(contentsOf(twin.replace_extension()));
  const std::string readable = withoutNewTypes(text);
  auto context = makeContext();
  OwningOpRef<ModuleOp> module = parse(readable, context.get());
  ASSERT_TRUE(module);
  // That the accuracy is the default one is not said when it is read.
  module->walk([](Operation *op) {
    std::string accuracy;
    if (Attribute attribute = op->getAttr("result_accuracy"))
      llvm::raw_string_ostream(accuracy) << attribute;
    if (accuracy.find("<DEFAULT>") != std::string::npos)
      op->removeAttr("result_accuracy");
  });
  const std::string before = textOf(*module);
  module->walk([&](Operation *op) {
    op->setLoc(UnknownLoc::get(context.get()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(UnknownLoc::get(context.get()));
  });
  auto version = vhlo::parseTargetVersion(versionOf(path));
  ASSERT_TRUE(version);
  auto written = vhlo::writeArtifact(*module, *version);
  ASSERT_TRUE(written) << written.error().message();
  // The other file keeps its locations, and this function stands in newer ones
  // with the uses of its argument in another order.
  const bool isOrdered =
      text.find("op_custom_call_empty_result_layout") == std::string::npos;
  if (readable == text && isOrdered && GetParam().starts_with("stablehlo")) {
    EXPECT_EQ(written->size(), bytes.size());
    EXPECT_TRUE(*written == bytes);
  }
  auto again = read(*written, context.get());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(textOf(**again), before);
}

INSTANTIATE_TEST_SUITE_P(Versions, PublicArtifact,
                         testing::ValuesIn(artifacts()), [](const auto &info) {
                           std::string name =
                               versionOf(info.param) +
                               (info.param.starts_with("vhlo") ? "_api" : "");
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublicArtifact);

} // namespace
