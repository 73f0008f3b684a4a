//===- FoldCells.h - what a per-channel chain may stand beside ------------===//
//
// {product} x {chain}: the text of a graph in which the chain stands behind the
// product or before it, with weights that are constants.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_PASSES_FOLDCELLS_H
#define SINTER_TEST_PASSES_FOLDCELLS_H

#include "passes/GraphHarness.h"

namespace sinter::test {

/// One kind of product: `%p = ... %x, %k` with `$T` for the element type.
struct ProductCase {
  const char *name;
  const char *x, *k, *result; ///< Shapes.
  const char *text;
  int inDim, inChannels;   ///< The operand's channels.
  int outDim, outChannels; ///< The result's channels.
  bool padded;
  int batching = 0; ///< Of the operand's first dimensions, shared with %k.
};

#define CONV(numbers, window, groups, batchGroups)                             \
  "%p = stablehlo.convolution(%x, %k) dim_numbers = " numbers                  \
  ", window = {" window "} {batch_group_count = " batchGroups                  \
  " : i64, feature_group_count = " groups                                      \
  " : i64} : (tensor<$xx$T>, tensor<$kx$T>) -> tensor<$rx$T>\n"
#define DOT(operands, lhs, rhs, contracting)                                   \
  "%p = stablehlo.dot_general %" operands ", contracting_dims = " contracting  \
  " : (tensor<$" lhs "$T>, tensor<$" rhs "$T>) -> tensor<$rx$T>\n"
#define NCHW "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"

inline const ProductCase products[] = {
    {"nchw_padded", "2x3x5x5", "4x3x3x3", "2x4x5x5",
     CONV(NCHW, "pad = [[1, 1], [1, 1]]", "1", "1"), 1, 3, 1, 4, true},
    {"nchw_valid", "2x3x5x5", "4x3x3x3", "2x4x3x3", CONV(NCHW, "", "1", "1"), 1,
     3, 1, 4, false},
    {"square", "4x4x4x4", "4x4x1x1", "4x4x4x4", CONV(NCHW, "", "1", "1"), 1, 4,
     1, 4, false},
    {"nhwc", "2x5x5x3", "3x3x3x4", "2x3x3x4",
     CONV("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", "1", "1"), 3, 3, 3, 4,
     false},
    {"mixed_order", "5x2x3x5", "3x4x3x3", "3x4x3x2",
     CONV("[0, b, f, 1]x[0, o, 1, i]->[1, f, 0, b]", "", "1", "1"), 2, 3, 1, 4,
     false},
    {"strided", "1x3x7x7", "4x3x3x3", "1x4x3x3",
     CONV(NCHW, "stride = [2, 2]", "1", "1"), 1, 3, 1, 4, false},
    {"dilated", "1x3x7x7", "4x3x3x3", "1x4x3x3",
     CONV(NCHW, "rhs_dilate = [2, 2]", "1", "1"), 1, 3, 1, 4, false},
    {"grouped", "2x4x5x5", "6x2x3x3", "2x6x3x3", CONV(NCHW, "", "2", "1"), 1, 4,
     1, 6, false},
    {"depthwise", "2x4x5x5", "8x1x3x3", "2x8x3x3", CONV(NCHW, "", "4", "1"), 1,
     4, 1, 8, false},
    {"batch_groups", "4x3x5x5", "4x3x3x3", "2x4x3x3", CONV(NCHW, "", "1", "2"),
     1, 3, 1, 4, false},
    {"transposed", "1x3x4x4", "3x5x3x3", "1x5x7x7",
     CONV("[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]",
          "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], reverse = [true, true]",
          "1", "1"),
     1, 3, 1, 5, true},
    {"conv1d", "2x3x7", "4x3x3", "2x4x3",
     CONV("[b, f, 0]x[o, i, 0]->[b, f, 0]", "stride = [2]", "1", "1"), 1, 3, 1,
     4, false},
    {"conv3d", "1x2x4x4x4", "3x2x2x2x2", "1x3x3x3x3",
     CONV("[b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2]", "", "1", "1"), 1,
     2, 1, 3, false},
    // The file's array is [in, out / groups, 3, 3]; a regrouping stands
    // between.
    {"grouped_transposed", "1x4x4x4", "4x3x3x3", "1x6x7x7",
     "%k1 = stablehlo.reshape %k : (tensor<4x3x3x3x$T>) -> "
     "tensor<2x2x3x3x3x$T>\n"
     "%k2 = stablehlo.transpose %k1, dims = [1, 0, 2, 3, 4] : "
     "(tensor<2x2x3x3x3x$T>) -> tensor<2x2x3x3x3x$T>\n"
     "%k3 = stablehlo.reshape %k2 : (tensor<2x2x3x3x3x$T>) -> "
     "tensor<2x6x3x3x$T>\n"
     "%k4 = stablehlo.reverse %k3, dims = [2, 3] : tensor<2x6x3x3x$T>\n"
     "%p = stablehlo.convolution(%x, %k4) dim_numbers = "
     "[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, "
     "1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, "
     "feature_group_count = 2 : i64} : (tensor<$xx$T>, tensor<2x6x3x3x$T>) -> "
     "tensor<$rx$T>\n",
     1, 4, 1, 6, true},
    {"matmul", "5x6", "6x7", "5x7", DOT("x, %k", "xx", "kx", "[1] x [0]"), 1, 6,
     1, 7, false},
    {"matmul_weight_left", "6x5", "7x6", "7x5",
     DOT("k, %x", "kx", "xx", "[1] x [0]"), 0, 6, 0, 7, false},
    {"matmul_3d", "2x5x6", "7x6", "2x5x7",
     DOT("x, %k", "xx", "kx", "[2] x [1]"), 2, 6, 2, 7, false},
    {"matmul_batched", "2x5x6", "2x6x7", "2x5x7",
     DOT("x, %k, batching_dims = [0] x [0]", "xx", "kx", "[2] x [1]"), 2, 6, 2,
     7, false, 1},
    {"matmul_heads", "5x6", "6x3x4", "5x3x4",
     DOT("x, %k", "xx", "kx", "[1] x [0]"), 1, 6, 1, 3, false},
};

/// A chain from %in to %out; `$s` is the value's shape, `$c` its channels, `$d`
/// their dimension; %a, %b, %m and %v are numbers a channel, %v positive.
struct ChainCase {
  const char *name;
  const char *text;
  bool shifts;
};

#define WIDE(to, from)                                                         \
  "%" to " = stablehlo.broadcast_in_dim %" from                                \
  ", dims = [$d] : (tensor<$cx$T>) -> tensor<$sx$T>\n"
#define BINARY(out, op, lhs, rhs)                                              \
  "%" out " = stablehlo." op " %" lhs ", %" rhs " : tensor<$sx$T>\n"

inline const ChainCase chains[] = {
    {"batch_norm",
     "%out = \"stablehlo.batch_norm_inference\"(%in, %a, %b, %m, %v) {epsilon "
     "= 0.0123 : f32, feature_index = $d : i64} : (tensor<$sx$T>, tensor<$cx$T>"
     ", tensor<$cx$T>, tensor<$cx$T>, tensor<$cx$T>) -> tensor<$sx$T>\n",
     true},
    {"scale", WIDE("wa", "a") BINARY("out", "multiply", "wa", "in"), false},
    {"divide", WIDE("wv", "v") BINARY("out", "divide", "in", "wv"), false},
    {"negate_splat",
     "%n = stablehlo.negate %in : tensor<$sx$T>\n"
     "%half = stablehlo.constant dense<0.5> : tensor<$sx$T>\n" BINARY(
         "out", "multiply", "n", "half"),
     false},
    {"shift_twice",
     WIDE("wa", "a") WIDE("wb", "b") BINARY("t", "add", "in", "wa")
         BINARY("out", "subtract", "t", "wb"),
     true},
    {"subtracted_from", WIDE("wb", "b") BINARY("out", "subtract", "wb", "in"),
     true},
    // Batch norm as it is decomposed: (x - m) * rsqrt(v + e) * a + b.
    {"decomposed",
     "%e = stablehlo.constant dense<0.01> : tensor<$cx$T>\n"
     "%ve = stablehlo.add %v, %e : tensor<$cx$T>\n"
     "%rs = stablehlo.rsqrt %ve : tensor<$cx$T>\n" WIDE("wm", "m")
         WIDE("wr", "rs") WIDE("wa", "a") WIDE("wb", "b") BINARY(
             "t0", "subtract", "in", "wm") BINARY("t1", "multiply", "t0", "wr")
             BINARY("t2", "multiply", "t1", "wa")
                 BINARY("out", "add", "t2", "wb"),
     true},
};

inline std::string chainText(const ChainCase &chain, const std::string &in,
                             const std::string &out, const char *shape,
                             int channels, int dimension) {
  std::string text = fill(chain.text, {{"s", shape},
                                       {"c", std::to_string(channels)},
                                       {"d", std::to_string(dimension)}});
  auto rename = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
      char next = text[at + from.size()];
      if (std::isalnum(next)) {
        at += from.size();
        continue;
      }
      text.replace(at, from.size(), to);
      at += to.size();
    }
  };
  rename("%in", in);
  rename("%out", out);
  return text;
}

/// main(x, k, a, b, m, v), the weights frozen.
inline Model buildModel(const ProductCase &product, const std::string &body,
                        int channels, const std::string &type) {
  Model model = parseModel(
      fill("func.func @main(%x: tensor<$xx$T>, %k: tensor<$kx$T>, %a: "
           "tensor<$cx$T>, %b: tensor<$cx$T>, %m: tensor<$cx$T>, %v: "
           "tensor<$cx$T>) -> tensor<$rx$T> {\n" +
               body + "return %y : tensor<$rx$T>\n}\n",
           {{"x", product.x},
            {"k", product.k},
            {"r", product.result},
            {"c", std::to_string(channels)},
            {"T", type}}));
  freezeWeights(model, /*positive=*/{5});
  return model;
}

inline Model afterModel(const ProductCase &product, const ChainCase &chain,
                        const std::string &type) {
  return buildModel(product,
                    product.text + chainText(chain, "%p", "%y", product.result,
                                             product.outChannels,
                                             product.outDim),
                    product.outChannels, type);
}

inline Model beforeModel(const ProductCase &product, const ChainCase &chain,
                         const std::string &type) {
  std::string text = product.text;
  for (auto [from, to] :
       {std::pair("%x,", "%q,"), std::pair("(%x,", "(%q,"),
        std::pair(" %x :", " %q :"), std::pair("%p =", "%y =")})
    if (size_t at = text.find(from); at != std::string::npos)
      text.replace(at, std::strlen(from), to);
  return buildModel(product,
                    chainText(chain, "%x", "%q", product.x, product.inChannels,
                              product.inDim) +
                        text,
                    product.inChannels, type);
}

#undef CONV
#undef DOT
#undef NCHW
#undef WIDE
#undef BINARY

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_FOLDCELLS_H
