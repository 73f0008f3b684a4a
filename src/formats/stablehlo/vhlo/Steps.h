//===- Steps.h - from one version of an operation to the next -------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_STEPS_H
#define SINTER_FORMATS_STABLEHLO_VHLO_STEPS_H

#include "formats/stablehlo/vhlo/Operations.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"

namespace sinter::vhlo {

/// From here on artifacts may hold other dialects beside VHLO.
inline constexpr Version withOtherDialects{1, 11, 0};

/// What decides whether an operation can be written as an older version.
struct OperationFacts {
  /// Types of VHLO.
  llvm::ArrayRef<mlir::Type> operands, results;
  size_t regions = 0;
};

/// The newest version of an operation that has \p attributes as \p row;
/// changes the attributes accordingly.
const OperationRow *upgrade(const OperationRow *row,
                            mlir::NamedAttrList &attributes,
                            mlir::MLIRContext *context);

/// The version of an operation for \p target; changes the attributes
/// accordingly. Null, with what is in the way in \p problem, if there is none
/// or it lacks what the operation has.
const OperationRow *downgrade(const OperationRow *newest, Version target,
                              const OperationFacts &facts,
                              mlir::NamedAttrList &attributes,
                              mlir::MLIRContext *context, std::string &problem);

/// Whether types and attributes, with all in them, were known at \p target; the
/// name of the first that was not, with its version, in \p problem.
bool isKnown(mlir::Type type, Version target, std::string &problem);
bool isKnown(mlir::Attribute attribute, Version target, std::string &problem);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_STEPS_H
