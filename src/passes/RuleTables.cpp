#include "passes/RuleTables.h"

#include "passes/MoveRescales.h"
#include "passes/MoveTransposes.h"
#include "passes/RaiseAttention.h"
#include "passes/RaiseIdioms.h"
#include "passes/RaiseQuantized.h"

namespace sinter {

llvm::ArrayRef<RuleTable> ruleTables() {
  static const RuleTable tables[] = {
#define SINTER_RULE_TABLE(name) name(),
#include "passes/RuleTables.inc"
#undef SINTER_RULE_TABLE
      {"Transposes and reshapes on the move", moveTransposesRules(),
       "move-transposes"},
      {"Idioms, when compiling", raiseIdiomsRules(), "raise-idioms"},
      {"Attention, when compiling", raiseAttentionRules(), "raise-attention"},
      {"Rescales on the move", moveRescalesRules(), "move-rescales"},
      {"Quantisation, with --raise-quantized", raiseQuantizedRules(),
       "raise-quantized"},
  };
  return tables;
}

llvm::SmallVector<llvm::ArrayRef<RewriteRule>> rulesOf(llvm::StringRef pass) {
  llvm::SmallVector<llvm::ArrayRef<RewriteRule>> rules;
  for (const RuleTable &table : ruleTables())
    if (table.pass == pass)
      rules.push_back(table.rules);
  return rules;
}

} // namespace sinter
