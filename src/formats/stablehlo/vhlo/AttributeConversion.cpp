//===- AttributeConversion.cpp - attributes to and from VHLO --------------===//

#include "formats/stablehlo/vhlo/Conversion.h"
#include "formats/stablehlo/vhlo/TensorBytes.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// An enumeration, whose values are the same in both dialects.
struct EnumRow {
  uint64_t code;
  int64_t first, last;
  std::optional<uint64_t> (*take)(Attribute);
  Attribute (*make)(MLIRContext *, int64_t);
};

template <typename A>
EnumRow enumRow(uint64_t code, int64_t first, int64_t last) {
  using Value = decltype(std::declval<A>().getValue());
  return {code, first, last,
          [](Attribute attribute) -> std::optional<uint64_t> {
            auto known = dyn_cast<A>(attribute);
            if (!known)
              return std::nullopt;
            return static_cast<uint64_t>(known.getValue());
          },
          [](MLIRContext *context, int64_t number) -> Attribute {
            return A::get(context, static_cast<Value>(number));
          }};
}

ArrayRef<EnumRow> enumRows() {
  using namespace stablehlo;
  static const EnumRow rows[] = {
      enumRow<ComparisonDirectionAttr>(code::ComparisonDirection, 0, 5),
      enumRow<ComparisonTypeAttr>(code::ComparisonType, 0, 4),
      enumRow<FftTypeAttr>(code::FftType, 0, 3),
      enumRow<PrecisionAttr>(code::Precision, 0, 2),
      enumRow<RngAlgorithmAttr>(code::RngAlgorithm, 0, 2),
      enumRow<RngDistributionAttr>(code::RngDistribution, 1, 2),
      enumRow<TransposeAttr>(code::Transpose, 0, 3),
      enumRow<ResultAccuracyModeAttr>(code::ResultAccuracyMode, 0, 2),
  };
  return rows;
}

class AttributeToVersioned {
public:
  AttributeToVersioned(MLIRContext *context, Translator &translator)
      : context(context), builder(context), translator(translator),
        problem(translator.problem) {}

  Attribute operator()(Attribute attribute) {
    return translator.once(attribute,
                           [this](Attribute each) { return convert(each); });
  }

private:
  Attribute convert(Attribute attribute) {
    if (isForeign(attribute))
      return attribute;
    for (const EnumRow &row : enumRows())
      if (std::optional<uint64_t> number = row.take(attribute))
        return make(row.code, {this->number(*number)});
    Attribute result = structured(attribute);
    if (!result)
      result = builtin(attribute);
    if (!result && problem.empty())
      problem =
          "portable artifacts cannot hold the attribute " + textOf(attribute);
    return result;
  }

  /// Attributes of StableHLO.
  Attribute structured(Attribute attribute) {
    using namespace stablehlo;
    if (auto alias = dyn_cast<OutputOperandAliasAttr>(attribute))
      return make(code::OutputOperandAlias,
                  {dims(alias.getOutputTupleIndices()),
                   number(alias.getOperandIndex()),
                   dims(alias.getOperandTupleIndices())});
    if (auto accuracy = dyn_cast<ResultAccuracyAttr>(attribute))
      return make(code::ResultAccuracy,
                  {f64(accuracy.getAtol()), f64(accuracy.getRtol()),
                   number(accuracy.getUlps()), (*this)(accuracy.getMode())});
    if (auto info = dyn_cast<SubAxisInfoAttr>(attribute))
      return make(code::SubAxisInfo,
                  {number(info.getPreSize()), number(info.getSize())});
    if (auto axis = dyn_cast<AxisRefAttr>(attribute))
      return make(code::AxisRef,
                  {string(axis.getName()), optional(axis.getSubAxisInfo())});
    if (auto axis = dyn_cast<MeshAxisAttr>(attribute))
      return make(code::MeshAxis,
                  {string(axis.getName()), number(axis.getSize())});
    if (auto mesh = dyn_cast<MeshAttr>(attribute)) {
      const SmallVector<Attribute> axes(mesh.getAxes().begin(),
                                        mesh.getAxes().end());
      return make(code::Mesh, {array(axes), optional(mesh.getDeviceIds())});
    }
    if (auto groups = dyn_cast<ReplicaGroupMeshAxesAttr>(attribute))
      return make(
          code::ReplicaGroupMeshAxes,
          {(*this)(groups.getMesh()), array(groups.getAxes().getValue())});
    return {};
  }

  Attribute builtin(Attribute attribute) {
    if (auto all = dyn_cast<ArrayAttr>(attribute))
      return array(all.getValue());
    if (auto elements = dyn_cast<ElementsAttr>(attribute))
      return tensor(elements);
    if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
      return tensor(builder.getI64TensorAttr(array.asArrayRef()));
    if (auto array = dyn_cast<DenseBoolArrayAttr>(attribute))
      return tensor(DenseElementsAttr::get(
          RankedTensorType::get({array.size()}, builder.getI1Type()),
          array.asArrayRef()));
    if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
      SmallVector<Attribute> flat;
      for (NamedAttribute entry : dictionary) {
        flat.push_back(string(entry.getName().getValue()));
        flat.push_back((*this)(entry.getValue()));
      }
      return make(code::Dictionary, {list(flat)});
    }
    if (auto value = dyn_cast<FloatAttr>(attribute))
      return make(code::Float, {type(value.getType()), value});
    if (auto value = dyn_cast<BoolAttr>(attribute))
      return make(code::Boolean, {number(value.getValue())});
    if (auto value = dyn_cast<IntegerAttr>(attribute))
      return make(code::Integer, {type(value.getType()), value});
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute))
      return string(symbol.getValue());
    if (auto text = dyn_cast<StringAttr>(attribute))
      return isa<NoneType>(text.getType()) ? string(text.getValue())
                                           : Attribute();
    if (auto value = dyn_cast<TypeAttr>(attribute))
      return make(code::TypeOf, {type(value.getValue())});
    return {};
  }

  Attribute tensor(ElementsAttr elements) {
    return make(code::Tensor,
                {type(elements.getType()), artifactBytes(elements)});
  }

  /// Null if a field is.
  Attribute make(uint64_t code, ArrayRef<Attribute> fields) {
    if (llvm::is_contained(fields, Attribute()))
      return {};
    return VersionedAttr::get(context, code, fields);
  }
  Attribute type(Type type) {
    const Type versioned = toVersioned(type, translator);
    return versioned ? TypeAttr::get(versioned) : Attribute();
  }
  /// A field that is a list of attributes of VHLO.
  Attribute list(ArrayRef<Attribute> versioned) {
    if (llvm::is_contained(versioned, Attribute()))
      return {};
    return builder.getArrayAttr(versioned);
  }
  Attribute array(ArrayRef<Attribute> attributes) {
    return make(code::Array,
                {list(llvm::map_to_vector(
                    attributes, [&](Attribute one) { return (*this)(one); }))});
  }
  Attribute string(StringRef text) {
    return make(code::String, {builder.getStringAttr(text)});
  }
  Attribute optional(Attribute attribute) {
    return attribute ? (*this)(attribute) : builder.getUnitAttr();
  }
  Attribute dims(ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }
  Attribute f64(APFloat value) {
    bool loses;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return FloatAttr::get(builder.getF64Type(), value);
  }

  MLIRContext *context;
  Builder builder;
  Translator &translator;
  std::string &problem;
};

class AttributeFromVersioned {
public:
  AttributeFromVersioned(MLIRContext *context, Translator &translator)
      : context(context), builder(context), translator(translator),
        problem(translator.problem) {}

  Attribute operator()(Attribute attribute) {
    return translator.once(attribute,
                           [this](Attribute each) { return convert(each); });
  }

private:
  Attribute convert(Attribute attribute) {
    auto versioned = dyn_cast<VersionedAttr>(attribute);
    // An attribute of another dialect beside VHLO.
    if (!versioned)
      return attribute;
    for (const EnumRow &row : enumRows())
      if (row.code == versioned.code()) {
        const int64_t number = versioned.number();
        if (number >= row.first && number <= row.last)
          return row.make(context, number);
        problem = "there is no case " + std::to_string(number) + " of " +
                  findAttributeCode(row.code)->name.str();
        return {};
      }
    Attribute result = builtin(versioned);
    if (!result)
      result = structured(versioned);
    if (!result && problem.empty())
      problem = "an attribute " +
                findAttributeCode(versioned.code())->name.str() +
                " makes no sense";
    return result;
  }

  Attribute builtin(VersionedAttr attribute) {
    switch (attribute.code()) {
    case code::Array:
      return array(attribute);
    case code::Boolean:
      return builder.getBoolAttr(attribute.number() != 0);
    case code::Dictionary:
      return dictionary(attribute);
    case code::Float:
    case code::Integer:
      return attribute.field(1);
    case code::String:
      return attribute.field(0);
    case code::Tensor:
      return dyn_cast<ElementsAttr>(attribute.field(1));
    case code::TypeOf: {
      const Type type = fromVersioned(attribute.type(), translator);
      return type ? TypeAttr::get(type) : Attribute();
    }
    default:
      return {};
    }
  }

  Attribute structured(VersionedAttr attribute) {
    using namespace stablehlo;
    switch (attribute.code()) {
    case code::OutputOperandAlias:
      return OutputOperandAliasAttr::get(context, dims(attribute.field(0)),
                                         attribute.number(1),
                                         dims(attribute.field(2)));
    case code::ResultAccuracy: {
      auto mode = as<ResultAccuracyModeAttr>(attribute.field(3));
      return mode ? ResultAccuracyAttr::getChecked(
                        complain(), context,
                        cast<FloatAttr>(attribute.field(0)).getValue(),
                        cast<FloatAttr>(attribute.field(1)).getValue(),
                        attribute.number(2), mode)
                  : Attribute();
    }
    case code::SubAxisInfo:
      return SubAxisInfoAttr::get(context, attribute.number(0),
                                  attribute.number(1));
    case code::AxisRef: {
      auto name = as<StringAttr>(attribute.field(0));
      const bool whole = isa<UnitAttr>(attribute.field(1));
      auto info =
          whole ? SubAxisInfoAttr() : as<SubAxisInfoAttr>(attribute.field(1));
      return name && (whole || info)
                 ? AxisRefAttr::get(context, name.getValue(), info)
                 : Attribute();
    }
    case code::MeshAxis: {
      auto name = as<StringAttr>(attribute.field(0));
      return name ? MeshAxisAttr::get(context, name.getValue(),
                                      attribute.number(1))
                  : Attribute();
    }
    case code::Mesh:
      return mesh(attribute);
    case code::ReplicaGroupMeshAxes:
      return groups(attribute);
    default:
      return {};
    }
  }

  Attribute array(VersionedAttr attribute) {
    SmallVector<Attribute> all;
    for (Attribute one : attribute.list()) {
      all.push_back((*this)(one));
      if (!all.back())
        return {};
    }
    return builder.getArrayAttr(all);
  }

  Attribute dictionary(VersionedAttr attribute) {
    NamedAttrList entries;
    const ArrayRef<Attribute> flat = attribute.list();
    for (size_t index = 0; index + 1 < flat.size(); index += 2) {
      auto name = as<StringAttr>(flat[index]);
      const Attribute value = (*this)(flat[index + 1]);
      if (!name || name.empty() || !value)
        return {};
      entries.append(name, value);
    }
    if (entries.findDuplicate())
      return {};
    return entries.getDictionary(context);
  }

  Attribute mesh(VersionedAttr attribute) {
    auto all = as<ArrayAttr>(attribute.field(0));
    if (!all)
      return {};
    SmallVector<stablehlo::MeshAxisAttr> axes;
    for (Attribute axis : all) {
      axes.push_back(dyn_cast<stablehlo::MeshAxisAttr>(axis));
      if (!axes.back())
        return {};
    }
    DenseIntElementsAttr ids;
    if (!isa<UnitAttr>(attribute.field(1))) {
      ids = as<DenseIntElementsAttr>(attribute.field(1));
      if (!ids)
        return {};
    }
    return stablehlo::MeshAttr::get(context, axes, ids);
  }

  Attribute groups(VersionedAttr attribute) {
    Attribute mesh = (*this)(attribute.field(0));
    if (auto name = dyn_cast_or_null<StringAttr>(mesh))
      mesh = FlatSymbolRefAttr::get(name);
    auto axes = as<ArrayAttr>(attribute.field(1));
    if (!mesh || !axes)
      return {};
    return stablehlo::ReplicaGroupMeshAxesAttr::getChecked(complain(), context,
                                                           mesh, axes);
  }

  template <typename A> A as(Attribute versioned) {
    return dyn_cast_or_null<A>((*this)(versioned));
  }
  static ArrayRef<int64_t> dims(Attribute field) {
    return cast<DenseI64ArrayAttr>(field).asArrayRef();
  }
  llvm::unique_function<InFlightDiagnostic()> complain() {
    return [this] { return emitError(UnknownLoc::get(context)); };
  }

  MLIRContext *context;
  Builder builder;
  Translator &translator;
  std::string &problem;
};

} // namespace

bool isForeign(Attribute attribute) {
  // Annotations of other dialects, which VHLO lacks.
  if (isa<UnitAttr>(attribute) ||
      (isa<DenseArrayAttr>(attribute) &&
       !isa<DenseI64ArrayAttr, DenseBoolArrayAttr>(attribute)))
    return true;
  return isa<OpaqueAttr>(attribute) ||
         !isa<BuiltinDialect, stablehlo::StablehloDialect>(
             attribute.getDialect());
}

Attribute toVersioned(Attribute attribute, Translator &translator) {
  return AttributeToVersioned(attribute.getContext(), translator)(attribute);
}

Attribute fromVersioned(Attribute attribute, Translator &translator) {
  return AttributeFromVersioned(attribute.getContext(), translator)(attribute);
}

} // namespace sinter::vhlo
