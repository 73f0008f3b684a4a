//===- VerifyNumerics.h - interprets the graph around passes --------------===//
//
// Runs the entry function on random inputs before and after a pass in the
// interpreter, and compares its results and every intermediate tensor that the
// pass kept (Observe.h), also inside branches and loops. Tensors are identified
// by trace numbers (ValueNumbers.h). So a wrong rewrite is found where it was
// made, even if no output depends on it.
//
// Where a rewrite needs `requantize`, the value that it replaces must be within
// one unit of its quantised type, and values computed from it are not compared:
// the same operations compute them, from other operands. So each such
// application is compared by itself.
//
// A difference is no error where f32 had lost as much before: if the new tensor
// is at most twice as far from the result in f64 (WidenFloats.h) as the old
// one. For example, attention adds masks of -10,000 to scores in f32, and a
// graph that adds them without rounding differs only by that.
//
// Operations that run several times are compared the first few times. While a
// branch was not taken yet, the function runs again on other inputs, a few
// times at most. Errors in values without trace numbers are found in results
// that depend on them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_VERIFYNUMERICS_H
#define SINTER_PASSES_VERIFYNUMERICS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/PatternLabels.h"
#include "passes/ValueNumbers.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sinter {

/// What was compared without an error.
struct NumericsFacts {
  /// How often graphs were compared, and how many tensors in total.
  uint64_t comparisons = 0, tensors = 0;
  /// How many of these differ by no more than f32 had lost before.
  uint64_t rounded = 0;
  /// The shapes of inputs by name, one map for each run; for dynamic
  /// dimensions.
  std::vector<std::map<std::string, Shape>> shapes;
  /// The largest difference, relative to its tensor's largest magnitude, and
  /// the tensor and the pass or pattern where it was; empty if there was none.
  double largestDifference = 0;
  std::string where;
  /// The pass behind which the interpreter could not run the program, and why;
  /// nothing after it was compared. Empty if all was.
  std::string endedBy;
};

class VerifyNumerics {
public:
  /// The sizes of dynamic dimensions of inputs.
  struct Sizes {
    /// One size for all inputs without a shape.
    int64_t dimension = 2;
    /// Shapes by the inputs' names; the program runs once for each of these.
    std::vector<std::map<std::string, Shape>> shapes;
  };
  /// Interprets `main` of \p module on inputs that depend on their positions
  /// and types only. From now on \p run reports what passes replace. Two
  /// tensors are the same if all elements lie within \p tolerance times the
  /// largest magnitude before.
  static Result<std::unique_ptr<VerifyNumerics>>
  begin(mlir::ModuleOp module, PatternRun &run, Sizes sizes, double tolerance);
  ~VerifyNumerics();

  /// Must be called after each pass. The WrongResult error names the pass, the
  /// pattern, and the first tensor that differs: by its origin in the user's
  /// file, and by the element that differs.
  Result<void> after(llvm::StringRef pass);
  /// The same after one application of a pattern, within a pass.
  Result<void> afterApplication(llvm::StringRef label);

  /// For an application that is compared later together with others: gives its
  /// new values trace numbers.
  void withoutLooking() { numbers.number(module); }

  const NumericsFacts &facts() const { return found; }

private:
  /// A value each time it was computed, as far as that is kept; one list for
  /// each run.
  struct Seen {
    std::string name;
    std::vector<std::vector<Tensor>> tensors;
  };
  /// The findings of one comparison of graphs.
  struct Comparison {
    double tolerance;
    /// An additional absolute tolerance.
    double unit = 0;
    uint64_t tensors = 0, rounded = 0;
    double largest = 0;
    std::string where = {};

    /// "" or a text about where the two tensors differ.
    std::string of(const Tensor &was, const Tensor &is,
                   const std::string &name);
    /// Likewise for each time that both were computed, in each run.
    std::string of(const Seen &was, const Seen &is);
  };
  struct Observation {
    std::vector<Seen> outputs;
    std::map<int64_t, Seen> values;
    /// The trace numbers in the order in which the values were first computed.
    std::vector<int64_t> order;
  };

  VerifyNumerics(mlir::ModuleOp module, PatternRun &run, Sizes sizes,
                 double tolerance)
      : module(module), run(run), sizes(std::move(sizes)),
        tolerance(tolerance) {}
  bool hasEnteredAll(const Observation &seen) const;
  Result<Observation> observe();
  Result<void> observeRun(unsigned number, Observation &seen) {
    return observeRun(module, number, /*isWide=*/false, seen);
  }
  /// Runs and observes \p graph, which has trace numbers; in f64 with
  /// \p isWide.
  Result<void> observeRun(mlir::ModuleOp graph, unsigned number, bool isWide,
                          Observation &seen);
  /// Copies the current graph, for the next comparison.
  void keepGraph();
  /// The observation of the graph before in f64; empty where that cannot be
  /// computed.
  const Observation &exact();
  static bool isNoWorse(const Seen &was, const Seen &is, const Seen &exact);
  std::string patternsOf(int64_t id) const;
  void findFollowing();
  std::string firstDifference(const Observation &now, std::string &patterns,
                              Comparison &comparison);
  Result<void> compare(llvm::function_ref<std::string(llvm::StringRef)> who);

  mlir::ModuleOp module;
  PatternRun &run;
  ValueNumbers numbers;
  Sizes sizes;
  double tolerance;
  /// How often the function runs, each time on other inputs.
  unsigned runs = 1;
  Observation before;
  /// The graph of `before`, and its observation in f64, once that was needed.
  mlir::OwningOpRef<mlir::ModuleOp> graphBefore;
  std::optional<Observation> exactBefore;
  /// Since the last pass: the patterns by which a value was replaced, and how
  /// often each had applied before.
  std::map<int64_t, std::set<std::string>> patterns;
  std::map<std::string, uint64_t> earlier;
  /// Since the last pass: the values that may differ by one unit of their
  /// quantised type, with the unit, and those that are computed from such,
  /// which are not compared. `followingOutputs` has indices of outputs.
  std::map<int64_t, double> requantized;
  std::set<int64_t> following;
  std::set<size_t> followingOutputs;
  NumericsFacts found;
};

} // namespace sinter

#endif // SINTER_PASSES_VERIFYNUMERICS_H
