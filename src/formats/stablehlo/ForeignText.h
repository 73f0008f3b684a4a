//===- ForeignText.h - texts from a newer MLIR ----------------------------===//
//
// Newer releases print syntax that MLIR 19 cannot parse although it can express
// the same. It is rewritten before the parser sees it:
//
//     loc("f.py":1:2 to 3:4)            loc("f.py":1:2)
//     dense<"0x0100"> : tensor<2xi1>    one bit per element instead of a byte
//     sdy.mesh @m = <["x"=2]>           sdy.mesh @m = #sdy.mesh<["x"=2]>
//
// and likewise for the other operations of `sdy` that print an attribute
// without its name. Strings, comments and line numbers stay unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_FOREIGNTEXT_H
#define SINTER_FORMATS_STABLEHLO_FOREIGNTEXT_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter {

/// \p text in the syntax of MLIR 19. Unsupported, with the line, if it uses an
/// element type that MLIR 19 lacks: f8E3M4, f8E8M0FNU, f6E2M3FN, f6E3M2FN,
/// f4E2M1FN.
Result<std::string> inOurTerms(std::string_view text);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_FOREIGNTEXT_H
