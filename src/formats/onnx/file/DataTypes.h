//===- DataTypes.h - ONNX's element types and ours ------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_DATATYPES_H
#define SINTER_FORMATS_ONNX_FILE_DATATYPES_H

#include "runtime/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sinter::onnx {

/// The element type of TensorProto.DataType \p dataType, if there is one: not
/// for FLOAT4E2M1, FLOAT8E8M0, UNDEFINED and unknown values.
std::optional<ElementType> elementTypeOf(int32_t dataType);

/// The type of the codes that stand for the elements of \p dataType where the
/// graph language has no such type (ops/Minifloats.h).
std::optional<ElementType> codeTypeOf(int32_t dataType);
/// elementTypeOf() or codeTypeOf().
std::optional<ElementType> storedTypeOf(int32_t dataType);

/// TensorProto.DataType of \p type; nothing for the two 8-bit floats that ONNX
/// lacks.
std::optional<int32_t> dataTypeOf(ElementType type);

/// "FLOAT", or "data type 99".
std::string dataTypeName(int32_t dataType);

/// The typed field of TensorProto (4 for float_data, ...) that may hold
/// elements of this type, 0 if there is none.
uint32_t typedFieldOf(int32_t dataType);

/// Elements that share one byte in a file: 2 for 4-bit types, 4 for 2-bit ones,
/// else 1. The first element has the lowest bits.
unsigned elementsPerByte(ElementType type);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_DATATYPES_H
