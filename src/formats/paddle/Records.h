//===- Records.h - records for writing a program back ---------------------===//
//
// In addition to the entries in formats/import/NodeGroups.h, an operator's
// record has
//
//   op_type   a string: the operator's type
//   name      a string: its name in locations
//   proto     "BLOCK OPERATOR": its position in the program
//
// with an entry of `inputs` and `outputs` for each argument, slot by slot. The
// module's attribute `sinter.source.program` is the program itself, as encoded
// by encodeProgramDesc or encodePir, `sinter.source.era` which of the two, and
// `sinter.source.graph` a fingerprint of the imported graph. While that is
// unchanged, the program is written as it was, with its blocks and with
// operators that have no operation in the graph language.
// `sinter.source.parameters` has the parameters, by name, that no operation
// uses.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_RECORDS_H
#define SINTER_FORMATS_PADDLE_RECORDS_H

#include "formats/import/NodeGroups.h"
#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"

namespace sinter::paddle {

/// The format name in the module's records (graph/Source.h), and the other
/// attributes.
inline constexpr llvm::StringLiteral formatName = "paddle";
inline constexpr llvm::StringLiteral programAttribute = "sinter.source.program";
inline constexpr llvm::StringLiteral eraAttribute = "sinter.source.era";
inline constexpr llvm::StringLiteral graphAttribute = "sinter.source.graph";
inline constexpr llvm::StringLiteral parametersAttribute =
    "sinter.source.parameters";

/// The position of an operator in its program.
struct Place {
  size_t block = 0, op = 0;
};
std::string toString(Place place);
/// The operator at the position \p text; null if \p program has none.
const Operator *operatorAt(const Program &program, llvm::StringRef text);

/// Stores \p program, from which \p module was imported, in the module.
/// Unsupported if it cannot be encoded.
Result<void> keepProgram(mlir::ModuleOp module, const Program &program);
/// The stored program; nothing if there is none, and InvalidModel if it is
/// broken.
Result<std::optional<Program>> keptProgram(mlir::ModuleOp module);
/// Whether the computation of \p module is unchanged since import.
bool isUntouched(mlir::ModuleOp module);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_RECORDS_H
