//===- ForeignProperties.h - properties of other dialects' operations -----===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_FOREIGNPROPERTIES_H
#define SINTER_FORMATS_STABLEHLO_VHLO_FOREIGNPROPERTIES_H

#include "formats/stablehlo/vhlo/EntryReader.h"

namespace sinter::vhlo {

/// Reads the properties of an operation of another dialect than VHLO, in that
/// dialect's encoding, into \p state. False if they are malformed, or if the
/// dialect is not known to read them safely.
bool readForeignProperties(llvm::ArrayRef<uint8_t> bytes,
                           const BytecodeFile &file, EntryReader &entries,
                           mlir::OperationState &state);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_FOREIGNPROPERTIES_H
