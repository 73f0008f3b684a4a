//===- TypeConversion.cpp - types between StableHLO and VHLO --------------===//

#include "formats/stablehlo/vhlo/Conversion.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// A type without fields.
struct Leaf {
  uint64_t code;
  Type (*make)(MLIRContext *);
};

template <typename T> Type simple(MLIRContext *context) {
  return T::get(context);
}
template <unsigned width> Type sInt(MLIRContext *context) {
  return IntegerType::get(context, width);
}
template <unsigned width> Type uInt(MLIRContext *context) {
  return IntegerType::get(context, width, IntegerType::Unsigned);
}

constexpr Leaf leaves[] = {
    {code::Bool, sInt<1>},
    {2, simple<BFloat16Type>},
    {3, simple<Float16Type>},
    {4, simple<Float32Type>},
    {5, simple<Float64Type>},
    {6, simple<Float8E4M3FNType>},
    {7, simple<Float8E5M2Type>},
    {code::Index, simple<IndexType>},
    {10, sInt<4>},
    {11, sInt<8>},
    {12, sInt<16>},
    {13, sInt<32>},
    {14, sInt<64>},
    {15, uInt<4>},
    {16, uInt<8>},
    {17, uInt<16>},
    {18, uInt<32>},
    {19, uInt<64>},
    {code::Token, simple<stablehlo::TokenType>},
    {27, simple<Float8E4M3FNUZType>},
    {28, simple<Float8E5M2FNUZType>},
    {29, simple<Float8E4M3B11FNUZType>},
    {31, sInt<2>},
    {32, uInt<2>},
    {code::None, simple<NoneType>},
    {34, simple<FloatTF32Type>},
    {35, simple<Float8E4M3Type>},
};

/// Builds types of VHLO.
class TypeToVersioned {
public:
  TypeToVersioned(MLIRContext *context, Translator &translator)
      : context(context), builder(context), translator(translator),
        problem(translator.problem) {}

  Type operator()(Type type) {
    return translator.once(type, [this](Type each) { return convert(each); });
  }

private:
  Type convert(Type type) {
    for (const Leaf &leaf : leaves)
      if (leaf.make(context) == type)
        return make(leaf.code, {});
    Type result = compound(type);
    if (!result && problem.empty())
      problem = "portable artifacts have no type " + textOf(type);
    return result;
  }

  Type compound(Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return ranked(tensor);
    if (auto complex = dyn_cast<ComplexType>(type))
      return make(code::Complex, {one(complex.getElementType())});
    if (auto function = dyn_cast<FunctionType>(type))
      return make(code::Function,
                  {list(function.getInputs()), list(function.getResults())});
    if (auto tuple = dyn_cast<TupleType>(type))
      return make(code::Tuple, {list(tuple.getTypes())});
    if (auto future = dyn_cast<stablehlo::FutureType>(type))
      return make(code::Future, {list(future.getTypes())});
    if (auto tensor = dyn_cast<UnrankedTensorType>(type))
      return make(code::UnrankedTensor, {one(tensor.getElementType())});
    if (auto buffer = dyn_cast<MemRefType>(type))
      if (buffer.getLayout().isIdentity() && !buffer.getMemorySpace())
        return make(code::Buffer,
                    {dims(buffer.getShape()), one(buffer.getElementType())});
    if (auto quantized = dyn_cast<quant::UniformQuantizedType>(type))
      return make(code::Quantized,
                  {number(quantized.getFlags()),
                   one(quantized.getStorageType()),
                   one(quantized.getExpressedType()),
                   builder.getF64FloatAttr(quantized.getScale()),
                   number(quantized.getZeroPoint()),
                   number(quantized.getStorageTypeMin()),
                   number(quantized.getStorageTypeMax())});
    if (auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
      return make(code::QuantizedPerAxis,
                  {number(quantized.getFlags()),
                   one(quantized.getStorageType()),
                   one(quantized.getExpressedType()),
                   number(quantized.getQuantizedDimension()),
                   number(quantized.getStorageTypeMin()),
                   number(quantized.getStorageTypeMax()),
                   builder.getDenseF64ArrayAttr(quantized.getScales()),
                   dims(quantized.getZeroPoints())});
    return {};
  }

  Type ranked(RankedTensorType tensor) {
    const Attribute shape = dims(tensor.getShape());
    const Attribute element = one(tensor.getElementType());
    if (!tensor.getEncoding())
      return make(code::RankedTensor, {shape, element});
    auto bounds = dyn_cast<stablehlo::TypeExtensionsAttr>(tensor.getEncoding());
    if (!bounds)
      return {};
    return make(code::EncodedTensor,
                {VersionedAttr::get(context, code::TypeExtensions,
                                    {dims(bounds.getBounds())}),
                 shape, element});
  }

  /// Null if a field is.
  Type make(uint64_t code, ArrayRef<Attribute> fields) {
    if (llvm::is_contained(fields, Attribute()))
      return {};
    return VersionedType::get(context, code, fields);
  }
  Attribute one(Type type) {
    const Type versioned = (*this)(type);
    return versioned ? TypeAttr::get(versioned) : Attribute();
  }
  Attribute list(ArrayRef<Type> types) {
    SmallVector<Attribute> all;
    for (Type type : types) {
      all.push_back(one(type));
      if (!all.back())
        return {};
    }
    return builder.getArrayAttr(all);
  }
  Attribute dims(ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }

  MLIRContext *context;
  Builder builder;
  Translator &translator;
  std::string &problem;
};

/// Builds types from VHLO's types, which may be invalid.
class TypeFromVersioned {
public:
  TypeFromVersioned(MLIRContext *context, Translator &translator)
      : context(context), translator(translator), problem(translator.problem) {}

  Type operator()(Type type) {
    return translator.once(type, [this](Type each) { return convert(each); });
  }

private:
  Type convert(Type type) {
    auto versioned = dyn_cast<VersionedType>(type);
    // A type of another dialect beside VHLO.
    if (!versioned)
      return type;
    for (const Leaf &leaf : leaves)
      if (leaf.code == versioned.code())
        return leaf.make(context);
    Type result = compound(versioned);
    if (!result && problem.empty()) {
      problem = "there is no type " + describe(type) + " here";
      translator.isLack = true;
    }
    return result;
  }

  Type compound(VersionedType type) {
    switch (type.code()) {
    case code::Complex: {
      const Type element = one(type.field(0));
      return isa_and_nonnull<Float32Type, Float64Type>(element)
                 ? ComplexType::get(element)
                 : Type();
    }
    case code::Function: {
      SmallVector<Type> inputs, outputs;
      if (!list(type.field(0), inputs) || !list(type.field(1), outputs))
        return {};
      return FunctionType::get(context, inputs, outputs);
    }
    case code::RankedTensor:
      return ranked(dims(type.field(0)), one(type.field(1)), {});
    case code::EncodedTensor:
      return encoded(type);
    case code::Tuple:
    case code::Future: {
      SmallVector<Type> types;
      if (!list(type.field(0), types))
        return {};
      if (type.code() == code::Tuple)
        return TupleType::get(context, types);
      return stablehlo::FutureType::getChecked(complain(), context,
                                               ArrayRef<Type>(types));
    }
    case code::UnrankedTensor: {
      const Type element = one(type.field(0));
      return element && TensorType::isValidElementType(element)
                 ? UnrankedTensorType::get(element)
                 : Type();
    }
    case code::Buffer: {
      const Type element = one(type.field(1));
      return element && areSizes(dims(type.field(0)))
                 ? MemRefType::getChecked(complain(), dims(type.field(0)),
                                          element)
                 : Type();
    }
    case code::Quantized:
      return quantized(type);
    case code::QuantizedPerAxis:
      return quantizedPerAxis(type);
    default:
      return {};
    }
  }

  Type quantized(VersionedType type) {
    const Type storage = one(type.field(1)), expressed = one(type.field(2));
    if (!storage || !expressed)
      return {};
    return quant::UniformQuantizedType::getChecked(
        complain(), number(type, 0), storage, expressed,
        cast<FloatAttr>(type.field(3)).getValueAsDouble(), number(type, 4),
        number(type, 5), number(type, 6));
  }

  Type quantizedPerAxis(VersionedType type) {
    const Type storage = one(type.field(1)), expressed = one(type.field(2));
    const int64_t axis = number(type, 3);
    if (!storage || !expressed || axis < 0 || axis > INT32_MAX)
      return {};
    return quant::UniformQuantizedPerAxisType::getChecked(
        complain(), number(type, 0), storage, expressed,
        cast<DenseF64ArrayAttr>(type.field(6)).asArrayRef(),
        dims(type.field(7)), axis, number(type, 4), number(type, 5));
  }

  Type encoded(VersionedType type) {
    const VersionedAttr bounds =
        asVersioned(type.field(0), code::TypeExtensions);
    if (!bounds || !areSizes(dims(bounds.field(0)))) {
      problem = "a tensor type has an unknown encoding";
      return {};
    }
    return ranked(
        dims(type.field(1)), one(type.field(2)),
        stablehlo::TypeExtensionsAttr::get(context, dims(bounds.field(0))));
  }

  static bool areSizes(ArrayRef<int64_t> shape) {
    return llvm::all_of(shape, [](int64_t size) {
      return size >= 0 || ShapedType::isDynamic(size);
    });
  }

  Type ranked(ArrayRef<int64_t> shape, Type element, Attribute encoding) {
    if (!element)
      return {};
    if (!areSizes(shape) || !TensorType::isValidElementType(element)) {
      problem = "a tensor of " + textOf(element) +
                " has a negative size, or cannot be";
      return {};
    }
    return RankedTensorType::getChecked(complain(), shape, element, encoding);
  }

  /// Receives the messages of the types' own checks.
  llvm::unique_function<InFlightDiagnostic()> complain() {
    return [this] { return emitError(UnknownLoc::get(context)); };
  }

  Type one(Attribute field) {
    return (*this)(cast<TypeAttr>(field).getValue());
  }
  bool list(Attribute field, SmallVectorImpl<Type> &types) {
    for (Attribute type : cast<ArrayAttr>(field)) {
      types.push_back(one(type));
      if (!types.back())
        return false;
    }
    return true;
  }
  static ArrayRef<int64_t> dims(Attribute field) {
    return cast<DenseI64ArrayAttr>(field).asArrayRef();
  }
  static int64_t number(VersionedType type, size_t index) {
    return cast<IntegerAttr>(type.field(index)).getInt();
  }

  MLIRContext *context;
  Translator &translator;
  std::string &problem;
};

} // namespace

Type toVersioned(Type type, Translator &translator) {
  return TypeToVersioned(type.getContext(), translator)(type);
}

Type fromVersioned(Type type, Translator &translator) {
  return TypeFromVersioned(type.getContext(), translator)(type);
}

std::string describe(Type versioned) {
  auto type = dyn_cast<VersionedType>(versioned);
  const CodeRow *row = type ? findTypeCode(type.code()) : nullptr;
  if (!row)
    return textOf(versioned);
  return row->name.substr(0, row->name.rfind("_v")).str();
}

} // namespace sinter::vhlo
