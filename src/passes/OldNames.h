//===- OldNames.h - renamed passes and labels -----------------------------===//

#ifndef SINTER_PASSES_OLDNAMES_H
#define SINTER_PASSES_OLDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace sinter {

/// The current name of the pass or label \p name; \p name itself where it never
/// changed. Options of the command take both for one release.
llvm::StringRef currentName(llvm::StringRef name);

} // namespace sinter

#endif // SINTER_PASSES_OLDNAMES_H
