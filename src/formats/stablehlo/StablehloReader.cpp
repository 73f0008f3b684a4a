//===- StablehloReader.cpp - read StableHLO text --------------------------===//

#include "formats/stablehlo/StablehloReader.h"

#include "formats/stablehlo/ExportedFunction.h"
#include "formats/stablehlo/ForeignText.h"
#include "formats/stablehlo/ShapeOperations.h"
#include "formats/stablehlo/TorchFolder.h"
#include "formats/stablehlo/UnrankedTypes.h"
#include "formats/stablehlo/ValueScopes.h"
#include "formats/stablehlo/vhlo/ArtifactReader.h"
#include "graph/FirstError.h"
#include "graph/Metadata.h"
#include "graph/Types.h"
#include "graph/chlo/DecomposeChlo.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/MappedFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace sinter {

/// The nesting depth of brackets: MLIR's parser recurses for each, so text with
/// thousands of levels would overflow any stack.
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

/// Parses and verifies; null after an error was reported.
static OwningOpRef<ModuleOp> parse(MLIRContext *context, std::string_view text,
                                   const std::string &path) {
  // The parser needs a terminating zero, which a mapped file lacks.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text), path),
      llvm::SMLoc());
  // Attributes may belong to unknown dialects; operations may not.
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

/// The text in the syntax of MLIR 19, at its original lines.
static Result<std::string>
prepared(std::string_view text, const std::string &path, size_t linesBefore) {
  constexpr size_t deepestNesting = 10000;
  if (nestingOf(text) > deepestNesting)
    return inFile(invalidModel("brackets nest more than " +
                               std::to_string(deepestNesting) + " deep"),
                  path);
  std::string placed(linesBefore, '\n');
  placed += text;
  Result<std::string> ours = inOurTerms(placed);
  if (!ours)
    return inFile(ours.takeError(), path);
  if (Result<void> scopes = checkValueScopes(*ours); !scopes)
    return inFile(scopes.takeError(), path);
  return ours;
}

/// The portable artifact in the contents of a file; nothing if it is a text.
static std::optional<std::span<const std::byte>>
artifactIn(std::span<const std::byte> bytes) {
  if (vhlo::beginsAsBytecode(bytes))
    return bytes;
  return artifactInExported(bytes);
}

/// Whether the operations in the regions of \p op are the file's operators, as
/// those of functions are; those of others compute single elements.
static bool holdsOperators(Operation *op) {
  return isa<ModuleOp, FunctionOpInterface, stablehlo::IfOp, stablehlo::CaseOp,
             stablehlo::WhileOp>(op);
}

/// The bytes of a constant; one element where all are alike.
static int64_t bytesOf(stablehlo::ConstantOp constant) {
  const auto type = dyn_cast<RankedTensorType>(constant.getType());
  const std::optional<ElementType> element =
      type ? elementTypeOf(type.getElementType()) : std::nullopt;
  if (!element || !type.hasStaticShape())
    return 0;
  const auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (values && values.isSplat())
    return static_cast<int64_t>(byteSize(*element));
  const int64_t bytes = byteCount(*element, Shape(type.getShape())).value_or(0);
  const unsigned bits = bitWidth(*element);
  return bits == 2 || bits == 4 ? llvm::divideCeil(bytes, 8 / bits) : bytes;
}

/// Counts what \p module consists of, before anything in it is translated.
static void countIn(ModuleOp module, FileCounts *counts) {
  if (!counts)
    return;
  *counts = {};
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    const bool isOperator = !isa<ModuleOp, FunctionOpInterface>(op) &&
                            !op->hasTrait<OpTrait::IsTerminator>();
    if (isOperator)
      ++counts->operators[op->getName().getStringRef().str()];
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      counts->weightBytes += bytesOf(constant);
    return holdsOperators(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

static Result<Model> readArtifact(std::span<const std::byte> bytes,
                                  std::shared_ptr<const void> owner,
                                  const std::string &path,
                                  std::string *leftOut = nullptr,
                                  FileCounts *counts = nullptr) {
  std::shared_ptr<MLIRContext> context = makeContext();
  auto module =
      vhlo::readArtifact(bytes, std::move(owner), path, context.get(), leftOut);
  if (!module)
    return module.takeError();
  countIn(**module, counts);
  FirstError reported(context.get());
  if (failed(rankWrappers(**module)))
    return inFile(invalidModel(reported.take()), path);
  decomposeChlo(**module);
  Model model(std::move(context), std::move(*module));
  model.path = path;
  return model;
}

/// An empty text equals none, and artifacts do not distinguish the two.
static void dropEmptyConfigurations(ModuleOp module) {
  module.walk([](stablehlo::CustomCallOp call) {
    auto text = dyn_cast_or_null<StringAttr>(call.getBackendConfigAttr());
    if (text && text.empty())
      call.removeBackendConfigAttr();
  });
}

/// The names of arguments in \p text, such as %weights, become the names of
/// their locations, unless they are only numbers.
static void keepArgumentNames(ModuleOp module, StringRef text) {
  SmallVector<size_t> lines = {0};
  for (size_t at = text.find('\n'); at != StringRef::npos;
       at = text.find('\n', at + 1))
    lines.push_back(at + 1);
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments()) {
      auto loc = dyn_cast<FileLineColLoc>(argument.getLoc());
      if (!loc || loc.getLine() == 0 || loc.getLine() > lines.size())
        continue;
      StringRef rest = text.drop_front(lines[loc.getLine() - 1]);
      rest = rest.drop_front(
          std::min<size_t>(rest.size(), std::max(1u, loc.getColumn()) - 1));
      if (!rest.consume_front("%"))
        continue;
      const StringRef name = rest.take_while([](char letter) {
        return llvm::isAlnum(letter) || StringRef("_$.-").contains(letter);
      });
      const bool isNumber =
          llvm::all_of(name, [](char letter) { return llvm::isDigit(letter); });
      if (!isNumber && name != ("arg" + Twine(argument.getArgNumber())).str())
        argument.setLoc(
            NameLoc::get(StringAttr::get(module.getContext(), name), loc));
    }
}

static Result<Model> readText(std::string_view text, const std::string &path,
                              size_t linesBefore,
                              FileCounts *counts = nullptr) {
  Result<std::string> ours = prepared(text, path, linesBefore);
  if (!ours)
    return ours.takeError();
  std::shared_ptr<MLIRContext> context = makeContext();
  FirstError reported(context.get());
  if (mentionsShapeDialects(*ours))
    loadShapeDialects(context.get());
  OwningOpRef<ModuleOp> module = parse(context.get(), *ours, path);
  if (!module)
    return reported.takeError(ErrorKind::InvalidModel, path);
  countIn(*module, counts);
  keepArgumentNames(*module, *ours);
  if (failed(translateShapeOperations(*module)))
    return reported.takeError(ErrorKind::Unsupported, path);
  if (failed(rankWrappers(*module)))
    return reported.takeError(ErrorKind::InvalidModel, path);
  decomposeChlo(*module);
  dropEmptyConfigurations(*module);
  Model model(std::move(context), std::move(module));
  model.path = path;
  return model;
}

Result<Model> parseStablehlo(std::string_view text, const std::string &path,
                             size_t linesBefore) {
  if (!artifactIn(std::as_bytes(std::span(text))))
    return readText(text, path, linesBefore);
  auto owner = std::make_shared<const std::string>(text);
  const auto artifact = artifactIn(std::as_bytes(std::span(*owner)));
  return readArtifact(*artifact, owner, path);
}

bool isStablehloFolder(const std::string &path) { return isTorchFolder(path); }

bool isStablehlo(std::span<const std::byte> bytes, const std::string &path) {
  for (const char *extension : {".mlir", ".mlirbc", ".mlir.bc", ".stablehlo"})
    if (StringRef(path).ends_with(extension))
      return true;
  return artifactIn(bytes).has_value();
}

/// What the attributes of \p module say that is not about how we treat it.
static void describe(ModuleOp module, ModelMetadata &metadata) {
  metadata.graph = module.getName().value_or("").str();
  for (NamedAttribute each : module->getDiscardableAttrs()) {
    const StringRef name = each.getName();
    if (name.starts_with("sinter."))
      continue;
    std::string text;
    if (auto string = dyn_cast<StringAttr>(each.getValue()))
      text = string.str();
    else if (auto integer = dyn_cast<IntegerAttr>(each.getValue()))
      text = llvm::toString(integer.getValue(), /*Radix=*/10,
                            /*Signed=*/!integer.getType().isInteger(1));
    else
      llvm::raw_string_ostream(text) << each.getValue();
    metadata.entries.emplace_back(name.str(), std::move(text));
  }
  for (auto &[key, text] : metadataOf(module))
    metadata.entries.emplace_back(key, std::move(text));
}

/// "StableHLO_v1.8.3" is a name and a version.
static void setProducer(StringRef producer, ModelMetadata &metadata) {
  const auto [name, version] = producer.split("_v");
  metadata.producer = name.str();
  metadata.producerVersion = version.str();
}

static Result<Model> readFileOrFolder(const std::string &path,
                                      std::string *leftOut,
                                      ModelMetadata *metadata,
                                      FileCounts *counts) {
  if (isTorchFolder(path)) {
    // Its weights are files beside the program.
    Result<Model> model = readTorchFolder(path);
    if (model)
      countIn(model->module(), counts);
    return model;
  }
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const auto artifact = artifactIn((*file)->bytes());
  if (!artifact)
    return readText((*file)->text(), path, 0, counts);
  if (metadata)
    setProducer(vhlo::producerOf(*artifact), *metadata);
  return readArtifact(*artifact, *file, path, leftOut, counts);
}

Result<Model> readStablehlo(const std::string &path, std::string *leftOut,
                            ModelMetadata *metadata, FileCounts *counts) {
  if (metadata)
    *metadata = {};
  Result<Model> model = readFileOrFolder(path, leftOut, metadata, counts);
  if (model && metadata)
    describe(model->module(), *metadata);
  return model;
}

} // namespace sinter
