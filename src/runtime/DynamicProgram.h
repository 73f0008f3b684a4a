//===- DynamicProgram.h - a shape-generic program -------------------------===//
//
// A program whose `open` is set has dynamic dimensions, and code for all their
// sizes: kernels read sizes from a table. Its inputs and outputs have
// dimensions of -1, its steps refer to slots instead of memory, and everything
// else that depends on sizes is an expression of the parameters. The first
// parameters are sizes of the inputs; others follow from earlier ones, or are
// values that the program computes and `Size` steps read. DynamicInstance.h
// instantiates it for given sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_DYNAMICPROGRAM_H
#define SINTER_RUNTIME_DYNAMICPROGRAM_H

#include "runtime/Program.h"
#include "runtime/ShapeGuard.h"

#include <limits>

namespace sinter {

/// The least number of blocks that hold `size`: ceil(size / block).
struct SizePart {
  SizeExpression size = 1;
  int64_t block = 1;
};

/// A buffer of a step, which `BufferReference::offset` refers to.
struct DynamicSlot {
  BufferSpace space = BufferSpace::Arena;
  /// As in BufferReference.
  uint32_t index = 0;
  SizeExpression bytes;
  /// In the arena: the first and the last step that uses it.
  int64_t begin = 0, end = 0;
  /// An upper bound of its bytes; 0: none.
  uint64_t most = 0;
};

/// A parameter whose value is element `element` of a Size step's tensor.
struct SizeDefinition {
  uint32_t parameter = 0;
  int64_t element = 0;
};

struct DynamicStep {
  /// The number of tasks is their product.
  std::vector<SizePart> tasks;
  /// The work of all tasks: arithmetic operations per unit, and the units.
  SizeExpression units = 1;
  double flopsPerUnit = 0;
  /// The last buffer is this range of the table of sizes; there is none if the
  /// range is empty.
  uint32_t firstSize = 0, sizeCount = 0;
  /// If not 0, the number of steps, from this one on, that run alternately:
  /// each round computes `round.block` of `round.size` units, or the rest;
  /// tasks and work are those of one unit.
  uint32_t inTurns = 0;
  SizePart round;
  /// HostCall: the dimensions of each of Step::tensors.
  std::vector<std::vector<SizeExpression>> tensors;
  /// Size: the parameters it defines. Earlier steps use none of these.
  std::vector<SizeDefinition> defines;
  /// One per body of the step, which define no parameters.
  std::vector<std::vector<DynamicStep>> bodies;
  /// If: for each body, an expression that is 0 for sizes that select it.
  std::vector<std::vector<SizeExpression>> fits;
};

enum class FollowingKind : uint8_t {
  /// floor(size / divisor); at least -1, which is no size.
  Quotient,
  /// The minimum and the maximum of `size` and `other`.
  Least,
  Greatest,
  /// The size of `size` and `other` broadcast with each other; -1, which is no
  /// size, if they differ and neither is 1.
  Together
};

/// A parameter that follows from those before it.
struct FollowingSize {
  uint32_t parameter = 0;
  FollowingKind kind = FollowingKind::Quotient;
  SizeExpression size, other;
  int64_t divisor = 1;
};

struct DynamicProgram {
  /// The parameters' names, for messages.
  std::vector<std::string> parameters;
  /// Parameters that follow from earlier ones, in order.
  std::vector<FollowingSize> following;
  /// The table of sizes that kernels read, 64-bit integers.
  std::vector<SizeExpression> sizes;
  /// The shape guards: the program is correct if all of these hold.
  std::vector<ShapeGuard> guards;
  /// The dimensions of Program::inputs and outputs.
  std::vector<std::vector<SizeExpression>> inputs, outputs;
  std::vector<DynamicSlot> slots;
  /// One a step of Program::steps.
  std::vector<DynamicStep> steps;
};

/// Checks that \p program, which is dynamic, has an expression of its
/// parameters for each dimension, and a dynamic step for each step. Errors:
/// System, as damaged.
Result<void> checkDynamicSizes(const Program &program);

/// A parameter that is not known yet.
inline constexpr int64_t unknownParameter = std::numeric_limits<int64_t>::min();

/// The parameters for inputs of these shapes; unknownParameter for those that
/// the program computes. Usage errors name the input and the dimension that
/// contradicts another one or the program.
Result<std::vector<int64_t>> parametersOf(const Program &program,
                                          std::span<const Tensor> inputs);

/// Sets those of \p parameters that follow from known ones. Errors: Usage if
/// one is too large.
Result<void> setFollowing(const DynamicProgram &dynamic,
                          std::span<int64_t> parameters);

/// The value of \p size; nothing if it depends on an unknown parameter. On
/// overflow the least integer.
std::optional<int64_t> knownSize(const SizeExpression &size,
                                 std::span<const int64_t> parameters);

/// "N = 2, sequence = 7": the known parameters.
std::string textOf(const DynamicProgram &dynamic,
                   std::span<const int64_t> parameters);

/// Whether all guards of \p program, which is dynamic, hold for the known \p
/// parameters; the error (InvalidModel) names one that does not.
Result<void> checkGuards(const Program &program,
                         std::span<const int64_t> parameters);

} // namespace sinter

#endif // SINTER_RUNTIME_DYNAMICPROGRAM_H
