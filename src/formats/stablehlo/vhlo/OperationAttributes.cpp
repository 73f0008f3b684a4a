//===- OperationAttributes.cpp - an operation's attributes, by its row ----===//

#include "formats/stablehlo/vhlo/Conversion.h"
#include "formats/stablehlo/vhlo/Structures.h"
#include "formats/stablehlo/vhlo/TensorBytes.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter::vhlo {

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

/// \p attribute as tensor elements; null for others.
static ElementsAttr elementsIn(Attribute attribute) {
  const VersionedAttr tensor = asVersioned(attribute, code::Tensor);
  return tensor ? dyn_cast<ElementsAttr>(tensor.field(1)) : ElementsAttr();
}

/// The rank of an operation's window; 0 if it has none.
static int64_t windowRank(const NamedAttrList &all) {
  for (const char *name : {"input_spatial_dimensions", "window_dimensions"})
    if (ElementsAttr dims = elementsIn(all.get(name)))
      return dims.getNumElements();
  return 0;
}

/// Whether the operation's calling convention is the typed one.
static bool isTypedCall(const NamedAttrList &all) {
  constexpr int64_t typedInterface = 4;
  const VersionedAttr version =
      asVersioned(all.get("api_version"), code::CustomCallApiVersion);
  return version && version.number() == typedInterface;
}

/// StableHLO's attribute for a default, to be translated.
static Attribute plainDefault(Default value, Builder builder, int64_t rank) {
  MLIRContext *context = builder.getContext();
  switch (value) {
  case Default::False:
    return builder.getBoolAttr(false);
  case Default::Zero:
    return builder.getI64IntegerAttr(0);
  case Default::MinusOne:
    return builder.getI64IntegerAttr(-1);
  case Default::EmptyString:
    return builder.getStringAttr("");
  case Default::EmptyArray:
  case Default::Layouts:
    return builder.getArrayAttr({});
  case Default::EmptyDict:
    return builder.getDictionaryAttr({});
  case Default::EmptyDims:
    return builder.getI64TensorAttr({});
  case Default::Ones:
    return builder.getI64TensorAttr(SmallVector<int64_t>(rank, 1));
  case Default::Falses:
    return DenseElementsAttr::get(
        RankedTensorType::get({rank}, builder.getI1Type()),
        ArrayRef(SmallVector<bool>(rank, false)));
  case Default::NoPadding:
    return DenseElementsAttr::get(
        RankedTensorType::get({rank, 2}, builder.getI64Type()),
        ArrayRef(SmallVector<int64_t>(2 * rank, 0)));
  case Default::NoneType:
    return TypeAttr::get(NoneType::get(context));
  case Default::Precision:
    return builder.getArrayAttr(SmallVector<Attribute>(
        2,
        stablehlo::PrecisionAttr::get(context, stablehlo::Precision::DEFAULT)));
  case Default::Accuracy:
    return stablehlo::ResultAccuracyAttr::get(
        context, APFloat(0.0), APFloat(0.0), 0,
        stablehlo::ResultAccuracyModeAttr::get(
            context, stablehlo::ResultAccuracyMode::DEFAULT));
  case Default::NoCompareType:
    return stablehlo::ComparisonTypeAttr::get(
        context, stablehlo::ComparisonType::NOTYPE);
  default:
    return {};
  }
}

Attribute versionedDefault(Default value, MLIRContext *context,
                           const NamedAttrList &all, int64_t rank) {
  constexpr int64_t originalInterface = 1;
  Builder builder(context);
  if (value == Default::OriginalApi)
    return VersionedAttr::get(context, code::CustomCallApiVersion,
                              {builder.getI64IntegerAttr(originalInterface)});
  if (value == Default::Config)
    value = isTypedCall(all) ? Default::EmptyDict : Default::EmptyString;
  const Attribute plain =
      plainDefault(value, builder, rank < 0 ? windowRank(all) : rank);
  Translator translator;
  return plain ? toVersioned(plain, translator) : Attribute();
}

/// Whether all elements, i64 or i1, are \p value.
static bool isAll(Attribute attribute, int64_t value) {
  const ElementsAttr elements = elementsIn(attribute);
  if (!elements || !elements.getElementType().isInteger())
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  return dense &&
         llvm::all_of(dense.getValues<APInt>(), [&](const APInt &element) {
           return element == APInt(element.getBitWidth(), value);
         });
}

static bool isEmptyList(Attribute attribute, code::Attribute code) {
  const VersionedAttr list = asVersioned(attribute, code);
  return list && list.list().empty();
}

static bool isEmptyString(Attribute attribute) {
  const VersionedAttr text = asVersioned(attribute, code::String);
  return text && cast<StringAttr>(text.field(0)).empty();
}

static bool isInteger(Attribute attribute, int64_t value) {
  const VersionedAttr integer = asVersioned(attribute, code::Integer);
  return integer &&
         cast<IntegerAttr>(integer.field(1)).getValue().getSExtValue() == value;
}

bool isDefault(Attribute attribute, Default value, const NamedAttrList &all) {
  switch (value) {
  case Default::None:
    return false;
  case Default::Zero:
    return isInteger(attribute, 0);
  case Default::MinusOne:
    return isInteger(attribute, -1);
  case Default::EmptyDims: {
    const ElementsAttr elements = elementsIn(attribute);
    return elements && elements.getNumElements() == 0;
  }
  case Default::Ones:
    return isAll(attribute, 1);
  case Default::Falses:
  case Default::NoPadding:
    return isAll(attribute, 0);
  case Default::Config:
    return isEmptyString(attribute) || isEmptyList(attribute, code::Dictionary);
  case Default::Layouts:
    return isEmptyList(all.get("operand_layouts"), code::Array) &&
           isEmptyList(all.get("result_layouts"), code::Array);
  case Default::Precision: {
    const VersionedAttr list = asVersioned(attribute, code::Array);
    return list && llvm::all_of(list.list(), [](Attribute one) {
             const VersionedAttr precision = asVersioned(one, code::Precision);
             return precision && precision.number() == 0;
           });
  }
  default:
    return attribute == versionedDefault(value, attribute.getContext(), all);
  }
}

//===----------------------------------------------------------------------===//
// To VHLO
//===----------------------------------------------------------------------===//

/// One attribute of an operation.
static Attribute translate(const AttributeRow &row, Attribute attribute,
                           Translator &translator) {
  Builder builder(attribute.getContext());
  if (row.translation == Translation::Mark)
    return toVersioned(builder.getBoolAttr(true), translator);
  if (row.translation == Translation::Api)
    if (auto number = dyn_cast<IntegerAttr>(attribute))
      return VersionedAttr::get(attribute.getContext(),
                                code::CustomCallApiVersion,
                                {builder.getI64IntegerAttr(number.getInt())});
  return toVersioned(attribute, translator);
}

/// Appends the members of a structure to \p versioned.
static bool splitStructure(const Structure &structure, Attribute attribute,
                           MLIRContext *context, NamedAttrList &versioned,
                           Translator &translator) {
  const SmallVector<Attribute> fields =
      attribute ? structure.take(attribute) : structure.absent(context);
  if (fields.empty()) {
    translator.problem = "its " + structure.attribute.str() +
                         (attribute ? " is of the wrong kind" : " is missing");
    return false;
  }
  for (auto [member, field] : llvm::zip_equal(structure.members, fields)) {
    const Attribute value = toVersioned(field, translator);
    if (!value)
      return false;
    versioned.append(member.name, value);
  }
  return true;
}

bool toVersioned(const OperationRow &row, DictionaryAttr attributes,
                 NamedAttrList &versioned, NamedAttrList &others,
                 Translator &translator) {
  MLIRContext *context = attributes.getContext();
  llvm::SmallDenseSet<StringRef> known;
  for (StringRef name : row.structures) {
    const Structure *structure = findStructure(name);
    known.insert(structure->attribute);
    if (!splitStructure(*structure, attributes.get(structure->attribute),
                        context, versioned, translator))
      return false;
  }
  SmallVector<const AttributeRow *> missing;
  for (const AttributeRow &attribute : row.attributes) {
    if (attribute.translation == Translation::Member)
      continue;
    known.insert(attribute.name);
    const Attribute value = attributes.get(attribute.name);
    if (!value) {
      missing.push_back(&attribute);
      continue;
    }
    const Attribute translated = translate(attribute, value, translator);
    if (!translated)
      return false;
    versioned.append(attribute.name, translated);
  }
  // Defaults may depend on the attributes that are present.
  for (const AttributeRow *attribute : missing) {
    const Attribute value =
        versionedDefault(attribute->value, context, versioned);
    if (!value) {
      translator.problem = "its " + attribute->name.str() + " is missing";
      return false;
    }
    versioned.append(attribute->name, value);
  }
  for (NamedAttribute attribute : attributes) {
    if (known.contains(attribute.getName().getValue()))
      continue;
    const Attribute value = toVersioned(attribute.getValue(), translator);
    if (!value)
      return false;
    others.append(attribute.getName(), value);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// From VHLO
//===----------------------------------------------------------------------===//

/// A tensor's i64 or i1 elements as an array; null for anything else.
static Attribute arrayOf(Attribute attribute, bool isFlags) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(elementsIn(attribute));
  if (!elements || elements.getType().getRank() != 1 ||
      !elements.getElementType().isSignlessInteger(isFlags ? 1 : 64))
    return {};
  Builder builder(attribute.getContext());
  if (isFlags)
    return builder.getDenseBoolArrayAttr(
        SmallVector<bool>(elements.getValues<bool>()));
  return builder.getDenseI64ArrayAttr(
      SmallVector<int64_t>(elements.getValues<int64_t>()));
}

static Attribute symbolOf(Attribute attribute) {
  const VersionedAttr text = asVersioned(attribute, code::String);
  if (!text || cast<StringAttr>(text.field(0)).empty())
    return {};
  return FlatSymbolRefAttr::get(cast<StringAttr>(text.field(0)));
}

static Attribute symbolsOf(Attribute attribute) {
  const VersionedAttr list = asVersioned(attribute, code::Array);
  if (!list)
    return {};
  SmallVector<Attribute> symbols;
  for (Attribute one : list.list()) {
    symbols.push_back(symbolOf(one));
    if (!symbols.back())
      return {};
  }
  return ArrayAttr::get(attribute.getContext(), symbols);
}

/// One attribute of an operation. Null without a problem if it is left out.
static Attribute translateBack(const AttributeRow &row, Attribute attribute,
                               Translator &translator) {
  Builder builder(attribute.getContext());
  Attribute result;
  switch (row.translation) {
  case Translation::Dims:
    result = arrayOf(attribute, /*isFlags=*/false);
    break;
  case Translation::Flags:
    result = arrayOf(attribute, /*isFlags=*/true);
    break;
  case Translation::Mark:
    // False is its default.
    if (asVersioned(attribute, code::Boolean))
      result = builder.getUnitAttr();
    break;
  case Translation::Symbol:
    result = symbolOf(attribute);
    break;
  case Translation::Symbols:
    result = symbolsOf(attribute);
    break;
  case Translation::Api:
    if (auto api = asVersioned(attribute, code::CustomCallApiVersion))
      result = builder.getI32IntegerAttr(api.number());
    break;
  case Translation::Plain:
  case Translation::Member:
    result = fromVersioned(attribute, translator);
    break;
  }
  if (!result && translator.problem.empty())
    translator.problem = "its " + row.name.str() + " makes no sense";
  return result;
}

/// A member as a field of its kind; null if it is of another kind.
static Attribute fieldOf(const Member &member, Attribute attribute,
                         Translator &translator) {
  switch (member.kind) {
  case MemberKind::Dims:
    return arrayOf(attribute, /*isFlags=*/false);
  case MemberKind::Int: {
    const VersionedAttr integer = asVersioned(attribute, code::Integer);
    auto value = integer ? cast<IntegerAttr>(integer.field(1)) : IntegerAttr();
    return value && value.getType().isSignlessInteger(64) ? value
                                                          : IntegerAttr();
  }
  case MemberKind::Type:
    return dyn_cast_or_null<TypeAttr>(fromVersioned(attribute, translator));
  case MemberKind::Bool:
    return dyn_cast_or_null<BoolAttr>(fromVersioned(attribute, translator));
  }
  return {};
}

/// Builds a structure from its members, unless these mean that it is absent.
static bool buildStructure(const Structure &structure, const NamedAttrList &all,
                           MLIRContext *context, NamedAttrList &attributes,
                           Translator &translator) {
  Translator forDefaults;
  const SmallVector<Attribute> absent = structure.absent(context);
  bool isAbsent = !absent.empty();
  for (size_t index = 0; isAbsent && index < absent.size(); ++index)
    isAbsent = all.get(structure.members[index].name) ==
               toVersioned(absent[index], forDefaults);
  if (isAbsent)
    return true;
  SmallVector<Attribute> fields;
  for (const Member &member : structure.members) {
    const Attribute value = all.get(member.name);
    fields.push_back(value ? fieldOf(member, value, translator) : Attribute());
    if (fields.back())
      continue;
    if (translator.problem.empty())
      translator.problem =
          "its " + member.name.str() + " is missing or makes no sense";
    return false;
  }
  attributes.append(structure.attribute, structure.make(context, fields));
  return true;
}

bool fromVersioned(const OperationRow &row, const NamedAttrList &all,
                   NamedAttrList &attributes, Translator &translator) {
  if (row.attributes.empty() && all.empty())
    return true;
  MLIRContext *context = nullptr;
  if (!all.empty())
    context = all.begin()->getName().getContext();
  llvm::SmallDenseSet<StringRef> known;
  for (const AttributeRow &attribute : row.attributes) {
    known.insert(attribute.name);
    const Attribute value = all.get(attribute.name);
    if (!value) {
      translator.problem = "its " + attribute.name.str() + " is missing";
      return false;
    }
    if (attribute.translation == Translation::Member ||
        isDefault(value, attribute.value, all))
      continue;
    const Attribute translated = translateBack(attribute, value, translator);
    if (!translated)
      return false;
    attributes.append(attribute.name, translated);
  }
  for (StringRef name : row.structures)
    if (!buildStructure(*findStructure(name), all, context, attributes,
                        translator))
      return false;
  for (NamedAttribute attribute : all) {
    if (known.contains(attribute.getName().getValue()))
      continue;
    const Attribute value = fromVersioned(attribute.getValue(), translator);
    if (!value)
      return false;
    attributes.append(attribute.getName(), value);
  }
  return true;
}

} // namespace sinter::vhlo
