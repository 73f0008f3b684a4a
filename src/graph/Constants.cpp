#include "graph/Constants.h"

#include "graph/Broadcast.h"
#include "graph/ConstantScope.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/ElementDispatch.h"
#include "runtime/Strings.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <memory>
#include <mutex>

using namespace mlir;

namespace sinter {

/// The element with the low \p width bits of \p bits as an attribute's
/// in-memory byte pattern.
static void storeBits(std::byte *to, const APInt &bits, size_t bytes) {
  uint64_t low = bits.extractBitsAsZExtValue(
      std::min<unsigned>(64, bits.getBitWidth()), 0);
  std::memcpy(to, &low, bytes);
}

/// The integer element as the runtime keeps it: sign- or zero-extended.
static void storeInteger(std::byte *to, const APInt &value, ElementType type) {
  bool extendsSign = classOf(type) == ElementClass::SInt;
  storeBits(to, extendsSign ? value.sextOrTrunc(64) : value.zextOrTrunc(64),
            byteSize(type));
}

static Tensor denseToTensor(DenseElementsAttr attribute, ElementType type) {
  Tensor tensor(type, Shape(attribute.getType().getShape()));
  std::byte *out = tensor.mutableBytes();
  size_t size = byteSize(type);
  bool isSubByte = bitWidth(type) < 8;
  ArrayRef<char> raw = attribute.getRawData();
  if (!isSubByte && attribute.isSplat()) {
    for (int64_t i = 0; i < tensor.size(); ++i)
      std::memcpy(out + i * size, raw.data(), size);
    return tensor;
  }
  if (!isSubByte && raw.size() == tensor.bytes()) {
    // Not memcpy: an attribute without elements has no address.
    llvm::copy(raw, reinterpret_cast<char *>(out));
    return tensor;
  }
  for (const APInt &value : attribute.getValues<APInt>()) {
    storeInteger(out, value, type);
    out += size;
  }
  return tensor;
}

namespace {
/// Keeps the bytes of a resource, and knows by their address who does: tensors
/// over them may outlive the resource, and become resources themselves.
class KeptBytes {
public:
  explicit KeptBytes(const Tensor &tensor) : tensor(tensor) {
    const std::scoped_lock lock(all().mutex);
    ++all()
          .entries.try_emplace(tensor.data(), Entry{tensor})
          .first->second.uses;
  }
  KeptBytes(const KeptBytes &) = delete;
  KeptBytes &operator=(const KeptBytes &) = delete;
  ~KeptBytes() {
    std::optional<Tensor> last; // Freed without the lock.
    const std::scoped_lock lock(all().mutex);
    const auto found = all().entries.find(tensor.data());
    if (--found->second.uses != 0)
      return;
    last = std::move(found->second.tensor);
    all().entries.erase(found);
  }

  /// Null for bytes that no tensor gave.
  static std::shared_ptr<const void> ownerOf(const void *data) {
    const std::scoped_lock lock(all().mutex);
    const auto found = all().entries.find(data);
    return found == all().entries.end()
               ? nullptr
               : std::make_shared<const Tensor>(found->second.tensor);
  }

private:
  struct Entry {
    Tensor tensor;
    size_t uses = 0;
  };
  struct Entries {
    std::mutex mutex;
    llvm::DenseMap<const void *, Entry> entries;
  };
  /// Never destroyed: contexts may live as long as the process.
  static Entries &all() {
    static auto *entries = new Entries;
    return *entries;
  }

  Tensor tensor;
};
} // namespace

std::optional<Tensor> toTensor(ElementsAttr attribute) {
  auto shaped = dyn_cast<ShapedType>(attribute.getType());
  if (!shaped || !shaped.hasStaticShape())
    return std::nullopt;
  std::optional<ElementType> type = elementTypeOf(shaped.getElementType());
  std::optional<int64_t> bytes =
      type ? byteCount(*type, shaped.getShape()) : std::nullopt;
  if (!bytes)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    // Its bytes would be handles.
    if (isString(*type))
      return std::nullopt;
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != *bytes)
      return std::nullopt;
    return Tensor::share(*type, Shape(shaped.getShape()),
                         blob->getData().data(),
                         KeptBytes::ownerOf(blob->getData().data()));
  }
  // MLIR treats elements of quantised types as strings; here they are to be in
  // their storage type.
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(attribute))
    return denseToTensor(dense, *type);
  auto strings = dyn_cast<DenseStringElementsAttr>(attribute);
  if (!strings || !isString(*type))
    return std::nullopt;
  std::vector<std::string_view> texts;
  for (StringRef text : strings.getValues<StringRef>())
    texts.push_back(text);
  return stringTensor(Shape(shaped.getShape()),
                      std::span<const std::string_view>(texts));
}

DenseElementsAttr toDenseAttribute(const Tensor &tensor, MLIRContext *context) {
  RankedTensorType type = tensorTypeOf(tensor.type(), tensor.shape(), context);
  if (isString(tensor.type())) {
    SmallVector<StringRef> texts;
    for (int64_t i = 0; i < tensor.size(); ++i)
      texts.push_back(stringAt(tensor, i));
    return DenseElementsAttr::get(type, texts);
  }
  if (bitWidth(tensor.type()) >= 8) {
    ArrayRef<char> raw(reinterpret_cast<const char *>(tensor.data()),
                       tensor.bytes());
    return DenseElementsAttr::getFromRawBuffer(type, raw);
  }
  SmallVector<APInt> values;
  values.reserve(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    values.push_back(APInt(bitWidth(tensor.type()),
                           static_cast<uint64_t>(tensor.at<uint8_t>(i))));
  return DenseElementsAttr::get(type, values);
}

/// Whether the tensor has several elements, all bitwise equal.
static bool isUniform(const Tensor &tensor) {
  size_t width = byteSize(tensor.type());
  return tensor.size() > 1 && std::memcmp(tensor.data(), tensor.data() + width,
                                          tensor.bytes() - width) == 0;
}

/// \p name as MLIR's parser reads a resource's key, which is printed without
/// quotes: a bare identifier. The manager of resources makes it unique.
static std::string resourceKey(StringRef name) {
  std::string key = name.empty() ? "constant" : name.str();
  for (char &letter : key)
    if (!llvm::isAlnum(letter) && letter != '_' && letter != '.' &&
        letter != '$')
      letter = '_';
  if (!llvm::isAlpha(key.front()) && key.front() != '_')
    key.insert(0, "_");
  return key;
}

ElementsAttr toAttribute(const Tensor &tensor, StringRef name,
                         MLIRContext *context) {
  if (isString(tensor.type()))
    return toDenseAttribute(tensor, context);
  if (name.empty() && bitWidth(tensor.type()) >= 8 && isUniform(tensor))
    return DenseElementsAttr::getFromRawBuffer(
        tensorTypeOf(tensor.type(), tensor.shape(), context),
        ArrayRef<char>(reinterpret_cast<const char *>(tensor.data()),
                       byteSize(tensor.type())));
  if (tensor.size() <= largestDenseConstant)
    return toDenseAttribute(tensor, context);
  RankedTensorType type = tensorTypeOf(tensor.type(), tensor.shape(), context);
  ArrayRef<char> raw(reinterpret_cast<const char *>(tensor.data()),
                     tensor.bytes());
  auto deleter = [kept = std::make_unique<KeptBytes>(tensor)](void *, size_t,
                                                              size_t) {};
  AsmResourceBlob blob(raw, /*dataAlignment=*/1, std::move(deleter),
                       /*dataIsMutable=*/false);
  auto attribute =
      DenseResourceElementsAttr::get(type, resourceKey(name), std::move(blob));
  ConstantScope::add(attribute);
  return attribute;
}

std::optional<Tensor> constantTensor(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant ? toTensor(constant.getValue()) : std::nullopt;
}

Value makeConstant(OpBuilder &builder, Location location, const Tensor &tensor,
                   StringRef name) {
  ElementsAttr attribute = toAttribute(tensor, name, builder.getContext());
  auto constant = builder.create<stablehlo::ConstantOp>(
      location, cast<RankedTensorType>(attribute.getType()), attribute);
  if (!name.empty())
    constant->setAttr(nameAttribute, builder.getStringAttr(name));
  return constant;
}

bool isPositiveZero(Value value) {
  while (auto broadcast = Broadcast::of(value))
    value = broadcast->operand;
  const auto number = splatNumber(value);
  return number && *number == 0 && !std::signbit(*number);
}

std::optional<double> splatNumber(Value value) {
  while (std::optional<Broadcast> broadcast = Broadcast::of(value))
    value = broadcast->operand;
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  auto type = dyn_cast<IntegerType>(dense.getElementType());
  if (!type)
    return std::nullopt;
  const APInt number = dense.getSplatValue<APInt>();
  return type.isUnsigned() || type.isInteger(1) ? double(number.getZExtValue())
                                                : double(number.getSExtValue());
}

StringRef constantName(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto name = constant ? constant->getAttrOfType<StringAttr>(nameAttribute)
                       : StringAttr();
  return name ? name.getValue() : StringRef();
}

Tensor tensorOfDoubles(ElementType type, Shape shape,
                       ArrayRef<double> numbers) {
  Tensor tensor(type, std::move(shape));
  // A number is no string; zero stands for the empty one.
  if (isString(type))
    return tensor;
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (auto [index, number] : llvm::enumerate(numbers)) {
      if constexpr (isStdComplex<T>)
        tensor.set<T>(index, T(static_cast<typename T::value_type>(number)));
      else
        tensor.set<T>(index, static_cast<T>(number));
    }
  });
  return tensor;
}

Value makeSplat(OpBuilder &builder, Location location, RankedTensorType type,
                double number) {
  Type element = type.getElementType();
  if (isStringType(element))
    return builder.create<stablehlo::ConstantOp>(
        location, type, DenseElementsAttr::get(type, ArrayRef<StringRef>("")));
  DenseElementsAttr attribute =
      isa<FloatType>(element)
          ? DenseElementsAttr::get(type,
                                   Attribute(FloatAttr::get(element, number)))
          : DenseElementsAttr::get(
                type,
                Attribute(IntegerAttr::get(
                    element,
                    APInt(element.getIntOrFloatBitWidth(),
                          static_cast<uint64_t>(static_cast<int64_t>(number)),
                          /*isSigned=*/true))));
  return builder.create<stablehlo::ConstantOp>(location, type, attribute);
}

} // namespace sinter
