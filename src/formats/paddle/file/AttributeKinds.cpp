#include "formats/paddle/file/AttributeKinds.h"

#include "formats/paddle/file/framework.pb.h"

#include <algorithm>
#include <limits>

namespace sinter::paddle {

using schema::OpDesc;

namespace {

/// A row: an attribute of an operator, or of all ("").
struct DeclaredKind {
  std::string_view type, name;
  int kind;
};

} // namespace

/// Attributes whose value does not determine the declared kind: an integral
/// float, a list that may be empty, a small 64-bit integer.
static constexpr DeclaredKind declaredKinds[] = {
    {"", "alpha", OpDesc::FLOAT},
    {"", "beta", OpDesc::FLOAT},
    {"", "bias", OpDesc::FLOAT},
    {"", "dropout_prob", OpDesc::FLOAT},
    {"", "epsilon", OpDesc::FLOAT},
    {"", "factor", OpDesc::FLOAT},
    {"", "lambda", OpDesc::FLOAT},
    {"", "momentum", OpDesc::FLOAT},
    {"", "slope", OpDesc::FLOAT},
    {"", "threshold", OpDesc::FLOAT},
    {"arg_max", "axis", OpDesc::LONG},
    {"arg_min", "axis", OpDesc::LONG},
    {"bicubic_interp_v2", "scale", OpDesc::FLOATS},
    {"bilinear_interp", "scale", OpDesc::FLOAT},
    {"bilinear_interp_v2", "scale", OpDesc::FLOATS},
    {"clip", "max", OpDesc::FLOAT},
    {"clip", "min", OpDesc::FLOAT},
    {"empty", "shape", OpDesc::LONGS},
    {"eye", "num_columns", OpDesc::LONG},
    {"eye", "num_rows", OpDesc::LONG},
    {"fill_any_like", "value", OpDesc::FLOAT},
    {"fill_constant", "shape", OpDesc::LONGS},
    {"fill_constant", "value", OpDesc::FLOAT},
    {"fill_constant_batch_size_like", "value", OpDesc::FLOAT},
    {"gaussian_random", "mean", OpDesc::FLOAT},
    {"gaussian_random", "shape", OpDesc::LONGS},
    {"gaussian_random", "std", OpDesc::FLOAT},
    {"hard_sigmoid", "offset", OpDesc::FLOAT},
    {"hard_swish", "offset", OpDesc::FLOAT},
    {"hard_swish", "scale", OpDesc::FLOAT},
    {"label_smooth", "epsilon", OpDesc::FLOAT},
    {"linear_interp_v2", "scale", OpDesc::FLOATS},
    {"lookup_table", "padding_idx", OpDesc::LONG},
    {"lookup_table_v2", "padding_idx", OpDesc::LONG},
    {"nearest_interp", "scale", OpDesc::FLOAT},
    {"nearest_interp_v2", "scale", OpDesc::FLOATS},
    {"p_norm", "porder", OpDesc::FLOAT},
    {"pad", "pad_value", OpDesc::FLOAT},
    {"pad2d", "pad_value", OpDesc::FLOAT},
    {"pad3d", "value", OpDesc::FLOAT},
    {"prior_box", "aspect_ratios", OpDesc::FLOATS},
    {"prior_box", "max_sizes", OpDesc::FLOATS},
    {"prior_box", "min_sizes", OpDesc::FLOATS},
    {"prior_box", "offset", OpDesc::FLOAT},
    {"prior_box", "step_h", OpDesc::FLOAT},
    {"prior_box", "step_w", OpDesc::FLOAT},
    {"prior_box", "variances", OpDesc::FLOATS},
    {"randint", "shape", OpDesc::LONGS},
    {"roi_align", "spatial_scale", OpDesc::FLOAT},
    {"roll", "axis", OpDesc::LONGS},
    {"roll", "shifts", OpDesc::LONGS},
    {"scale", "scale", OpDesc::FLOAT},
    {"selu", "scale", OpDesc::FLOAT},
    {"set_value", "axes", OpDesc::LONGS},
    {"set_value", "decrease_axes", OpDesc::LONGS},
    {"set_value", "ends", OpDesc::LONGS},
    {"set_value", "none_axes", OpDesc::LONGS},
    {"set_value", "shape", OpDesc::LONGS},
    {"set_value", "starts", OpDesc::LONGS},
    {"set_value", "steps", OpDesc::LONGS},
    {"stanh", "scale_a", OpDesc::FLOAT},
    {"stanh", "scale_b", OpDesc::FLOAT},
    {"trilinear_interp_v2", "scale", OpDesc::FLOATS},
    {"uniform_random", "max", OpDesc::FLOAT},
    {"uniform_random", "min", OpDesc::FLOAT},
    {"uniform_random", "shape", OpDesc::LONGS},
    {"yolo_box", "conf_thresh", OpDesc::FLOAT},
    {"yolo_box", "scale_x_y", OpDesc::FLOAT},
};

static bool fitsInt(int64_t number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

/// The kind that follows from the value itself.
static std::optional<int> kindOfValue(const AttributeValue &value) {
  struct Visitor {
    std::optional<int> operator()(std::monostate) const { return {}; }
    std::optional<int> operator()(bool) const { return OpDesc::BOOLEAN; }
    std::optional<int> operator()(int64_t number) const {
      return fitsInt(number) ? OpDesc::INT : OpDesc::LONG;
    }
    std::optional<int> operator()(double) const { return OpDesc::FLOAT; }
    std::optional<int> operator()(const std::string &) const {
      return OpDesc::STRING;
    }
    std::optional<int> operator()(const std::vector<bool> &) const {
      return OpDesc::BOOLEANS;
    }
    std::optional<int> operator()(const std::vector<int64_t> &list) const {
      return std::ranges::all_of(list, fitsInt) ? OpDesc::INTS : OpDesc::LONGS;
    }
    std::optional<int> operator()(const std::vector<double> &) const {
      return OpDesc::FLOATS;
    }
    std::optional<int> operator()(const std::vector<std::string> &) const {
      return OpDesc::STRINGS;
    }
    std::optional<int> operator()(const BlockIndex &) const {
      return OpDesc::BLOCK;
    }
    std::optional<int> operator()(const std::vector<BlockIndex> &) const {
      return OpDesc::BLOCKS;
    }
    std::optional<int> operator()(const VariableNames &variables) const {
      return variables.names.size() == 1 ? OpDesc::VAR : OpDesc::VARS;
    }
  };
  return std::visit(Visitor(), value);
}

/// Whether a value of kind \p given fits an attribute of kind \p declared.
static bool converts(int given, int declared, const AttributeValue &value) {
  switch (declared) {
  case OpDesc::FLOAT:
    return given == OpDesc::INT || given == OpDesc::LONG;
  case OpDesc::FLOATS:
    return given == OpDesc::INTS || given == OpDesc::LONGS;
  case OpDesc::LONG:
    return given == OpDesc::INT;
  case OpDesc::LONGS: {
    // An empty list may have elements of any kind.
    const auto *reals = std::get_if<std::vector<double>>(&value);
    return given == OpDesc::INTS || (reals && reals->empty());
  }
  default:
    return false;
  }
}

std::optional<int> attributeKind(std::string_view type, std::string_view name,
                                 const AttributeValue &value) {
  const std::optional<int> given = kindOfValue(value);
  if (!given)
    return given;
  for (const DeclaredKind &each : declaredKinds)
    if (each.name == name && (each.type.empty() || each.type == type) &&
        converts(*given, each.kind, value))
      return each.kind;
  return given;
}

} // namespace sinter::paddle
