//===- TextBuilding.h - building operations on strings --------------------===//

#ifndef SINTER_FORMATS_IMPORT_TEXTBUILDING_H
#define SINTER_FORMATS_IMPORT_TEXTBUILDING_H

#include "formats/import/GraphBuilder.h"

#include <string>
#include <vector>

namespace sinter::formats {

/// Whether \p value is a tensor of strings.
bool areStrings(GraphBuilder &builder, mlir::Value value);

/// A constant vector of strings.
mlir::Value stringConstant(GraphBuilder &builder,
                           const std::vector<std::string> &texts);

/// \p x, of numbers or strings, as the other of both (text.format, text.parse);
/// unchanged if it is of \p element.
mlir::Value castStrings(GraphBuilder &builder, mlir::Value x,
                        mlir::Type element);

/// For each string of \p x the index (i64) of the first of \p keys that is
/// equal, or -1.
mlir::Value findIn(GraphBuilder &builder, mlir::Value x,
                   const std::vector<std::string> &keys);

/// The ranks (i64) of the strings of \p x among each other.
mlir::Value rankOfStrings(GraphBuilder &builder, mlir::Value x);

mlir::Value withCase(GraphBuilder &builder, mlir::Value x, bool upper,
                     llvm::StringRef locale);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_TEXTBUILDING_H
