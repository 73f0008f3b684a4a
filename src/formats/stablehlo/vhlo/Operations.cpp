//===- Operations.cpp - the versioned operations --------------------------===//

#include "formats/stablehlo/vhlo/Operations.h"

#include "formats/stablehlo/vhlo/Structures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace sinter::vhlo {
namespace {

constexpr int any = -1;
constexpr Version now = currentVersion;

/// Rows of the table below: names with the same form share one. The attributes
/// of a newest version are separated by blanks,
///
///   name[:translation][=default]   or   name:structure
///
/// and those of an older one are `-name=value` for attributes that it lacks and
/// `+name=value` for those that it has instead. `-regions`: it has no regions.
struct Line {
  const char *names;
  int version;
  Version since, until;
  int operands;
  const char *attributes;
};

constexpr Line lines[] = {
    {"create_token partition_id replica_id", 1, {0, 9}, now, 0, ""},
    {"abs bitcast_convert case ceil convert count_leading_zeros floor if "
     "imag is_finite negate not popcnt real reshape round_nearest_afz "
     "round_nearest_even sign uniform_dequantize uniform_quantize",
     1,
     {0, 9},
     now,
     1,
     ""},
    {"add and atan2 complex divide dynamic_reshape maximum minimum "
     "multiply or power remainder shift_left shift_right_arithmetic "
     "shift_right_logical subtract xor",
     1,
     {0, 9},
     now,
     2,
     ""},
    {"clamp select", 1, {0, 9}, now, 3, ""},
    {"real_dynamic_slice", 1, {0, 9}, now, 4, ""},
    {"dynamic_pad", 1, {0, 9}, now, 5, ""},
    {"after_all dynamic_update_slice optimization_barrier return tuple "
     "while",
     1,
     {0, 9},
     now,
     any,
     ""},
    {"cbrt cosine exponential_minus_one log log_plus_one logistic rsqrt "
     "sine sqrt tanh",
     2,
     {1, 10},
     now,
     1,
     "result_accuracy=accuracy"},
    {"cbrt cosine exponential_minus_one log log_plus_one logistic rsqrt "
     "sine sqrt tanh",
     1,
     {0, 9},
     {1, 9},
     1,
     "-result_accuracy=accuracy"},
    {"all_gather",
     2,
     {1, 5},
     now,
     any,
     "channel_handle:channel all_gather_dim replica_groups "
     "use_global_device_ids:mark=false"},
    {"all_gather", 1, {0, 9}, {1, 4}, 1, ""},
    {"all_reduce",
     2,
     {1, 5},
     now,
     any,
     "channel_handle:channel replica_groups "
     "use_global_device_ids:mark=false"},
    {"all_reduce", 1, {0, 9}, {1, 4}, 1, ""},
    {"all_to_all",
     2,
     {1, 5},
     now,
     any,
     "channel_handle:channel concat_dimension replica_groups split_count "
     "split_dimension"},
    {"all_to_all", 1, {0, 9}, {1, 4}, 1, ""},
    {"async_done", 1, {1, 15}, now, 1, ""},
    {"async_start", 1, {1, 15}, now, any, ""},
    {"batch_norm_grad", 1, {0, 9}, now, 5, "epsilon feature_index"},
    {"batch_norm_inference", 1, {0, 9}, now, 5, "epsilon feature_index"},
    {"batch_norm_training", 1, {0, 9}, now, 3, "epsilon feature_index"},
    {"broadcast", 1, {0, 9}, now, 1, "broadcast_sizes:dims"},
    {"broadcast_in_dim", 1, {0, 9}, now, 1, "broadcast_dimensions:dims"},
    {"call", 1, {0, 9}, now, any, "callee:symbol"},
    {"cholesky", 1, {0, 9}, now, 1, "lower=false"},
    {"collective_broadcast",
     2,
     {1, 20},
     now,
     any,
     "channel_handle:channel has_dynamic_root:mark=false replica_groups"},
    {"collective_broadcast", 1, {0, 16}, {1, 19}, 1, "-has_dynamic_root=false"},
    {"collective_permute",
     1,
     {0, 9},
     now,
     1,
     "channel_handle:channel source_target_pairs"},
    {"collective_reduce",
     1,
     {1, 19},
     now,
     any,
     "channel_handle:channel has_dynamic_root:mark=false replica_groups "
     "use_global_device_ids:mark=false"},
    {"compare",
     1,
     {0, 9},
     now,
     2,
     "compare_type=nocomparetype comparison_direction"},
    {"composite",
     2,
     {1, 14},
     now,
     any,
     "composite_attributes={} decomposition:symbol name version=0"},
    {"composite", 1, {0, 19}, {1, 13}, any, "-regions"},
    {"concatenate", 1, {0, 9}, now, any, "dimension"},
    {"constant", 1, {0, 9}, now, 0, "value"},
    {"convolution",
     1,
     {0, 9},
     now,
     2,
     "dimension_numbers:conv batch_group_count feature_group_count "
     "lhs_dilation:dims=ones padding=nopadding precision_config=precision "
     "rhs_dilation:dims=ones window_reversal:flags=falses "
     "window_strides:dims=ones"},
    {"cross-replica-sum", 1, {0, 9}, now, 1, "replica_groups"},
    {"custom_call",
     2,
     {1, 18},
     now,
     any,
     "api_version:api=originalapi backend_config=config call_target_name "
     "called_computations:symbols=[] has_side_effect=false "
     "operand_layouts=layouts output_operand_aliases=[] result_layouts=layouts "
     "result_tilings=[]"},
    {"custom_call", 1, {0, 9}, {1, 17}, any, "-result_tilings=[]"},
    {"dot", 1, {0, 9}, now, 2, "precision_config=precision"},
    {"dot_general",
     2,
     {1, 6},
     now,
     2,
     "dot_dimension_numbers:dot algorithm:algorithm "
     "precision_config=precision"},
    {"dot_general",
     1,
     {0, 9},
     {1, 5},
     2,
     "-lhs_precision_type=nonetype -rhs_precision_type=nonetype "
     "-accumulation_type=nonetype -lhs_component_count=nonetype "
     "-rhs_component_count=nonetype -num_primitive_operations=nonetype "
     "-allow_imprecise_accumulation=nonetype"},
    {"dynamic_broadcast_in_dim",
     1,
     {0, 9},
     now,
     2,
     "broadcast_dimensions:dims known_expanding_dimensions:dims=nodims "
     "known_nonexpanding_dimensions:dims=nodims"},
    {"dynamic_conv",
     2,
     {0, 20},
     now,
     3,
     "dimension_numbers:conv batch_group_count feature_group_count "
     "lhs_dilation:dims=ones precision_config=precision "
     "rhs_dilation:dims=ones window_reversal:flags=falses "
     "window_strides:dims=ones"},
    {"dynamic_conv", 1, {0, 9}, {0, 19}, 3, "+padding=nopadding"},
    {"dynamic_gather",
     2,
     {1, 1},
     now,
     3,
     "dimension_numbers:gather indices_are_sorted=false"},
    {"dynamic_gather",
     1,
     {0, 9},
     {1, 0},
     3,
     "-operand_batching_dims=nodims -start_indices_batching_dims=nodims"},
    {"dynamic_iota", 1, {0, 9}, now, 1, "iota_dimension"},
    {"dynamic_slice", 1, {0, 9}, now, any, "slice_sizes:dims"},
    {"einsum", 1, {0, 9}, now, 2, "einsum_config"},
    {"exponential", 2, {1, 9}, now, 1, "result_accuracy=accuracy"},
    {"exponential", 1, {0, 9}, {1, 8}, 1, "-result_accuracy=accuracy"},
    {"fft", 1, {0, 9}, now, 1, "fft_length:dims fft_type"},
    {"func",
     1,
     {0, 9},
     now,
     0,
     "arg_attrs=[] function_type res_attrs=[] sym_name sym_visibility=''"},
    {"gather",
     2,
     {1, 1},
     now,
     2,
     "dimension_numbers:gather indices_are_sorted=false slice_sizes:dims"},
    {"gather",
     1,
     {0, 9},
     {1, 0},
     2,
     "-operand_batching_dims=nodims -start_indices_batching_dims=nodims"},
    {"get_dimension_size", 1, {0, 9}, now, 1, "dimension"},
    {"get_tuple_element", 1, {0, 9}, now, 1, "index"},
    {"infeed", 1, {0, 9}, now, 1, "infeed_config='' layout=[]"},
    {"iota", 1, {0, 9}, now, 0, "iota_dimension"},
    {"map", 1, {0, 9}, now, any, "dimensions:dims"},
    {"outfeed", 1, {0, 9}, now, any, "outfeed_config=''"},
    {"pad",
     1,
     {0, 9},
     now,
     2,
     "edge_padding_high:dims edge_padding_low:dims interior_padding:dims"},
    {"recv",
     2,
     {1, 12},
     now,
     1,
     "channel_handle:channel_type is_host_transfer=false "
     "source_target_pairs=nodims"},
    {"recv", 1, {0, 9}, {1, 11}, 1, "-source_target_pairs=nodims"},
    {"reduce", 1, {0, 9}, now, any, "dimensions:dims"},
    {"reduce_precision", 1, {0, 9}, now, 1, "exponent_bits mantissa_bits"},
    {"reduce_scatter",
     1,
     {0, 9},
     now,
     1,
     "channel_handle:channel replica_groups scatter_dimension "
     "use_global_device_ids:mark=false"},
    {"reduce_window",
     1,
     {0, 9},
     now,
     any,
     "base_dilations:dims=ones padding=nopadding "
     "window_dilations:dims=ones window_dimensions:dims "
     "window_strides:dims=ones"},
    {"reverse", 1, {0, 9}, now, 1, "dimensions:dims"},
    {"rng", 1, {0, 9}, now, 3, "rng_distribution"},
    {"rng_bit_generator", 1, {0, 9}, now, 1, "rng_algorithm"},
    {"scatter",
     2,
     {1, 1},
     now,
     any,
     "scatter_dimension_numbers:scatter indices_are_sorted=false "
     "unique_indices=false"},
    {"scatter",
     1,
     {0, 9},
     {1, 0},
     any,
     "-input_batching_dims=nodims -scatter_indices_batching_dims=nodims"},
    {"select_and_scatter",
     1,
     {0, 9},
     now,
     3,
     "padding=nopadding window_dimensions:dims window_strides:dims=ones"},
    {"send",
     2,
     {1, 12},
     now,
     any,
     "channel_handle:channel_type is_host_transfer=false "
     "source_target_pairs=nodims"},
    {"send", 1, {0, 9}, {1, 11}, any, "-source_target_pairs=nodims"},
    {"set_dimension_size", 1, {0, 9}, now, 2, "dimension"},
    {"slice",
     1,
     {0, 9},
     now,
     1,
     "limit_indices:dims start_indices:dims strides:dims"},
    {"sort", 1, {0, 9}, now, any, "dimension=-1 is_stable=false"},
    {"tan", 2, {1, 10}, now, 1, "result_accuracy=accuracy"},
    {"tan", 1, {1, 4}, {1, 9}, 1, "-result_accuracy=accuracy"},
    {"torch_index_select", 1, {0, 9}, now, 2, "batch_dims dim"},
    {"transpose", 1, {0, 9}, now, 1, "permutation:dims"},
    {"triangular_solve",
     1,
     {0, 9},
     now,
     2,
     "left_side lower transpose_a unit_diagonal"},
    {"unary_einsum", 1, {0, 9}, now, 1, "einsum_config"},
};

Default defaultOf(StringRef word) {
  return llvm::StringSwitch<Default>(word)
      .Case("false", Default::False)
      .Case("0", Default::Zero)
      .Case("-1", Default::MinusOne)
      .Case("''", Default::EmptyString)
      .Case("[]", Default::EmptyArray)
      .Case("{}", Default::EmptyDict)
      .Case("nodims", Default::EmptyDims)
      .Case("ones", Default::Ones)
      .Case("falses", Default::Falses)
      .Case("nopadding", Default::NoPadding)
      .Case("nonetype", Default::NoneType)
      .Case("precision", Default::Precision)
      .Case("accuracy", Default::Accuracy)
      .Case("nocomparetype", Default::NoCompareType)
      .Case("originalapi", Default::OriginalApi)
      .Case("config", Default::Config)
      .Case("layouts", Default::Layouts)
      .Default(Default::None);
}

Translation translationOf(StringRef word) {
  return llvm::StringSwitch<Translation>(word)
      .Case("dims", Translation::Dims)
      .Case("flags", Translation::Flags)
      .Case("mark", Translation::Mark)
      .Case("symbol", Translation::Symbol)
      .Case("symbols", Translation::Symbols)
      .Case("api", Translation::Api)
      .Default(Translation::Plain);
}

/// Parses one word of a newest version's attributes into \p row.
void addAttribute(OperationRow &row, StringRef word) {
  const auto [head, value] = word.split('=');
  const auto [name, translation] = head.split(':');
  if (const Structure *structure = findStructure(translation)) {
    row.structures.push_back(translation);
    for (const Member &member : structure->members)
      row.attributes.push_back(
          {member.name, Translation::Member, Default::None});
    return;
  }
  row.attributes.push_back(
      {name, translationOf(translation), defaultOf(value)});
}

/// Parses one difference of an older version into \p row, which starts with the
/// next version's attributes.
void addDifference(OperationRow &row, StringRef word) {
  const auto [name, value] = word.drop_front().split('=');
  const AttributeRow attribute{name, Translation::Plain, defaultOf(value)};
  if (word == "-regions") {
    row.withoutRegions = true;
  } else if (word.starts_with("-")) {
    row.missing.push_back(attribute);
    llvm::erase_if(row.attributes, [&, name = name](const AttributeRow &other) {
      return other.name == name;
    });
  } else {
    row.extra.push_back(attribute);
    row.attributes.push_back(attribute);
  }
}

struct Table {
  std::vector<OperationRow> rows;
  /// Indices of versions by "gather_v1", and of newest ones by "gather".
  llvm::StringMap<size_t> versioned, newest;

  Table() {
    std::vector<std::pair<StringRef, const Line *>> named;
    for (const Line &line : lines) {
      llvm::SmallVector<StringRef> names;
      StringRef(line.names).split(names, ' ');
      for (StringRef name : names)
        named.push_back({name, &line});
    }
    llvm::stable_sort(named, [](const auto &a, const auto &b) {
      return std::pair(a.first, -a.second->version) <
             std::pair(b.first, -b.second->version);
    });
    for (const auto &[name, line] : named)
      add(name, *line);
  }

  void add(StringRef name, const Line &line) {
    OperationRow row;
    const bool isNewest = newest.insert({name, rows.size()}).second;
    if (!isNewest)
      row.attributes = rows.back().attributes;
    row.name = name;
    row.version = line.version;
    row.since = line.since;
    row.until = line.until;
    row.operands = line.operands;
    llvm::SmallVector<StringRef> words;
    StringRef(line.attributes).split(words, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef word : words)
      isNewest ? addAttribute(row, word) : addDifference(row, word);
    llvm::sort(row.attributes,
               [](const AttributeRow &a, const AttributeRow &b) {
                 return a.name < b.name;
               });
    versioned.insert({row.versionedName(), rows.size()});
    rows.push_back(std::move(row));
  }
};

const Table &table() {
  static const Table theTable;
  return theTable;
}

/// The adjacent row of \p row in the table if it is of the same operation.
const OperationRow *neighbour(const OperationRow *row, ptrdiff_t step) {
  const auto &rows = table().rows;
  const ptrdiff_t index = row - rows.data() + step;
  if (index < 0 || index >= ptrdiff_t(rows.size()) ||
      rows[index].name != row->name)
    return nullptr;
  return &rows[index];
}

const OperationRow *find(const llvm::StringMap<size_t> &index, StringRef name) {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &table().rows[found->second];
}

} // namespace

std::string OperationRow::versionedName() const {
  return name.str() + "_v" + std::to_string(version);
}

llvm::ArrayRef<OperationRow> operationRows() { return table().rows; }

const OperationRow *findVersioned(StringRef versionedName) {
  return find(table().versioned, versionedName);
}

const OperationRow *findNewest(StringRef name) {
  return find(table().newest, name);
}

const OperationRow *newer(const OperationRow *row) {
  return neighbour(row, -1);
}

const OperationRow *older(const OperationRow *row) { return neighbour(row, 1); }

} // namespace sinter::vhlo
