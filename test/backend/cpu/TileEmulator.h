//===- TileEmulator.h - tile instructions where there are no matrix units
//---===//
//
// Intel's definitions of the instructions of AMX (SDM volume 2: LDTILECFG,
// TILELOADD, TILESTORED, TDPBF16PS, TDPBSSD, ...), a set of registers a thread.
// Kernels that are made for matrix units call them after `emulateTiles`, and
// run on any machine that has the rest of what they need.
//
// What a processor would refuse ends the process with a message: instructions
// without a configuration or after its release, shapes that do not fit each
// other. Bytes and rows beyond a register's shape are zeros.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_TILEEMULATOR_H
#define SINTER_TEST_BACKEND_CPU_TILEEMULATOR_H

#include "backend/cpu/target/Target.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace sinter::cpu {

/// Lets the code in \p module call functions of this process in place of tile
/// instructions. For code that is neither compiled nor lowered yet.
void emulateTiles(mlir::ModuleOp module);

/// The machine that we run on, as if it had matrix units and were as fast as a
/// Sapphire Rapids. On machines without the vectors that kernels for these have
/// (AVX-512) nothing, unless $SINTER_EMULATE_TILES asks for it: each vector is
/// several there, and all of it takes minutes.
std::optional<Target> hostWithTiles();

/// Makes matrix units of \p target faster than all else it has, and memory take
/// no time, so that tiles are chosen wherever they can be.
void preferTiles(Target &target);

/// What this thread has executed since the last call.
struct TileCounts {
  int64_t configurations = 0, releases = 0, loads = 0, products = 0;
};
TileCounts takeTileCounts();

/// C[m][n] += sum over k of A[m][k] B[k][n] for rows of bf16 pairs, by the
/// definition of TDPBF16PS: even and odd numbers summed apart by multiply-adds
/// that round once to nearest even, both added, the sum added to C; denormal
/// operands and results are zeros. For tests of the emulator itself.
float dotOfPairs(const uint16_t *a, const uint16_t *b, int64_t bStride,
                 int64_t pairs, float sum);

} // namespace sinter::cpu

#endif // SINTER_TEST_BACKEND_CPU_TILEEMULATOR_H
