//===- VerifyNumerics.h - two graphs, the same inputs, the oracle ---------===//
//
// Runs the entry function on random inputs before and after a pass, and
// compares its results and every tensor on the way that the pass kept
// (Observe.h), those inside branches and loops included. Which tensor is which,
// their numbers tell (ValueNumbers.h). So a wrong rewrite shows where it was
// made, also if no output happens to notice.
//
// Where a rewrite needs `requantize` to be allowed, the value that it replaces
// must be within one unit of its quantised type, and what is computed of it is
// not looked at: the same operations compute it, of other numbers. So each such
// application is compared by itself.
//
// A difference is no mistake where f32 had lost as much before: if, held
// against what f64 gives (WidenFloats.h), the new tensor is at most twice as
// far away as the old one. Attention adds masks of -10,000 to scores in f32,
// say, and a graph that adds them without rounding is another only by that.
//
// What runs several times is compared the first few times. While a branch was
// not taken yet, the function runs again on other inputs, a few times at most.
// What is wrong in what has no numbers shows in results.
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

/// What was compared and found the same.
struct NumericsFacts {
  /// How often graphs were compared, and how many tensors all in all.
  uint64_t comparisons = 0, tensors = 0;
  /// How many of these differ by no more than f32 had lost before.
  uint64_t rounded = 0;
  /// The largest difference, in parts of its tensor's largest magnitude, and
  /// the tensor and the pass or pattern where it was; empty if there was none.
  double largestDifference = 0;
  std::string where;
  /// The pass behind which the oracle could not run the program, and why;
  /// nothing after it was compared. Empty if all was.
  std::string endedBy;
};

class VerifyNumerics {
public:
  /// Interprets `main` of \p module on inputs that depend on their positions
  /// and types only; unknown dimensions are \p unknownDimension. From now on
  /// \p run tells what passes replace. Two tensors are the same if all elements
  /// lie within \p tolerance times the largest magnitude before.
  static Result<std::unique_ptr<VerifyNumerics>> begin(mlir::ModuleOp module,
                                                       PatternRun &run,
                                                       int64_t unknownDimension,
                                                       double tolerance);
  ~VerifyNumerics();

  /// To be called after each pass. The WrongResult error names the pass, the
  /// pattern, and the first tensor that is not what it was: by its origin in
  /// the user's file, and by the element that differs.
  Result<void> after(llvm::StringRef pass);
  /// The same after one application of a pattern, within a pass.
  Result<void> afterApplication(llvm::StringRef label);

  /// After an application that is compared with others later: what it made can
  /// be told apart from now on.
  void withoutLooking() { numbers.number(module); }

  const NumericsFacts &facts() const { return found; }

private:
  /// A value each time it was computed, as far as that is kept, a list a run.
  struct Seen {
    std::string name;
    std::vector<std::vector<Tensor>> tensors;
  };
  /// What one comparison of graphs has seen.
  struct Comparison {
    double tolerance;
    /// What elements may differ by besides.
    double unit = 0;
    uint64_t tensors = 0, rounded = 0;
    double largest = 0;
    std::string where = {};

    /// "" or where the two tensors part.
    std::string of(const Tensor &was, const Tensor &is,
                   const std::string &name);
    /// Likewise of the times that both were computed, in each run.
    std::string of(const Seen &was, const Seen &is);
  };
  struct Observation {
    std::vector<Seen> outputs;
    std::map<int64_t, Seen> values;
    /// The numbers in the order in which the values were first computed.
    std::vector<int64_t> order;
  };

  VerifyNumerics(mlir::ModuleOp module, PatternRun &run, int64_t dimension,
                 double tolerance)
      : module(module), run(run), dimension(dimension), tolerance(tolerance) {}
  bool hasEnteredAll(const Observation &seen) const;
  Result<Observation> observe();
  Result<void> observeRun(unsigned number, Observation &seen) {
    return observeRun(module, number, /*isWide=*/false, seen);
  }
  /// Of \p graph, which has numbers; in f64 with \p isWide.
  Result<void> observeRun(mlir::ModuleOp graph, unsigned number, bool isWide,
                          Observation &seen);
  /// Of the graph as it is now, for the next comparison.
  void keepGraph();
  /// What the graph before gives in f64; nothing where that cannot be computed.
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
  int64_t dimension;
  double tolerance;
  /// How often the function runs, each time on other inputs.
  unsigned runs = 1;
  Observation before;
  /// The graph that gave it, and what that gives in f64, once it was asked for.
  mlir::OwningOpRef<mlir::ModuleOp> graphBefore;
  std::optional<Observation> exactBefore;
  /// Since the last pass: the patterns by which a value was replaced, and how
  /// often each had applied before.
  std::map<int64_t, std::set<std::string>> patterns;
  std::map<std::string, uint64_t> earlier;
  /// Since then, too: the values that may be another by one unit of their
  /// quantised type, with the unit, and those that are computed of such, of
  /// which nothing is said. `followingOutputs` are numbers of outputs.
  std::map<int64_t, double> requantized;
  std::set<int64_t> following;
  std::set<size_t> followingOutputs;
  NumericsFacts found;
};

} // namespace sinter

#endif // SINTER_PASSES_VERIFYNUMERICS_H
