//===- Estimates.h - which kernel computes a product, and why -------------===//
//
// How long one thread should take for a product by each kernel that can compute
// it, from its arithmetic and from the memory that it moves, at the rates that
// kernels reach on the machine (Target::rates). The fastest is taken. Nobody
// else decides between kernels of one form.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_ESTIMATES_H
#define SINTER_BACKEND_CPU_COST_ESTIMATES_H

#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/attention/Attention.h"
#include "backend/cpu/kernels/attention/TileAttention.h"
#include "backend/cpu/kernels/common/Arithmetic.h"
#include "backend/cpu/kernels/conv/Convolution.h"
#include "backend/cpu/kernels/gemm/MatMul.h"
#include "backend/cpu/target/Alternative.h"

namespace sinter::cpu {

/// What can compute the convolution. \p allowsFast: products may be replaced by
/// fewer ones of sums. \p tiles: what matrix units may multiply for it, where
/// there are any. The first is the fastest; of floats, where there are units,
/// for one image of sideOfChoice, so that pixels have the same bits whatever
/// the sizes of images are. The times are of \p shape, which has none that are
/// open.
Alternatives alternativesFor(const ConvolutionShape &shape,
                             const Arithmetic &arithmetic, const Target &target,
                             bool allowsFast,
                             llvm::ArrayRef<TileArithmetic> tiles = {});

/// So many rows of a product decide what computes its sums in any program,
/// where the weights are what is known of its sizes.
inline constexpr int64_t rowsOfChoice = 1024;

/// So many columns decide besides, and a depth of which two products have the
/// same if they have the same power of two above them, where both factors are
/// computed: 100 has 128. Longer ones have that of mostDepthOfChoice.
inline constexpr int64_t columnsOfChoice = 256, mostDepthOfChoice = 1024;

/// Of the product \p name. By weights that tiles read in as many bytes as other
/// kernels do, the first is the fastest one of rowsOfChoice rows, so that rows
/// have the same bits however many there are; the times are of \p shape.
/// Weights of more bytes are for tiles where that many rows are known, half as
/// many again also where rows are dynamic, or \p areFew. Of two factors that
/// are computed, floats both, the first is that of typicalOf(shape.k).
Alternatives alternativesFor(llvm::StringRef name, const MatMulShape &shape,
                             double flops, const Arithmetic &arithmetic,
                             const Target &target,
                             llvm::ArrayRef<TileArithmetic> tiles = {},
                             bool areFew = false);

/// One matrix of rowsOfChoice rows by columnsOfChoice columns that stands for
/// all products of that \p depth whose factors are both computed.
MatMulShape typicalOf(int64_t depth);

/// What computes such products of a depth that may be any.
struct KernelOfDepth {
  int64_t mostDepth; ///< The last one for any depth above the others'.
  llvm::StringRef kernel;
};
/// The shortest first. \p name is that on vectors.
llvm::SmallVector<KernelOfDepth>
kernelsOfDepths(llvm::StringRef name, const Arithmetic &arithmetic,
                const Target &target, llvm::ArrayRef<TileArithmetic> tiles);

/// Whether \p kernel is one of matrix units.
inline bool usesTiles(llvm::StringRef kernel) {
  return kernel.starts_with("tiles-");
}

/// What matmuls of dynamic rows have in place of tiles: weights
/// would have more bytes than few rows would wait for.
inline Alternative withoutWideTiles() {
  return {"tiles", 0, "rows may be few, and weights would be twice as many"};
}

/// That one of \p tiles, TileArithmetic or AttentionTiles.
template <typename Range>
auto tilesNamed(llvm::StringRef kernel, const Range &tiles) {
  return *llvm::find_if(
      tiles, [&](const auto &each) { return each.name() == kernel; });
}

/// Of attention in f32: by one kernel on vectors ("attention") or on matrix
/// units ("tiles-attention-..."), or as two products and what stands between
/// them ("products"). The first is the fastest one of typicalOf(shape), but for
/// single rows or keys, so that a sample has the same bits whatever its length
/// is padded to; the times are of \p shape.
Alternatives alternativesFor(const AttentionShape &shape, const Target &target,
                             llvm::ArrayRef<AttentionTiles> tiles = {});

/// Eight heads of 128 rows and keys, all else as \p shape has it.
AttentionShape typicalOf(const AttentionShape &shape);

/// Of a product by weights that \p narrow widens: stored as they are
/// ("narrow-weights"), or as what they are multiplied as ("wide-weights").
/// These take several times the memory, and stand behind where they save less
/// than a third, unless they are few.
Alternatives alternativesForWeights(const MatMulShape &shape,
                                    const Arithmetic &narrow,
                                    const Target &target);

/// Of a convolution of f32 by weights that may be stored as each of \p types:
/// "weights-f32", "weights-bf16", "weights-f16", "weights-i8", "weights-i4".
/// Where \p kernel is one of matrix units the narrowest, whose numbers have the
/// fewest parts, so that what is multiplied does not follow from the number of
/// pixels.
Alternatives alternativesForWeights(const ConvolutionShape &shape,
                                    llvm::ArrayRef<ElementType> types,
                                    llvm::StringRef kernel,
                                    const Target &target);

/// Of sums of products of bytes, as \p bytes has them, or in f32, which holds
/// them: "bytes", "f32". What is not packed when compiling is packed by each
/// block of rows, in either way.
Alternatives alternativesForBytes(const MatMulShape &shape,
                                  const Arithmetic &bytes,
                                  const Target &target);
Alternatives alternativesForBytes(const ConvolutionShape &shape,
                                  const Arithmetic &bytes,
                                  const Target &target);

/// Whether \p target multiplies bf16 faster than f32, and not on matrix units,
/// whose kernels bring their operands there themselves.
bool prefersBFloat16(const Target &target);

/// Of bf16, of which both factors are: as they are or in f32, each
/// by the fastest kernel: "bf16", "f32".
Alternatives alternativesForBFloat16(const MatMulShape &shape,
                                     const Target &target);
Alternatives alternativesForBFloat16(const ConvolutionShape &shape,
                                     bool allowsFast, const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_ESTIMATES_H
