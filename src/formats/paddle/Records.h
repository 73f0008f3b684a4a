//===- Records.h - what is kept of a program to write it again ------------===//
//
// Beside what formats/import/NodeGroups.h says, the record of an operator has
//
//   op_type   a string: the operator's type
//   name      a string: what locations call it
//   proto     "BLOCK OPERATOR": where it stands in the program
//
// with an entry of `inputs` and `outputs` for each argument, slot by slot. The
// module's attribute `sinter.source.program` is the program itself, as
// encodeProgramDesc or encodePir give it back, `sinter.source.era` how, and
// `sinter.source.graph` a fingerprint of what the reader made of it. While that
// is what it was, the program is given back as it was, with what has no
// operation in the graph language and with its blocks; the parameters that then
// are in no operation, by name, are in `sinter.source.parameters`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_RECORDS_H
#define SINTER_FORMATS_PADDLE_RECORDS_H

#include "formats/import/NodeGroups.h"
#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"

namespace sinter::paddle {

/// Whose the module's records are (graph/Source.h), and what else is kept.
inline constexpr llvm::StringLiteral formatName = "paddle";
inline constexpr llvm::StringLiteral programAttribute = "sinter.source.program";
inline constexpr llvm::StringLiteral eraAttribute = "sinter.source.era";
inline constexpr llvm::StringLiteral graphAttribute = "sinter.source.graph";
inline constexpr llvm::StringLiteral parametersAttribute =
    "sinter.source.parameters";

/// Where an operator stands in its program.
struct Place {
  size_t block = 0, op = 0;
};
std::string toString(Place place);
/// The operator at the place that \p text says; null if \p program has none.
const Operator *operatorAt(const Program &program, llvm::StringRef text);

/// Keeps \p program, of which \p module was read, at the module. Unsupported
/// where it cannot be encoded.
Result<void> keepProgram(mlir::ModuleOp module, const Program &program);
/// The program that was kept; nothing if there is none, and InvalidModel if it
/// is broken.
Result<std::optional<Program>> keptProgram(mlir::ModuleOp module);
/// Whether all that \p module computes is as the reader made it.
bool isUntouched(mlir::ModuleOp module);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_RECORDS_H
