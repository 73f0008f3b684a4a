//===- LowerStrings.h - strings as their handles --------------------------===//
//
//   %c = stablehlo.constant dense<["a", "b"]> : tensor<2x!text.string>
//     -> cpu.host_call "sinter.strings"() with "1:a1:b" : tensor<2xui64>
//   %y = text.concat %x, %c : tensor<2x!text.string>
//     -> cpu.host_call "sinter.concat_strings"(%x, %c) : tensor<2xui64>
//
// A string is an integer from here on, its handle (runtime/Strings.h), and what
// moves and compares strings is compiled as it is for integers. The program's
// inputs and outputs stay strings for its callers.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_LOWERSTRINGS_H
#define SINTER_BACKEND_CPU_LEGALIZE_LOWERSTRINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

void lowerStrings(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_LOWERSTRINGS_H
