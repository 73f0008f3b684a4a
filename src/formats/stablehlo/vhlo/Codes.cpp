//===- Codes.cpp - encoding of attributes and types of VHLO ---------------===//

#include "formats/stablehlo/vhlo/Codes.h"

#include "llvm/ADT/ArrayRef.h"

namespace sinter::vhlo {

static constexpr CodeRow attributes[] = {
    {code::Array, "array_v1", {0, 9}, "M"},
    {code::Boolean, "bool_v1", {0, 9}, "v"},
    {code::ComparisonDirection, "comparison_direction_v1", {0, 9}, "v"},
    {code::ComparisonType, "comparison_type_v1", {0, 9}, "v"},
    {code::CustomCallApiVersion, "api_version_v1", {0, 9}, "v"},
    {code::Dictionary, "dict_v1", {0, 9}, "P"},
    {code::FftType, "fft_type_v1", {0, 9}, "v"},
    {code::Float, "float_v1", {0, 9}, "TF"},
    {code::Integer, "integer_v1", {0, 9}, "TI"},
    {code::OutputOperandAlias, "output_operand_alias_v1", {0, 9}, "ZzZ"},
    {code::Precision, "precision_v1", {0, 9}, "v"},
    {code::RngAlgorithm, "rng_algorithm_v1", {0, 9}, "v"},
    {code::RngDistribution, "rng_distribution_v1", {0, 9}, "v"},
    {code::String, "string_v1", {0, 9}, "S"},
    {code::Tensor, "tensor_v1", {0, 9}, "TB"},
    {code::Transpose, "transpose_v1", {0, 9}, "v"},
    {code::TypeOf, "type_v1", {0, 9}, "T"},
    {code::TypeExtensions, "type_extensions_v1", {0, 9}, "Z"},
    {code::ResultAccuracyMode, "result_accuracy_mode_v1", {1, 9}, "v"},
    {code::ResultAccuracy, "result_accuracy_v1", {1, 9}, "ddzA"},
    {code::SubAxisInfo, "sub_axis_info_v1", {1, 16}, "zz"},
    {code::AxisRef, "axis_ref_v1", {1, 16}, "AO"},
    {code::ReplicaGroupMeshAxes, "replica_group_mesh_axes_v1", {1, 16}, "AA"},
    {code::MeshAxis, "mesh_axis_v1", {1, 16}, "Az"},
    {code::Mesh, "mesh_v1", {1, 16}, "AQ"},
};

static constexpr CodeRow types[] = {
    {code::Bool, "bool_v1", {0, 9}, ""},
    {code::Complex, "complex_v1", {0, 9}, "T"},
    {2, "bf16_v1", {0, 9}, ""},
    {3, "f16_v1", {0, 9}, ""},
    {4, "f32_v1", {0, 9}, ""},
    {5, "f64_v1", {0, 9}, ""},
    {6, "f8E4M3FN_v1", {0, 9}, ""},
    {7, "f8E5M2_v1", {0, 9}, ""},
    {code::Function, "func_v1", {0, 9}, "LL"},
    {code::Index, "index_v1", {0, 9}, ""},
    {10, "i4_v1", {0, 9}, ""},
    {11, "i8_v1", {0, 9}, ""},
    {12, "i16_v1", {0, 9}, ""},
    {13, "i32_v1", {0, 9}, ""},
    {14, "i64_v1", {0, 9}, ""},
    {15, "ui4_v1", {0, 9}, ""},
    {16, "ui8_v1", {0, 9}, ""},
    {17, "ui16_v1", {0, 9}, ""},
    {18, "ui32_v1", {0, 9}, ""},
    {19, "ui64_v1", {0, 9}, ""},
    {code::RankedTensor, "tensor_v1", {0, 9}, "ZT"},
    {code::EncodedTensor, "tensor_v1", {0, 9}, "AZT"},
    {code::Token, "token_v1", {0, 9}, ""},
    {code::Tuple, "tuple_v1", {0, 9}, "L"},
    {code::Quantized, "quant_v1", {0, 9}, "vTTdzzz"},
    {code::UnrankedTensor, "unranked_tensor_v1", {0, 9}, "T"},
    {26, "witness_v1", {0, 9}, ""},
    {27, "f8E4M3FNUZ_v1", {0, 10}, ""},
    {28, "f8E5M2FNUZ_v1", {0, 10}, ""},
    {29, "f8E4M3B11FNUZ_v1", {0, 11}, ""},
    {code::QuantizedPerAxis, "quant_per_axis_v1", {0, 18}, "vTTvzzDZ"},
    {31, "i2_v1", {1, 2}, ""},
    {32, "ui2_v1", {1, 2}, ""},
    {code::None, "none_v1", {1, 6}, ""},
    {34, "tf32_v1", {1, 6}, ""},
    {35, "f8E4M3_v1", {1, 7}, ""},
    {36, "f8E3M4_v1", {1, 7}, ""},
    {37, "f4E2M1FN_v1", {1, 8}, ""},
    {38, "f6E2M3FN_v1", {1, 8}, ""},
    {39, "f6E3M2FN_v1", {1, 8}, ""},
    {40, "f8E8M0FNU_v1", {1, 8}, ""},
    {code::Buffer, "buffer_v1", {1, 13}, "ZT"},
    {code::Future, "future_v1", {1, 15}, "L"},
};

static const CodeRow *find(llvm::ArrayRef<CodeRow> rows, uint64_t code) {
  for (const CodeRow &row : rows)
    if (row.code == code)
      return &row;
  return nullptr;
}

const CodeRow *findAttributeCode(uint64_t code) {
  return find(attributes, code);
}

const CodeRow *findTypeCode(uint64_t code) { return find(types, code); }

} // namespace sinter::vhlo
