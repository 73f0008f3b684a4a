#include "formats/paddle/file/RandomParameters.h"

#include "runtime/Hash.h"
#include "runtime/Random.h"

#include <cmath>
#include <cstring>

namespace sinter::paddle {

RandomParameters::RandomParameters(const Program &program, uint64_t seed)
    : seed(seed) {
  for (const Variable *parameter : program.parameters())
    uses.emplace(parameter->name, Use());
  for (const Block &block : program.blocks)
    for (const Operator &op : block.operators)
      for (const Slot &slot : op.inputs)
        for (const std::string &name : slot.arguments) {
          const auto found = uses.find(name);
          if (found != uses.end() && found->second.type.empty())
            found->second = {op.type, slot.name};
        }
}

/// The reduction depth with weights of this shape. Weights of convolutions are
/// [out, in, ...], those of matmuls [..., in, out].
static double addendsOf(const std::string &type, const Shape &shape) {
  const bool isConvolution = type.find("conv") != std::string::npos;
  double count =
      isConvolution ? 1 : static_cast<double>(shape[shape.size() - 2]);
  if (isConvolution)
    for (size_t i = 1; i < shape.size(); ++i)
      count *= static_cast<double>(shape[i]);
  return std::max(count, 1.0);
}

Result<Tensor> RandomParameters::draw(const Variable &parameter) const {
  const auto known = uses.find(parameter.name);
  const Use use = known == uses.end() ? Use() : known->second;
  if (!parameter.type || !byteCount(*parameter.type, parameter.dims))
    return invalidModel("the program does not say what type and sizes "
                        "parameter '" +
                        parameter.name + "' has");
  Tensor tensor(*parameter.type, parameter.dims);
  if (isInteger(tensor.type()) && byteSize(tensor.type()) > 1)
    return tensor;
  const bool isPositive =
      use.slot == "Variance" || use.slot == "Scale" || use.slot == "InScale" ||
      use.slot == "Scales" || use.type == "elementwise_div" ||
      use.type == "elementwise_mul" || use.type == "elementwise_pow";
  int64_t longSides = 0;
  for (int64_t size : tensor.shape())
    longSides += size > 1;
  RandomOptions options;
  options.integerLimit = 128;
  if (isPositive) {
    options.low = 0.5;
    options.high = 1.5;
  } else {
    // A uniform distribution on [-a, a] has the variance a^2 / 3.
    options.high = longSides >= 2
                       ? std::sqrt(3 / addendsOf(use.type, tensor.shape()))
                       : 0.1;
    options.low = -options.high;
  }
  const Hash128 name = hashOf(std::as_bytes(std::span(parameter.name)));
  fillRandom(tensor, splitMix(seed, name.low), options);
  return tensor;
}

} // namespace sinter::paddle
