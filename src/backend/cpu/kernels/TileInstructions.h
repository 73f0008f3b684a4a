//===- TileInstructions.h - code for matrix units -------------------------===//
//
// The instructions of AMX (Intel SDM volume 1, chapter 18) by LLVM's intrinsics
// that name registers. There are eight, of up to 16 rows of up to 64 bytes; how
// many of each is told once a call of a kernel.
//
//     C[m][n] += sum over k of A[m][k] * B[k][n]
//
// takes rows of A as they are, 64 bytes of neighbours along k, and of B 16 rows
// in which neighbours along k lie together: pairs of bf16, four bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEINSTRUCTIONS_H
#define SINTER_BACKEND_CPU_KERNELS_TILEINSTRUCTIONS_H

#include "backend/cpu/kernels/VectorBuilder.h"
#include "runtime/ElementType.h"

#include <array>
#include <functional>

namespace sinter::cpu {

/// A number that follows from sizes that a kernel knows before its tasks. Asked
/// for at its start.
using NumberAtStart = std::function<mlir::Value(VectorBuilder &code)>;

/// Rows of a register, which may be known no sooner, and the bytes of each.
struct TileShape {
  int64_t rows = 0, bytes = 0;
  NumberAtStart openRows = {};
};

inline constexpr int64_t tileRegisters = 8, mostTileRows = 16,
                         tileRowBytes = 64,
                         tileBytes = mostTileRows * tileRowBytes;

/// Configures the registers at the start of the kernel that \p code writes, and
/// releases them at its end. Once a kernel.
void configureTiles(VectorBuilder &code,
                    const std::array<TileShape, tileRegisters> &shapes);

class TileInstructions {
public:
  explicit TileInstructions(VectorBuilder &code) : code(code) {}

  /// The address of a flat memref's first element.
  mlir::Value addressOf(mlir::Value flat);
  /// The address so many bytes behind another. Where many are counted from it,
  /// LLVM is to keep this one in a register, and not to think about each of
  /// them in every loop around it.
  mlir::Value addressAt(mlir::Value address, mlir::Value offset);

  // Registers are numbers, offsets and strides bytes.
  void zero(int64_t tile);
  /// Rows lie \p stride bytes apart.
  void load(int64_t tile, mlir::Value address, mlir::Value offset,
            int64_t stride);
  void store(int64_t tile, mlir::Value address, mlir::Value offset,
             int64_t stride);
  /// sums += a * b, of elements of these types: bf16, or bytes of any sign.
  void multiply(int64_t sums, int64_t a, int64_t b, ElementType lhs,
                ElementType rhs);

private:
  mlir::Value number(int64_t tile);
  mlir::Value at(mlir::Value address, mlir::Value offset);
  void call(llvm::StringRef name, mlir::ValueRange operands);

  VectorBuilder &code;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEINSTRUCTIONS_H
