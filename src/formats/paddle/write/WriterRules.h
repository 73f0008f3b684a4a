//===- WriterRules.h - how each op is written as Paddle operators ---------===//
//
// Tables from an op's name to the function that writes it. To add an op, add a
// line to the table of its kind.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_WRITERRULES_H
#define SINTER_FORMATS_PADDLE_WRITE_WRITERRULES_H

#include "formats/paddle/write/OperatorWriter.h"

namespace sinter::paddle {

struct WriterRule {
  llvm::StringRef op;
  mlir::LogicalResult (*write)(OperatorWriter &writer, mlir::Operation *op);
};
using WriterRules = llvm::ArrayRef<WriterRule>;

template <auto Function> struct WriterRuleOf;
template <typename Op, mlir::LogicalResult (*Function)(OperatorWriter &, Op)>
struct WriterRuleOf<Function> {
  static mlir::LogicalResult write(OperatorWriter &writer,
                                   mlir::Operation *op) {
    return Function(writer, mlir::cast<Op>(op));
  }
  static WriterRule get() { return {Op::getOperationName(), write}; }
};
/// The table's line for a function of an op class.
template <auto Function> WriterRule writerRule() {
  return WriterRuleOf<Function>::get();
}

WriterRules activationRules();
WriterRules convolutionRules();
WriterRules elementwiseRules();
WriterRules indexingRules();
WriterRules movementRules();
WriterRules normalizationRules();
WriterRules poolingRules();
WriterRules productRules();
WriterRules reductionRules();

/// The rule for ops of a name; null if there is none.
const WriterRule *findWriterRule(llvm::StringRef op);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_WRITERRULES_H
