//===- ArtifactWriter.h - write portable artifacts ------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTWRITER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTWRITER_H

#include "formats/stablehlo/vhlo/Version.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace sinter::vhlo {

/// The bytes of a portable artifact of \p module, which holds functions of
/// StableHLO only, for readers of version \p target and later. The same module
/// gives the same bytes. What \p target lacks is expressed in what it has where
/// that is possible, which changes the module; Unsupported errors name the rest
/// by operation, type or attribute and the version that it needs.
Result<std::string> writeArtifact(mlir::ModuleOp module, Version target);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTWRITER_H
