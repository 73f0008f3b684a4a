//===- Steps.h - from one version of an operation to the next -------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_STEPS_H
#define SINTER_FORMATS_STABLEHLO_VHLO_STEPS_H

#include "formats/stablehlo/vhlo/Operations.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"

namespace sinter::vhlo {

/// From this version on artifacts may have other dialects beside VHLO.
inline constexpr Version withOtherDialects{1, 11, 0};

/// The properties that decide whether an operation can be written as an older
/// version.
struct OperationFacts {
  /// VHLO types of operands and results.
  llvm::ArrayRef<mlir::Type> operands, results;
  size_t regions = 0;
};

/// The newest version of an operation of version \p row; updates \p attributes
/// accordingly.
const OperationRow *upgrade(const OperationRow *row,
                            mlir::NamedAttrList &attributes,
                            mlir::MLIRContext *context);

/// The version of an operation for \p target; updates the attributes
/// accordingly. Null, with the reason in \p problem, if there is none or it
/// cannot express the operation.
const OperationRow *downgrade(const OperationRow *newest, Version target,
                              const OperationFacts &facts,
                              mlir::NamedAttrList &attributes,
                              mlir::MLIRContext *context, std::string &problem);

/// Whether types and attributes, recursively, exist in \p target; else sets
/// \p problem to the name of the first that does not, with its version.
bool isKnown(mlir::Type type, Version target, std::string &problem);
bool isKnown(mlir::Attribute attribute, Version target, std::string &problem);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_STEPS_H
