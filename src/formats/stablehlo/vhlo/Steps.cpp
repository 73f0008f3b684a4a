//===- Steps.cpp - from one version of an operation to the next -----------===//

#include "formats/stablehlo/vhlo/Steps.h"

#include "formats/stablehlo/vhlo/Conversion.h"

using namespace mlir;

namespace sinter::vhlo {

const OperationRow *upgrade(const OperationRow *row, NamedAttrList &attributes,
                            MLIRContext *context) {
  for (; const OperationRow *next = newer(row); row = next) {
    for (const AttributeRow &attribute : row->extra)
      attributes.erase(attribute.name);
    for (const AttributeRow &attribute : row->missing)
      attributes.set(attribute.name,
                     versionedDefault(attribute.value, context, attributes));
  }
  return row;
}

//===----------------------------------------------------------------------===//
// Downgrades
//===----------------------------------------------------------------------===//

static std::string minor(Version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

/// A tensor's element type; null for other types.
static Type elementOf(Type type) {
  auto versioned = dyn_cast<VersionedType>(type);
  if (!versioned)
    return {};
  size_t index;
  switch (versioned.code()) {
  case code::UnrankedTensor:
    index = 0;
    break;
  case code::RankedTensor:
    index = 1;
    break;
  case code::EncodedTensor:
    index = 2;
    break;
  default:
    return {};
  }
  return cast<TypeAttr>(versioned.field(index)).getValue();
}

/// A relaxation of an operation in a version newer than its own.
struct Allowance {
  Version since;
  /// Operations, separated by blanks.
  const char *operations;
  const char *what;
  bool (*uses)(const OperationFacts &, const NamedAttrList &);
};

static bool changesElementType(const OperationFacts &facts,
                               const NamedAttrList &) {
  for (auto [operand, result] : llvm::zip(facts.operands, facts.results))
    if (elementOf(operand) != elementOf(result))
      return true;
  return false;
}

static bool isTyped(const OperationFacts &, const NamedAttrList &attributes) {
  constexpr int64_t typedInterface = 4;
  const VersionedAttr api =
      asVersioned(attributes.get("api_version"), code::CustomCallApiVersion);
  return (api && api.number() == typedInterface) ||
         asVersioned(attributes.get("backend_config"), code::Dictionary);
}

static bool takesFuture(const OperationFacts &facts, const NamedAttrList &) {
  return llvm::any_of(facts.operands, [](Type type) {
    auto versioned = dyn_cast<VersionedType>(type);
    return versioned && versioned.code() == code::Future;
  });
}

static constexpr Allowance allowances[] = {
    {{0, 17},
     "all_reduce reduce reduce_scatter reduce_window scatter "
     "select_and_scatter",
     "a result of another element type than its operand",
     changesElementType},
    {{1, 3}, "custom_call", "a dictionary as its configuration", isTyped},
    {{1, 17}, "custom_call", "operands of type future", takesFuture},
};

static bool isAllowed(const OperationRow *row, Version target,
                      const OperationFacts &facts,
                      const NamedAttrList &attributes, std::string &problem) {
  for (const Allowance &allowance : allowances) {
    SmallVector<StringRef> names;
    StringRef(allowance.operations).split(names, ' ');
    if (target >= allowance.since || !llvm::is_contained(names, row->name) ||
        !allowance.uses(facts, attributes))
      continue;
    problem = "has " + std::string(allowance.what) + ", which needs version " +
              minor(allowance.since);
    return false;
  }
  return true;
}

/// One step down from \p row.
static bool stepDown(const OperationRow *row, const OperationRow *to,
                     const OperationFacts &facts, NamedAttrList &attributes,
                     MLIRContext *context, std::string &problem) {
  const std::string needs = ", which needs version " + minor(row->since);
  for (const AttributeRow &attribute : to->missing) {
    if (!isDefault(attributes.get(attribute.name), attribute.value,
                   attributes)) {
      problem = "has " + attribute.name.str() + needs;
      return false;
    }
    attributes.erase(attribute.name);
  }
  if (to->withoutRegions && facts.regions != 0) {
    problem = "has regions" + needs;
    return false;
  }
  if (to->operands >= 0 && facts.operands.size() != size_t(to->operands)) {
    problem =
        "has " + std::to_string(facts.operands.size()) + " operands" + needs;
    return false;
  }
  for (const AttributeRow &attribute : to->extra)
    attributes.set(attribute.name,
                   versionedDefault(attribute.value, context, attributes));
  return true;
}

const OperationRow *downgrade(const OperationRow *newest, Version target,
                              const OperationFacts &facts,
                              NamedAttrList &attributes, MLIRContext *context,
                              std::string &problem) {
  const OperationRow *row = newest;
  while (row->since > target) {
    const OperationRow *to = older(row);
    if (!to) {
      problem = "needs version " + minor(row->since);
      return nullptr;
    }
    if (!stepDown(row, to, facts, attributes, context, problem))
      return nullptr;
    row = to;
  }
  if (!isAllowed(row, target, facts, attributes, problem))
    return nullptr;
  return row;
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

/// Checks every field that is an attribute or a type, recursively.
static bool areKnown(ArrayRef<Attribute> fields, StringRef kinds,
                     Version target, std::string &problem) {
  for (auto [kind, field] : llvm::zip_equal(kinds, fields)) {
    switch (kind) {
    case 'T':
      if (!isKnown(cast<TypeAttr>(field).getValue(), target, problem))
        return false;
      break;
    case 'L':
      for (Attribute type : cast<ArrayAttr>(field))
        if (!isKnown(cast<TypeAttr>(type).getValue(), target, problem))
          return false;
      break;
    case 'M':
    case 'P':
      for (Attribute attribute : cast<ArrayAttr>(field))
        if (!isKnown(attribute, target, problem))
          return false;
      break;
    case 'A':
    case 'O':
    case 'Q':
      if (!isKnown(field, target, problem))
        return false;
      break;
    default:
      break;
    }
  }
  return true;
}

static bool isRowKnown(const CodeRow *row, ArrayRef<Attribute> fields,
                       const char *what, Version target, std::string &problem) {
  if (row->since > target) {
    problem = "has the " + std::string(what) + " " +
              row->name.substr(0, row->name.rfind("_v")).str() +
              ", which needs version " + minor(row->since);
    return false;
  }
  return areKnown(fields, row->fields, target, problem);
}

bool isKnown(Type type, Version target, std::string &problem) {
  auto versioned = dyn_cast<VersionedType>(type);
  return !versioned || isRowKnown(findTypeCode(versioned.code()),
                                  versioned.fields(), "type", target, problem);
}

bool isKnown(Attribute attribute, Version target, std::string &problem) {
  auto versioned = dyn_cast<VersionedAttr>(attribute);
  if (!versioned && isForeign(attribute) && target < withOtherDialects) {
    problem = "has an attribute of another dialect, which needs version " +
              minor(withOtherDialects);
    return false;
  }
  return !versioned ||
         isRowKnown(findAttributeCode(versioned.code()), versioned.fields(),
                    "attribute", target, problem);
}

} // namespace sinter::vhlo
