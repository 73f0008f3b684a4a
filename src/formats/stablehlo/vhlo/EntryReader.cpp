//===- EntryReader.cpp - the attributes and types of a bytecode file ------===//

#include "formats/stablehlo/vhlo/EntryReader.h"

#include "formats/stablehlo/vhlo/TensorBytes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter::vhlo {

EntryReader::EntryReader(const BytecodeFile &file, MLIRContext *context,
                         std::shared_ptr<const void> owner)
    : file(file), context(context), owner(std::move(owner)),
      attributes(file.attributes().size()), types(file.types().size()) {}

bool EntryReader::fail(ErrorKind kind, const Twine &message) {
  if (!firstError)
    firstError = Error{kind, message.str()};
  return false;
}

bool EntryReader::broken(const char *what) {
  return fail(ErrorKind::InvalidModel, Twine("has a broken ") + what);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

bool EntryReader::resolve(ArrayRef<BytecodeFile::Entry> entries,
                          std::vector<Decoded> &decoded, uint64_t index,
                          bool isType) {
  constexpr unsigned deepest = 200;
  constexpr uint64_t heaviest = 1 << 20;
  if (index >= entries.size())
    return broken("reference to an attribute or a type");
  Decoded &entry = decoded[index];
  if (entry.state == Decoded::Open)
    return fail(ErrorKind::InvalidModel,
                "has an attribute or a type that holds itself");
  if (entry.state == Decoded::New) {
    if (depth >= deepest)
      return fail(ErrorKind::InvalidModel,
                  "nests attributes or types more than " + Twine(deepest) +
                      " deep");
    entry.state = Decoded::Open;
    const uint64_t outer = std::exchange(weight, 1);
    ++depth;
    const bool good = decode(entries[index], entry, isType);
    --depth;
    entry.weight = std::exchange(weight, outer);
    if (!good)
      return false;
    if (entry.state == Decoded::Open)
      entry.state = Decoded::Done;
  }
  weight += entry.weight;
  if (weight > heaviest)
    return fail(ErrorKind::InvalidModel,
                "has an attribute or a type of more than " + Twine(heaviest) +
                    " elements");
  return true;
}

bool EntryReader::decode(const BytecodeFile::Entry &entry, Decoded &result,
                         bool isType) {
  if (!entry.isEncoded)
    return decodeText(entry, result, isType);
  ByteReader reader(entry.bytes);
  const bool isVersioned = entry.dialect == "vhlo";
  if (entry.dialect == "sdy" && !isType) {
    result.attribute = shardyAttribute(reader);
    if (!result.attribute)
      result.state = Decoded::Foreign;
    return !firstError;
  }
  if (!isVersioned && entry.dialect != "builtin") {
    result.state = Decoded::Foreign;
    return true;
  }
  if (isType)
    result.type = isVersioned ? versionedType(reader) : builtinType(reader);
  else
    result.attribute =
        isVersioned ? versionedAttribute(reader) : builtinAttribute(reader);
  if (firstError)
    return false;
  if ((!result.type && !result.attribute) || !reader.empty())
    return broken(isType ? "type" : "attribute");
  return true;
}

/// The nesting depth of brackets in \p text.
static unsigned nestingOf(StringRef text) {
  unsigned depth = 0, deepest = 0;
  for (char letter : text) {
    if (StringRef("([{<").contains(letter))
      deepest = std::max(deepest, ++depth);
    else if (depth > 0 && StringRef(")]}>").contains(letter))
      --depth;
  }
  return deepest;
}

bool EntryReader::decodeText(const BytecodeFile::Entry &entry, Decoded &result,
                             bool isType) {
  constexpr unsigned deepest = 100;
  ByteReader reader(entry.bytes);
  StringRef text;
  if (!reader.text(text) || !reader.empty() || nestingOf(text) > deepest)
    return broken("attribute or type in text form");
  // Attributes of unknown dialects are kept as text. Attributes without a text
  // form are foreign, which is no error.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  const bool allowed = context->allowsUnregisteredDialects();
  context->allowUnregisteredDialects(true);
  size_t length = 0;
  if (isType)
    result.type = parseType(text, context, &length);
  else
    result.attribute = parseAttribute(text, context, Type(), &length);
  context->allowUnregisteredDialects(allowed);
  if ((!result.type && !result.attribute) || length != text.size()) {
    result = Decoded();
    result.state = Decoded::Foreign;
  }
  return true;
}

Attribute EntryReader::attribute(uint64_t index) {
  if (!resolve(file.attributes(), attributes, index, /*isType=*/false))
    return {};
  return attributes[index].attribute;
}

Type EntryReader::type(uint64_t index) {
  if (!resolve(file.types(), types, index, /*isType=*/true))
    return {};
  if (!types[index].type)
    fail(ErrorKind::Unsupported,
         "has a type of the dialect '" + file.types()[index].dialect + "'");
  return types[index].type;
}

LocationAttr EntryReader::location(uint64_t index) {
  const Attribute found = attribute(index);
  if (firstError)
    return {};
  // An unknown kind of location.
  if (!found)
    return UnknownLoc::get(context);
  auto location = dyn_cast<LocationAttr>(found);
  if (!location)
    broken("location");
  return location;
}

//===----------------------------------------------------------------------===//
// Attributes and types of VHLO
//===----------------------------------------------------------------------===//

Attribute EntryReader::versionedAttribute(ByteReader &reader) {
  uint64_t code;
  if (!reader.number(code))
    return {};
  const CodeRow *row = findAttributeCode(code);
  if (!row) {
    fail(ErrorKind::Unsupported, "has an attribute with the code " +
                                     Twine(code) + ", which StableHLO " +
                                     currentVersion.str() + " does not know");
    return {};
  }
  SmallVector<Attribute> all;
  return fields(*row, reader, all) ? VersionedAttr::get(context, code, all)
                                   : VersionedAttr();
}

Type EntryReader::versionedType(ByteReader &reader) {
  uint64_t code;
  if (!reader.number(code))
    return {};
  const CodeRow *row = findTypeCode(code);
  if (!row) {
    fail(ErrorKind::Unsupported, "has a type with the code " + Twine(code) +
                                     ", which StableHLO " +
                                     currentVersion.str() + " does not know");
    return {};
  }
  SmallVector<Attribute> all;
  return fields(*row, reader, all) ? VersionedType::get(context, code, all)
                                   : VersionedType();
}

bool EntryReader::fields(const CodeRow &row, ByteReader &reader,
                         SmallVectorImpl<Attribute> &fields) {
  for (char kind : StringRef(row.fields)) {
    fields.push_back(field(kind, reader, fields));
    if (!fields.back())
      return false;
  }
  return true;
}

Attribute EntryReader::field(char kind, ByteReader &reader,
                             ArrayRef<Attribute> before) {
  Builder builder(context);
  const auto typeBefore = [&] {
    return cast<TypeAttr>(before.back()).getValue();
  };
  switch (kind) {
  case 'v': {
    uint64_t value;
    return reader.number(value) ? builder.getI64IntegerAttr(value)
                                : Attribute();
  }
  case 'z': {
    int64_t value;
    return reader.signedNumber(value) ? builder.getI64IntegerAttr(value)
                                      : Attribute();
  }
  case 'd':
    return floating(reader, builder.getF64Type());
  case 'F':
  case 'I': {
    const Type type = fromVersioned(typeBefore(), translator);
    if (!type) {
      fail(ErrorKind::Unsupported, "cannot be read: " + translator.problem);
      return {};
    }
    return kind == 'F' ? floating(reader, type) : integer(reader, type);
  }
  case 'Z': {
    SmallVector<int64_t> values;
    return signedNumbers(reader, values) ? builder.getDenseI64ArrayAttr(values)
                                         : Attribute();
  }
  case 'D': {
    uint64_t count;
    SmallVector<double> values;
    if (!reader.count(count))
      return {};
    while (values.size() < count) {
      const Attribute value = floating(reader, builder.getF64Type());
      if (!value)
        return {};
      values.push_back(cast<FloatAttr>(value).getValueAsDouble());
    }
    return builder.getDenseF64ArrayAttr(values);
  }
  case 'S':
    return string(reader);
  case 'T': {
    const Type type = referredType(reader);
    return type ? TypeAttr::get(type) : Attribute();
  }
  case 'L': {
    SmallVector<Type> all;
    return referredTypes(reader, all) ? builder.getTypeArrayAttr(all)
                                      : Attribute();
  }
  case 'A':
    return referredAttribute(reader);
  case 'O': {
    uint64_t isThere;
    if (!reader.number(isThere))
      return {};
    return isThere ? referredAttribute(reader) : builder.getUnitAttr();
  }
  case 'Q': {
    uint64_t index;
    bool isThere;
    if (!reader.flagged(index, isThere))
      return {};
    return isThere ? attribute(index) : builder.getUnitAttr();
  }
  case 'M': {
    SmallVector<Attribute> all;
    return referredAttributes(reader, all) ? builder.getArrayAttr(all)
                                           : Attribute();
  }
  case 'P': {
    SmallVector<Attribute> flat;
    return pairs(reader, flat) ? builder.getArrayAttr(flat) : Attribute();
  }
  case 'B':
    return tensor(reader, typeBefore());
  default:
    return {};
  }
}

Attribute EntryReader::tensor(ByteReader &reader, Type versioned) {
  uint64_t size;
  ArrayRef<uint8_t> bytes;
  if (!reader.number(size) || !reader.take(size, bytes))
    return {};
  const Type type = fromVersioned(versioned, translator);
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  if (!shaped) {
    fail(type ? ErrorKind::InvalidModel : ErrorKind::Unsupported,
         type ? Twine("has a constant that is no tensor")
              : "cannot be read: " + translator.problem);
    return {};
  }
  std::string problem;
  ElementsAttr elements = elementsOf(
      shaped, {reinterpret_cast<const char *>(bytes.data()), bytes.size()},
      owner, problem);
  if (!elements)
    fail(ErrorKind::InvalidModel, "has a constant that " + problem);
  return elements;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

Attribute EntryReader::referredAttribute(ByteReader &reader) {
  uint64_t index;
  if (!reader.number(index))
    return {};
  const Attribute found = attribute(index);
  if (!found && !firstError)
    fail(ErrorKind::Unsupported, "has an attribute of the dialect '" +
                                     file.attributes()[index].dialect + "'");
  return found;
}

bool EntryReader::referredAttributes(ByteReader &reader,
                                     SmallVectorImpl<Attribute> &all) {
  uint64_t count;
  if (!reader.count(count))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    all.push_back(referredAttribute(reader));
    if (!all.back())
      return false;
  }
  return true;
}

bool EntryReader::pairs(ByteReader &reader, SmallVectorImpl<Attribute> &flat) {
  uint64_t count;
  if (!reader.count(count))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    const Attribute name = referredAttribute(reader);
    uint64_t index;
    if (!name || !reader.number(index))
      return false;
    const Attribute value = attribute(index);
    if (firstError)
      return false;
    if (value)
      flat.append({name, value});
  }
  return true;
}

Type EntryReader::referredType(ByteReader &reader) {
  uint64_t index;
  return reader.number(index) ? type(index) : Type();
}

bool EntryReader::referredTypes(ByteReader &reader,
                                SmallVectorImpl<Type> &types) {
  uint64_t count;
  if (!reader.count(count))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    types.push_back(referredType(reader));
    if (!types.back())
      return false;
  }
  return true;
}

bool EntryReader::signedNumbers(ByteReader &reader,
                                SmallVectorImpl<int64_t> &values) {
  uint64_t count;
  if (!reader.count(count))
    return false;
  values.resize(count);
  return llvm::all_of(
      values, [&](int64_t &value) { return reader.signedNumber(value); });
}

StringAttr EntryReader::string(ByteReader &reader) {
  uint64_t index;
  if (!reader.number(index) || index >= file.strings().size())
    return {};
  return StringAttr::get(context, file.strings()[index]);
}

Attribute EntryReader::integer(ByteReader &reader, Type type) {
  const bool isIndex = isa_and_nonnull<IndexType>(type);
  auto integerType = dyn_cast_or_null<IntegerType>(type);
  if (!isIndex && (!integerType || integerType.getWidth() > 64))
    return {};
  const unsigned width = isIndex ? 64 : integerType.getWidth();
  // Small ones are a byte, others a signed varint.
  int64_t value;
  if (width <= 8) {
    uint8_t byte;
    if (!reader.byte(byte))
      return {};
    value = byte;
  } else if (!reader.signedNumber(value)) {
    return {};
  }
  return IntegerAttr::get(type,
                          APInt(64, static_cast<uint64_t>(value)).trunc(width));
}

Attribute EntryReader::floating(ByteReader &reader, Type type) {
  auto floatType = dyn_cast_or_null<FloatType>(type);
  if (!floatType || floatType.getWidth() > 64)
    return {};
  const unsigned width = floatType.getWidth();
  int64_t bits;
  if (width <= 8) {
    uint8_t byte;
    if (!reader.byte(byte))
      return {};
    bits = byte;
  } else if (!reader.signedNumber(bits)) {
    return {};
  }
  return FloatAttr::get(
      type, APFloat(floatType.getFloatSemantics(),
                    APInt(64, static_cast<uint64_t>(bits)).trunc(width)));
}

} // namespace sinter::vhlo
