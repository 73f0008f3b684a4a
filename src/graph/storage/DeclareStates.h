//===- DeclareStates.h - states of models that declare none ---------------===//
//
//   main(x, state) -> (y, stateN)     "stateN=state"
//   ->
//   main(x, state {state "state"}) -> (y, stateN {state "state"})
//
// Formats without states have them as pairs of an input and an output. A file's
// metadata may say so (graph/Metadata.h): one pair a line.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STORAGE_DECLARESTATES_H
#define SINTER_GRAPH_STORAGE_DECLARESTATES_H

#include "graph/Model.h"

namespace sinter {

/// The key of the pairs in a file's metadata.
inline constexpr llvm::StringLiteral statesKey = "sinter.states";

/// Whether \p pair names an output and an input of one element type and rank,
/// of which sizes are dynamic and all others are equal: no state for
/// declareState(), since a state's memory is of one size.
bool isDynamicState(Model &model, llvm::StringRef pair);

/// Makes the output and the input of \p pair a state of \p model, called as the
/// input and zero before the first run. Usage error if there are none of these
/// names, or they are not of one type of known sizes.
Result<void> declareState(Model &model, llvm::StringRef pair);

} // namespace sinter

#endif // SINTER_GRAPH_STORAGE_DECLARESTATES_H
