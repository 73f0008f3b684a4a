//===- Rng.h - shared by operations with random bits ----------------------===//

#ifndef SINTER_INTERPRETER_RNG_H
#define SINTER_INTERPRETER_RNG_H

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// The next state, and a tensor of random bits generated from the state
/// \p initial.
Result<Tensors> randomBits(const Tensor &initial,
                           stablehlo::RngAlgorithm algorithm, ElementType type,
                           const Shape &shape);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_RNG_H
