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

/// Reads a portable artifact of any version: bytecode with VHLO's operations,
/// as `stablehlo-translate --serialize`, JAX and PyTorch/XLA write it. Large
/// constants stay where they are if \p owner keeps the bytes alive. Operations
/// of other dialects are read if they are known; annotations and declarations
/// of those that are not are left out.
///
/// Functions that have types or operations that we lack are left out, and those
/// that call them, unless no other is there or @main is among them; \p leftOut
/// then says which and why, in one line.
///
/// InvalidModel and Unsupported errors begin with \p path and say what is
/// wrong: a type or an operation by name.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
readArtifact(std::span<const std::byte> bytes,
             std::shared_ptr<const void> owner, const std::string &path,
             mlir::MLIRContext *context, std::string *leftOut = nullptr);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTREADER_H
