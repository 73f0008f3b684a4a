//===- ModelFigures.h - operators, weights and FLOPs of a model -----------===//
//
// As reports print them, for the command and the C interface.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_MODELFIGURES_H
#define SINTER_INTERFACE_MODELFIGURES_H

#include "engine/Compiler.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sinter {

/// A number; for dynamic sizes a formula as text, "1024*N"; null if neither is
/// known.
nlohmann::json flopsJson(const ModelFlops &flops);
/// "3.63 GFLOP", "5.61 MFLOP * N", "2*N*S + 8*N FLOP"; "?" if it is not known.
std::string flopsText(const ModelFlops &flops);

/// {"Conv": 20, ...}.
nlohmann::json operatorsJson(const FileCounts &counts);

} // namespace sinter

#endif // SINTER_INTERFACE_MODELFIGURES_H
