//===- WriterRule.h - a row of a writer's table of ops --------------------===//

#ifndef SINTER_FORMATS_IMPORT_WRITERRULE_H
#define SINTER_FORMATS_IMPORT_WRITERRULE_H

#include "mlir/IR/Operation.h"

namespace sinter::formats {

/// An op's name and the function that writes it with a \p Writer.
template <typename Writer> struct WriterRule {
  llvm::StringRef op;
  mlir::LogicalResult (*write)(Writer &writer, mlir::Operation *op);
};

template <auto Function> struct WriterRuleOf;
template <typename Writer, typename Op,
          mlir::LogicalResult (*Function)(Writer &, Op)>
struct WriterRuleOf<Function> {
  static mlir::LogicalResult write(Writer &writer, mlir::Operation *op) {
    return Function(writer, mlir::cast<Op>(op));
  }
  static WriterRule<Writer> get() { return {Op::getOperationName(), write}; }
};
/// The table's row for a function of an op class.
template <auto Function> auto writerRule() {
  return WriterRuleOf<Function>::get();
}

/// Maximum length of an iota that is written as a constant. An operator
/// computes longer ones when the model runs.
inline constexpr int64_t mostCounted = 4096;

/// How a message names \p op, for which the format has no form, for a \p reason
/// that may be empty: "stablehlo.custom_call target (reason)".
std::string unwritten(mlir::Operation *op, llvm::StringRef reason);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_WRITERRULE_H
