//===- ExportedFunction.h - files of jax.export ---------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_EXPORTEDFUNCTION_H
#define SINTER_FORMATS_STABLEHLO_EXPORTEDFUNCTION_H

#include "runtime/Result.h"

#include <cstddef>
#include <optional>
#include <span>

namespace sinter {

/// The portable artifact in a file of `jax.export`: a FlatBuffer, whose root is
/// the table Exported of jax/_src/export/serialization.fbs. Nothing if \p bytes
/// are no such file; a FlatBuffer has no magic number, so it is recognised by
/// the bytecode at the start of its field mlir_module_serialized. Every offset
/// is checked.
std::optional<std::span<const std::byte>>
artifactInExported(std::span<const std::byte> bytes);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_EXPORTEDFUNCTION_H
