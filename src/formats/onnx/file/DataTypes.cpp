//===- DataTypes.cpp - ONNX's element types and ours ----------------------===//

#include "formats/onnx/file/DataTypes.h"

#include "formats/onnx/file/onnx.pb.h"

using namespace sinter;
using namespace sinter::onnx;

namespace {

struct Row {
  int32_t dataType;
  std::optional<ElementType> type;
  uint32_t field;
};

using Proto = TensorProto;
constexpr uint32_t floats = Proto::kFloatDataFieldNumber;
constexpr uint32_t int32s = Proto::kInt32DataFieldNumber;
constexpr uint32_t int64s = Proto::kInt64DataFieldNumber;
constexpr uint32_t doubles = Proto::kDoubleDataFieldNumber;
constexpr uint32_t uint64s = Proto::kUint64DataFieldNumber;

const Row rows[] = {
    {Proto::FLOAT, ElementType::F32, floats},
    {Proto::UINT8, ElementType::UI8, int32s},
    {Proto::INT8, ElementType::I8, int32s},
    {Proto::UINT16, ElementType::UI16, int32s},
    {Proto::INT16, ElementType::I16, int32s},
    {Proto::INT32, ElementType::I32, int32s},
    {Proto::INT64, ElementType::I64, int64s},
    {Proto::STRING, ElementType::STRING, Proto::kStringDataFieldNumber},
    {Proto::BOOL, ElementType::I1, int32s},
    {Proto::FLOAT16, ElementType::F16, int32s},
    {Proto::DOUBLE, ElementType::F64, doubles},
    {Proto::UINT32, ElementType::UI32, uint64s},
    {Proto::UINT64, ElementType::UI64, uint64s},
    {Proto::COMPLEX64, ElementType::C64, floats},
    {Proto::COMPLEX128, ElementType::C128, doubles},
    {Proto::BFLOAT16, ElementType::BF16, int32s},
    {Proto::FLOAT8E4M3FN, ElementType::F8E4M3FN, int32s},
    {Proto::FLOAT8E4M3FNUZ, ElementType::F8E4M3FNUZ, int32s},
    {Proto::FLOAT8E5M2, ElementType::F8E5M2, int32s},
    {Proto::FLOAT8E5M2FNUZ, ElementType::F8E5M2FNUZ, int32s},
    {Proto::UINT4, ElementType::UI4, int32s},
    {Proto::INT4, ElementType::I4, int32s},
    {Proto::FLOAT4E2M1, std::nullopt, int32s},
    {Proto::FLOAT8E8M0, std::nullopt, int32s},
    {Proto::UINT2, ElementType::UI2, int32s},
    {Proto::INT2, ElementType::I2, int32s},
};

const Row *find(int32_t dataType) {
  for (const Row &row : rows)
    if (row.dataType == dataType)
      return &row;
  return nullptr;
}

} // namespace

std::optional<ElementType> onnx::elementTypeOf(int32_t dataType) {
  const Row *row = find(dataType);
  return row ? row->type : std::nullopt;
}

std::optional<ElementType> onnx::codeTypeOf(int32_t dataType) {
  switch (dataType) {
  case Proto::FLOAT4E2M1:
    return ElementType::UI4;
  case Proto::FLOAT8E8M0:
    return ElementType::UI8;
  default:
    return std::nullopt;
  }
}

std::optional<ElementType> onnx::storedTypeOf(int32_t dataType) {
  auto type = elementTypeOf(dataType);
  return type ? type : codeTypeOf(dataType);
}

std::optional<int32_t> onnx::dataTypeOf(ElementType type) {
  for (const Row &row : rows)
    if (row.type == type)
      return row.dataType;
  return std::nullopt;
}

std::string onnx::dataTypeName(int32_t dataType) {
  if (find(dataType))
    return Proto::DataType_Name(static_cast<Proto::DataType>(dataType));
  return "data type " + std::to_string(dataType);
}

uint32_t onnx::typedFieldOf(int32_t dataType) {
  const Row *row = find(dataType);
  return row ? row->field : 0;
}

unsigned onnx::elementsPerByte(ElementType type) {
  switch (bitWidth(type)) {
  case 2:
    return 4;
  case 4:
    return 2;
  default:
    return 1;
  }
}
