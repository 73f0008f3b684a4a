//===- RuleTables.h - every table of rules --------------------------------===//
//
// A table is a file of passes/rules/: FooRules.cpp defines fooRules(), and is
// found by its name when the build is configured. This one list determines what
// simplify-algebra applies, which rules have labels, what docs/rewrites.md
// lists and which rules are tested by value.
//
// Each identity is exact for every value, signed zeros included, or has the
// allowances that it needs. (The bits of a NaN do not matter.)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RULETABLES_H
#define SINTER_PASSES_RULETABLES_H

#include "passes/RewriteRule.h"

namespace sinter {

struct RuleTable {
  /// The heading of the table in docs/rewrites.md.
  llvm::StringRef title;
  llvm::ArrayRef<RewriteRule> rules;
  /// The pass that applies it.
  llvm::StringRef pass = "simplify-algebra";
};

#define SINTER_RULE_TABLE(name) RuleTable name();
#include "passes/RuleTables.inc"
#undef SINTER_RULE_TABLE

/// The tables of passes/rules/, then those of passes with their own rules.
llvm::ArrayRef<RuleTable> ruleTables();

/// The rules of the tables that \p pass applies.
llvm::SmallVector<llvm::ArrayRef<RewriteRule>> rulesOf(llvm::StringRef pass);

} // namespace sinter

#endif // SINTER_PASSES_RULETABLES_H
