//===- IndexBuilder.h - builds index arithmetic and control flow ----------===//
//
// What the code of every kernel stands on: arithmetic on indices that folds
// constants and computes no value twice, loops and branches. Values are
// remembered in scopes that follow the code's blocks, so that a remembered
// value always dominates the place where it is used again. Blocks are therefore
// written through the loops and branches of the builder itself.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_INDEXBUILDER_H
#define SINTER_BACKEND_CPU_KERNELS_INDEXBUILDER_H

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
  /// Writes where \p builder stands, which is inside a function.
  IndexBuilder(mlir::OpBuilder &builder, mlir::Location location);

  mlir::OpBuilder &builder;
  const mlir::Location loc;

  /// Creates an operation here.
  template <typename Op, typename... Arguments>
  mlir::Value create(Arguments &&...arguments) {
    return builder.create<Op>(loc, std::forward<Arguments>(arguments)...)
        ->getResult(0);
  }

  // Index arithmetic. Quotients and remainders are of numbers that are not
  // negative. Comparisons fold where the bounds of loops decide them.
  /// Of a named size, that of the table that the function has; of what is no
  /// size, anything, and the function is marked (`usesNoSize`).
  mlir::Value index(int64_t value);
  /// \p value, in which other layers differ: where the function has a table of
  /// sizes, nothing is folded by it, so that their code is the same but for
  /// numbers (codegen/CodeForm.h).
  mlir::Value own(int64_t value);
  /// \p index, of which LLVM knows nothing: where many addresses are counted
  /// from it, it stays in a register and they are numbers in instructions.
  /// (LLVM would move the sums of both out of a loop, into a register each.)
  mlir::Value hidden(mlir::Value index);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, index(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, int64_t b) { return sub(a, index(b)); }
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, index(b)); }
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, int64_t b) { return div(a, index(b)); }
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, int64_t b) { return rem(a, index(b)); }
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// Signed a < b; i1.
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  /// 0 <= a < bound, which is not a named size.
  mlir::Value inRange(mlir::Value a, int64_t bound);
  mlir::Value both(mlir::Value a, mlir::Value b);
  /// \p a where \p condition holds, else \p b; of any type.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value boolean(bool value);
  std::optional<int64_t> constantOf(mlir::Value value) const;
  std::optional<bool> knownTruth(mlir::Value condition) const;
  /// In this scope, \p condition is \p truth.
  void assumeTruth(mlir::Value condition, bool truth);

  /// for (i = lower; i < upper; i += step) carried = body(i, carried).
  using Carried = llvm::SmallVector<mlir::Value>;
  Carried loop(mlir::Value lower, mlir::Value upper, int64_t step,
               mlir::ValueRange carried,
               llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)> body);
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// Loops over all of \p shape, outermost first.
  void loops(llvm::ArrayRef<int64_t> shape,
             llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  /// The same with carried values.
  Carried loops(
      llvm::ArrayRef<int64_t> shape, mlir::ValueRange carried,
      llvm::function_ref<Carried(llvm::ArrayRef<mlir::Value>, mlir::ValueRange)>
          body);
  /// while (condition(carried)) carried = body(carried).
  Carried repeat(mlir::ValueRange initial,
                 llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
                 llvm::function_ref<Carried(mlir::ValueRange)> body);
  /// The values of one of two branches.
  Carried branch(mlir::Value condition, llvm::function_ref<Carried()> then,
                 llvm::function_ref<Carried()> otherwise);
  /// Calls \p emit with the number of each of \p sizes, the smallest first, in
  /// the branch where it is the first that is not smaller than \p count; with
  /// the last one in what is left.
  void dispatch(mlir::Value count, llvm::ArrayRef<int64_t> sizes,
                llvm::function_ref<void(size_t number)> emit);
  void when(mlir::Value condition, llvm::function_ref<void()> then);
  void when(mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise);

  /// Writes to the start of the function from now on.
  void toEntry() { builder.setInsertionPointToStart(entry); }

  /// What is remembered under \p key in this scope or one around it; null if
  /// nothing is.
  using Key = std::vector<uintptr_t>;
  mlir::Value recall(const Key &key) const;
  void remember(Key key, mlir::Value value);

  /// While it lives, what is remembered is forgotten at its end.
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
  Range rangeOf(mlir::Value index) const;
  void assumeRange(mlir::Value index, Range range);
  mlir::Value once(unsigned kind, llvm::ArrayRef<mlir::Value> operands,
                   llvm::function_ref<mlir::Value()> make);

  mlir::Value sizeInTable(int64_t number);

  mlir::Block *entry;
  llvm::DenseMap<int64_t, mlir::Value> indices;
  llvm::DenseMap<mlir::Value, Range> ranges;
  mlir::Value truths[2];
  std::vector<std::map<Key, mlir::Value>> scopes;
};

/// How far apart things are in memory: a number times sizes that are named.
struct Distance {
  int64_t number = 0;
  llvm::SmallVector<int64_t, 2> names = {};

  Distance(int64_t number = 0) : number(number) {}
  bool isNumber() const { return names.empty(); }
  /// As many times as far, a size that may be named.
  Distance times(int64_t size) const;
  mlir::Value in(IndexBuilder &code) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_INDEXBUILDER_H
