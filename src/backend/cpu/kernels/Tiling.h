//===- Tiling.h - how products are cut into register tiles and tasks ------===//
//
// A product of matrices (a convolution is one, too) is computed in tiles that
// stay in registers for the whole reduction: `rows` results by `vectors`
// vectors. Rows are pixels or rows of a matrix; the vectors run over output
// channels or columns, of which as many as a tile has make a panel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILING_H
#define SINTER_BACKEND_CPU_KERNELS_TILING_H

#include "backend/cpu/kernels/Arithmetic.h"

#include <functional>

namespace sinter::cpu {

/// Gets vectors of results that are about to be stored at a \p Position, and
/// returns what is to be stored instead. May be null.
template <typename Position>
struct ResultEpilogue
    : std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                mlir::Value vector, const Position &)> {
  using std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                  mlir::Value, const Position &)>::function;
  /// It takes many instructions a vector, so that its code should not be
  /// repeated for each of a tile.
  bool isLong = false;
};

/// `length` cut into `count` parts whose sizes differ by at most one: the first
/// `longer` parts have size + 1, the rest `size`.
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

/// How far ahead weights that come from beyond the second-level cache are
/// prefetched: two pages of memory, where the processor's own prefetching ends
/// at one.
inline constexpr int64_t weightPrefetchBytes = 8192;

/// Where so many tiles or more share a panel of weights, each fetches its part
/// of the next one.
inline constexpr int64_t leastFetchingTiles = 4;
/// What a prefetch brings.
inline constexpr int64_t cacheLineBytes = 64;

/// Whether that \p element of what begins with a cache line begins one, too, if
/// each has so many \p bytes.
inline bool beginsLine(int64_t element, int64_t bytes) {
  return element * bytes % cacheLineBytes == 0;
}

/// The most rows of a tile with \p vectors vectors a row, such that all its
/// accumulators, a row of weights and one broadcast element fit in registers.
/// Where there are 32 of them, LLVM loads elements of several rows before it
/// multiplies the first, and the more the fewer vectors each is for: tiles that
/// leave no room for these have their sums on the stack.
int64_t maxTileRows(const Target &target, int64_t vectors);

/// The most rows of a tile of products of pairs of bf16: LLVM loads their
/// elements into registers of their own, which 32 have room for beside 24 sums.
inline int64_t rowsOfPairs(int64_t vectors) {
  constexpr int64_t mostSums = 24;
  return std::max<int64_t>(1, mostSums / vectors);
}

/// Vectors of a tile where there are 32 registers: that waits least for
/// elements of rows, and that has the most rows of those that keep the
/// multipliers busy.
inline constexpr int64_t broadTileVectors = 4, tallTileVectors = 3,
                         pairTileVectors = 2; ///< What others begin with.

/// The number of vectors in a panel, \p most at most, that computes \p rows by
/// \p vectors fastest, by ports: two multiply-adds and two loads a cycle, four
/// cycles latency. Others than the \p preferred number are so only if they gain
/// what can be told from noise.
int64_t chooseTileVectors(const Target &target, int64_t rows, int64_t vectors,
                          int64_t most = 4,
                          int64_t preferred = pairTileVectors);

/// The same for rows that are counted when the program runs, about so many \p
/// rows: of what computes them about as fast, the one with the least code.
/// Where weights are read from panels as they are (\p readsPanels), what that
/// takes counts; where they come from beyond the second-level cache, or code
/// counts less, tiles have \p manyRows, and read them less often.
int64_t chooseOpenTileVectors(const Target &target, int64_t rows,
                              int64_t vectors, int64_t most, bool readsPanels,
                              bool manyRows);

/// Whether there are so few vector registers (16) that tiles are small.
bool hasFewRegisters(const Target &target);

/// Cycles of one step of a reduction, over all tiles of \p rows by \p vectors,
/// by ports: no fewer than half of the products of a row by a vector, and more
/// where tiles have few rows.
double cyclesOfStep(const Target &target, int64_t rows, int64_t vectors);

/// Calls \p emit with how many vectors \p panel has, the number of one of the
/// \p panels that hold \p vectors in panels of \p panelVectors: once if all
/// are equal, else in both branches of a condition.
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

  /// One step of the reduction: accumulators[i][v] += a_i * b_v for the rows i
  /// whose \p a is set. The place for an instruction that does more than one
  /// product a lane: what it does is Arithmetic::multiplyAdd. Narrow \p b are
  /// widened once for all rows; groups of them want to be widened before.
  void step(VectorBuilder &code,
            llvm::MutableArrayRef<mlir::Value> accumulators,
            llvm::ArrayRef<mlir::Value> b,
            llvm::function_ref<mlir::Value(int64_t row)> a) const;
};

/// Rows of vectors that wait in memory on the stack: where all of a tile are in
/// registers, what is computed of them next has none to work in.
class WaitingRows {
public:
  WaitingRows() = default;
  /// Room for \p rows of \p vectors of that \p type.
  WaitingRows(VectorBuilder &code, mlir::VectorType type, int64_t rows,
              int64_t vectors);
  /// Those that another one's memory() has, for whose code is a subroutine.
  WaitingRows(mlir::Value memory, mlir::VectorType type, int64_t vectors)
      : kept(memory), type(type), vectors(vectors) {}

  mlir::Value memory() const { return kept; }

  /// Keeps \p results, row by row, from row \p first on.
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

/// A loop over the rows of \p results, \p vectors each, which wait.
void forRows(VectorBuilder &code, mlir::ValueRange results, int64_t vectors,
             llvm::function_ref<void(mlir::Value row, mlir::ValueRange)> body);

/// The order of tasks (outer, unit, panel), where a unit is some rows. Units
/// are grouped into chunks; within a chunk, all units take one panel before all
/// take the next. One unit a chunk keeps the rows in cache, all units in one
/// chunk keeps the weights there.
struct TaskOrder {
  int64_t outer, units, panels, chunk;
  /// Bytes that come into the second-level cache for one of `outer`.
  double traffic = 0;

  int64_t tasks() const { return outer * units * panels; }

  struct Task {
    mlir::Value outer, unit, panel;
  };
  Task decode(VectorBuilder &code, mlir::Value task) const;
  /// For as many units as \p units says, and one of `outer`.
  Task decode(VectorBuilder &code, mlir::Value task, mlir::Value units) const;

  /// Picks the chunk that moves the least into the second-level cache.
  /// \p rowBytes is what all units read, \p panelBytes one panel.
  static TaskOrder choose(const Target &target, int64_t outer, int64_t units,
                          int64_t panels, int64_t rowBytes, int64_t panelBytes);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILING_H
