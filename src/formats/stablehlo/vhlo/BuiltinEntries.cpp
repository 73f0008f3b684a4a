//===- BuiltinEntries.cpp - builtin attributes and types in bytecode ------===//
//
// Codes and fields of MLIR 19's BuiltinDialectBytecode.td, to which later
// versions only add. Supports those that a module's own attributes and
// locations can have; a file with others is unsupported.
//
//===----------------------------------------------------------------------===//

#include "formats/stablehlo/vhlo/EntryReader.h"
#include "formats/stablehlo/vhlo/TensorBytes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

enum AttributeCode : uint64_t {
  Array = 0,
  Dictionary = 1,
  String = 2,
  FlatSymbolRef = 4,
  TypeOf = 6,
  Unit = 7,
  Integer = 8,
  Float = 9,
  CallSiteLocation = 10,
  FileLocation = 11,
  FusedLocation = 12,
  FusedLocationWithMetadata = 13,
  NameLocation = 14,
  UnknownLocation = 15,
  DenseArray = 17,
  DenseElements = 18,
  FileRangeLocation = 22,
};

enum TypeCode : uint64_t {
  IntegerOf = 0,
  IndexOf = 1,
  FunctionOf = 2,
  BF16 = 3,
  F16 = 4,
  F32 = 5,
  F64 = 6,
  ComplexOf = 9,
  NoneOf = 12,
  RankedTensorOf = 13,
  TupleOf = 15,
};

} // namespace

Attribute EntryReader::builtinAttribute(ByteReader &reader) {
  uint64_t code;
  if (!reader.number(code))
    return {};
  switch (code) {
  case Array: {
    SmallVector<Attribute> all;
    return referredAttributes(reader, all) ? ArrayAttr::get(context, all)
                                           : Attribute();
  }
  case Dictionary:
    return builtinDictionary(reader);
  case String:
    return string(reader);
  case FlatSymbolRef: {
    auto name = referred<StringAttr>(reader);
    return name && !name.empty() ? FlatSymbolRefAttr::get(name) : Attribute();
  }
  case TypeOf: {
    const Type type = referredType(reader);
    return type ? TypeAttr::get(type) : Attribute();
  }
  case Unit:
    return UnitAttr::get(context);
  case Integer:
    return integer(reader, referredType(reader));
  case Float:
    return floating(reader, referredType(reader));
  case DenseArray:
    return builtinArray(reader);
  case DenseElements:
    return builtinElements(reader);
  default:
    return builtinLocation(code, reader);
  }
}

Attribute EntryReader::builtinDictionary(ByteReader &reader) {
  SmallVector<Attribute> flat;
  NamedAttrList entries;
  if (!pairs(reader, flat))
    return {};
  for (size_t index = 0; index < flat.size(); index += 2) {
    auto name = dyn_cast<StringAttr>(flat[index]);
    if (!name || name.empty())
      return {};
    entries.append(name, flat[index + 1]);
  }
  return entries.findDuplicate() ? DictionaryAttr()
                                 : entries.getDictionary(context);
}

Attribute EntryReader::builtinArray(ByteReader &reader) {
  const Type element = referredType(reader);
  uint64_t count, size;
  ArrayRef<uint8_t> bytes;
  if (!element || !reader.number(count) || !reader.number(size) ||
      !reader.take(size, bytes))
    return {};
  const bool isNumber =
      element.isF32() || element.isF64() || element.isSignlessInteger(1) ||
      element.isSignlessInteger(8) || element.isSignlessInteger(16) ||
      element.isSignlessInteger(32) || element.isSignlessInteger(64);
  const size_t width =
      isNumber ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 0;
  if (width == 0 || bytes.size() % width != 0 || bytes.size() / width != count)
    return {};
  return DenseArrayAttr::get(
      element, count,
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

Attribute EntryReader::builtinElements(ByteReader &reader) {
  auto type = dyn_cast_or_null<ShapedType>(referredType(reader));
  uint64_t size;
  ArrayRef<uint8_t> bytes;
  if (!type || !reader.number(size) || !reader.take(size, bytes))
    return {};
  std::string problem;
  return elementsOf(
      type, {reinterpret_cast<const char *>(bytes.data()), bytes.size()},
      /*owner=*/nullptr, problem);
}

Attribute EntryReader::builtinLocation(uint64_t code, ByteReader &reader) {
  switch (code) {
  case CallSiteLocation: {
    auto callee = referred<LocationAttr>(reader);
    auto caller = referred<LocationAttr>(reader);
    return callee && caller ? CallSiteLoc::get(callee, caller) : Attribute();
  }
  case FileLocation: {
    auto name = referred<StringAttr>(reader);
    uint64_t line, column;
    if (!name || !reader.number(line) || !reader.number(column))
      return {};
    return FileLineColLoc::get(name, line, column);
  }
  // From LLVM 20 on: the line and column of its start come first.
  case FileRangeLocation: {
    auto name = referred<StringAttr>(reader);
    uint64_t count, position[4] = {};
    if (!name || !reader.count(count) || count > std::size(position))
      return {};
    for (uint64_t i = 0; i < count; ++i)
      if (!reader.number(position[i]))
        return {};
    return FileLineColLoc::get(name, position[0], position[1]);
  }
  case FusedLocation:
  case FusedLocationWithMetadata: {
    uint64_t count;
    SmallVector<Location> all;
    if (!reader.count(count))
      return {};
    for (uint64_t i = 0; i < count; ++i) {
      auto one = referred<LocationAttr>(reader);
      if (!one)
        return {};
      all.push_back(one);
    }
    uint64_t metadata;
    if (code == FusedLocationWithMetadata && !reader.number(metadata))
      return {};
    return FusedLoc::get(all, Attribute(), context);
  }
  case NameLocation: {
    auto name = referred<StringAttr>(reader);
    auto child = referred<LocationAttr>(reader);
    if (!name || !child)
      return {};
    return name.empty() ? Attribute(child) : NameLoc::get(name, child);
  }
  case UnknownLocation:
    return UnknownLoc::get(context);
  default:
    fail(ErrorKind::Unsupported,
         "has a builtin attribute with the code " + Twine(code) +
             ", which portable artifacts have no use for");
    return {};
  }
}

Type EntryReader::builtinType(ByteReader &reader) {
  uint64_t code;
  if (!reader.number(code))
    return {};
  switch (code) {
  case IntegerOf: {
    uint64_t widthAndSign;
    if (!reader.number(widthAndSign))
      return {};
    const uint64_t width = widthAndSign >> 2, sign = widthAndSign & 3;
    if (width == 0 || width > 64 || sign > 2)
      return {};
    return IntegerType::get(
        context, width, static_cast<IntegerType::SignednessSemantics>(sign));
  }
  case IndexOf:
    return IndexType::get(context);
  case FunctionOf: {
    SmallVector<Type> inputs, results;
    return referredTypes(reader, inputs) && referredTypes(reader, results)
               ? FunctionType::get(context, inputs, results)
               : Type();
  }
  case BF16:
    return BFloat16Type::get(context);
  case F16:
    return Float16Type::get(context);
  case F32:
    return Float32Type::get(context);
  case F64:
    return Float64Type::get(context);
  case ComplexOf: {
    const Type element = referredType(reader);
    return isa_and_nonnull<Float32Type, Float64Type>(element)
               ? ComplexType::get(element)
               : Type();
  }
  case NoneOf:
    return NoneType::get(context);
  case RankedTensorOf: {
    SmallVector<int64_t> shape;
    if (!signedNumbers(reader, shape))
      return {};
    const Type element = referredType(reader);
    const bool good = llvm::all_of(shape, [](int64_t size) {
      return size >= 0 || ShapedType::isDynamic(size);
    });
    return good && element && TensorType::isValidElementType(element)
               ? RankedTensorType::get(shape, element)
               : Type();
  }
  case TupleOf: {
    SmallVector<Type> all;
    return referredTypes(reader, all) ? TupleType::get(context, all) : Type();
  }
  default:
    fail(ErrorKind::Unsupported, "has a builtin type with the code " +
                                     Twine(code) +
                                     ", which portable artifacts have no use "
                                     "for");
    return {};
  }
}

} // namespace sinter::vhlo
