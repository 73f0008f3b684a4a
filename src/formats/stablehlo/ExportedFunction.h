//===- ExportedFunction.h - what jax.export serialises --------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_EXPORTEDFUNCTION_H
#define SINTER_FORMATS_STABLEHLO_EXPORTEDFUNCTION_H

#include "runtime/Result.h"

#include <cstddef>
#include <optional>
#include <span>

namespace sinter {

/// The portable artifact in what `jax.export` serialises: a FlatBuffer, whose
/// root is the table Exported of jax/_src/export/serialization.fbs. Nothing if
/// \p bytes are no such thing; a FlatBuffer has no magic, so it is told by the
/// bytecode that its field mlir_module_serialized begins with. Every offset is
/// checked.
std::optional<std::span<const std::byte>>
artifactInExported(std::span<const std::byte> bytes);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_EXPORTEDFUNCTION_H
