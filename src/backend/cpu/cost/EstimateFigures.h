//===- EstimateFigures.h - what the cost model knows by measurement -------===//
//
// The figures of Estimates.h that follow neither from the arithmetic of a
// kernel nor from the machine's rates, with what they were measured or fitted
// on. They decide which kernel computes a product: its speed, and its bits.
//
// Pages are those of bench/decisions. "Cycles" are those at the rate that
// kernels reach (ProductTimes.h), "per vector" is for as many elements as a
// vector has of f32.
//
// Where nothing says what a figure was measured on, it says so, and what other
// values would choose: of all estimates that the figure is a part of, among
// some 140,000 for convolutions, matmuls and attention of many shapes on seven
// targets.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_ESTIMATEFIGURES_H
#define SINTER_BACKEND_CPU_COST_ESTIMATEFIGURES_H

#include <cstdint>

namespace sinter::cpu::figures {

//===----------------------------------------------------------------------===//
// Rates and conversions
//===----------------------------------------------------------------------===//

/// Int8 by pairs of 16 bits (pmaddwd) where int8 weights are widened as they
/// are read, of the ceiling, which is that of pairs in registers. Between what
/// kernels reach with such activations (0.73 to 0.82 on Zen 3) and 0.96 of a
/// loop in C; int8-matmul, "Bytes as 16-bit pairs".
inline constexpr double widenedPairRate = 0.85;

/// 16-bit pairs by a dot product (vpdpwssd), of the int8 ceiling (vpdpbusd): an
/// instruction takes half as many. By definition; winograd, "Int8 by F(4x4,
/// 3x3)".
inline constexpr double pairDotProductRate = 1.0 / 2;

/// Depthwise int8, of the f32 ceiling: multiplied in 32-bit lanes, which takes
/// twice as long. No measurement was found; 0.4 to 0.6 choose the same.
inline constexpr double depthwiseInt8Rate = 1.0 / 2;

/// Cycles per vector to widen a weight to f32, beside multiply-adds that leave
/// other ports idle: int4 by a look-up table of 16 and without, 8-bit floats,
/// any other type. Zen 5; low-bit-weights, "Low-bit weights from 16 rows on"
/// and "8-bit floats". No measurement was found of int4 without a table: 0.4
/// and 0.9 choose otherwise for a twentieth and a tenth.
inline constexpr double wideningInt4ByTable = 0.2, wideningInt4 = 0.6,
                        wideningFloat8 = 2.5, wideningOther = 0.1;

/// Cycles per vector to turn activations from int8 into f32. No measurement was
/// found; 1 and 4 choose otherwise for 7 % and 9 %.
inline constexpr double wideningActivation = 2;

/// Cycles to pack 16 lanes of four bytes of a computed int8 operand, with its
/// sums for zero points. Zen 5; attention, "Int8 attention through f32".
inline constexpr double packingInt8 = 14;
/// Cycles per vector to copy or transpose a computed f32 operand. Zen 5,
/// measured beside the last one.
inline constexpr double packingF32 = 2;
/// Rows from which on it is copied where it need not be transposed. Zen 5;
/// attention, "Packing values from 16 rows on".
inline constexpr int64_t leastRowsToCopy = 24;

//===----------------------------------------------------------------------===//
// Winograd
//===----------------------------------------------------------------------===//

/// Of the time of its matmuls and transforms, what all takes: loops over edges,
/// steps that wait for each other. No measurement was found; 1.1 chooses the
/// same, 1.3 otherwise for 2 %.
inline constexpr double winogradRest = 1.2;

/// The rate of tiles that leave L2, of that of memory: a round of them stays in
/// a third level. 0.9 to 1.2 of the measured time on Zen 5; winograd, "Worth
/// knowing".
inline constexpr double winogradTilesRate = 2;

/// Times that a transform moves each tile: it writes it, and reads it. By
/// definition.
inline constexpr double winogradTileMoves = 2;

/// Weights of more than so many times L2 stream from memory, and matmuls wait
/// for a part of the time that this takes. For 512 channels of 14 x 14 in int8
/// on Zen 5, 18.9 MB, which took 0.78 ms beside 0.79 directly; winograd, "Int8
/// by F(4x4, 3x3)". The multiple stands for a third level, and is that of
/// Winograd's rounds of tiles: 8 and 32 choose otherwise for 1 and 3 of 40.
inline constexpr int64_t streamedMultipleOfL2 = 16;
inline constexpr double streamedWait = 1.0 / 2;

/// Transformed int8 weights are eight times as large: what Winograd's method
/// takes in int8 counts as so much more, since memory is worth something. A
/// choice, not a measurement; 1 chooses the same, 1.1 otherwise for 1 of 30.
inline constexpr double winogradInt8Handicap = 1.05;

//===----------------------------------------------------------------------===//
// Forms of convolutions
//===----------------------------------------------------------------------===//

/// Dilated 3 x 3 convolutions that are computed as dense ones by Winograd's
/// method: the greatest dilation, the fewest channels, and how many times the
/// dilation an image is high and wide at least. Zen 5, fcn and deeplab with
/// dilations of 2, 4 and 12; convolutions, "Worth knowing". No measurement was
/// found for the channels.
inline constexpr int64_t mostUndoneDilation = 4, fewestUndoneChannels = 64,
                         fewestDilationsInImage = 4;

/// Convolutions of few outputs whose columns become outputs: the multiply-adds
/// of one column at least, and of how many blocks one is left at most. Zen 5,
/// style transfer (3 outputs, 9 x 9 taps); convolutions, "Worth knowing". No
/// measurement was found for the limits themselves.
inline constexpr int64_t fewestProductsOfColumn = 32,
                         blocksPerBlockOfColumns = 2;

//===----------------------------------------------------------------------===//
// AMX: speed against error
//===----------------------------------------------------------------------===//

// No machine with AMX was measured: times are estimates, errors are those of
// emulated instructions, of the range of a model's outputs, which are to stay
// below 2e-5. A less exact way is taken only where it takes at most so much of
// the time of a more exact one.

/// Three bf16 matmuls, of six or of f32 on vectors, which are ten times as
/// exact. Where they saved less, MobileNet lost a factor of ten in exactness
/// for little; matrix-units, "Three matmuls everywhere".
inline constexpr double threeMatmulsOfExact = 2.0 / 3;
/// Two, by weights of one term: a third of the error of three. A choice by that
/// error, not a measurement.
inline constexpr double twoMatmulsOfExact = 3.0 / 4;
/// Either, of Winograd's method in f32, which has a sixth of the error of
/// three: GoogLeNet's third convolution saved a fifth, for 2.2e-5 in place
/// of 6.2e-6; matrix-units, "A fourth bf16 matmul".
inline constexpr double matmulsOfWinograd = 3.0 / 4;
/// Seconds that they save at least: with them in 30 small layers MobileNet has
/// 3.2e-5, without 2.6e-6. 70 microseconds take three matmuls in six of its
/// layers; matrix-units, "Choosing by own sizes, or by channels".
inline constexpr double noticedSeconds = 125e-6;
/// Attention by three matmuls, of more exact ones: they saved a tenth, for
/// 2.16e-5 of bert_base in place of 1.96e-5; attention, "Splitting queries,
/// keys and values for AMX once".
inline constexpr double attentionTilesOfExact = 3.0 / 4;

/// Bytes of weights as tiles read them, of those as they are, with which few
/// rows wait as long as on vectors, and the most for rows that may be few.
/// Three matmuls read as many as f32 has (1), six half as many again (1.5),
/// low-bit weights twice (2): any figures between these choose the same.
inline constexpr double asManyBytes = 1.1, mostBytesOfDynamicRows = 1.6;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

// Cycles of two multiply-adds of vectors (timeOfTwo), fitted by least squares
// of relative errors, without negative costs, to 60 shapes in each form: 10 %
// root mean square for the kernel, 5 for matmuls, 8 for reductions. Zen 5;
// attention, "Attention as matmuls with a softmax between them".

/// Of the multiply-adds of either matmul: operands in scratch memory that fits
/// L1 are faster than kernels are on average.
inline constexpr double attentionMatmuls = 0.65;
/// Of the time to read keys and values from beyond L2: by the kernel and by
/// matmuls, and by reductions, which go in the order of memory (42 GB/s beside
/// 26).
inline constexpr double attentionReading = 1.15, reductionReading = 0.7;
/// For each element of keys that are transposed for a task.
inline constexpr double packingKey = 0.077;

/// The kernel: for a vector of scores of a row, for a row, and for a task.
inline constexpr double kernelOfScores = 9, kernelOfRow = 13, kernelOfTask = 36;

/// Matmuls: for all that is launched (two matmuls, what is between them, and
/// something that moves elements), for a vector of scores of a row, and for a
/// row.
inline constexpr double apartLaunches = 240, apartScores = 14, apartOfRow = 8;
/// Times that scores which leave L2 go through memory: written, read and
/// written as weights, read. By definition.
inline constexpr double apartMoves = 4;
/// Reductions: for a matrix; for a key of a row, and for each of its elements
/// besides.
inline constexpr double reductionOfMatrix = 20, reductionOfKey = 4.5,
                        reductionOfElement = 0.07;

/// Blocks of keys that a causal mask leaves, of all. By definition, for many
/// blocks.
inline constexpr double causalBlocks = 0.5;

//===----------------------------------------------------------------------===//
// Low-bit weights
//===----------------------------------------------------------------------===//

/// Time of f32 weights, of that of low-bit ones, below which they take so much
/// more memory: a choice. By time alone int4 would be widened from 16 rows on;
/// low-bit-weights, "Low-bit weights from 16 rows on, by time alone".
inline constexpr double wideOfLowBit = 2.0 / 3;
/// Bytes as f32 below which weights stay in L1, where f32 is faster: what 64 x
/// 64 have, which take 0.12 microseconds beside 0.16 for one row on Zen 5.
inline constexpr double bytesInL1 = 16 << 10;
/// Rows of a matmul that hide widening behind their multiply-adds, and the
/// cycles per vector that fewer take at least. Zen 5, 1 and 4 rows by 768 x
/// 768; low-bit-weights, "Low-bit weights from 16 rows on".
inline constexpr int64_t matmulRowsThatHide = 4;
inline constexpr double wideningInFewRows = 0.6;
/// Cycles per vector to store what a task widens once for all its rows. No
/// measurement was found of it alone; 0.15 to 0.6 choose the same.
inline constexpr double storingWidened = 0.3;
/// Cycles per vector for the scale and the zero point of a block along the
/// reduction, and of one of columns, which are broadcast. Zen 5, i4 with scales
/// (7.0 microseconds beside 6.8); low-bit-weights, "Low-bit weights from 16
/// rows on". No measurement was found for those of columns: half and twice as
/// much choose otherwise for 2 to 4 %.
inline constexpr double blockScale = 0.15, blockZero = 0.3,
                        columnBlockScale = 0.3, columnBlockZero = 0.6;

/// Rows of a register tile of pixels that hide the widening of half precision,
/// and half of that of integers. Zen 5, AVX-512: f32, bf16, f16 and i8 within
/// 2 %; low-bit-weights, "Worth knowing". A quarter and all choose the same.
inline constexpr int64_t pixelsThatHide = 8;
inline constexpr double hiddenOfIntegers = 1.0 / 2;
/// Time that weights of the fewest bits may take, of the fastest, where they do
/// not stay in one of so many parts of L2 and would drive out what others need.
/// A choice, not a measurement: those of 256 KB to 1 MB take 2 to 6 % longer as
/// int8, those of 2 MB and more gain; low-bit-weights, "Low-bit convolution
/// weights below 2 MB as bytes".
inline constexpr double mostForFewestBits = 1.25;
inline constexpr int64_t partsOfL2 = 2;

//===----------------------------------------------------------------------===//
// Small code
//===----------------------------------------------------------------------===//

/// Time that what keeps the fewest bytes may take, of the fastest, where small
/// code is wanted. A choice: more than the four times that Winograd's method
/// and bytes in place of floats save at most.
inline constexpr double timesOfFastestForFewerBytes = 5;

} // namespace sinter::cpu::figures

#endif // SINTER_BACKEND_CPU_COST_ESTIMATEFIGURES_H
