//===- ArtifactReader.h - read portable artifacts -------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTREADER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTREADER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Result.h"

#include <memory>
#include <span>
#include <string>

namespace sinter::vhlo {

/// Whether the bytes begin as MLIR's bytecode does, which portable artifacts
/// are in.
bool beginsAsBytecode(std::span<const std::byte> bytes);

/// What wrote the bytecode, as its header says: "StableHLO_v1.8.3". Empty if
/// there is no such header.
llvm::StringRef producerOf(std::span<const std::byte> bytes);

/// Reads a portable artifact of any version: bytecode with VHLO's operations,
/// as `stablehlo-translate --serialize`, JAX and PyTorch/XLA write it. Large
/// constants are not copied if \p owner keeps the bytes alive. Operations of
/// other known dialects are read; annotations and declarations of unknown ones
/// are left out.
///
/// Functions with unsupported types or operations are left out, and so are
/// their callers, unless none would be left or @main is among them; \p leftOut
/// is then set to one line with their names and the reason.
///
/// InvalidModel and Unsupported errors begin with \p path and name the type or
/// operation.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
readArtifact(std::span<const std::byte> bytes,
             std::shared_ptr<const void> owner, const std::string &path,
             mlir::MLIRContext *context, std::string *leftOut = nullptr);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTREADER_H
