//===- RuleTables.h - every table of rules --------------------------------===//
//
// A table is a file of passes/rules/: FooRules.cpp defines fooRules(), and is
// found by its name when the build is configured. What simplify-algebra
// applies, what has a label, what docs/rewrites.md lists and what is tested by
// value follows from this one list.
//
// Each identity is exact for every value, signed zeros included, or says what
// it needs to be allowed. (Which bits a NaN has is nobody's business.)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RULETABLES_H
#define SINTER_PASSES_RULETABLES_H

#include "passes/RewriteRule.h"

namespace sinter {

struct RuleTable {
  /// Over the table in docs/rewrites.md.
  llvm::StringRef title;
  llvm::ArrayRef<RewriteRule> rules;
  /// The pass that applies it.
  llvm::StringRef pass = "simplify-algebra";
};

#define SINTER_RULE_TABLE(name) RuleTable name();
#include "passes/RuleTables.inc"
#undef SINTER_RULE_TABLE

/// Those of passes/rules/, then those of passes that have one of their own.
llvm::ArrayRef<RuleTable> ruleTables();

/// The rules of those that \p pass applies.
llvm::SmallVector<llvm::ArrayRef<RewriteRule>> rulesOf(llvm::StringRef pass);

} // namespace sinter

#endif // SINTER_PASSES_RULETABLES_H
