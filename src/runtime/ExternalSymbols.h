//===- ExternalSymbols.h - the functions that kernels may call ------------===//
//
// Compiled code calls the C library's mathematics, its memory functions and the
// compiler's conversion helpers, and nothing else: whatever a program file
// says, no other function of the process can be reached by name.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_EXTERNALSYMBOLS_H
#define SINTER_RUNTIME_EXTERNALSYMBOLS_H

#include <string_view>
#include <vector>

namespace sinter {

/// The address of the function \p name, or null if kernels may not call it.
void *externalSymbol(std::string_view name);

/// All names that externalSymbol knows.
std::vector<std::string_view> externalSymbolNames();

} // namespace sinter

#endif // SINTER_RUNTIME_EXTERNALSYMBOLS_H
