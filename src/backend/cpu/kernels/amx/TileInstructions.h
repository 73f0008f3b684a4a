//===- TileInstructions.h - AMX instructions ------------------------------===//
//
// The instructions of AMX (Intel SDM volume 1, chapter 18) by LLVM's intrinsics
// with explicit registers. There are eight, of up to 16 rows of up to 64 bytes;
// their shapes are configured once per call of a kernel.
//
//     C[m][n] += sum over k of A[m][k] * B[k][n]
//
// takes rows of A directly, 64 bytes of neighbours along k, and for B 16 rows
// in which neighbours along k are adjacent: pairs of bf16, or four int8.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEINSTRUCTIONS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEINSTRUCTIONS_H

#include "backend/cpu/kernels/common/VectorBuilder.h"
#include "runtime/ElementType.h"

#include <array>
#include <functional>

namespace sinter::cpu {

/// Computes a value from sizes that are known before a kernel's tasks. Called
/// at the kernel's start.
using NumberAtStart = std::function<mlir::Value(VectorBuilder &code)>;

/// The rows of a register, possibly computed at the start, and the bytes of
/// each.
struct TileShape {
  int64_t rows = 0, bytes = 0;
  NumberAtStart dynamicRows = {};
};

inline constexpr int64_t tileRegisters = 8, mostTileRows = 16,
                         tileRowBytes = 64,
                         tileBytes = mostTileRows * tileRowBytes;

/// Configures the registers at the start of the kernel that \p code builds, and
/// releases them at its end. Once per kernel.
void configureTiles(VectorBuilder &code,
                    const std::array<TileShape, tileRegisters> &shapes);

class TileInstructions {
public:
  explicit TileInstructions(VectorBuilder &code) : code(code) {}

  /// The address of a flat memref's first element.
  mlir::Value addressOf(mlir::Value flat);
  /// The address \p offset bytes after another. If it is the base of many
  /// addresses, LLVM should keep it in a register, and not analyse each of them
  /// in every enclosing loop.
  mlir::Value addressAt(mlir::Value address, mlir::Value offset);

  // Registers are given by index, offsets and strides in bytes.
  void zero(int64_t tile);
  /// Rows are \p stride bytes apart.
  void load(int64_t tile, mlir::Value address, mlir::Value offset,
            int64_t stride);
  void store(int64_t tile, mlir::Value address, mlir::Value offset,
             int64_t stride);
  /// sums += a * b, of elements of these types: bf16, or signed or unsigned
  /// int8.
  void multiply(int64_t sums, int64_t a, int64_t b, ElementType lhs,
                ElementType rhs);

private:
  mlir::Value number(int64_t tile);
  mlir::Value at(mlir::Value address, mlir::Value offset);
  void call(llvm::StringRef name, mlir::ValueRange operands);

  VectorBuilder &code;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEINSTRUCTIONS_H
