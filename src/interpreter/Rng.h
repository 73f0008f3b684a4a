//===- Rng.h - what operations with random bits share ---------------------===//

#ifndef SINTER_INTERPRETER_RNG_H
#define SINTER_INTERPRETER_RNG_H

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// The state after, and a tensor of random bits that follow from the state
/// \p initial.
Result<Tensors> randomBits(const Tensor &initial,
                           stablehlo::RngAlgorithm algorithm, ElementType type,
                           const Shape &shape);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_RNG_H
