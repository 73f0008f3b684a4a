//===- WriterRules.h - how each op is written as ONNX nodes ---------------===//
//
// Tables from an op's name to the function that writes it. To add an op, add a
// line to the table of its kind.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_WRITERRULES_H
#define SINTER_FORMATS_ONNX_WRITE_WRITERRULES_H

#include "formats/onnx/write/NodeWriter.h"

namespace sinter::onnx {

struct WriterRule {
  llvm::StringRef op;
  mlir::LogicalResult (*write)(NodeWriter &node, mlir::Operation *op);
};
using WriterRules = llvm::ArrayRef<WriterRule>;

template <auto Function> struct WriterRuleOf;
template <typename Op, mlir::LogicalResult (*Function)(NodeWriter &, Op)>
struct WriterRuleOf<Function> {
  static mlir::LogicalResult write(NodeWriter &node, mlir::Operation *op) {
    return Function(node, mlir::cast<Op>(op));
  }
  static WriterRule get() { return {Op::getOperationName(), write}; }
};
/// The table's line for a function of an op class.
template <auto Function> WriterRule writerRule() {
  return WriterRuleOf<Function>::get();
}

WriterRules elementwiseRules();
WriterRules activationRules();
WriterRules movementRules();
WriterRules indexingRules();
WriterRules reductionRules();
WriterRules productRules();
WriterRules poolingRules();
WriterRules normalizationRules();
WriterRules structuredRules();
WriterRules controlFlowRules();
WriterRules quantizedRules();

/// The rule for ops of a name; null if there is none.
const WriterRule *findWriterRule(llvm::StringRef op);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_WRITERRULES_H
