//===- OpenProgram.h - a program of all sizes -----------------------------===//
//
// A program whose `open` is set was compiled for sizes that are not known yet.
// Its code is for all of them: kernels read what they need from a table of
// sizes. Its inputs and outputs have dimensions of -1, its steps refer to slots
// instead of memory, and everything else that depends on sizes is an
// expression here, of the parameters. Sizes of the inputs give the first ones;
// others follow from those before them, or are numbers that the program
// computes, which `Size` steps read.
// OpenInstance.h makes what runs of it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_OPENPROGRAM_H
#define SINTER_RUNTIME_OPENPROGRAM_H

#include "runtime/Program.h"
#include "runtime/SizeExpression.h"

#include <limits>

namespace sinter {

/// The least number of blocks that hold `size`.
struct SizePart {
  SizeExpression size = 1;
  int64_t block = 1;
};

/// What a step's buffers refer to, by `BufferReference::offset`.
struct OpenSlot {
  BufferSpace space = BufferSpace::Arena;
  /// As in BufferReference.
  uint32_t index = 0;
  SizeExpression bytes;
  /// In the arena: the first and the last time that it is used, counting steps.
  int64_t begin = 0, end = 0;
  /// It has no more bytes than this, if that is not 0.
  uint64_t most = 0;
};

/// A parameter that is the number at place `element` of a Size step's tensor.
struct SizeDefinition {
  uint32_t parameter = 0;
  int64_t element = 0;
};

struct OpenStep {
  /// Tasks are as many as their product.
  std::vector<SizePart> tasks;
  /// The work of all tasks: arithmetic operations for each of so many units.
  SizeExpression units = 1;
  double flopsPerUnit = 0;
  /// Its last buffer is so many numbers of the table of sizes, from the first
  /// on; there is none where these are none.
  uint32_t firstSize = 0, sizeCount = 0;
  /// Where it is not 0, so many steps, of which this is the first, take turns.
  /// In each round they do `round.block` of `round.size` units, or what is left
  /// of them; tasks and work are those of one unit.
  uint32_t inTurns = 0;
  SizePart round;
  /// HostCall: the dimensions of each of Step::tensors.
  std::vector<std::vector<SizeExpression>> tensors;
  /// Size: what it defines. Steps before it need none of these.
  std::vector<SizeDefinition> defines;
  /// One a body of the step, in which nothing is defined.
  std::vector<std::vector<OpenStep>> bodies;
  /// If: of each body, what is 0 for sizes with which it is taken.
  std::vector<std::vector<SizeExpression>> fits;
};

enum class FollowingKind : uint8_t {
  /// floor(size / divisor); at least -1, which is no size.
  Quotient,
  /// The smaller and the larger one of `size` and `other`.
  Least,
  Greatest,
  /// How many elements there are where one of `size` and `other` is repeated if
  /// it is 1; -1, which is no size, where neither is and they differ.
  Together
};

/// A parameter that follows from those before it.
struct FollowingSize {
  uint32_t parameter = 0;
  FollowingKind kind = FollowingKind::Quotient;
  SizeExpression size, other;
  int64_t divisor = 1;
};

struct OpenProgram {
  /// The parameters' names, for messages.
  std::vector<std::string> parameters;
  /// Those that follow from parameters before them, in order.
  std::vector<FollowingSize> following;
  /// The table that kernels read parts of, each a number of 64 bits.
  std::vector<SizeExpression> sizes;
  /// The program computes what the model does as long as none of these is
  /// negative.
  std::vector<SizeExpression> limits;
  /// The dimensions of Program::inputs and outputs.
  std::vector<std::vector<SizeExpression>> inputs, outputs;
  std::vector<OpenSlot> slots;
  /// One a step of Program::steps.
  std::vector<OpenStep> steps;
};

/// Whether \p program, which is open, has an expression of its parameters for
/// each dimension, and an open step for each step. Errors: System, as damaged.
Result<void> checkOpenSizes(const Program &program);

/// A parameter of which nothing is known yet.
inline constexpr int64_t unknownParameter = std::numeric_limits<int64_t>::min();

/// The parameters that inputs of these shapes stand for; unknownParameter for
/// those that the program computes. Usage errors name the input and the
/// dimension that contradicts another one or the program.
Result<std::vector<int64_t>> parametersOf(const Program &program,
                                          std::span<const Tensor> inputs);

/// Sets those of \p parameters that follow from known ones. Errors: Usage where
/// one is too large.
Result<void> setFollowing(const OpenProgram &open,
                          std::span<int64_t> parameters);

/// The value of \p size; nothing as long as a parameter in it is not known.
/// Overflow is the least number.
std::optional<int64_t> knownSize(const SizeExpression &size,
                                 std::span<const int64_t> parameters);

/// "N = 2, sequence = 7": those that are known.
std::string textOf(const OpenProgram &open,
                   std::span<const int64_t> parameters);

/// Whether \p program, which is open, is for \p parameters, as far as they are
/// known; the error says which limit they are beyond.
Result<void> checkLimits(const Program &program,
                         std::span<const int64_t> parameters);

} // namespace sinter

#endif // SINTER_RUNTIME_OPENPROGRAM_H
