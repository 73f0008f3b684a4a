//===- AxesSamples.h - an operation each, of random sizes -----------------===//
//
// Of the operations that random programs do not draw.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_GRAPH_AXES_AXESSAMPLES_H
#define SINTER_TEST_GRAPH_AXES_AXESSAMPLES_H

#include "graph/Model.h"
#include "runtime/Random.h"
#include "llvm/ADT/StringExtras.h"
#include <string>
#include <vector>

namespace sinter {

/// An operation in generic form. The letters A to D in types and attributes are
/// sizes, `A*2`, `A+1` what follows from one.
struct AxesSample {
  std::string name;
  std::string attributes;
  const char *operands;
  const char *results;
  const char *regions = "";
};

/// `{B}` in a type stands for B scales and zero points.
inline const std::vector<AxesSample> &axesSampleTexts() {
  static const char *pool =
      "window = array<i64: 2, 3>, strides = array<i64: 1, 2>, dilations = "
      "array<i64: 1, 1>, padding_low = array<i64: 1, 0>, padding_high = "
      "array<i64: 0, 1>";
  static const std::string average =
      std::string(pool) + ", count_padding = false";
  static const std::string power = std::string(pool) + ", p = 2 : i64";
  static const std::string indices =
      std::string(pool) + ", column_major = false";
  static const char *sum =
      "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : "
      "tensor<f32> stablehlo.return %s : tensor<f32> }) ";
  static const char *greaterAndSum =
      "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %p = stablehlo.compare GE, "
      "%a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %p : "
      "tensor<i1> }, { ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = "
      "stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> "
      "}) ";
  static const std::string both =
      "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
  static const std::vector<AxesSample> samples = {
      {"nn.max_pool", pool, "AxBx4x6xf32", "AxBx4x3xf32"},
      {"nn.average_pool", average, "AxBx4x6xf32", "AxBx4x3xf32"},
      {"nn.lp_pool", power, "AxBx4x6xf32", "AxBx4x3xf32"},
      {"nn.max_pool_indices", indices, "AxBx4x6xf32", "AxBx4x3xi64"},
      {"nn.prelu", "", "AxBxCxf32, Bx1xf32", "AxBxCxf32"},
      {"nn.broadcast_like", "", "Bx1xf32, AxBxCxf32", "AxBxCxf32"},
      {"nn.broadcast_like", "", "AxBxCxf32, Cxf32", "AxBxCxf32"},
      {"nn.shape", "", "AxBxCxf32", "3xi64"},
      {"nn.take", "axis = 1 : i64", "AxBxCxf32, DxAxi64", "AxDxAxCxf32"},
      {"nn.take_along", "axis = 1 : i64", "AxBxCxf32, AxDxCxi64", "AxDxCxf32"},
      {"nn.take_along", "axis = 1 : i64", "A+1xBxCxf32, AxDxCxi64",
       "AxDxCxf32"},
      {"nn.pad_mode",
       "mode = \"edge\", low = array<i64: 0, 2>, high = array<i64: 0, -1>",
       "AxBxf32", "AxB+1xf32"},
      {"nn.one_hot", "axis = 1 : i64", "AxBxi64, 2xf32", "AxDxBxf32"},
      {"nn.cumulative_sum", "axis = 1 : i64, exclusive = false, reverse = true",
       "AxBxCxf32", "AxBxCxf32"},
      {"nn.arg_max",
       "axis = 1 : i64, keep_dimension = true, select_last = false",
       "AxBxCxf32", "Ax1xCxi64"},
      {"nn.arg_min",
       "axis = 1 : i64, keep_dimension = false, select_last = true",
       "AxBxCxf32", "AxCxi64"},
      {"nn.tree_ensemble",
       "aggregate = \"maximum\", roots = array<i32: 0>, features = array<i32: "
       "1>, thresholds = array<f64: 0.25>, modes = array<i8: 0>, true_children "
       "= array<i32: -1>, false_children = array<i32: -2>, leaf_starts = "
       "array<i32: 0, 1, 3>, targets = array<i32: 0, 1, 0>, weights = "
       "array<f64: 1.5, 2.0, -1.0>, target_count = 2 : i64",
       "AxB+1xf32", "Ax2xf32"},
      {"nn.top_k", "axis = 1 : i64, k = 2 : i64, largest = true", "AxB+2xCxf32",
       "Ax2xCxf32, Ax2xCxi64"},
      {"nn.lrn", "size = 3 : i64, alpha = 0.5, beta = 0.75, bias = 1.0",
       "AxB+2xCxDxf32", "AxB+2xCxDxf32"},
      {"nn.softmax", "axes = array<i64: 1, 2>", "AxBxC+1xf32", "AxBxC+1xf32"},
      {"nn.log_softmax", "axes = array<i64: 0>", "A+1xBxCxf32", "A+1xBxCxf32"},
      {"nn.hardmax", "axis = 1 : i64", "AxB+2xCxf32", "AxB+2xCxf32"},
      {"nn.layer_norm", "axis = 1 : i64, epsilon = 1.0e-3, compute_type = f32",
       "AxBxC+2xf32, BxC+2xf32, C+2xf32", "AxBxC+2xf32, Ax1x1xf32, Ax1x1xf32"},
      {"nn.rms_norm", "axis = 2 : i64, epsilon = 1.0e-3, compute_type = f32",
       "AxBxC+2xf32, C+2xf32", "AxBxC+2xf32"},
      {"nn.group_norm", "groups = 2 : i64, epsilon = 1.0e-3",
       "AxB*2xCxDxf32, B*2xf32, B*2xf32", "AxB*2xCxDxf32"},
      {"nn.group_norm", "groups = 2 : i64, epsilon = 1.0e-3",
       "Ax2xCxD+1xf32, 2xf32, 2xf32", "Ax2xCxD+1xf32"},
      {"nn.lp_normalize", "axis = 1 : i64, p = 1 : i64", "AxB+1xCxf32",
       "AxB+1xCxf32"},
      {"nn.mean_var_norm", "feature_index = 1 : i64, momentum = 0.5",
       "AxBxCxf32, Bxf32, Bxf32", "Bxf32, Bxf32, Bxf32, Bxf32"},
      {"nn.lstm",
       "operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>, "
       "direction = \"bidirectional\", activations = [\"Sigmoid\", \"Tanh\", "
       "\"Tanh\", \"Sigmoid\", \"Tanh\", \"Tanh\"], input_forget = false",
       "2xBxCxf32, 2xD*4xCxf32, 2xD*4xDxf32, 2xD*8xf32, Bxi32, 2xBxDxf32, "
       "2xBxDxf32, 2xD*3xf32",
       "2x2xBxDxf32, 2xBxDxf32, 2xBxDxf32"},
      {"nn.gru",
       "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>, "
       "direction = \"reverse\", activations = [\"Sigmoid\", \"Tanh\"], "
       "linear_before_reset = true",
       "3xBxCxf32, 1xD*3xCxf32, 1xD*3xDxf32, 1xD*6xf32, 1xBxDxf32",
       "3x1xBxDxf32, 1xBxDxf32"},
      {"nn.rnn",
       "operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, "
       "direction = \"forward\", activations = [\"Tanh\"]",
       "3xBxCxf32, 1xDxCxf32, 1xDxDxf32", "3x1xBxDxf32, 1xBxDxf32"},
      {"nn.resize",
       "scales = array<f64: 1.0, 1.0, 2.0>, mode = \"linear\", coordinates = "
       "\"half_pixel\", nearest = \"floor\", exclude_outside = false, "
       "antialias = false",
       "AxBxCxf32", "AxBxC*2xf32"},
      {"nn.resize",
       "scales = array<f64: 1.0, 1.0>, mode = \"nearest\", coordinates = "
       "\"tf_half_pixel_for_nn\", nearest = \"ceil\", exclude_outside = false, "
       "antialias = false",
       "AxB+2xf32", "AxB+2xf32"},
      {"nn.resize",
       "scales = array<f64: 1.0, 1.0>, mode = \"linear\", coordinates = "
       "\"tf_crop_and_resize\", nearest = \"floor\", exclude_outside = false, "
       "antialias = false, roi = array<f64: 0.0, 0.25, 1.0, 0.75>",
       "Ax4xf32", "Ax2xf32"},
      {"nn.resize",
       "scales = array<f64: 1.0, 2.0>, mode = \"nearest\", coordinates = "
       "\"tf_crop_and_resize\", nearest = \"floor\", exclude_outside = false, "
       "antialias = false, roi = array<f64: 0.0, 0.25, 1.0, 0.75>",
       "AxB*4xf32", "AxB*4xf32"},
      {"nn.resize",
       "scales = array<f64: 0.5, 1.0, 1.5>, mode = \"linear\", coordinates = "
       "\"tf_crop_and_resize\", nearest = \"floor\", exclude_outside = false, "
       "antialias = false, extrapolation_value = 7.0, roi = array<f64: 0.5, "
       "0.0, "
       "0.0, "
       "1.5, 1.0, 1.0>",
       "A*2xBxC*2xf32", "AxBxC*3xf32"},
      {"stablehlo.select_and_scatter",
       "window_dimensions = array<i64: 1, 1, 2, 3>, window_strides = "
       "array<i64: "
       "1, 1, 2, 2>, padding = dense<[[0, 0], [0, 0], [0, 0], [1, 0]]> : "
       "tensor<4x2xi64>",
       "AxBx4xC*2xf32, AxBx2xCxf32, f32", "AxBx4xC*2xf32", greaterAndSum},
      {"stablehlo.transpose", "permutation = array<i64: 2, 0, 1>",
       "AxBxCx!quant.uniform<i8:f32:1,{B}>",
       "CxAxBx!quant.uniform<i8:f32:2,{B}>"},
      {"stablehlo.reshape", "", "AxBxCx2x!quant.uniform<i8:f32:1,{B}>",
       "AxBxC*2x!quant.uniform<i8:f32:1,{B}>"},
      {"stablehlo.broadcast_in_dim", "broadcast_dimensions = array<i64: 1>",
       "Bx!quant.uniform<i8:f32:0,{B}>", "AxBxCx!quant.uniform<i8:f32:1,{B}>"},
      {"stablehlo.uniform_dequantize", "", "AxBxCx!quant.uniform<i8:f32:1,{B}>",
       "AxBxCxf32"},
      {"stablehlo.all_gather", "all_gather_dim = 1 : i64, " + both,
       "AxBxCxf32, AxDxf32", "AxB*2xCxf32, AxD*2xf32"},
      {"stablehlo.all_gather",
       "all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : "
       "tensor<2x1xi64>",
       "AxBxf32", "AxBxf32"},
      {"stablehlo.all_reduce", both, "AxBxf32, Cxf32", "AxBxf32, Cxf32", sum},
      {"stablehlo.reduce_scatter", "scatter_dimension = 1 : i64, " + both,
       "AxB*2xCxf32", "AxBxCxf32", sum},
      {"stablehlo.all_to_all",
       "split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 "
       ": i64, " +
           both,
       "A*2xBxCxf32", "AxB*2xCxf32"},
      {"stablehlo.all_to_all",
       "split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 "
       ": i64, " +
           both,
       "AxB*2xf32", "AxB*2xf32"},
      {"stablehlo.collective_broadcast", both, "AxBxf32", "AxBxf32"},
      {"stablehlo.collective_reduce", both, "AxBxf32", "AxBxf32", sum},
      {"stablehlo.collective_permute",
       "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>", "AxBxf32",
       "AxBxf32"},
      {"stablehlo.cross-replica-sum", both, "AxBxf32", "AxBxf32"},
      {"nn.attention", "scale = 0.5", "AxBxCxDxf32, AxBx3xDxf32, AxBx3x2xf32",
       "AxBxCx2xf32"},
      {"nn.attention", "scale = 0.5",
       "AxB*2xCxDxf32, AxBx3xDxf32, AxBx3x2xf32, Ax1xCx3xf32", "AxB*2xCx2xf32"},
      {"nn.attention", "scale = 0.5, causal",
       "B*3xC+1xDxf32, Bx3xDxf32, Bx3x2xf32, B*3x1x3xf32", "B*3xC+1x2xf32"},
      {"chlo.top_k", "k = 2 : i64", "AxB+2xf32", "Ax2xf32, Ax2xi32"},
      {"chlo.constant_like", "value = 2.0 : f32", "AxBxf32", "AxBxf32"},
      {"chlo.broadcast_select", "", "Bx1xi1, AxBxCxf32, Cxf32", "AxBxCxf32"},
      {"chlo.broadcast_add", "broadcast_dimensions = array<i64: 0>",
       "AxBxf32, Axf32", "AxBxf32"},
      {"chlo.ragged_dot",
       "ragged_dot_dimension_numbers = #chlo.ragged_dot<"
       "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
       "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], "
       "lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>",
       "AxB+1xCxf32, 2xAxCxDxf32, Ax2xi64", "AxB+1xDxf32"},
      {"chlo.ragged_dot",
       "ragged_dot_dimension_numbers = #chlo.ragged_dot<"
       "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
       "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], "
       "lhs_ragged_dimensions = [2]>",
       "AxBxCxf32, AxCxDxf32, Ax2xi64", "2xAxBxDxf32"},
      {"stablehlo.torch_index_select", "dim = 1 : i64, batch_dims = 1 : i64",
       "AxBxCxf32, AxDxi32", "AxDxCxf32"},
  };
  return samples;
}

/// Operations that compute each element by itself: those of \p names are alike.
struct ElementwiseSamples {
  const char *names;
  const char *attributes;
  const char *operands;
  const char *results;
};

inline llvm::ArrayRef<ElementwiseSamples> elementwiseAxesSamples() {
  static const ElementwiseSamples samples[] = {
      {"nn.acos nn.acosh nn.asin nn.asinh nn.atan nn.atanh nn.cosh nn.sinh "
       "nn.erf nn.erfc nn.relu nn.hard_swish nn.silu nn.mish nn.softplus "
       "nn.softsign chlo.acos chlo.acosh chlo.asin chlo.asinh chlo.atan "
       "chlo.atanh chlo.conj chlo.cosh chlo.sinh chlo.square chlo.tan "
       "chlo.bessel_i1e chlo.digamma chlo.erf chlo.erfc chlo.erf_inv "
       "chlo.lgamma",
       "", "AxBxf32", "AxBxf32"},
      {"nn.leaky_relu nn.elu nn.celu nn.thresholded_relu", "alpha = 0.5",
       "AxBxf32", "AxBxf32"},
      {"nn.selu", "alpha = 0.5, gamma = 2.0", "AxBxf32", "AxBxf32"},
      {"nn.hard_sigmoid", "alpha = 0.5, beta = 0.25", "AxBxf32", "AxBxf32"},
      {"nn.shrink", "bias = 0.5, lambda = 1.0", "AxBxf32", "AxBxf32"},
      {"nn.gelu", "approximate = false", "AxBxf32", "AxBxf32"},
      {"nn.dropout", "ratio = 0.5", "AxBxf32, AxBxi1", "AxBxf32"},
      {"chlo._asin_acos_kernel", "", "AxBxcomplex<f32>", "AxBxcomplex<f32>"},
      {"nn.quantize", "", "AxBxf32", "AxBx!quant.uniform<i8:f32,0.5:3>"},
      {"chlo.is_inf chlo.is_neg_inf chlo.is_pos_inf", "", "AxBxf32", "AxBxi1"},
      {"chlo.next_after chlo.polygamma chlo.zeta", "", "AxBxf32, AxBxf32",
       "AxBxf32"},
      {"chlo.mulhi", "", "AxBxi32, AxBxi32", "AxBxi32"},
      {"text.format", "", "AxBxf32", "AxBx!text.string"},
      {"text.concat", "", "AxBx!text.string, AxBx!text.string",
       "AxBx!text.string"},
      {"text.change_case", "upper = true, locale = \"\"", "AxBx!text.string",
       "AxBx!text.string"},
      {"text.full_match", "pattern = \"[a-z]+\"", "AxBx!text.string", "AxBxi1"},
      {"text.rank", "", "AxBx!text.string", "AxBxi64"},
      {"text.find", "", "AxBx!text.string, Cx!text.string", "AxBxi64"},
      {"chlo.broadcast_add chlo.broadcast_atan2 chlo.broadcast_divide "
       "chlo.broadcast_maximum chlo.broadcast_minimum chlo.broadcast_multiply "
       "chlo.broadcast_power chlo.broadcast_remainder chlo.broadcast_subtract "
       "chlo.broadcast_next_after chlo.broadcast_polygamma "
       "chlo.broadcast_zeta",
       "", "AxBxf32, Cx1xBxf32", "CxAxBxf32"},
      {"chlo.broadcast_and chlo.broadcast_or chlo.broadcast_xor "
       "chlo.broadcast_shift_left chlo.broadcast_shift_right_arithmetic "
       "chlo.broadcast_shift_right_logical",
       "", "AxBxi32, Cx1xBxi32", "CxAxBxi32"},
      {"chlo.broadcast_complex", "", "AxBxf32, Bxf32", "AxBxcomplex<f32>"},
      {"chlo.broadcast_compare",
       "comparison_direction = #chlo<comparison_direction LT>",
       "AxBxf32, Bxf32", "AxBxi1"},
  };
  return samples;
}

/// `0.5:1,0.625:2,...`: so many scales, each with a zero point.
inline std::string scales(int64_t count) {
  std::string list;
  for (int64_t i = 0; i < count; ++i)
    list += (i ? "," : "") + std::to_string(0.5 + 0.125 * i) + ":" +
            std::to_string(i + 1);
  return list;
}

/// The text with numbers for letters.
inline std::string withSizes(llvm::StringRef text, const int64_t (&sizes)[4]) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && text.substr(i).size() > 2 && text[i + 2] == '}') {
      result += "{" + scales(sizes[text[i + 1] - 'A']) + "}";
      i += 2;
      continue;
    }
    if (text[i] < 'A' || text[i] > 'D') {
      result.push_back(text[i]);
      continue;
    }
    int64_t size = sizes[text[i] - 'A'];
    if (i + 2 < text.size() && (text[i + 1] == '*' || text[i + 1] == '+')) {
      const int64_t other = text[i + 2] - '0';
      size = text[i + 1] == '*' ? size * other : size + other;
      i += 2;
    }
    result += std::to_string(size);
  }
  return result;
}

/// `func.func @main` of one operation.
inline std::string sampleFunction(const AxesSample &sample,
                                  const int64_t (&sizes)[4]) {
  auto typesOf = [&](llvm::StringRef list) {
    llvm::SmallVector<llvm::StringRef> parts;
    list.split(parts, ", ");
    std::vector<std::string> types;
    for (llvm::StringRef part : parts)
      types.push_back("tensor<" + withSizes(part, sizes) + ">");
    return types;
  };
  auto operands = typesOf(sample.operands), results = typesOf(sample.results);
  std::string arguments, names, outputs;
  for (auto [i, type] : llvm::enumerate(operands)) {
    const char *comma = i ? ", " : "";
    names += comma + ("%x" + std::to_string(i));
    arguments += comma + ("%x" + std::to_string(i)) + ": " + type;
  }
  for (auto [i, type] : llvm::enumerate(results))
    outputs += (i ? ", %y#" : "%y#") + std::to_string(i);
  const std::string gives = llvm::join(results, ", ");
  const std::string attributes =
      !sample.attributes.empty()
          ? "<{" + withSizes(sample.attributes, sizes) + "}> "
          : "";
  return "func.func @main(" + arguments + ") -> (" + gives +
         ") {\n  %y:" + std::to_string(results.size()) + " = \"" + sample.name +
         "\"(" + names + ") " + attributes + sample.regions + ": (" +
         llvm::join(operands, ", ") + ") -> (" + gives + ")\n  return " +
         outputs + " : " + gives + "\n}";
}

/// Samples of sizes that follow from \p seed.
inline std::vector<std::string> axesSamples(uint64_t seed) {
  int64_t sizes[4];
  for (uint64_t i = 0; i < 4; ++i)
    sizes[i] = 1 + static_cast<int64_t>(splitMix(seed, i) % 4);
  std::vector<std::string> texts;
  for (const AxesSample &sample : axesSampleTexts())
    texts.push_back(sampleFunction(sample, sizes));
  for (const ElementwiseSamples &sample : elementwiseAxesSamples()) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(sample.names).split(names, ' ');
    for (llvm::StringRef name : names)
      texts.push_back(sampleFunction(
          {name.str(), sample.attributes, sample.operands, sample.results},
          sizes));
  }
  return texts;
}

} // namespace sinter

#endif // SINTER_TEST_GRAPH_AXES_AXESSAMPLES_H
