//===- ArtifactReader.cpp - read portable artifacts -----------------------===//

#include "formats/stablehlo/vhlo/ArtifactReader.h"

#include "formats/stablehlo/vhlo/OperationReader.h"
#include "graph/FirstError.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// The dialects of a file that is no artifact: "'func' and 'linalg'".
std::string dialectsOf(const BytecodeFile &file) {
  std::string list;
  for (StringRef dialect : file.dialects())
    if (dialect != "builtin")
      list += (list.empty() ? "'" : ", '") + dialect.str() + "'";
  return list.empty() ? "none" : list;
}

/// Names a few of the functions that were left out, and the reason for the
/// first.
std::string
describeLeftOut(const llvm::MapVector<StringAttr, std::string> &missing) {
  constexpr size_t most = 4;
  std::string text;
  for (const auto &[index, left] : llvm::enumerate(missing))
    if (index < most)
      text += (text.empty() ? "@" : ", @") + left.first.str();
  if (missing.size() > most)
    text += " and " + std::to_string(missing.size() - most) + " more";
  return "left out " + text + ": the artifact " + missing.front().second;
}

ArrayRef<uint8_t> asBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

} // namespace

bool beginsAsBytecode(std::span<const std::byte> bytes) {
  return isBytecode(asBytes(bytes));
}

StringRef producerOf(std::span<const std::byte> bytes) {
  return vhlo::producerOf(asBytes(bytes));
}

Result<OwningOpRef<ModuleOp>> readArtifact(std::span<const std::byte> bytes,
                                           std::shared_ptr<const void> owner,
                                           const std::string &path,
                                           MLIRContext *context,
                                           std::string *leftOut) {
  BytecodeFile file;
  std::string problem;
  if (!file.open(asBytes(bytes), problem))
    return inFile(invalidModel("the artifact " + problem), path);
  if (!llvm::is_contained(file.dialects(), "vhlo") &&
      !file.producer().starts_with("StableHLO_v"))
    return inFile(
        withHint("stablehlo-translate --serialize makes one",
                 unsupported("this is MLIR bytecode of the dialects " +
                             dialectsOf(file) + ", not a portable artifact")),
        path);
  context->loadDialect<VhloDialect>();
  // Messages of checks by MLIR and Sinter's dialects.
  FirstError reported(context);
  EntryReader entries(file, context, std::move(owner));
  OperationReader operations(file, entries, context);
  OwningOpRef<ModuleOp> module = operations.read();
  if (!module) {
    Error error = operations.takeError();
    error.what = "the artifact " + error.what;
    if (std::string words = reported.take(); !words.empty())
      error.what += ": " + oneLine(words);
    return inFile(std::move(error), path);
  }
  if (mlir::failed(verify(*module)))
    return inFile(invalidModel(reported.take()), path);
  if (leftOut && !operations.leftOut().empty())
    *leftOut = path + ": " + describeLeftOut(operations.leftOut());
  return module;
}

} // namespace sinter::vhlo
