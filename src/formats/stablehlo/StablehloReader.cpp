//===- StablehloReader.cpp - read StableHLO text --------------------------===//

#include "formats/stablehlo/StablehloReader.h"

#include "formats/stablehlo/ForeignText.h"
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

static bool isBytecode(std::string_view text) {
  return text.starts_with("ML\xefR");
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
  // Attributes may belong to dialects that nobody knows; operations may not.
  context->allowUnregisteredDialects(true);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  context->allowUnregisteredDialects(false);
  if (!module)
    return module;
  WalkResult known = module->walk([](Operation *op) {
    if (op->isRegistered())
      return WalkResult::advance();
    op->emitError("there is no operation '") << op->getName() << "'";
    return WalkResult::interrupt();
  });
  return known.wasInterrupted() ? OwningOpRef<ModuleOp>() : std::move(module);
}

/// The text in our terms, at its place in the file.
static Result<std::string>
prepared(std::string_view text, const std::string &path, size_t linesBefore) {
  constexpr size_t deepestNesting = 10000;
  if (nestingOf(text) > deepestNesting)
    return invalidModel(path + ": brackets nest more than " +
                        std::to_string(deepestNesting) + " deep");
  std::string placed(linesBefore, '\n');
  placed += text;
  Result<std::string> ours = inOurTerms(placed);
  if (ours)
    return ours;
  Error error = ours.takeError();
  error.message = path + ": " + error.message;
  return error;
}

Result<Model> parseStablehlo(std::string_view text, const std::string &path,
                             size_t linesBefore) {
  std::string ours;
  if (!isBytecode(text)) {
    Result<std::string> rewritten = prepared(text, path, linesBefore);
    if (!rewritten)
      return rewritten.takeError();
    ours = std::move(*rewritten);
    text = ours;
  }
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
  return model;
}

Result<Model> readStablehlo(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  Result<Model> model = parseStablehlo((*file)->text(), path);
  if (model && !model->entry())
    return invalidModel(path + ": there is no function @main with one block");
  return model;
}

} // namespace sinter
