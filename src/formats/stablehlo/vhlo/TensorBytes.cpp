//===- TensorBytes.cpp - the bytes of a tensor in an artifact -------------===//

#include "formats/stablehlo/vhlo/TensorBytes.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace sinter::vhlo {

/// Constants of up to this many bytes are copied into the context.
static constexpr size_t largestCopied = 4096;

/// Packs bits to bytes, the first in the lowest bit.
static SmallVector<int8_t> pack(size_t count,
                                llvm::function_ref<bool(size_t)> bit) {
  SmallVector<int8_t> bytes(llvm::divideCeil(count, 8), 0);
  for (size_t index = 0; index < count; ++index)
    if (bit(index))
      bytes[index / 8] |= 1 << (index % 8);
  return bytes;
}

/// The bytes of booleans.
static Attribute packedBooleans(ElementsAttr elements) {
  MLIRContext *context = elements.getContext();
  const size_t count = elements.getNumElements();
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    if (dense.isSplat() && count != 1)
      return DenseI8ArrayAttr::get(
          context, {int8_t(dense.getSplatValue<bool>() ? -1 : 0)});
    const SmallVector<bool> values(dense.getValues<bool>());
    return DenseI8ArrayAttr::get(
        context, pack(count, [&](size_t index) { return values[index]; }));
  }
  std::optional<Tensor> tensor = toTensor(elements);
  if (!tensor)
    return {};
  return DenseI8ArrayAttr::get(context, pack(count, [&](size_t index) {
                                 return tensor->at<uint8_t>(index) != 0;
                               }));
}

Attribute artifactBytes(ElementsAttr elements) {
  if (!isa<DenseIntOrFPElementsAttr, DenseResourceElementsAttr>(elements))
    return {};
  if (elements.getElementType().isInteger(1))
    return packedBooleans(elements);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    if (!resource.getRawHandle().getBlob())
      return {};
  return elements;
}

ArrayRef<char> rawBytes(Attribute attribute) {
  if (auto packed = dyn_cast<DenseI8ArrayAttr>(attribute))
    return packed.getRawData();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return resource.getRawHandle().getBlob()->getData();
  return cast<DenseElementsAttr>(attribute).getRawData();
}

/// Booleans, packed or (from early writers) one byte each.
static ElementsAttr booleans(ShapedType type, ArrayRef<char> bytes,
                             int64_t count, std::string &problem) {
  const size_t packedSize = llvm::divideCeil(count, 8);
  if (bytes.size() == 1 && count != 1 &&
      (uint8_t(bytes[0]) == 0xFF || bytes[0] == 0))
    return DenseElementsAttr::get(type, bytes[0] != 0);
  if (bytes.size() != packedSize && int64_t(bytes.size()) != count) {
    problem = "has " + std::to_string(bytes.size()) + " bytes for " +
              std::to_string(count) + " booleans";
    return {};
  }
  const bool isPacked = bytes.size() == packedSize && count != 1;
  SmallVector<bool> values(count);
  for (int64_t index = 0; index < count; ++index)
    values[index] =
        isPacked ? bytes[index / 8] >> (index % 8) & 1 : bytes[index] != 0;
  return DenseElementsAttr::get(type, values);
}

/// Bytes of an element in an artifact and in MLIR; 0 for other types.
static size_t elementBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (isa<IndexType>(element))
    return 8;
  return element.isIntOrFloat()
             ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
             : 0;
}

ElementsAttr elementsOf(ShapedType type, ArrayRef<char> bytes,
                        const std::shared_ptr<const void> &owner,
                        std::string &problem) {
  const Type element = type.getElementType();
  const size_t size = elementBytes(element);
  const std::optional<int64_t> count = type.hasRank() && type.hasStaticShape()
                                           ? elementCount(type.getShape())
                                           : std::nullopt;
  if (!isa<RankedTensorType>(type) || size == 0 || !count) {
    llvm::raw_string_ostream(problem) << "cannot be of type " << type;
    return {};
  }
  if (element.isInteger(1))
    return booleans(type, bytes, *count, problem);
  const bool isSplat = bytes.size() == size;
  if (!isSplat &&
      (bytes.size() % size != 0 || int64_t(bytes.size() / size) != *count)) {
    llvm::raw_string_ostream(problem)
        << "has " << bytes.size() << " bytes, which do not make a " << type;
    return {};
  }
  const std::optional<ElementType> known = elementTypeOf(element);
  auto ranked = cast<RankedTensorType>(type);
  if (owner && !isSplat && bytes.size() > largestCopied && known &&
      !ranked.getEncoding())
    return toAttribute(
        Tensor::share(*known, Shape(type.getShape()), bytes.data(), owner), "",
        type.getContext());
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

} // namespace sinter::vhlo
