//===- IdentityText.h - the text of an identity as two trees --------------===//
//
//   "add(x, negate(y)) -> subtract(x, y)"  =>  {add(x, negate(y)),
//                                               subtract(x, y)}
//
// Identities.h defines the words.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_IDENTITYTEXT_H
#define SINTER_PASSES_IDENTITYTEXT_H

#include "graph/stablehlo/StablehloOps.h"
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// One node of either side of an identity.
struct Term {
  enum Kind { Operation, Variable, Constant, Number } kind;
  std::string name; ///< of the operation (with dialect), variable or number
  bool onlyReader = false;
  std::optional<stablehlo::ComparisonDirection> direction;
  std::vector<Term> operands;

  bool hasNumber() const {
    return kind == Number || llvm::any_of(operands, [](const Term &each) {
             return each.hasNumber();
           });
  }
  /// Whether it is a predicate: a comparison, or the negation of one.
  bool givesTruth() const {
    return direction || (name == stablehlo::NotOp::getOperationName() &&
                         operands[0].direction);
  }
};

/// Both sides of an identity. A text that cannot be parsed is a programming
/// error and ends the program.
std::pair<Term, Term> parseIdentity(llvm::StringRef text);

} // namespace sinter

#endif // SINTER_PASSES_IDENTITYTEXT_H
