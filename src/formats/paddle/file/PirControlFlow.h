//===- PirControlFlow.h - PIR's branches and loops in the older words -----===//
//
// pd_op.if and pd_op.while are values: their regions yield what they give. The
// older operators run a block that writes variables. So one of PIR's stands for
// several of the older ones, which are made here in one way, so that the writer
// can tell whether they are as they were.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRCONTROLFLOW_H
#define SINTER_FORMATS_PADDLE_FILE_PIRCONTROLFLOW_H

#include "formats/paddle/file/Program.h"

#include <string>
#include <vector>

namespace sinter::paddle {

/// What a branch is made of, all by name.
struct PirBranch {
  std::string condition;
  std::vector<std::string> results;
  int64_t thenBlock = 0, elseBlock = 0;
};

/// Two conditional_block, whose blocks write `R.true` and `R.false` for each
/// result R, and a select_input for each.
std::vector<Operator> makeBranch(const PirBranch &branch);

/// What ends a block of a branch: \p results take \p yielded.
std::vector<Operator> makeBranchYield(const std::vector<std::string> &results,
                                      const std::vector<std::string> &yielded,
                                      bool isThen);

struct PirLoop {
  /// The condition before the loop, and the variable that holds it in it.
  std::string condition, conditionVariable;
  /// What the loop carries, before it, and as it is called in and after it; the
  /// same where nothing is to be done.
  std::vector<std::string> initial, carried;
  int64_t block = 0;
};

/// An assign for each of what the loop carries, and a while.
std::vector<Operator> makeLoop(const PirLoop &loop);

/// What ends the block of a loop: the condition and what is carried take
/// \p yielded, all at once.
std::vector<Operator> makeLoopYield(const PirLoop &loop,
                                    const std::vector<std::string> &yielded);

/// Whether both say the same, however they are encoded.
bool areSame(const Operator &first, const Operator &second);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRCONTROLFLOW_H
