//===- WriterRules.h - how each op is written as Paddle operators ---------===//
//
// Tables from an op's name to the function that writes it. To add an op, add a
// row to the table of its kind.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_WRITERRULES_H
#define SINTER_FORMATS_PADDLE_WRITE_WRITERRULES_H

#include "formats/import/WriterRule.h"
#include "formats/paddle/write/OperatorWriter.h"

namespace sinter::paddle {

using WriterRule = formats::WriterRule<OperatorWriter>;
using WriterRules = llvm::ArrayRef<WriterRule>;
using formats::writerRule;

WriterRules activationRules();
WriterRules convolutionRules();
WriterRules elementwiseRules();
WriterRules indexingRules();
WriterRules movementRules();
WriterRules normalizationRules();
WriterRules poolingRules();
WriterRules productRules();
WriterRules quantizedRules();
WriterRules reductionRules();
WriterRules windowRules();

/// The rule for ops of a name; null if there is none.
const WriterRule *findWriterRule(llvm::StringRef op);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_WRITERRULES_H
