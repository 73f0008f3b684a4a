// Every nn operation gives the same values whole and decomposed, with known and
// with unknown sizes: the oracle computes it from its definition, then what it
// was built from.
//
// Covers: graph FirstError Model PermutedType Types
// Covers: graph/nn Attention DecomposeElementwise DecomposeNormalization
// Covers: graph/nn DecomposeRecurrent DecomposeResize DecomposeShape
// Covers: graph/nn DecomposeSuppression DynamicResize NnDropout
// Covers: graph/nn NnTrees TensorBuilder TreeTables TreeWalk Wide

#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/nn/NnOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;
using namespace sinter;

namespace {

struct Case {
  std::string name;
  std::string arguments; ///< types, separated by ';'
  std::string results;
  std::string op; ///< uses %0, %1, ...
  double tolerance = 1e-5;
  /// The results' types where all sizes are unknown, as far as more of them
  /// must be known.
  std::string dynamicResults = {};
  /// Added to operands of f64, which are between -1 and 1 otherwise.
  double shift = 0;
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

const Case cases[] = {
    {"acos", "2x7xf32", "2x7xf32", "nn.acos %0 : tensor<2x7xf32>"},
    {"asin", "2x7xf32", "2x7xf32", "nn.asin %0 : tensor<2x7xf32>"},
    {"atan", "2x7xf32", "2x7xf32", "nn.atan %0 : tensor<2x7xf32>"},
    {"asinh", "2x7xf32", "2x7xf32", "nn.asinh %0 : tensor<2x7xf32>"},
    {"atanh", "2x7xf32", "2x7xf32", "nn.atanh %0 : tensor<2x7xf32>"},
    {"cosh", "2x7xf64", "2x7xf64", "nn.cosh %0 : tensor<2x7xf64>", 1e-12},
    {"sinh", "2x7xf64", "2x7xf64", "nn.sinh %0 : tensor<2x7xf64>", 1e-12},
    {"acosh",
     "2x7xf64",
     "2x7xf64",
     "nn.acosh %0 : tensor<2x7xf64>",
     1e-12,
     {},
     2.5},
    {"erf", "64xf64", "64xf64", "nn.erf %0 : tensor<64xf64>", 1e-14},
    {"erf_f16", "64xf16", "64xf16", "nn.erf %0 : tensor<64xf16>", 2e-3},
    {"erfc", "64xf64", "64xf64", "nn.erfc %0 : tensor<64xf64>", 1e-14},
    {"relu", "9xf32", "9xf32", "nn.relu %0 : tensor<9xf32>"},
    {"leaky_relu", "9xf32", "9xf32",
     "nn.leaky_relu %0 {alpha = 0.1} : tensor<9xf32>"},
    {"elu", "9xf32", "9xf32", "nn.elu %0 {alpha = 1.5} : tensor<9xf32>"},
    {"celu", "9xf32", "9xf32", "nn.celu %0 {alpha = 1.5} : tensor<9xf32>"},
    {"selu", "9xf32", "9xf32",
     "nn.selu %0 {alpha = 1.67, gamma = 1.05} : tensor<9xf32>"},
    {"thresholded_relu", "9xf32", "9xf32",
     "nn.thresholded_relu %0 {alpha = 0.25} : tensor<9xf32>"},
    {"hard_sigmoid", "9xf32", "9xf32",
     "nn.hard_sigmoid %0 {alpha = 0.2, beta = 0.5} : tensor<9xf32>"},
    {"hard_swish", "9xf32", "9xf32", "nn.hard_swish %0 : tensor<9xf32>"},
    {"silu", "9xf32", "9xf32", "nn.silu %0 {alpha = 1.7} : tensor<9xf32>"},
    {"mish", "9xf32", "9xf32", "nn.mish %0 : tensor<9xf32>"},
    {"softplus", "9xf32", "9xf32", "nn.softplus %0 : tensor<9xf32>"},
    {"softsign", "9xf32", "9xf32", "nn.softsign %0 : tensor<9xf32>"},
    {"shrink", "9xf32", "9xf32",
     "nn.shrink %0 {bias = 0.1, lambda = 0.3} : tensor<9xf32>"},
    {"gelu", "9xf32", "9xf32",
     "nn.gelu %0 {approximate = false} : tensor<9xf32>"},
    {"gelu_tanh", "9xf32", "9xf32",
     "nn.gelu %0 {approximate = true} : tensor<9xf32>"},
    {"dropout", "9xf32", "9xf32",
     "nn.dropout %0 {ratio = 0.3} : (tensor<9xf32>) -> tensor<9xf32>"},
    {"dropout_masked", "3x5xf32;3x5xi1", "3x5xf32",
     "nn.dropout %0, %1 {ratio = 0.3} : (tensor<3x5xf32>, tensor<3x5xi1>) -> "
     "tensor<3x5xf32>"},
    {"prelu", "2x3x4xf32;3x1xf32", "2x3x4xf32",
     "nn.prelu %0, %1 : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> "
     "tensor<2x3x4xf32>"},
    {"quantised_relu", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.relu %0 : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_gelu", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.gelu %0 {approximate = false} : (tensor<3x5x!quant.uniform<i8:f32, "
     "0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_silu", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.silu %0 {alpha = 1.0} : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) "
     "-> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_leaky_relu", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.leaky_relu %0 {alpha = 0.1} : (tensor<3x5x!quant.uniform<i8:f32, "
     "0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_hard_swish", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.hard_swish %0 : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_erf", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.erf %0 : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_softplus", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.softplus %0 : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantised_relu_bf16", "3x5x!quant.uniform<u8:bf16, 0.25:1>",
     "3x5x!quant.uniform<u8:bf16, 0.0625:7>",
     "nn.relu %0 : (tensor<3x5x!quant.uniform<u8:bf16, 0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<u8:bf16, 0.0625:7>>",
     0},
    {"quantised_silu_bf16", "3x5x!quant.uniform<u8:bf16, 0.25:1>",
     "3x5x!quant.uniform<u8:bf16, 0.0625:7>",
     "nn.silu %0 {alpha = 1.0} : (tensor<3x5x!quant.uniform<u8:bf16, 0.25:1>>) "
     "-> "
     "tensor<3x5x!quant.uniform<u8:bf16, 0.0625:7>>",
     0},
    {"quantize_rescale", "3x5x!quant.uniform<i8:f32, 0.25:1>",
     "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.quantize %0 : (tensor<3x5x!quant.uniform<i8:f32, 0.25:1>>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantize", "3x5xf32", "3x5x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.quantize %0 : (tensor<3x5xf32>) -> "
     "tensor<3x5x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"quantize_f16", "3x5xf16", "3x5x!quant.uniform<u4:f16, 0.125:3>",
     "nn.quantize %0 : (tensor<3x5xf16>) -> "
     "tensor<3x5x!quant.uniform<u4:f16, 0.125:3>>",
     0},
    {"quantize_per_axis", "3x5xf32",
     "3x5x!quant.uniform<i16:f32:1, {0.5:1, 0.25, 0.125:-7, 0.01:3, 0.02}>",
     "nn.quantize %0 : (tensor<3x5xf32>) -> "
     "tensor<3x5x!quant.uniform<i16:f32:1, {0.5:1, 0.25, 0.125:-7, 0.01:3, "
     "0.02}>>",
     0},
    {"quantised_max_pool", "1x2x6x6x!quant.uniform<i8:f32, 0.25:1>",
     "1x2x3x3x!quant.uniform<i8:f32, 0.0625:-3>",
     "nn.max_pool %0, window = [2, 2] strides = [2, 2] {dilations = "
     "array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = "
     "array<i64: 0, 0>} : (tensor<1x2x6x6x!quant.uniform<i8:f32, 0.25:1>>) -> "
     "tensor<1x2x3x3x!quant.uniform<i8:f32, 0.0625:-3>>",
     0},
    {"shape", "2x3x4xf32", "3xi64",
     "nn.shape %0 : (tensor<2x3x4xf32>) -> tensor<3xi64>"},
    {"broadcast_like", "3x1xf32;2x1x4xf32", "2x3x4xf32",
     "nn.broadcast_like %0, %1 : (tensor<3x1xf32>, tensor<2x1x4xf32>) -> "
     "tensor<2x3x4xf32>"},
    {"take", "4x5x3xf32;2x2xi32", "4x2x2x3xf32",
     "nn.take %0, %1, axis = 1 : (tensor<4x5x3xf32>, tensor<2x2xi32>) -> "
     "tensor<4x2x2x3xf32>"},
    // What is unknown is a size of the first argument.
    {"take_by_first", "2x2xi32;4x5x3xf32", "4x2x2x3xf32",
     "nn.take %1, %0, axis = 1 : (tensor<4x5x3xf32>, tensor<2x2xi32>) -> "
     "tensor<4x2x2x3xf32>"},
    {"take_along", "4x5x3xf32;2x6x3xi64", "2x6x3xf32",
     "nn.take_along %0, %1, axis = 1 : (tensor<4x5x3xf32>, "
     "tensor<2x6x3xi64>) -> tensor<2x6x3xf32>"},
    {"pad_reflect", "4x5xf32", "9x6xf32",
     "nn.pad_mode %0, \"reflect\" low = [2, -1] high = [3, 2] : "
     "(tensor<4x5xf32>) -> tensor<9x6xf32>"},
    {"pad_edge", "4x5xf32", "9x6xf32",
     "nn.pad_mode %0, \"edge\" low = [2, -1] high = [3, 2] : "
     "(tensor<4x5xf32>) -> tensor<9x6xf32>"},
    {"pad_wrap", "4x5xf32", "9x6xf32",
     "nn.pad_mode %0, \"wrap\" low = [2, -1] high = [3, 2] : "
     "(tensor<4x5xf32>) -> tensor<9x6xf32>"},
    {"one_hot", "2x3xi64;2xf32", "2x4x3xf32",
     "nn.one_hot %0, %1, axis = 1 : (tensor<2x3xi64>, tensor<2xf32>) -> "
     "tensor<2x4x3xf32>",
     1e-5, "?x4x?xf32"},
    {"cumulative_sum", "3x5xf32", "3x5xf32",
     "nn.cumulative_sum %0, axis = 1 {exclusive = false, reverse = false} : "
     "tensor<3x5xf32>"},
    {"cumulative_sum_exclusive", "3x5xf32", "3x5xf32",
     "nn.cumulative_sum %0, axis = 1 {exclusive = true, reverse = false} : "
     "tensor<3x5xf32>"},
    {"cumulative_sum_reverse", "3x5xf32", "3x5xf32",
     "nn.cumulative_sum %0, axis = 0 {exclusive = true, reverse = true} : "
     "tensor<3x5xf32>"},
    {"cumulative_sum_half", "3x40xbf16", "3x40xbf16",
     "nn.cumulative_sum %0, axis = 1 {exclusive = false, reverse = true} : "
     "tensor<3x40xbf16>"},
    {"arg_max", "3x5x2xi8", "3x2xi64",
     "nn.arg_max %0, axis = 1 {keep_dimension = false, select_last = false} : "
     "(tensor<3x5x2xi8>) -> tensor<3x2xi64>"},
    {"arg_min_last", "3x5x2xi8", "3x1x2xi64",
     "nn.arg_min %0, axis = 1 {keep_dimension = true, select_last = true} : "
     "(tensor<3x5x2xi8>) -> tensor<3x1x2xi64>"},
    {"tree_sum", "7x2xf32", "7x2xf32",
     "nn.tree_ensemble %0, \"sum\" {roots = array<i32: 0, -3, 1>, features = "
     "array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: "
     "0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: "
     "-1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, "
     "1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : "
     "i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>"},
    {"tree_average", "7x2xf32", "7x2xf32",
     "nn.tree_ensemble %0, \"average\" {roots = array<i32: 0, -3, 1>, features "
     "= array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = "
     "array<i8: 9, 2>, true_children = array<i32: 1, -2>, false_children = "
     "array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = "
     "array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, "
     "target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>"},
    {"tree_minimum", "7x2xf64", "7x2xf64",
     "nn.tree_ensemble %0, \"minimum\" {roots = array<i32: 0, -3, 1>, features "
     "= array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = "
     "array<i8: 3, 12>, true_children = array<i32: 1, -2>, false_children = "
     "array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = "
     "array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, "
     "target_count = 2 : i64} : (tensor<7x2xf64>) -> tensor<7x2xf64>"},
    {"tree_maximum", "7x2xf32", "7x2xf32",
     "nn.tree_ensemble %0, \"maximum\" {roots = array<i32: 0, -3, 1>, features "
     "= array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = "
     "array<i8: 0, 5>, true_children = array<i32: 1, -2>, false_children = "
     "array<i32: -1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = "
     "array<i32: 0, 1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, "
     "target_count = 2 : i64} : (tensor<7x2xf32>) -> tensor<7x2xf32>"},
    {"tree_one_target", "7x2xf32", "7x1xf32",
     "nn.tree_ensemble %0, \"sum\" {roots = array<i32: 0, -3, 1>, features = "
     "array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: "
     "0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: "
     "-1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, "
     "0, 0, 0>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 1 : "
     "i64} : (tensor<7x2xf32>) -> tensor<7x1xf32>"},
    {"tree_narrow", "7x2xf16", "7x2xf16",
     "nn.tree_ensemble %0, \"sum\" {roots = array<i32: 0, -3, 1>, features = "
     "array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: "
     "0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: "
     "-1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 0, "
     "1, 0, 1>, weights = array<f64: 1.5, 2.0, -1.0, 0.25>, target_count = 2 : "
     "i64} : (tensor<7x2xf16>) -> tensor<7x2xf16>"},
    {"tree_by_target", "7x2xf64", "7x3xf64",
     "nn.tree_ensemble %0, \"average\" {roots = array<i32: 0, -3>, features = "
     "array<i32: 1, 0>, thresholds = array<f64: 0.25, -0.5>, modes = array<i8: "
     "0, 5>, true_children = array<i32: 1, -2>, false_children = array<i32: "
     "-1, -3>, leaf_starts = array<i32: 0, 1, 3, 4>, targets = array<i32: 2, "
     "2, 2, 2>, weights = array<f64: 0.1, 2.0, -1.0, 0.3>, target_count = 3 : "
     "i64} : (tensor<7x2xf64>) -> tensor<7x3xf64>"},
    {"top_k", "3x7xf32", "3x4xf32;3x4xi64",
     "nn.top_k %0, k = 4, axis = 1 {largest = true} : (tensor<3x7xf32>) -> "
     "(tensor<3x4xf32>, tensor<3x4xi64>)"},
    {"top_k_least", "7x3xi32", "4x3xi32;4x3xi64",
     "nn.top_k %0, k = 4, axis = 0 {largest = false} : (tensor<7x3xi32>) -> "
     "(tensor<4x3xi32>, tensor<4x3xi64>)"},
    {"hardmax", "3x7xf32", "3x7xf32",
     "nn.hardmax %0, axis = 1 : tensor<3x7xf32>"},
    {"log_softmax_of_columns", "3x4x5xf32", "3x4x5xf32",
     "nn.log_softmax %0, axes = [0] : tensor<3x4x5xf32>"},
    {"lp_normalize_1", "2x3x4xf32", "2x3x4xf32",
     "nn.lp_normalize %0, axis = 1 {p = 1 : i64} : tensor<2x3x4xf32>"},
    {"max_pool_dilated", "1x2x6x5xf32", "1x2x4x4xf32",
     "nn.max_pool %0, window = [3, 2] strides = [2, 1] {dilations = array<i64: "
     "1, 2>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 2, 1>} "
     ": (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>"},
    {"average_pool_dilated", "1x2x6x5xf32", "1x2x4x4xf32",
     "nn.average_pool %0, window = [3, 2] strides = [2, 1] {dilations = "
     "array<i64: 1, 2>, padding_low = array<i64: 1, 0>, padding_high = "
     "array<i64: 2, 1>, count_padding = true, ceil_padding = array<i64: 1, "
     "0>} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>"},
    {"lp_pool_dilated", "1x2x6x5xf32", "1x2x4x4xf32",
     "nn.lp_pool %0, window = [3, 2] strides = [2, 1] {dilations = array<i64: "
     "1, 2>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 2, 1>, "
     "p = 2 : i64} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>"},
    {"max_pool", "1x2x7x6xf32", "1x2x4x3xf32",
     "nn.max_pool %0, window = [3, 2] strides = [2, 2] {dilations = array<i64: "
     "1, 1>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 1, 0>} "
     ": (tensor<1x2x7x6xf32>) -> tensor<1x2x4x3xf32>"},
    {"average_pool", "1x2x7x6xf32", "1x2x4x3xf32",
     "nn.average_pool %0, window = [3, 2] strides = [2, 2] {dilations = "
     "array<i64: 1, 1>, padding_low = array<i64: 1, 0>, padding_high = "
     "array<i64: 1, 0>, count_padding = false} : (tensor<1x2x7x6xf32>) -> "
     "tensor<1x2x4x3xf32>"},
    {"average_pool_padded", "1x2x7xf32", "1x2x4xf32",
     "nn.average_pool %0, window = [3] strides = [2] {dilations = array<i64: "
     "1>, padding_low = array<i64: 1>, padding_high = array<i64: 2>, "
     "ceil_padding = array<i64: 1>, count_padding = true} : "
     "(tensor<1x2x7xf32>) -> tensor<1x2x4xf32>"},
    {"lp_pool", "1x2x7xf32", "1x2x3xf32",
     "nn.lp_pool %0, window = [3] strides = [2] {dilations = array<i64: 1>, "
     "padding_low = array<i64: 0>, padding_high = array<i64: 0>, p = 3} : "
     "(tensor<1x2x7xf32>) -> tensor<1x2x3xf32>"},
    {"max_pool_indices", "2x2x5x4xf32", "2x2x4x4xi64",
     "nn.max_pool_indices %0, window = [2, 3] strides = [1, 1] {dilations = "
     "array<i64: 1, 1>, padding_low = array<i64: 0, 1>, padding_high = "
     "array<i64: 0, 1>, column_major = true} : (tensor<2x2x5x4xf32>) -> "
     "tensor<2x2x4x4xi64>"},
    {"lrn", "1x5x2x2xf32", "1x5x2x2xf32",
     "nn.lrn %0 {size = 4, alpha = 0.1, beta = 0.75, bias = 1.0} : "
     "tensor<1x5x2x2xf32>"},
    {"lrn_wider_than_channels", "1x5x2x2xf32", "1x5x2x2xf32",
     "nn.lrn %0 {size = 9223372036854775807, alpha = 1.0e18, beta = 0.75, "
     "bias = 1.0} : tensor<1x5x2x2xf32>"},
    {"attention", "5x8xf32;7x8xf32;7x3xf32", "5x3xf32",
     "nn.attention %0, %1, %2 scale = 0.35 : (tensor<5x8xf32>, "
     "tensor<7x8xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>"},
    {"attention_mask_of_keys",
     "2x6x5x8xf32;2x6x7x8xf32;2x6x7x3xf32;1x1x1x7xf32", "2x6x5x3xf32",
     "nn.attention %0, %1, %2, %3 scale = 0.35 : (tensor<2x6x5x8xf32>, "
     "tensor<2x6x7x8xf32>, tensor<2x6x7x3xf32>, tensor<1x1x1x7xf32>) -> "
     "tensor<2x6x5x3xf32>"},
    {"attention_mask_of_batches",
     "2x6x5x8xf32;2x3x7x8xf32;2x3x7x3xf32;2x1x5x7xf32", "2x6x5x3xf32",
     "nn.attention %0, %1, %2, %3 scale = 1.0 : (tensor<2x6x5x8xf32>, "
     "tensor<2x3x7x8xf32>, tensor<2x3x7x3xf32>, tensor<2x1x5x7xf32>) -> "
     "tensor<2x6x5x3xf32>"},
    {"attention_mask_of_heads",
     "2x6x5x8xf32;2x3x7x8xf32;2x3x7x3xf32;1x6x1x7xf32", "2x6x5x3xf32",
     "nn.attention %0, %1, %2, %3 scale = 1.0 : (tensor<2x6x5x8xf32>, "
     "tensor<2x3x7x8xf32>, tensor<2x3x7x3xf32>, tensor<1x6x1x7xf32>) -> "
     "tensor<2x6x5x3xf32>"},
    {"attention_chosen", "2x6x5x8xf32;2x3x7x8xf32;2x3x7x3xf32;1x6x1x7xf32",
     "2x6x5x3xf32",
     "nn.attention %0, %1, %2, %3 scale = 1.0 chosen : (tensor<2x6x5x8xf32>, "
     "tensor<2x3x7x8xf32>, tensor<2x3x7x3xf32>, tensor<1x6x1x7xf32>) -> "
     "tensor<2x6x5x3xf32>"},
    {"attention_causal", "2x7x4xf32;2x5x4xf32;2x5x4xf32", "2x7x4xf32",
     "nn.attention %0, %1, %2 scale = 0.5 causal : (tensor<2x7x4xf32>, "
     "tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<2x7x4xf32>"},
    {"softmax", "3x4x5xf32", "3x4x5xf32",
     "nn.softmax %0, axes = [1] : tensor<3x4x5xf32>"},
    {"softmax_two_axes", "3x4x5xf32", "3x4x5xf32",
     "nn.softmax %0, axes = [1, 2] : tensor<3x4x5xf32>"},
    {"log_softmax", "3x4x5xf32", "3x4x5xf32",
     "nn.log_softmax %0, axes = [2] : tensor<3x4x5xf32>"},
    {"layer_norm", "3x4x5xf32;4x5xf32;5xf32", "3x4x5xf32;3x1x1xf32;3x1x1xf32",
     "nn.layer_norm %0, %1, %2 axis = 1 {epsilon = 1.0e-5, compute_type = "
     "f32} : (tensor<3x4x5xf32>, tensor<4x5xf32>, tensor<5xf32>) -> "
     "(tensor<3x4x5xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>)"},
    {"rms_norm", "3x8xf32;8xf32", "3x8xf32",
     "nn.rms_norm %0, %1 axis = 1 {epsilon = 1.0e-5, compute_type = f32} : "
     "(tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>"},
    {"group_norm", "2x6x3xf32;6xf32;6xf32", "2x6x3xf32",
     "nn.group_norm %0, %1, %2 groups = 2 {epsilon = 1.0e-3} : "
     "(tensor<2x6x3xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x3xf32>"},
    {"lp_normalize", "3x8xf32", "3x8xf32",
     "nn.lp_normalize %0, axis = 1 {p = 2} : tensor<3x8xf32>"},
    {"mean_var_norm", "4x3x5xf32;3xf32;3xf32", "3xf32;3xf32;3xf32;3xf32",
     "nn.mean_var_norm %0, %1, %2 {feature_index = 1, momentum = 0.9} : "
     "(tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, "
     "tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)"},
    {"mean_var_norm_unbiased", "4x3x5xf32;3xf32;3xf32",
     "3xf32;3xf32;3xf32;3xf32",
     "nn.mean_var_norm %0, %1, %2 {feature_index = 1, momentum = 0.9, "
     "unbiased} : "
     "(tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, "
     "tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)"},
    {"resize_linear", "1x2x5x4xf32", "1x2x8x9xf32",
     "nn.resize %0, scales = [1.0, 1.0, 1.6, 2.25], \"linear\", "
     "\"half_pixel\", \"floor\" {exclude_outside = false, antialias = false} : "
     "(tensor<1x2x5x4xf32>) -> tensor<1x2x8x9xf32>"},
    {"resize_cubic", "1x2x5x4xf32", "1x2x8x9xf32",
     "nn.resize %0, scales = [1.0, 1.0, 1.6, 2.25], \"cubic\", "
     "\"align_corners\", \"floor\" {exclude_outside = true, antialias = "
     "false} : (tensor<1x2x5x4xf32>) -> tensor<1x2x8x9xf32>"},
    {"resize_align_corners", "1x1x2x4xf32", "1x1x1x2xf32",
     "nn.resize %0, scales = [1.0, 1.0, 0.6, 0.6], \"linear\", "
     "\"align_corners\", \"floor\" {exclude_outside = false, antialias = "
     "false} : (tensor<1x1x2x4xf32>) -> tensor<1x1x1x2xf32>"},
    {"resize_nearest", "1x2x5x4xi32", "1x2x3x9xi32",
     "nn.resize %0, scales = [1.0, 1.0, 0.6, 2.25], \"nearest\", "
     "\"half_pixel\", \"round_prefer_floor\" {exclude_outside = false, "
     "antialias = false} : (tensor<1x2x5x4xi32>) -> tensor<1x2x3x9xi32>"},
    {"resize_antialias", "1x2x9x8xf32", "1x2x4x3xf32",
     "nn.resize %0, scales = [1.0, 1.0, 0.45, 0.4], \"linear\", "
     "\"half_pixel\", \"floor\" {exclude_outside = false, antialias = true} : "
     "(tensor<1x2x9x8xf32>) -> tensor<1x2x4x3xf32>"},
    {"resize_crop", "1x2x5x4xf32", "1x2x3x3xf32",
     "nn.resize %0, scales = [1.0, 1.0, 0.6, 0.75], \"linear\", "
     "\"tf_crop_and_resize\", \"floor\" {exclude_outside = false, antialias = "
     "false, extrapolation_value = 7.0, roi = array<f64: 0.0, 0.0, 0.2, -0.1, "
     "1.0, 1.0, 0.8, 1.4>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x3x3xf32>",
     1e-5, "?x?x3x3xf32"},
    {"lstm", "4x2x3xf32;1x20x3xf32;1x20x5xf32;1x40xf32",
     "4x1x2x5xf32;1x2x5xf32;1x2x5xf32",
     "\"nn.lstm\"(%0, %1, %2, %3) <{direction = \"forward\", activations = "
     "[\"Sigmoid\", \"Tanh\", \"Tanh\"], input_forget = false, "
     "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}> : "
     "(tensor<4x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>, "
     "tensor<1x40xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>, "
     "tensor<1x2x5xf32>)"},
    {"lstm_all",
     "4x2x3xf32;2x20x3xf32;2x20x5xf32;2x40xf32;2xi32;2x2x5xf32;2x2x5xf32;"
     "2x15xf32",
     "4x2x2x5xf32;2x2x5xf32;2x2x5xf32",
     "\"nn.lstm\"(%0, %1, %2, %3, %4, %5, %6, %7) <{direction = "
     "\"bidirectional\", activations = [\"Sigmoid\", \"Tanh\", \"Tanh\", "
     "\"HardSigmoid\", \"Softsign\", \"Affine\"], clip = 0.8, input_forget = "
     "true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>}> : "
     "(tensor<4x2x3xf32>, tensor<2x20x3xf32>, tensor<2x20x5xf32>, "
     "tensor<2x40xf32>, tensor<2xi32>, tensor<2x2x5xf32>, tensor<2x2x5xf32>, "
     "tensor<2x15xf32>) -> (tensor<4x2x2x5xf32>, tensor<2x2x5xf32>, "
     "tensor<2x2x5xf32>)"},
    {"gru", "4x2x3xf32;1x15x3xf32;1x15x5xf32;1x30xf32", "4x1x2x5xf32;1x2x5xf32",
     "\"nn.gru\"(%0, %1, %2, %3) <{direction = \"reverse\", activations = "
     "[\"Sigmoid\", \"Tanh\"], linear_before_reset = true, "
     "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : "
     "(tensor<4x2x3xf32>, tensor<1x15x3xf32>, tensor<1x15x5xf32>, "
     "tensor<1x30xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)"},
    {"gru_reset_after", "4x2x3xf32;1x15x3xf32;1x15x5xf32;1x30xf32",
     "4x1x2x5xf32;1x2x5xf32",
     "\"nn.gru\"(%0, %1, %2, %3) <{direction = \"forward\", activations = "
     "[\"Sigmoid\", \"Tanh\"], linear_before_reset = false, "
     "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : "
     "(tensor<4x2x3xf32>, tensor<1x15x3xf32>, tensor<1x15x5xf32>, "
     "tensor<1x30xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)"},
    {"rnn", "4x2x3xf32;1x5x3xf32;1x5x5xf32", "4x1x2x5xf32;1x2x5xf32",
     "\"nn.rnn\"(%0, %1, %2) <{direction = \"forward\", activations = "
     "[\"Relu\"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : "
     "(tensor<4x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> "
     "(tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)"},
    {"gru_clipped", "3x2x4xf32;2x9x4xf32;2x9x3xf32;2x18xf32;2x2x3xf32",
     "3x2x2x3xf32;2x2x3xf32",
     "\"nn.gru\"(%0, %1, %2, %3, %4) <{direction = \"bidirectional\", "
     "activations = [\"HardSigmoid\", \"Softsign\", \"HardSigmoid\", "
     "\"Softsign\"], linear_before_reset = true, clip = 0.5 : f64, "
     "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>}> : "
     "(tensor<3x2x4xf32>, tensor<2x9x4xf32>, tensor<2x9x3xf32>, "
     "tensor<2x18xf32>, tensor<2x2x3xf32>) -> (tensor<3x2x2x3xf32>, "
     "tensor<2x2x3xf32>)"},
    {"rnn_both_ways", "3x2x4xf32;2x3x4xf32;2x3x3xf32;2x6xf32;2x2x3xf32",
     "3x2x2x3xf32;2x2x3xf32",
     "\"nn.rnn\"(%0, %1, %2, %3, %4) <{direction = \"bidirectional\", "
     "activations = [\"Relu\", \"Relu\"], operandSegmentSizes = array<i32: "
     "1, 1, 1, 1, 0, 1>}> : (tensor<3x2x4xf32>, tensor<2x3x4xf32>, "
     "tensor<2x3x3xf32>, tensor<2x6xf32>, tensor<2x2x3xf32>) -> "
     "(tensor<3x2x2x3xf32>, tensor<2x2x3xf32>)"},
    {"non_max_suppression", "2x9x4xf32;2x3x9xf32;i64;f32;f32", "?x3xi64",
     "nn.non_max_suppression %0, %1, %2, %3, %4 centred = false : "
     "(tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<i64>, tensor<f32>, "
     "tensor<f32>) -> tensor<?x3xi64>"},
    {"non_max_suppression_centred", "1x12x4xf32;1x1x12xf32;i64;f32", "?x3xi64",
     "nn.non_max_suppression %0, %1, %2, %3 centred = true : "
     "(tensor<1x12x4xf32>, tensor<1x1x12xf32>, tensor<i64>, tensor<f32>) -> "
     "tensor<?x3xi64>"},
    {"non_zero", "4x5xi32", "2x?xi64",
     "nn.non_zero %0 : (tensor<4x5xi32>) -> tensor<2x?xi64>"},
};

/// Every way to say where the elements of a resized tensor come from.
std::vector<Case> resizes() {
  std::vector<Case> all;
  auto add = [&](const std::string &mode, const std::string &coordinates,
                 const std::string &nearest) {
    std::string name = mode + "_" + coordinates + "_" + nearest;
    all.push_back({name, "1x5x4xf32", "1x3x10xf32",
                   "nn.resize %0, scales = [1.0, 0.6, 2.5], \"" + mode +
                       "\", \"" + coordinates + "\", \"" + nearest +
                       "\" {exclude_outside = false, antialias = false} : "
                       "(tensor<1x5x4xf32>) -> tensor<1x3x10xf32>"});
  };
  for (const char *coordinates :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
        "align_corners", "asymmetric"}) {
    for (const char *mode : {"linear", "cubic"})
      add(mode, coordinates, "floor");
    for (const char *nearest :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      add("nearest", coordinates, nearest);
  }
  return all;
}

class Decompose : public testing::TestWithParam<Case> {};

/// "func @main(%0: tensor<..>, ...) -> (...) { results = op; return results }"
std::string moduleOf(const Case &test) {
  std::string arguments, results, names;
  SmallVector<StringRef> parts;
  StringRef(test.arguments).split(parts, ';');
  for (auto [i, type] : llvm::enumerate(parts))
    arguments +=
        (i ? ", %" : "%") + std::to_string(i) + ": tensor<" + type.str() + ">";
  parts.clear();
  StringRef(test.results).split(parts, ';');
  for (auto [i, type] : llvm::enumerate(parts)) {
    results += (i ? ", tensor<" : "tensor<") + type.str() + ">";
    names += (i ? ", %r#" : "%r#") + std::to_string(i);
  }
  return "func.func @main(" + arguments + ") -> (" + results +
         ") {\n%r:" + std::to_string(parts.size()) + " = " + test.op +
         "\nreturn " + names + " : " + results + "\n}";
}

/// Replaces nn operations by what they are built from until none is left.
void decomposeAll(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    module.walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() != "nn")
        return;
      OpBuilder builder(op);
      auto values = cast<DecomposableOpInterface>(op).decompose(builder);
      ASSERT_TRUE(succeeded(values)) << op->getName().getStringRef().str();
      op->replaceAllUsesWith(*values);
      op->erase();
      changed = true;
    });
    if (testing::Test::HasFatalFailure())
      return;
  }
}

Tensor randomInput(Type type, uint64_t seed, double shift) {
  auto tensorType = cast<RankedTensorType>(type);
  Tensor tensor(*elementTypeOf(tensorType.getElementType()),
                Shape(tensorType.getShape()));
  if (isInteger(tensor.type())) {
    // Indices of any sign, many of them equal.
    for (int64_t i = 0; i < tensor.size(); ++i) {
      int64_t value = static_cast<int64_t>(splitMix(seed, i) % 7) - 3;
      if (tensor.type() == ElementType::I32 && seed == 4)
        value = std::abs(value); // sequence lengths
      std::memcpy(tensor.mutableBytes() + i * byteSize(tensor.type()), &value,
                  byteSize(tensor.type()));
    }
    return tensor;
  }
  fillRandom(tensor, seed);
  if (tensor.type() != ElementType::F64)
    return tensor;
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.size(); ++i)
    numbers.push_back(tensor.toDouble(i) + shift);
  return Tensor::of<double>(ElementType::F64, tensor.shape(), numbers);
}

std::vector<Tensor> randomInputs(func::FuncOp function, double shift) {
  std::vector<Tensor> inputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    inputs.push_back(randomInput(type, i, shift));
  return inputs;
}

void expectSame(const std::vector<Tensor> &whole,
                const std::vector<Tensor> &built, double tolerance) {
  ASSERT_EQ(whole.size(), built.size());
  for (auto [expected, got] : llvm::zip_equal(whole, built)) {
    ASSERT_EQ(expected.shape(), got.shape());
    for (int64_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(expected.toDouble(i), got.toDouble(i),
                  tolerance * std::max(1.0, std::fabs(expected.toDouble(i))))
          << "element " << i;
  }
}

/// The same with no size known.
Case opened(Case test) {
  static const std::regex size("(^|<|;)([0-9x]+)x(?=[a-z!])");
  auto open = [](const std::string &text) {
    std::string result;
    auto place = text.begin();
    for (std::sregex_iterator found(text.begin(), text.end(), size), end;
         found != end; ++found) {
      result.append(place, text.begin() + found->position());
      result += (*found)[1];
      SmallVector<StringRef> sizes;
      const std::string shape = (*found)[2];
      StringRef(shape).split(sizes, 'x');
      for (size_t i = 0; i < sizes.size(); ++i)
        result += "?x";
      place = text.begin() + found->position() + found->length();
    }
    return result.append(place, text.end());
  };
  test.arguments = open(test.arguments);
  test.results = open(test.results);
  test.op = open(test.op);
  if (test.dynamicResults.empty())
    return test;
  const std::string everywhere = "-> tensor<" + test.results;
  const size_t place = test.op.find(everywhere);
  test.op.replace(place, everywhere.size(), "-> tensor<" + test.dynamicResults);
  test.results = test.dynamicResults;
  return test;
}

/// The gradient of a weighted sum of what a case gives in f64, through what the
/// operations are built from, is that of finite differences.
TEST_P(Decompose, HasGradients) {
  static const std::regex otherFloats("quant|f16|f8|non_max_suppression");
  std::string text = moduleOf(GetParam());
  if (std::regex_search(text, otherFloats))
    GTEST_SKIP() << "not of f32 or f64";
  text = std::regex_replace(text, std::regex("f32"), "f64");
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(module) << text;
  Model model(context, std::move(module));
  Model gradient = model.clone();
  func::FuncOp entry = gradient.entry();
  Operation *end = entry.front().getTerminator();
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  if (!llvm::any_of(entry.getResultTypes(), isFloat) ||
      !llvm::any_of(entry.getArgumentTypes(), isFloat))
    GTEST_SKIP() << "nothing to differentiate";
  std::vector<Tensor> inputs = randomInputs(model.entry(), GetParam().shift);
  OpBuilder builder(end);
  SmallVector<Value> outputs, seeds;
  std::vector<Tensor> weights;
  for (auto [i, output] : llvm::enumerate(end->getOperands())) {
    weights.push_back(isFloat(output.getType())
                          ? randomInput(output.getType(), 70 + i, 0)
                          : Tensor());
    if (!isFloat(output.getType()))
      continue;
    outputs.push_back(output);
    seeds.push_back(makeConstant(builder, entry.getLoc(), weights.back()));
  }
  auto gradients = backpropagate(builder, outputs, seeds, entry.getArguments());
  ASSERT_TRUE(succeeded(gradients));
  SmallVector<Value> results;
  for (Value each : *gradients)
    if (each)
      results.push_back(each);
  end->setOperands(results);
  entry.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange(results)));
  ASSERT_TRUE(succeeded(verify(gradient.module())));
  auto got = interpret(entry, inputs);
  ASSERT_TRUE(got) << got.error().message();
  auto sumWith = [&](const std::vector<Tensor> &moved) {
    auto values = interpret(model.entry(), moved);
    EXPECT_TRUE(values) << (values ? "" : values.error().message());
    double sum = 0;
    for (auto [i, value] : llvm::enumerate(*values))
      if (isFloat(model.entry().getResultTypes()[i]))
        for (int64_t j = 0; j < value.size(); ++j)
          sum += value.toDouble(j) * weights[i].toDouble(j);
    return sum;
  };
  size_t next = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!isFloat(model.entry().getArgumentTypes()[k]))
      continue;
    const Tensor *mine = (*gradients)[k] ? &(*got)[next++] : nullptr;
    double error = 0, norm = 0;
    for (int64_t i = 0; i < inputs[k].size(); ++i) {
      constexpr double step = 1e-5;
      double sums[2];
      for (int side : {0, 1}) {
        std::vector<double> numbers;
        for (int64_t j = 0; j < inputs[k].size(); ++j)
          numbers.push_back(inputs[k].toDouble(j));
        numbers[i] += side ? step : -step;
        std::vector<Tensor> moved = inputs;
        moved[k] =
            Tensor::of<double>(ElementType::F64, inputs[k].shape(), numbers);
        sums[side] = sumWith(moved);
      }
      double want = (sums[1] - sums[0]) / (2 * step);
      double difference = (mine ? mine->toDouble(i) : 0) - want;
      error += difference * difference;
      norm += want * want;
    }
    EXPECT_LE(std::sqrt(error), 1e-6 * std::max(1.0, std::sqrt(norm)))
        << "argument " << k;
  }
}

/// What is built where sizes are unknown gives what the operation itself does
/// where they are known.
static void expectSameWhereDynamic(const Case &test,
                                   const std::string &opened) {
  std::shared_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> known =
      parseSourceString<ModuleOp>(moduleOf(test), context.get());
  OwningOpRef<ModuleOp> open =
      parseSourceString<ModuleOp>(opened, context.get());
  ASSERT_TRUE(known && open) << opened;
  auto function = known->lookupSymbol<func::FuncOp>("main");
  const std::vector<Tensor> inputs = randomInputs(function, test.shift);
  auto whole = interpret(function, inputs);
  ASSERT_TRUE(whole) << whole.error().message();
  decomposeAll(*open);
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  auto decomposed = open->lookupSymbol<func::FuncOp>("main");
  decomposed.setFunctionType(
      FunctionType::get(context.get(), decomposed.getArgumentTypes(),
                        decomposed.front().getTerminator()->getOperandTypes()));
  ASSERT_TRUE(succeeded(verify(*open)));
  auto built = interpret(decomposed, inputs);
  ASSERT_TRUE(built) << built.error().message();
  expectSame(*whole, *built, test.tolerance);
}

TEST_P(Decompose, GivesTheSameValuesWhereSizesAreUnknown) {
  // A window as long as no tensor.
  if (GetParam().name == "lrn_wider_than_channels")
    GTEST_SKIP();
  expectSameWhereDynamic(GetParam(), moduleOf(opened(GetParam())));
}

TEST_P(Decompose, GivesTheSameValues) {
  std::shared_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(moduleOf(GetParam()), context.get());
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  std::vector<Tensor> inputs = randomInputs(function, GetParam().shift);
  auto whole = interpret(function, inputs);
  ASSERT_TRUE(whole) << whole.error().message();
  decomposeAll(*module);
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_TRUE(succeeded(verify(*module)));
  auto built = interpret(function, inputs);
  ASSERT_TRUE(built) << built.error().message();
  expectSame(*whole, *built, GetParam().tolerance);
}

/// Dimension \p dimension of the first argument becomes unknown, and what
/// follows from it; whether the operation takes that.
bool open(func::FuncOp function, int64_t dimension) {
  Block &block = function.front();
  auto type = cast<RankedTensorType>(block.getArgument(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = ShapedType::kDynamic;
  block.getArgument(0).setType(type.clone(shape));
  ScopedDiagnosticHandler quiet(function.getContext(),
                                [](Diagnostic &) { return success(); });
  for (Operation &op : block.without_terminator()) {
    auto inferring = dyn_cast<InferTypeOpInterface>(op);
    SmallVector<Type> types;
    if (!inferring || failed(inferring.inferReturnTypes(
                          op.getContext(), op.getLoc(), op.getOperands(),
                          op.getRawDictionaryAttrs(), op.getPropertiesStorage(),
                          op.getRegions(), types)))
      return false;
    for (auto [result, inferred] : llvm::zip_equal(op.getResults(), types))
      result.setType(inferred);
  }
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  return succeeded(verify(function));
}

bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

/// Operations that are built whatever size of the first operand is unknown, but
/// for that of a norm's features.
bool isBuiltDynamic(Operation *op) {
  if (auto norm = dyn_cast<nn::MeanVarNormOp>(op))
    return !tensorOf(norm.getOperand()).isDynamicDim(norm.getFeatureIndex());
  static const llvm::StringSet<> names = {
      "prelu",    "softmax",      "log_softmax",   "layer_norm",
      "rms_norm", "lp_normalize", "max_pool",      "shape",
      "lp_pool",  "take",         "broadcast_like"};
  return isElementwise(op) || names.contains(op->getName().stripDialect());
}

TEST_P(Decompose, GivesTheSameValuesWithUnknownSizes) {
  std::shared_ptr<MLIRContext> context = makeContext();
  const std::string text = moduleOf(GetParam());
  for (int64_t dimension = 0;; ++dimension) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, context.get());
    ASSERT_TRUE(module);
    auto function = module->lookupSymbol<func::FuncOp>("main");
    if (dimension ==
        cast<RankedTensorType>(function.getArgumentTypes()[0]).getRank())
      break;
    SCOPED_TRACE("dimension " + std::to_string(dimension));
    std::vector<Tensor> inputs = randomInputs(function, GetParam().shift);
    if (!open(function, dimension))
      continue;
    auto whole = interpret(function, inputs);
    ASSERT_TRUE(whole) << whole.error().message();
    Operation *op = &function.front().front();
    const bool isBuilt = isBuiltDynamic(op);
    OpBuilder builder(op);
    auto values = cast<DecomposableOpInterface>(op).decompose(builder);
    EXPECT_TRUE(succeeded(values) || !isBuilt);
    if (failed(values))
      continue;
    for (auto [value, result] : llvm::zip_equal(*values, op->getResults()))
      ASSERT_TRUE(
          succeeded(verifyCompatibleShape(value.getType(), result.getType())));
    op->replaceAllUsesWith(*values);
    op->erase();
    function.setFunctionType(
        FunctionType::get(context.get(), function.getArgumentTypes(),
                          function.front().getTerminator()->getOperandTypes()));
    ASSERT_TRUE(succeeded(verify(*module)));
    auto built = interpret(function, inputs);
    ASSERT_TRUE(built) << built.error().message();
    expectSame(*whole, *built, GetParam().tolerance);
  }
}

/// A resize is built whatever the batch is.
TEST(DecomposeCases, ResizesOfAnyBatch) {
  std::vector<Case> all = resizes();
  llvm::copy_if(cases, std::back_inserter(all), [](const Case &test) {
    return StringRef(test.name).starts_with("resize_");
  });
  for (const Case &test : all) {
    SCOPED_TRACE(test.name);
    Case batch = test;
    for (std::string *types : {&batch.arguments, &batch.results, &batch.op})
      *types = std::regex_replace(*types, std::regex("(^|<)1x"), "$1?x");
    expectSameWhereDynamic(test, moduleOf(batch));
  }
}

/// With no index there is nothing to take, and no slice that would not fit.
TEST(DecomposeCases, NothingIsTakenOfNothing) {
  for (const char *op :
       {"nn.take %x, %i, axis = 1 : (tensor<4x0x3xf32>, tensor<0xi32>) -> "
        "tensor<4x0x3xf32>",
        "nn.take_along %x, %j, axis = 1 : (tensor<4x0x3xf32>, "
        "tensor<4x0x3xi64>) -> tensor<4x0x3xf32>"}) {
    std::shared_ptr<MLIRContext> context = makeContext();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        std::string("func.func @main(%x: tensor<4x0x3xf32>, %i: "
                    "tensor<0xi32>, %j: tensor<4x0x3xi64>) -> "
                    "tensor<4x0x3xf32> {\n%r = ") +
            op + "\nreturn %r : tensor<4x0x3xf32>\n}",
        context.get());
    ASSERT_TRUE(module) << op;
    decomposeAll(*module);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    EXPECT_TRUE(succeeded(verify(*module))) << op;
  }
}

TEST(DecomposeCases, AreOfEveryOperation) {
  std::shared_ptr<MLIRContext> context = makeContext();
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    if (op.getDialectNamespace() != nn::NnDialect::getDialectNamespace() ||
        !op.hasInterface<DecomposableOpInterface>())
      continue;
    // In its own form or, quoted, in the generic one.
    const std::string name = op.getStringRef().str();
    EXPECT_TRUE(llvm::any_of(cases, [&](const Case &each) {
      return StringRef(each.op).contains(name + " ") ||
             StringRef(each.op).contains("\"" + name + "\"");
    })) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Nn, Decompose, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Resize, Decompose, testing::ValuesIn(resizes()),
                         [](const auto &info) { return info.param.name; });

} // namespace
