//===- ArtifactWriter.h - write portable artifacts ------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTWRITER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTWRITER_H

#include "formats/stablehlo/vhlo/Version.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace sinter::vhlo {

/// The bytes of a portable artifact of \p module, which has only functions of
/// StableHLO, for readers of version \p target and later. Deterministic.
/// Operations that \p target lacks are expanded to others if possible, which
/// changes the module; Unsupported errors name the remaining operation, type or
/// attribute and the version that it needs.
Result<std::string> writeArtifact(mlir::ModuleOp module, Version target);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_ARTIFACTWRITER_H
