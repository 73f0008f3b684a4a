//===- ShapeGuards.h - what a program relies on of its dynamic sizes ------===//
//
// The one place in which a program's assumptions about dynamic dimensions are
// collected. Whoever relies on a relation of two sizes requires it here: it is
// proved, or becomes a guard that the program checks before it computes
// anything. Nothing else of the backend may take two symbolic sizes for equal.
//
// Restrictions:
//  - Sizes are expressions of the parameters of a SizeTable; sizes of inputs
//    and what the program computes for a size are not negative.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_SHAPEGUARDS_H
#define SINTER_BACKEND_CPU_SHAPES_SHAPEGUARDS_H

#include "backend/cpu/shapes/SizeTable.h"
#include "mlir/IR/Operation.h"

#include <map>
#include <unordered_set>

namespace sinter::cpu {

/// \p from less \p what; nothing on overflow.
std::optional<SizeExpression> differenceOf(const SizeExpression &from,
                                           const SizeExpression &what);

class ShapeGuards {
public:
  /// Guards are added to those of \p table.
  explicit ShapeGuards(SizeTable &table);

  /// Guards from here on are those of \p op.
  void setNode(mlir::Operation *op) { node = op; }

  /// Requires that two sizes are equal. False where they cannot be, or where
  /// that has no expression; \p aIs and \p bIs say for messages what they are.
  bool requireEqual(const SizeExpression &a, const SizeExpression &b,
                    const llvm::Twine &aIs = "", const llvm::Twine &bIs = "");
  /// Requires that \p a is at most \p b.
  void requireAtMost(const SizeExpression &a, const SizeExpression &b,
                     const llvm::Twine &aIs = "", const llvm::Twine &bIs = "");
  /// Requires that two sizes are equal or one of them is 1, and gives what they
  /// broadcast to.
  SizeExpression requireBroadcast(const SizeExpression &a,
                                  const SizeExpression &b);
  /// Requires that \p size is not negative.
  void requireNonNegative(const SizeExpression &size,
                          const llvm::Twine &is = "") {
    requireAtMost(0, size, "", is);
  }

  /// Whether the two are the same, or required to be.
  bool areEqual(const SizeExpression &a, const SizeExpression &b) const;
  /// \p size without parameters that equal others; nothing on overflow.
  std::optional<SizeExpression> reduced(const SizeExpression &size) const;
  /// Whether \p size is not negative, whatever the parameters are, as long as
  /// all guards hold.
  bool isNonNegative(const SizeExpression &size) const;
  /// Whether \p a is at most \p b, likewise.
  bool isAtMost(const SizeExpression &a, const SizeExpression &b,
                unsigned depth = 0) const;

private:
  struct GuardHash {
    size_t operator()(const ShapeGuard &guard) const;
  };
  struct SameRelation {
    bool operator()(const ShapeGuard &a, const ShapeGuard &b) const {
      return a.relation == b.relation && a.left == b.left && a.right == b.right;
    }
  };

  /// Draws the conclusions of a guard.
  void learn(const ShapeGuard &guard);
  void add(ShapeGuard::Relation relation, const SizeExpression &left,
           const SizeExpression &right, const llvm::Twine &leftIs,
           const llvm::Twine &rightIs);
  void solve(const SizeExpression &zero);
  /// What \p size is at least; nothing where that is not known.
  std::optional<int64_t> lowerBound(const SizeExpression &size) const;
  /// The same of an expression and of a parameter, once boundFollowing() knows
  /// what they follow from.
  std::optional<int64_t> boundOf(const SizeExpression &size) const;
  std::optional<int64_t> boundOf(uint32_t parameter) const;
  void boundFollowing() const;

  SizeTable &table;
  mlir::Operation *node = nullptr;
  /// Those of the table, which names the first node that needs each.
  std::unordered_set<ShapeGuard, GuardHash, SameRelation> known;
  /// What parameters are by guards of equality, none of which has one that is
  /// here already.
  std::map<uint32_t, SizeExpression> replaced;
  /// Parameters that a guard holds to be not negative.
  std::unordered_set<uint32_t> guarded;
  /// Of the first parameters of the table that follow from others.
  mutable std::unordered_map<uint32_t, std::optional<int64_t>> bounds;
  mutable size_t bounded = 0;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_SHAPEGUARDS_H
