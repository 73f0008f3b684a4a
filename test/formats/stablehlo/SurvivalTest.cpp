//===- SurvivalTest.cpp - programs come back from text as they were -------===//
//
// Each valid program is printed, parsed and printed again, in the short form,
// in the generic one and as an artifact, and stays what it is.
//
//===----------------------------------------------------------------------===//
//
// Covers: formats/stablehlo StablehloWriter

#include "formats/Programs.h"
#include "formats/stablehlo/ForeignText.h"
#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "formats/stablehlo/vhlo/ArtifactReader.h"
#include "formats/stablehlo/vhlo/ArtifactWriter.h"
#include "graph/Model.h"
#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

std::string printed(ModuleOp module, bool isGeneric) {
  OpPrintingFlags flags;
  if (isGeneric)
    flags.printGenericOpForm();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, flags);
  return text;
}

bool isKnown(ModuleOp module) {
  return !module
              ->walk([](Operation *op) {
                return op->isRegistered() ? WalkResult::advance()
                                          : WalkResult::interrupt();
              })
              .wasInterrupted();
}

void survivesText(ModuleOp module, bool isGeneric) {
  const std::string before = printed(module, isGeneric);
  auto context = makeContext();
  context->allowUnregisteredDialects(true);
  auto again = parseSourceString<ModuleOp>(before, context.get());
  ASSERT_TRUE(again) << before;
  EXPECT_EQ(printed(*again, isGeneric), before);
}

/// An artifact may say attributes that a text leaves out, so that it is
/// compared with what is read from an artifact.
void survivesArtifact(ModuleOp module) {
  auto written = vhlo::writeArtifact(module, vhlo::currentVersion);
  ASSERT_TRUE(written) << written.error().message();
  auto context = makeContext();
  auto read = [&](const std::string &bytes) {
    return vhlo::readArtifact(std::as_bytes(std::span(bytes)), nullptr, "test",
                              context.get());
  };
  auto first = read(*written);
  ASSERT_TRUE(first) << first.error().message();
  auto rewritten = vhlo::writeArtifact(**first, vhlo::currentVersion);
  ASSERT_TRUE(rewritten) << rewritten.error().message();
  EXPECT_TRUE(*rewritten == *written) << "the artifact is written differently";
  auto second = read(*rewritten);
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(printed(**second, true), printed(**first, true));
}

void survives(ModuleOp module) {
  survivesText(module, /*isGeneric=*/false);
  survivesText(module, /*isGeneric=*/true);
  // Programs of the tests' own dialects are no artifacts.
  bool isPortable = isKnown(module) &&
                    !module
                         ->walk([](Operation *op) {
                           StringRef dialect =
                               op->getName().getDialectNamespace();
                           return dialect == "check" || dialect == "interpreter"
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
  if (isPortable)
    survivesArtifact(module);
}

/// The module of a text; null where it is not valid here.
OwningOpRef<ModuleOp> parse(std::string_view text, MLIRContext *context) {
  Result<std::string> readable = inOurTerms(text);
  if (!readable)
    return {};
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  return parseSourceString<ModuleOp>(*readable, context);
}

//===----------------------------------------------------------------------===//
// Programs whose short form could not say all
//===----------------------------------------------------------------------===//

class OwnProgram : public testing::TestWithParam<const char *> {};

TEST_P(OwnProgram, Survives) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(GetParam(), context.get());
  ASSERT_TRUE(module);
  survives(*module);
}

const char *const ownPrograms[] = {
    // Results of a loop that are less known than its operands.
    R"(func.func @f(%a: tensor<2x?xi32, #stablehlo.bounds<?, 4>>)
           -> tensor<?x?xi32> {
         %r = "stablehlo.while"(%a) ({
         ^bb0(%x: tensor<2x?xi32, #stablehlo.bounds<?, 4>>):
           %c = stablehlo.constant dense<true> : tensor<i1>
           stablehlo.return %c : tensor<i1>
         }, {
         ^bb0(%x: tensor<2x?xi32, #stablehlo.bounds<?, 4>>):
           stablehlo.return %x : tensor<2x?xi32, #stablehlo.bounds<?, 4>>
         }) : (tensor<2x?xi32, #stablehlo.bounds<?, 4>>) -> tensor<?x?xi32>
         return %r : tensor<?x?xi32>
       })",
    // Arguments of its regions that are.
    R"(func.func @f(%a: tensor<2xi32>) -> tensor<2xi32> {
         %r = "stablehlo.while"(%a) ({
         ^bb0(%x: tensor<?xi32>):
           %c = stablehlo.constant dense<true> : tensor<i1>
           stablehlo.return %c : tensor<i1>
         }, {
         ^bb0(%x: tensor<?xi32>):
           stablehlo.return %x : tensor<?xi32>
         }) {note = "kept"} : (tensor<2xi32>) -> tensor<2xi32>
         return %r : tensor<2xi32>
       })",
    // A body of one operation whose order matters.
    R"(func.func @f(%a: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
         %r = stablehlo.reduce(%a init: %i) across dimensions = [0]
             : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
          reducer(%x: tensor<f32>, %y: tensor<f32>) {
           %s = stablehlo.subtract %x, %y : tensor<f32>
           stablehlo.return %s : tensor<f32>
         }
         return %r : tensor<f32>
       })",
};
INSTANTIATE_TEST_SUITE_P(Survival, OwnProgram, testing::ValuesIn(ownPrograms));

TEST(Survival, OperationsWhoseOrderMattersAreNotApplied) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(ownPrograms[2], context.get());
  ASSERT_TRUE(module);
  EXPECT_EQ(printed(*module, false).find("applies"), std::string::npos);
}

/// Other tools have no short form for such loops.
TEST(Survival, FilesHaveTheFormThatOthersRead) {
  for (size_t i : {0, 1}) {
    Result<Model> model = parseStablehlo(ownPrograms[i], "loop.mlir");
    ASSERT_TRUE(model) << model.error().message();
    Result<std::string> text = stablehloBytes(*model, StablehloForm::Text);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_NE(text->find("\"stablehlo.while\"("), std::string::npos);
    Result<Model> again = parseStablehlo(*text, "loop.mlir");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(printed(again->module(), true), printed(model->module(), true));
  }
}

//===----------------------------------------------------------------------===//
// Public programs
//===----------------------------------------------------------------------===//

class PublicText : public testing::TestWithParam<std::string> {};

std::filesystem::path sharedFolder() {
  const char *shared = std::getenv("SINTER_SHARED");
  return std::filesystem::path(shared ? shared : "") / "data" / "stablehlo";
}

std::vector<std::string> publicTexts() {
  std::vector<std::string> texts;
  for (const char *folder :
       {"interpret", "math", "testdata/dynamic", "testdata/quantized"}) {
    std::error_code missing;
    for (const auto &entry :
         std::filesystem::directory_iterator(sharedFolder() / folder, missing))
      if (entry.path().extension() == ".mlir")
        texts.push_back(std::filesystem::path(folder) /
                        entry.path().filename());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST_P(PublicText, Survives) {
  std::ifstream file(sharedFolder() / GetParam());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const TextChunk &chunk : splitChunks(text)) {
    auto context = makeContext();
    OwningOpRef<ModuleOp> module = parse(chunk.text, context.get());
    if (!module)
      continue;
    SCOPED_TRACE("after line " + std::to_string(chunk.linesBefore));
    survives(*module);
  }
}

INSTANTIATE_TEST_SUITE_P(Survival, PublicText, testing::ValuesIn(publicTexts()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublicText);

} // namespace
