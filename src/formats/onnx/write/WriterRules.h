//===- WriterRules.h - how each op is written as ONNX nodes ---------------===//
//
// Tables from an op's name to the function that writes it. To add an op, add a
// row to the table of its kind.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_WRITERRULES_H
#define SINTER_FORMATS_ONNX_WRITE_WRITERRULES_H

#include "formats/import/WriterRule.h"
#include "formats/onnx/write/NodeWriter.h"

namespace sinter::onnx {

using WriterRule = formats::WriterRule<NodeWriter>;
using WriterRules = llvm::ArrayRef<WriterRule>;
using formats::writerRule;

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
WriterRules attentionRules();
WriterRules stringRules();

/// The rule for ops of a name; null if there is none.
const WriterRule *findWriterRule(llvm::StringRef op);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_WRITERRULES_H
