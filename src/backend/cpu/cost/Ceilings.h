//===- Ceilings.h - kernels that do nothing but keep a machine busy -------===//
//
// What a processor can do at most is measured with code that has no other work:
// as many chains of multiply-adds as hide how long one takes, all in
// registers, and loads of whole vectors whose sums nobody waits for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_CEILINGS_H
#define SINTER_BACKEND_CPU_COST_CEILINGS_H

#include "backend/cpu/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/ElementType.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace sinter::cpu {

/// How many multiply-adds follow each other in a chain in one task.
inline constexpr int64_t chainSteps = 1024;

/// A kernel of chains: what it reads and gives, and what one task does. Chain i
/// begins with the numbers from i * lanes on of the first buffer; behind those
/// of all chains stand two vectors a and b. It gives the sum of all chains to
/// the second buffer, of one vector.
struct ChainKernel {
  int64_t chains = 0, lanes = 0;
  /// Multiplications and additions, without those of the sum at the end.
  double operationsPerTask = 0;
  /// What it is done with, in a few words.
  std::string instruction;

  int64_t inputSize() const { return (chains + 2) * lanes; }
};

/// Adds the kernel \p name to \p module: x = x * a + b in each chain, of f32 or
/// f64 (\p bits).
ChainKernel emitMultiplyAdds(mlir::ModuleOp module, llvm::StringRef name,
                             const Target &target, unsigned bits);

/// The same of integers of 8 bits, four of which make each of the buffers' s32:
/// x += dot(unsigned a, signed b) where the machine has such an instruction;
/// else of 16 bits, two of which make an s32: x += dot(x, b). Null where \p
/// target is a machine of another architecture than x86.
std::optional<ChainKernel> emitIntegerDots(mlir::ModuleOp module,
                                           llvm::StringRef name,
                                           const Target &target);

/// The same of pairs of bf16 that make each of the buffers' s32, which are
/// multiplied and added to f32 in the place of x. Null where \p target has no
/// such instruction.
std::optional<ChainKernel> emitBFloat16Dots(mlir::ModuleOp module,
                                            llvm::StringRef name,
                                            const Target &target);

/// Adds the kernel \p name to \p module, whose buffers are: numbers of s32, of
/// which there may be \p most; how many of them to read, a multiple of
/// readGrain, in one s64; and a vector for their sums by lane. A task reads all
/// of them once.
void emitReads(mlir::ModuleOp module, llvm::StringRef name,
               const Target &target, int64_t most);
/// In elements.
int64_t readGrain(const Target &target);

/// A kernel of products of tiles: 2 x 2 registers of sums to which products of
/// two of rows by two of columns are added in each step.
struct TileChainKernel {
  int64_t steps = 0;
  double operationsPerTask = 0;
  int64_t bytesPerTask = 0; ///< That are loaded into registers in steps,
  int64_t inputBytes = 0;   ///< of which there are so many.
};

/// Adds the kernel \p name to \p module, which \p target has the registers for.
/// Its buffers are of bytes: numbers of \p part, bf16 or unsigned bytes (which
/// are multiplied by signed ones), and the sums of all four, in rows of 64
/// bytes. With \p bytes 0 a step has the first four registers of numbers, which
/// stay there; else the next four out of so many.
TileChainKernel emitTileProducts(mlir::ModuleOp module, llvm::StringRef name,
                                 const Target &target, ElementType part,
                                 int64_t bytes = 0);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_CEILINGS_H
