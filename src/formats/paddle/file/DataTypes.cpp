#include "formats/paddle/file/DataTypes.h"

#include "formats/paddle/file/framework.pb.h"

#include <algorithm>
#include <iterator>

namespace sinter::paddle {

using schema::VarType;

static constexpr DataType dataTypes[] = {
    {VarType::BOOL, ElementType::I1, "bool", "bool"},
    {VarType::INT16, ElementType::I16, "i16", "int16"},
    {VarType::INT32, ElementType::I32, "i32", "int32"},
    {VarType::INT64, ElementType::I64, "i64", "int64"},
    {VarType::FP16, ElementType::F16, "f16", "float16"},
    {VarType::FP32, ElementType::F32, "f32", "float32"},
    {VarType::FP64, ElementType::F64, "f64", "float64"},
    {VarType::UINT8, ElementType::UI8, "ui8", "uint8"},
    {VarType::INT8, ElementType::I8, "i8", "int8"},
    {VarType::BF16, ElementType::BF16, "bf16", "bfloat16"},
    {VarType::COMPLEX64, ElementType::C64, "c64", "complex64"},
    {VarType::COMPLEX128, ElementType::C128, "c128", "complex128"},
    {VarType::FP8_E4M3FN, ElementType::F8E4M3FN, "f8e4m3fn", "float8_e4m3fn"},
    {VarType::FP8_E5M2, ElementType::F8E5M2, "f8e5m2", "float8_e5m2"},
    {VarType::UINT32, ElementType::UI32, "", ""},
    {VarType::UINT64, ElementType::UI64, "", ""},
    // An alias that is never written.
    {VarType::SIZE_T, ElementType::UI64, "", ""},
};

std::optional<ElementType> elementTypeOfNumber(int64_t number) {
  for (const DataType &each : dataTypes)
    if (each.number == number)
      return each.type;
  return std::nullopt;
}

std::optional<int32_t> numberOfElementType(ElementType type) {
  for (const DataType &each : dataTypes)
    if (each.type == type)
      return each.number;
  return std::nullopt;
}

template <typename Key, typename Field>
static const DataType *findPir(const Key &key, Field field) {
  const auto *found = std::ranges::find(dataTypes, key, field);
  return found == std::end(dataTypes) || found->pirTag.empty() ? nullptr
                                                               : found;
}

const DataType *pirTypeTagged(std::string_view tag) {
  return findPir(tag, &DataType::pirTag);
}
const DataType *pirTypeNamed(std::string_view name) {
  return findPir(name, &DataType::pirName);
}
const DataType *pirTypeNumbered(int64_t number) {
  return findPir(number, &DataType::number);
}
const DataType *pirTypeOf(ElementType type) {
  return findPir(type, &DataType::type);
}

std::string nameOfTypeNumber(int64_t number) {
  static constexpr const char *names[] = {"BOOL",           "INT16",
                                          "INT32",          "INT64",
                                          "FP16",           "FP32",
                                          "FP64",           "LOD_TENSOR",
                                          "SELECTED_ROWS",  "FEED_MINIBATCH",
                                          "FETCH_LIST",     "STEP_SCOPES",
                                          "LOD_RANK_TABLE", "LOD_TENSOR_ARRAY",
                                          "PLACE_LIST",     "READER",
                                          "CHANNEL",        "RAW",
                                          "TUPLE",          "SIZE_T",
                                          "UINT8",          "INT8",
                                          "BF16",           "COMPLEX64",
                                          "COMPLEX128",     "STRING",
                                          "STRINGS",        "VOCAB",
                                          "FEED_LIST",      "PSTRING",
                                          "SPARSE_COO",     "SPARSE_CSR",
                                          "FP8_E4M3FN",     "FP8_E5M2"};
  if (number >= 0 && number < static_cast<int64_t>(std::size(names)))
    return names[number];
  return number == VarType::UINT32   ? "UINT32"
         : number == VarType::UINT64 ? "UINT64"
                                     : std::to_string(number);
}

} // namespace sinter::paddle
