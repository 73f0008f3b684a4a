//===- ShardyEntries.cpp - shardings in bytecode --------------------------===//
//
// Codes and fields of the attributes of Shardy's dialect `sdy`, which JAX
// exports beside VHLO in mixed artifacts. They are decoded to the text form
// that graph/sdy keeps. An attribute with an unknown code is foreign.
//
//===----------------------------------------------------------------------===//

#include "formats/stablehlo/vhlo/EntryReader.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

enum Code : uint64_t {
  ManualAxes = 0,
  MeshAxis = 1,
  Mesh = 2,
  SubAxisInfo = 3,
  AxisRef = 4,
  DimensionSharding = 5,
  Sharding = 6,
  ShardingPerValue = 7,
  DimMapping = 8,
  TensorMapping = 9,
  OpShardingRule = 10,
  ShardingWithUnreduced = 15,
  ShardingPerValueWithUnreduced = 16,
  ShardingWithReduction = 17,
};

/// A factor of a sharding rule: i, j, ... z, z_1, z_2, ...
std::string factorName(int64_t factor) {
  constexpr int64_t last = 'z' - 'i';
  return factor <= last ? std::string(1, static_cast<char>('i' + factor))
                        : "z_" + std::to_string(factor - last);
}

/// The fields of one attribute, as text.
class ShardyFields {
public:
  ShardyFields(ByteReader &reader,
               llvm::function_ref<std::optional<std::string>(uint64_t)> textOf,
               ArrayRef<StringRef> strings)
      : reader(reader), textOf(textOf), strings(strings) {}

  bool isGood() const { return good; }

  uint64_t number() {
    uint64_t value = 0;
    good = good && reader.number(value);
    return value;
  }
  int64_t signedNumber() {
    int64_t value = 0;
    good = good && reader.signedNumber(value);
    return value;
  }
  bool boolean() {
    uint8_t byte = 0;
    good = good && reader.byte(byte);
    return byte != 0;
  }
  std::optional<uint64_t> optionalNumber() {
    uint64_t value = 0;
    bool isThere = false;
    good = good && reader.flagged(value, isThere);
    return isThere ? std::optional(value) : std::nullopt;
  }
  std::string quoted() {
    const uint64_t index = number();
    if (!good || index >= strings.size())
      return fail();
    std::string text = "\"";
    llvm::raw_string_ostream stream(text);
    llvm::printEscapedString(strings[index], stream);
    return text + "\"";
  }
  std::string attribute() { return refer(number()); }
  std::string optionalAttribute() {
    const std::optional<uint64_t> index = optionalNumber();
    return index ? refer(*index) : "";
  }
  SmallVector<int64_t> numbers() {
    SmallVector<int64_t> values;
    const uint64_t many = count();
    while (good && values.size() < many)
      values.push_back(signedNumber());
    return values;
  }
  /// A list of attributes, with \p separator between them.
  std::string list(StringRef separator = ", ") {
    std::string text;
    const uint64_t many = count();
    for (uint64_t i = 0; good && i < many; ++i)
      text += (i ? separator.str() : "") + attribute();
    // Shared references can expand beyond the file's size.
    constexpr size_t longest = 1 << 20;
    return text.size() > longest ? fail() : text;
  }
  /// `, name={...}`, or nothing if the list is empty.
  std::string namedList(StringRef name) {
    const std::string text = list();
    return text.empty() ? "" : (", " + name + "={" + text + "}").str();
  }

private:
  std::string fail() {
    good = false;
    return {};
  }
  uint64_t count() {
    uint64_t value = 0;
    good = good && reader.count(value);
    return value;
  }
  std::string refer(uint64_t index) {
    std::optional<std::string> text =
        good ? textOf(index) : std::optional<std::string>();
    return text ? std::move(*text) : fail();
  }

  ByteReader &reader;
  llvm::function_ref<std::optional<std::string>(uint64_t)> textOf;
  ArrayRef<StringRef> strings;
  bool good = true;
};

std::string factorList(ArrayRef<int64_t> factors) {
  std::string text;
  for (int64_t factor : factors)
    text += (text.empty() ? "" : ", ") + factorName(factor);
  return text;
}

std::string dimensionSharding(ShardyFields &fields) {
  std::string text = "{" + fields.list();
  if (!fields.boolean())
    text += text.size() > 1 ? ", ?" : "?";
  text += "}";
  if (const std::optional<uint64_t> priority = fields.optionalNumber())
    text += "p" + std::to_string(*priority);
  return text;
}

std::string sharding(ShardyFields &fields, uint64_t code) {
  std::string text = "sharding<" + fields.attribute();
  text += ", [" + fields.list() + "]";
  text += fields.namedList("replicated");
  if (code == Sharding)
    return text + ">";
  const std::string unreduced = fields.list();
  const int64_t reduction =
      code == ShardingWithReduction ? fields.signedNumber() : 0;
  if (!unreduced.empty())
    text += std::string(", unreduced=") +
            (reduction == 1   ? "max"
             : reduction == 2 ? "min"
                              : "") +
            "{" + unreduced + "}";
  return text + ">";
}

std::string mesh(ShardyFields &fields) {
  std::string text = "mesh<[" + fields.list() + "]";
  std::string devices;
  for (int64_t device : fields.numbers())
    devices += (devices.empty() ? "" : ", ") + std::to_string(device);
  if (!devices.empty())
    text += ", device_ids=[" + devices + "]";
  return text + ">";
}

std::string shardingRule(ShardyFields &fields) {
  std::string sizes;
  for (auto [factor, size] : llvm::enumerate(fields.numbers()))
    sizes +=
        (factor ? ", " : "") + factorName(factor) + "=" + std::to_string(size);
  const std::string operands = fields.list(), results = fields.list();
  std::string text = "op_sharding_rule<(" + operands + ")->(" + results + ")";
  if (!sizes.empty())
    text += " {" + sizes + "}";
  for (const char *kind :
       {"reduction", "need_replication", "permutation", "blocked_propagation"})
    if (const std::string list = factorList(fields.numbers()); !list.empty())
      text += std::string(" ") + kind + "={" + list + "}";
  if (fields.boolean())
    text += ", custom";
  return text + ">";
}

std::string textOf(ShardyFields &fields, uint64_t code) {
  switch (code) {
  case ManualAxes:
    return "manual_axes{" + fields.list() + "}";
  case MeshAxis: {
    const std::string name = fields.quoted();
    return name + "=" + std::to_string(fields.signedNumber());
  }
  case Mesh:
    return mesh(fields);
  case SubAxisInfo: {
    const int64_t before = fields.signedNumber();
    return "(" + std::to_string(before) + ")" +
           std::to_string(fields.signedNumber());
  }
  case AxisRef: {
    const std::string name = fields.quoted(), part = fields.optionalAttribute();
    return part.empty() ? name : name + ":" + part;
  }
  case DimensionSharding:
    return dimensionSharding(fields);
  case Sharding:
  case ShardingWithUnreduced:
  case ShardingWithReduction:
    return sharding(fields, code);
  case ShardingPerValue:
  case ShardingPerValueWithUnreduced:
    return "sharding_per_value<[" + fields.list() + "]>";
  case DimMapping: {
    std::string text;
    for (int64_t factor : fields.numbers())
      text += factorName(factor);
    return text;
  }
  case TensorMapping:
    return "[" + fields.list() + "]";
  case OpShardingRule:
    return shardingRule(fields);
  default:
    return "";
  }
}

} // namespace

Attribute EntryReader::shardyAttribute(ByteReader &reader) {
  const StringAttr dialect = StringAttr::get(context, "sdy");
  // A nested attribute is printed without its name.
  auto inside = [&](uint64_t index) -> std::optional<std::string> {
    const Attribute found = attribute(index);
    std::string text;
    llvm::raw_string_ostream stream(text);
    auto ours = dyn_cast_or_null<OpaqueAttr>(found);
    if (ours && ours.getDialectNamespace() == dialect)
      stream << ours.getAttrData();
    else if (isa_and_nonnull<StringAttr, FlatSymbolRefAttr>(found))
      stream << found;
    else
      return std::nullopt;
    if (StringRef(text).starts_with("sharding<"))
      text = text.substr(strlen("sharding"));
    return text;
  };
  uint64_t code;
  if (!reader.number(code))
    return {};
  ShardyFields fields(reader, inside, file.strings());
  const std::string text = textOf(fields, code);
  if (text.empty() || !fields.isGood() || !reader.empty())
    return {};
  return OpaqueAttr::get(dialect, text, NoneType::get(context));
}

} // namespace sinter::vhlo
