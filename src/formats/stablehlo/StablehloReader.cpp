//===- StablehloReader.cpp - read StableHLO text --------------------------===//

#include "formats/stablehlo/StablehloReader.h"

#include "graph/chlo/DecomposeChlo.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "runtime/MappedFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace sinter {

/// The first error of a diagnostic handler, with its place: "a.mlir:3:7: ...".
static std::string describe(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":"
           << place.getColumn() << ": ";
  stream << diagnostic;
  return text;
}

/// How deep brackets nest: MLIR's parser recurses for each, so text that nests
/// for thousands of levels would take any stack.
static size_t nestingOf(std::string_view text) {
  size_t depth = 0, deepest = 0;
  for (char letter : text) {
    if (letter == '(' || letter == '{' || letter == '[' || letter == '<')
      deepest = std::max(deepest, ++depth);
    else if (depth > 0 &&
             (letter == ')' || letter == '}' || letter == ']' || letter == '>'))
      --depth;
  }
  return deepest;
}

/// Parses and verifies; null with what is wrong in \p firstError.
static OwningOpRef<ModuleOp> parse(MLIRContext *context, std::string_view text,
                                   const std::string &path,
                                   std::string &firstError) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        firstError.empty())
      firstError = describe(diagnostic);
    return success();
  });
  // The parser wants a terminating zero, which a mapped file lacks.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text), path),
      llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, context);
}

Result<Model> readStablehlo(const std::string &path) {
  constexpr size_t deepestNesting = 10000;
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const std::string_view text = (*file)->text();
  constexpr std::string_view bytecodeMagic = "ML\xefR";
  if (!text.starts_with(bytecodeMagic) && nestingOf(text) > deepestNesting)
    return invalidModel(path + ": brackets nest more than " +
                        std::to_string(deepestNesting) + " deep");
  std::shared_ptr<MLIRContext> context = makeContext();
  std::string firstError;
  OwningOpRef<ModuleOp> module = parse(context.get(), text, path, firstError);
  if (!module) {
    if (firstError.find(path) == std::string::npos)
      firstError = path + ": " + firstError;
    return invalidModel(firstError);
  }
  decomposeChlo(*module);
  Model model(std::move(context), std::move(module));
  model.path = path;
  if (!model.entry())
    return invalidModel(path + ": there is no function @main with one block");
  return model;
}

} // namespace sinter
