//===- RandomParameters.h - random parameters for a program ---------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_RANDOMPARAMETERS_H
#define SINTER_FORMATS_PADDLE_FILE_RANDOMPARAMETERS_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <string>
#include <unordered_map>

namespace sinter::paddle {

/// Draws values from a seed for a program whose parameters are missing. The
/// distribution follows from the first operator that uses the parameter, so
/// that results stay finite: weights preserve the variance of their operand,
/// variances, scales and divisors are positive, biases are small, integers of
/// more than 8 bits are zero.
class RandomParameters {
public:
  RandomParameters(const Program &program, uint64_t seed);

  /// Deterministic in seed, name and declaration. InvalidModel if the program
  /// does not declare the parameter's type.
  Result<Tensor> draw(const Variable &parameter) const;

private:
  struct Use {
    std::string type, slot;
  };
  uint64_t seed;
  /// The first use, by the parameter's name.
  std::unordered_map<std::string, Use> uses;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_RANDOMPARAMETERS_H
