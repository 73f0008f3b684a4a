//===- SizeCode.h - sizes of a dynamic program, as code -------------------===//
//
// What DynamicProgram.h evaluates when the sizes of a run are known, written by
// a builder of LLVM IR. All arithmetic is checked: what overflows makes
// `isBad()` true, and so does a size that a check refuses.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SIZECODE_H
#define SINTER_BACKEND_CPU_AHEAD_SIZECODE_H

#include "runtime/DynamicProgram.h"

#include "llvm/IR/IRBuilder.h"

#include <unordered_map>

namespace sinter::cpu {

/// Builds straight code, all of it in one block.
class SizeCode {
public:
  SizeCode(llvm::IRBuilder<> &builder, const DynamicProgram &dynamic);

  /// Lets \p parameter be \p value, which is checked to be from 0 to \p most.
  void give(uint32_t parameter, llvm::Value *value,
            std::optional<int64_t> most);
  /// Code for the parameters that follow from those that are given, and for the
  /// guards.
  void addFollowing();
  void addGuards();

  /// The value of \p size, whose overflow is bad.
  llvm::Value *valueOf(const SizeExpression &size);
  /// The same, checked not to be negative.
  llvm::Value *sizeOf(const SizeExpression &size);
  /// ceil(size / block), checked.
  llvm::Value *partsOf(const SizePart &part);
  /// Whether \p size is 0; an overflow is not.
  llvm::Value *isZero(const SizeExpression &size);
  // Checked.
  llvm::Value *sumOf(llvm::Value *a, llvm::Value *b);
  llvm::Value *productOf(llvm::Value *a, llvm::Value *b);
  /// \p bytes rounded up to a multiple of bundleAlignment. They are less than
  /// 2^62.
  llvm::Value *alignedUp(llvm::Value *bytes);
  llvm::Value *greatestOf(llvm::Value *a, llvm::Value *b);
  llvm::Value *leastOf(llvm::Value *a, llvm::Value *b);

  /// Makes it bad if \p isWrong, an i1.
  void refuseIf(llvm::Value *isWrong);
  llvm::Value *isBad() const { return bad; }

  /// While one lives, nothing is bad unless \p condition is true.
  class Condition {
  public:
    Condition(SizeCode &code, llvm::Value *condition);
    ~Condition();
    Condition(const Condition &) = delete;
    Condition &operator=(const Condition &) = delete;

  private:
    SizeCode &code;
    llvm::Value *before;
  };

  llvm::Value *number(int64_t value) { return builder.getInt64(value); }

private:
  /// A value, and whether it has overflowed.
  struct Checked {
    llvm::Value *value, *overflows;
  };

  Checked checked(const SizeExpression &size);
  Checked combined(llvm::Intrinsic::ID operation, Checked a, Checked b);
  llvm::Value *used(Checked value);
  llvm::Value *followingValue(const FollowingSize &each);
  llvm::Value *either(llvm::Value *a, llvm::Value *b);

  llvm::IRBuilder<> &builder;
  const DynamicProgram &dynamic;
  std::vector<llvm::Value *> parameters;
  std::unordered_map<SizeExpression, Checked, SizeExpressionHash> known;
  llvm::Value *bad, *condition;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SIZECODE_H
