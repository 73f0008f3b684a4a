//===- EntryFunction.h - what readers put in the entry function -----------===//

#ifndef SINTER_FORMATS_IMPORT_ENTRYFUNCTION_H
#define SINTER_FORMATS_IMPORT_ENTRYFUNCTION_H

#include "formats/import/KnownValues.h"
#include "mlir/IR/Builders.h"

namespace sinter::formats {

/// Puts the weights of a file at the start of a block as constants, in the
/// order of the calls to make().
class EntryConstants {
public:
  /// Makes a constant called \p name at the start of \p block. The insertion
  /// point of \p builder stays.
  mlir::Value make(mlir::OpBuilder &builder, mlir::Block *block,
                   const Tensor &tensor, llvm::StringRef name);
  /// The last constant; null before the first.
  mlir::Operation *last() const { return newest; }

private:
  mlir::Operation *newest = nullptr;
};

/// The attributes of the result \p name of the entry function: its name and the
/// symbols of unknown dimensions (graph/Model.h).
mlir::DictionaryAttr resultAttributes(mlir::Builder &builder,
                                      KnownValues &known, llvm::StringRef name,
                                      mlir::Value value);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_ENTRYFUNCTION_H
