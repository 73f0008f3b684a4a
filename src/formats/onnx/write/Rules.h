//===- Rules.h - how each op is written as ONNX nodes ---------------------===//
//
// Tables from an op's name to the function that writes it. To add an op, add a
// line to the table of its kind.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_RULES_H
#define SINTER_FORMATS_ONNX_WRITE_RULES_H

#include "formats/onnx/write/Emitter.h"

namespace sinter::onnx {

struct Rule {
  llvm::StringRef op;
  mlir::LogicalResult (*write)(Emitter &emitter, mlir::Operation *op);
};
using Rules = llvm::ArrayRef<Rule>;

template <auto Function> struct RuleOf;
template <typename Op, mlir::LogicalResult (*Function)(Emitter &, Op)>
struct RuleOf<Function> {
  static mlir::LogicalResult write(Emitter &emitter, mlir::Operation *op) {
    return Function(emitter, mlir::cast<Op>(op));
  }
  static Rule get() { return {Op::getOperationName(), write}; }
};
/// The table's line for a function of an op class.
template <auto Function> Rule rule() { return RuleOf<Function>::get(); }

Rules elementwiseRules();
Rules activationRules();
Rules movementRules();
Rules indexingRules();
Rules reductionRules();
Rules productRules();
Rules poolingRules();
Rules normalizationRules();
Rules structuredRules();
Rules controlFlowRules();
Rules quantizedRules();

/// The rule for ops of a name; null if there is none.
const Rule *findRule(llvm::StringRef op);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_RULES_H
