//===- IndexBuilder.h - builds index arithmetic and control flow ----------===//
//
// The base of all kernel builders: index arithmetic that folds constants and
// computes no value twice, loops and branches. Values are cached in scopes that
// follow the code's blocks, so that a cached value always dominates its uses.
// So blocks must be built by the builder's own loops and branches.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_COMMON_INDEXBUILDER_H
#define SINTER_BACKEND_CPU_KERNELS_COMMON_INDEXBUILDER_H

#include "graph/Dim.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace sinter::cpu {

/// Attributes of a kernel's function: the number of the argument that is the
/// table of named sizes, and whether code for it was to use a number that
/// somebody made of a named size, so that it is wrong. (Only functions with a
/// table are told: large numbers of others are padding of a file.)
inline constexpr llvm::StringLiteral sizesArgument = "sinter.sizes";
inline constexpr llvm::StringLiteral usesNoSize = "sinter.uses_no_size";

class IndexBuilder {
public:
  /// Inserts at \p builder's insertion point, which is inside a function.
  IndexBuilder(mlir::OpBuilder &builder, mlir::Location location);

  mlir::OpBuilder &builder;
  const mlir::Location loc;

  /// Creates an operation here.
  template <typename Op, typename... Arguments>
  mlir::Value create(Arguments &&...arguments) {
    return builder.create<Op>(loc, std::forward<Arguments>(arguments)...)
        ->getResult(0);
  }

  // Index arithmetic. Quotients and remainders require non-negative operands.
  // Comparisons fold where the bounds of loops decide them.
  /// Of a named size, that of the table that the function has; of an unknown
  /// one, anything, and the function is marked (`usesNoSize`).
  mlir::Value index(Dim size);
  /// \p size, in which other layers differ: where the function has a table of
  /// sizes, nothing is folded by it, so that their code is the same but for
  /// numbers (codegen/CodeForm.h).
  mlir::Value own(Dim size);
  /// \p index, hidden from LLVM's analyses: as the base of many addresses it
  /// stays in a register, and offsets are immediate operands. (LLVM would hoist
  /// each sum out of a loop, into its own register.)
  mlir::Value hidden(mlir::Value index);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, index(b)); }
  mlir::Value add(mlir::Value a, Dim b) { return add(a, index(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, int64_t b) { return sub(a, index(b)); }
  mlir::Value sub(mlir::Value a, Dim b) { return sub(a, index(b)); }
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, index(b)); }
  mlir::Value mul(mlir::Value a, Dim b) { return mul(a, index(b)); }
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, int64_t b) { return div(a, index(b)); }
  mlir::Value div(mlir::Value a, Dim b) { return div(a, index(b)); }
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, int64_t b) { return rem(a, index(b)); }
  mlir::Value rem(mlir::Value a, Dim b) { return rem(a, index(b)); }
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// Signed a < b; i1.
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  /// 0 <= a < bound.
  mlir::Value inRange(mlir::Value a, Dim bound);
  mlir::Value both(mlir::Value a, mlir::Value b);
  /// \p a where \p condition holds, else \p b; of any type.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value boolean(bool value);
  std::optional<int64_t> constantOf(mlir::Value value) const;
  std::optional<bool> knownTruth(mlir::Value condition) const;
  /// Assumes that \p condition is \p truth in this scope.
  void assumeTruth(mlir::Value condition, bool truth);

  /// for (i = lower; i < upper; i += step) carried = body(i, carried).
  using Carried = llvm::SmallVector<mlir::Value>;
  Carried loop(mlir::Value lower, mlir::Value upper, int64_t step,
               mlir::ValueRange carried,
               llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)> body);
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// Loops over all of \p shape, outermost first.
  void loops(llvm::ArrayRef<Dim> shape,
             llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  void loops(llvm::ArrayRef<int64_t> shape,
             llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body) {
    loops(dimsIn(shape), body);
  }
  /// The same with carried values.
  Carried loops(
      llvm::ArrayRef<Dim> shape, mlir::ValueRange carried,
      llvm::function_ref<Carried(llvm::ArrayRef<mlir::Value>, mlir::ValueRange)>
          body);
  Carried loops(
      llvm::ArrayRef<int64_t> shape, mlir::ValueRange carried,
      llvm::function_ref<Carried(llvm::ArrayRef<mlir::Value>, mlir::ValueRange)>
          body) {
    return loops(dimsIn(shape), carried, body);
  }
  /// while (condition(carried)) carried = body(carried).
  Carried repeat(mlir::ValueRange initial,
                 llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
                 llvm::function_ref<Carried(mlir::ValueRange)> body);
  /// A conditional; returns the values of the branch taken.
  Carried branch(mlir::Value condition, llvm::function_ref<Carried()> then,
                 llvm::function_ref<Carried()> otherwise);
  /// Calls \p emit with the index of each of \p sizes, in ascending order, in
  /// the branch where it is the first that is not smaller than \p count; the
  /// last one is the default.
  void dispatch(mlir::Value count, llvm::ArrayRef<int64_t> sizes,
                llvm::function_ref<void(size_t number)> emit);
  void when(mlir::Value condition, llvm::function_ref<void()> then);
  void when(mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise);

  /// Moves the insertion point to the start of the function.
  void toEntry() { builder.setInsertionPointToStart(entry); }

  /// The value cached under \p key in this scope or an enclosing one; null if
  /// there is none.
  using Key = std::vector<uintptr_t>;
  mlir::Value recall(const Key &key) const;
  void remember(Key key, mlir::Value value);

  /// Values cached during its lifetime are dropped at its end.
  class Scope {
  public:
    explicit Scope(IndexBuilder &code) : code(code) {
      code.scopes.emplace_back();
    }
    ~Scope() { code.scopes.pop_back(); }
    Scope(const Scope &) = delete;

  private:
    IndexBuilder &code;
  };

private:
  struct Range {
    int64_t least = std::numeric_limits<int64_t>::min();
    int64_t most = std::numeric_limits<int64_t>::max();
  };
  /// What an index is compared with: another one plus a number.
  struct Bound {
    mlir::Value index;
    int64_t more = 0;
  };
  using Bounds = llvm::SmallVector<Bound, 2>;
  Bound asSum(mlir::Value index) const;
  void collectBounds(mlir::Value end, bool isUpper, Bounds &bounds) const;
  std::optional<bool> isLess(Bound a, Bound b) const;

  Range rangeOf(mlir::Value index) const;
  void assumeRange(mlir::Value index, Range range);
  mlir::Value once(unsigned kind, llvm::ArrayRef<mlir::Value> operands,
                   llvm::function_ref<mlir::Value()> make);

  mlir::Value sizeInTable(int64_t number);
  mlir::Value noSize();

  mlir::Block *entry;
  llvm::DenseMap<int64_t, mlir::Value> indices;
  llvm::DenseMap<mlir::Value, Range> ranges;
  /// What the counters of loops are at least, and less than, that is no number.
  llvm::DenseMap<mlir::Value, Bounds> lowerBounds, upperBounds;
  mlir::Value truths[2];
  std::vector<std::map<Key, mlir::Value>> scopes;
};

/// How far apart things are in memory: a number times dynamic sizes.
struct Distance {
  int64_t number = 0;
  llvm::SmallVector<Dim, 2> sizes = {};

  Distance(int64_t number = 0) : number(number) {}
  bool isNumber() const { return sizes.empty(); }
  /// As many times as far.
  Distance times(Dim size) const;
  mlir::Value in(IndexBuilder &code) const;

  bool operator==(const Distance &) const = default;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_COMMON_INDEXBUILDER_H
