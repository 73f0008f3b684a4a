//===- Tiling.h - register tiles and tasks of matmuls ---------------------===//
//
// A matmul or convolution is computed in tiles that stay in registers for the
// whole reduction: `rows` results by `vectors` vectors. Rows are pixels or rows
// of a matrix; vectors are along output channels or columns. The columns of a
// tile form a panel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_TILING_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_TILING_H

#include "backend/cpu/kernels/gemm/RowPairs.h"

#include <functional>

namespace sinter::cpu {

/// Receives vectors of results for a \p Position, and returns the vectors to
/// store. May be null.
template <typename Position>
struct ResultEpilogue
    : std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                mlir::Value vector, const Position &)> {
  using std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                  mlir::Value, const Position &)>::function;
  /// Whether it has many instructions, so that its code should not be repeated
  /// for each vector of a tile.
  bool isLong = false;
};

/// `length` split into `count` parts whose sizes differ by at most one: the
/// first `longer` parts have size + 1, the rest `size`.
struct Partition {
  int64_t length, count, size, longer;

  /// As few parts as possible of at most \p limit.
  static Partition of(int64_t length, int64_t limit);
  int64_t sizeOf(int64_t part) const { return size + (part < longer ? 1 : 0); }
  int64_t start(int64_t part) const {
    return part * size + std::min(part, longer);
  }
  mlir::Value start(VectorBuilder &code, mlir::Value part) const;
  /// Calls \p emit with the size of \p part: once if all are equal, else in
  /// both branches of a condition.
  void dispatch(VectorBuilder &code, mlir::Value part,
                llvm::function_ref<void(int64_t size)> emit) const;
};

/// The prefetch distance of weights from beyond the second-level cache: two
/// pages, since hardware prefetching ends at one.
inline constexpr int64_t weightPrefetchBytes = 8192;

/// The fewest tiles sharing a panel of weights that each prefetch a share of
/// the next one.
inline constexpr int64_t leastFetchingTiles = 4;
/// The size of a prefetch.
inline constexpr int64_t cacheLineBytes = 64;

/// Whether \p element, of \p bytes bytes, of a buffer aligned to a cache line
/// starts one, too.
inline bool beginsLine(int64_t element, int64_t bytes) {
  return element * bytes % cacheLineBytes == 0;
}

/// The most rows of a tile with \p vectors vectors per row, such that all its
/// accumulators, a row of weights and one broadcast element fit in registers.
/// With 32 of them, LLVM loads elements of several rows before it multiplies
/// the first, more of them the fewer vectors each is for: tiles without room
/// for these would spill accumulators.
int64_t maxTileRows(const Target &target, int64_t vectors);

/// The same for products of \p arithmetic.
int64_t mostRowsOf(const Arithmetic &arithmetic, const Target &target,
                   int64_t vectors);

/// Vectors of a tile with 32 registers: the fewest stalls for row elements, and
/// the most rows that keep the multipliers busy.
inline constexpr int64_t broadTileVectors = 4, tallTileVectors = 3,
                         pairTileVectors = 2; ///< The default of others.

/// The number of vectors in a panel, \p most at most, that computes \p rows by
/// \p vectors fastest, by port usage: two multiply-adds and two loads per
/// cycle, four cycles latency. Other numbers than \p preferred must gain more
/// than noise.
int64_t chooseTileVectors(const Target &target, int64_t rows, int64_t vectors,
                          int64_t most = 4,
                          int64_t preferred = pairTileVectors);

/// The same for rows that are counted when the program runs, about so many \p
/// rows: of what computes them about as fast, the one with the least code.
/// Where weights are read from panels as they are (\p readsPanels), what that
/// takes counts; where they come from beyond the second-level cache, or code
/// counts less, tiles have \p manyRows, and read them less often.
int64_t chooseDynamicTileVectors(const Target &target, int64_t rows,
                                 int64_t vectors, int64_t most,
                                 bool readsPanels, bool manyRows);

/// Whether there are so few vector registers (16) that tiles are small.
bool hasFewRegisters(const Target &target);

/// Cycles of one step of a reduction, over all tiles of \p rows by \p vectors,
/// by port usage: at least half a cycle per row and vector, and more where
/// tiles have few rows.
double cyclesOfStep(const Target &target, int64_t rows, int64_t vectors);

/// Calls \p emit with the vectors of panel \p panel, one of \p panels that hold
/// \p vectors in panels of \p panelVectors: once if all are equal, else in both
/// branches of a condition.
void dispatchPanel(VectorBuilder &code, mlir::Value panel, int64_t panels,
                   int64_t panelVectors, int64_t vectors,
                   llvm::function_ref<void(int64_t vectors)> emit);

/// The accumulators of one tile, row by row.
class RegisterTile {
public:
  RegisterTile(int64_t rows, int64_t vectors, const Arithmetic &arithmetic,
               int64_t lanes)
      : rows(rows), vectors(vectors), arithmetic(arithmetic), lanes(lanes) {}

  const int64_t rows, vectors;
  const Arithmetic arithmetic;
  const int64_t lanes;

  llvm::SmallVector<mlir::Value> zeros(VectorBuilder &code) const;

  /// The accumulators of step() that begin with \p results, row by row; and the
  /// results of \p accumulators. They are the same unless rows are multiplied
  /// in pairs.
  llvm::SmallVector<mlir::Value> held(VectorBuilder &code,
                                      mlir::ValueRange results) const;
  llvm::SmallVector<mlir::Value> rowsOf(VectorBuilder &code,
                                        mlir::ValueRange accumulators) const;
  /// The number of accumulators.
  int64_t sums() const {
    return arithmetic.takesRowPairs() ? pairs().sums() : rows * vectors;
  }

  /// One step of the reduction: accumulators[i][v] += a_i * b_v for the rows i
  /// whose \p a is set. Dot-product instructions are in
  /// Arithmetic::multiplyAdd. Narrow \p b are widened once for all rows; groups
  /// of them must be widened before.
  void step(VectorBuilder &code,
            llvm::MutableArrayRef<mlir::Value> accumulators,
            llvm::ArrayRef<mlir::Value> b,
            llvm::function_ref<mlir::Value(int64_t row)> a) const;

private:
  RowPairs pairs() const { return {rows, vectors, arithmetic}; }
};

/// Rows of vectors that are spilled to the stack: if all of a tile are in
/// registers, the epilogue has none left.
class WaitingRows {
public:
  WaitingRows() = default;
  /// Allocates \p rows rows of \p vectors vectors of type \p type.
  WaitingRows(VectorBuilder &code, mlir::VectorType type, int64_t rows,
              int64_t vectors);
  /// Those in another one's memory(), for use in a subroutine.
  WaitingRows(mlir::Value memory, mlir::VectorType type, int64_t vectors)
      : kept(memory), type(type), vectors(vectors) {}

  mlir::Value memory() const { return kept; }

  /// Stores \p results, row by row, from row \p first on.
  void keep(VectorBuilder &code, mlir::Value first,
            mlir::ValueRange results) const;
  /// A loop over \p rows, which are counted, of all or of each \p apart from
  /// \p first on.
  void forEach(VectorBuilder &code, mlir::Value rows,
               llvm::function_ref<void(mlir::Value row, mlir::ValueRange)> body,
               mlir::Value first = {}, mlir::Value apart = {}) const;

private:
  mlir::Value kept;
  mlir::VectorType type;
  int64_t vectors = 0;
};

/// A loop over the rows of \p results, \p vectors each, through the stack.
void forRows(VectorBuilder &code, mlir::ValueRange results, int64_t vectors,
             llvm::function_ref<void(mlir::Value row, mlir::ValueRange)> body);

/// The order of tasks (outer, unit, panel), where a unit is some rows. Units
/// are grouped into chunks; within a chunk, all units use one panel before all
/// use the next. One unit per chunk keeps the rows in cache, all units in one
/// chunk keeps the weights there.
struct TaskOrder {
  int64_t outer, units, panels, chunk;
  /// Bytes loaded into the second-level cache for one of `outer`.
  double traffic = 0;

  int64_t tasks() const { return outer * units * panels; }

  struct Task {
    mlir::Value outer, unit, panel;
  };
  Task decode(VectorBuilder &code, mlir::Value task) const;
  /// For \p units units, and one of `outer`.
  Task decode(VectorBuilder &code, mlir::Value task, mlir::Value units) const;

  /// Picks the chunk size with the least traffic into the second-level cache.
  /// \p rowBytes are the bytes of all units, \p panelBytes those of one panel.
  static TaskOrder choose(const Target &target, int64_t outer, int64_t units,
                          int64_t panels, int64_t rowBytes, int64_t panelBytes);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_TILING_H
