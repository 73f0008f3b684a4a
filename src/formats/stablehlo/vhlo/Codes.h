//===- Codes.h - encoding of attributes and types of VHLO -----------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_CODES_H
#define SINTER_FORMATS_STABLEHLO_VHLO_CODES_H

#include "formats/stablehlo/vhlo/Version.h"

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace sinter::vhlo {

/// The codes of attributes and types in a file.
namespace code {
enum Attribute : uint64_t {
  Array = 1,
  Boolean = 2,
  ComparisonDirection = 3,
  ComparisonType = 4,
  CustomCallApiVersion = 5,
  Dictionary = 6,
  FftType = 7,
  Float = 8,
  Integer = 9,
  OutputOperandAlias = 10,
  Precision = 11,
  RngAlgorithm = 12,
  RngDistribution = 13,
  String = 14,
  Tensor = 15,
  Transpose = 16,
  TypeOf = 17,
  TypeExtensions = 18,
  ResultAccuracyMode = 19,
  ResultAccuracy = 20,
  SubAxisInfo = 21,
  AxisRef = 22,
  ReplicaGroupMeshAxes = 23,
  MeshAxis = 24,
  Mesh = 25,
};
enum Type : uint64_t {
  Bool = 0,
  Complex = 1,
  Function = 8,
  Index = 9,
  RankedTensor = 20,
  EncodedTensor = 21,
  Token = 22,
  Tuple = 23,
  Quantized = 24,
  UnrankedTensor = 25,
  QuantizedPerAxis = 30,
  None = 33,
  Buffer = 41,
  Future = 42,
};
} // namespace code

/// One code. Its fields follow it in the file, one letter each:
///
///   v  an unsigned varint          Z  a list of signed varints
///   z  a signed varint             D  a list of f64
///   d  an f64                      S  a string
///   T  a type                      L  a list of types
///   A  an attribute                M  a list of attributes
///   P  a list of attribute pairs   O  a flag, and an attribute if it is set
///   Q  an attribute or none        F  a float of the type before it
///   I  an integer of the type before it
///   B  the bytes of a tensor of the type before it
struct CodeRow {
  uint64_t code;
  llvm::StringRef name;
  Version since;
  const char *fields;
};

/// The row of a code, or null.
const CodeRow *findAttributeCode(uint64_t code);
const CodeRow *findTypeCode(uint64_t code);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_CODES_H
