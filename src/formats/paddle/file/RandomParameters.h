//===- RandomParameters.h - parameters for a program that has none --------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_RANDOMPARAMETERS_H
#define SINTER_FORMATS_PADDLE_FILE_RANDOMPARAMETERS_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <string>
#include <unordered_map>

namespace sinter::paddle {

/// Numbers from a seed, for a program whose parameters are not at hand. What
/// they are like follows from the first operator that reads the parameter, so
/// that results stay finite: weights keep the size of what they multiply,
/// variances, scales and divisors are positive, biases are small, integers of
/// more than 8 bits are zero.
class RandomParameters {
public:
  RandomParameters(const Program &program, uint64_t seed);

  /// The same for the same seed, name and declaration. InvalidModel where the
  /// program does not say what the parameter is.
  Result<Tensor> draw(const Variable &parameter) const;

private:
  struct Use {
    std::string type, slot;
  };
  uint64_t seed;
  /// By the parameter's name.
  std::unordered_map<std::string, Use> uses;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_RANDOMPARAMETERS_H
