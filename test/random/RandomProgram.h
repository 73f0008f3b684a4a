//===- RandomProgram.h - well-typed StableHLO programs from a seed --------===//
//
// A program grows operation by operation: a recipe picks operands among the
// values that are there, invents attributes, and the operation's own type
// inference and verifier judge the proposal. So what is well-typed is decided
// by the definitions, and a recipe may guess.
//
// Two right implementations may differ in the last bits of a floating-point
// result. Values are therefore tracked by how often they were rounded in ways
// that implementations choose (`roundings`): operations that magnify small
// differences (floor, compare, divide, ...) take only values with none, and
// chains of the others stay short, so that what is left can be compared with a
// tolerance.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RANDOM_RANDOMPROGRAM_H
#define SINTER_RANDOM_RANDOMPROGRAM_H

#include "graph/Model.h"

#include <cstdint>

namespace sinter {

struct RandomProgramOptions {
  /// Operations of the entry function, those that make operands not counted.
  int operations = 10;
  int64_t largestDimension = 5;
  int largestRank = 4;
  /// Some sizes follow from values, so that they are known only when it runs.
  bool computesSizes = false;
  /// Draw only operations of these names; all that have a recipe if empty.
  std::vector<std::string> only;
};

/// A verified program whose results are all values that nothing reads. The same
/// seed and options give the same program.
Model randomProgram(uint64_t seed, const RandomProgramOptions &options = {});

/// The names of operations that can be drawn, sorted.
std::vector<std::string> drawableOperations();

/// How far a right result may be from another right one, relative to the
/// largest magnitude in the tensor: some units in the last place of the type.
double comparisonTolerance(ElementType type);

} // namespace sinter

#endif // SINTER_RANDOM_RANDOMPROGRAM_H
