//===- PirControlFlow.h - PIR's branches and loops in ProgramDesc ---------===//
//
// pd_op.if and pd_op.while return values: their regions yield the results. The
// older operators run a block that writes variables. So one of PIR's becomes
// several of the older ones, which are made here in one canonical form, so that
// the writer can check whether they are unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRCONTROLFLOW_H
#define SINTER_FORMATS_PADDLE_FILE_PIRCONTROLFLOW_H

#include "formats/paddle/file/Program.h"

#include <string>
#include <vector>

namespace sinter::paddle {

/// The variables and blocks of a branch.
struct PirBranch {
  std::string condition;
  std::vector<std::string> results;
  int64_t thenBlock = 0, elseBlock = 0;
};

/// Two conditional_block, whose blocks write `R.true` and `R.false` for each
/// result R, and a select_input for each.
std::vector<Operator> makeBranch(const PirBranch &branch);

/// The end of a block of a branch: assigns \p yielded to \p results.
std::vector<Operator> makeBranchYield(const std::vector<std::string> &results,
                                      const std::vector<std::string> &yielded,
                                      bool isThen);

struct PirLoop {
  /// The condition before the loop, and the variable that holds it inside.
  std::string condition, conditionVariable;
  /// The loop-carried variables before the loop, and in and after it; equal
  /// where no assign is needed.
  std::vector<std::string> initial, carried;
  int64_t block = 0;
};

/// An assign for each loop-carried variable, and a while.
std::vector<Operator> makeLoop(const PirLoop &loop);

/// The end of the block of a loop: assigns \p yielded to the condition and the
/// loop-carried variables, simultaneously.
std::vector<Operator> makeLoopYield(const PirLoop &loop,
                                    const std::vector<std::string> &yielded);

/// Whether both are equal except for their encoded bytes.
bool areSame(const Operator &first, const Operator &second);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRCONTROLFLOW_H
