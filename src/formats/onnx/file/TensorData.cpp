//===- TensorData.cpp - from TensorProto to Tensor and back ---------------===//

#include "formats/onnx/file/TensorData.h"

#include "formats/WireReader.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/ExternalData.h"
#include "formats/onnx/file/onnx.pb.h"
#include "runtime/Strings.h"

#include <algorithm>
#include <bit>

using namespace sinter;
using namespace sinter::onnx;

static_assert(std::endian::native == std::endian::little,
              "ONNX files are little endian and mapped as they are");

namespace {

using Proto = TensorProto;

/// The one field that has a tensor's data. `bytes` are set for raw and external
/// data (field 9) and for located fields; a small typed field stays in the
/// message.
struct Content {
  uint32_t field = 0;
  bool located = false;
  FileBytes bytes;
};

/// A tensor's type, shape and size, checked.
struct Layout {
  ElementType type;
  Shape shape;
  int64_t count;

  std::string text() const { return toString(type, shape); }
  /// Bytes of raw_data.
  int64_t fileBytes() const {
    unsigned perByte = elementsPerByte(type);
    return perByte > 1 ? count / perByte + (count % perByte != 0)
                       : count * static_cast<int64_t>(byteSize(type));
  }
};

Error sizeError(const Layout &layout, uint64_t has, int64_t needs,
                const char *unit) {
  return invalidModel("has " + std::to_string(has) + " " + unit +
                      " of data, its shape " + layout.text() + " says " +
                      std::to_string(needs));
}

Result<Layout> layoutOf(const Proto &proto) {
  if (proto.has_segment())
    return unsupported("is stored in segments");
  if (proto.data_type() == Proto::UNDEFINED)
    return invalidModel("has no data type");
  std::optional<ElementType> type = storedTypeOf(proto.data_type());
  if (!type)
    return unsupported("has elements of type " +
                       dataTypeName(proto.data_type()));
  Layout layout{*type, Shape(proto.dims().begin(), proto.dims().end()), 0};
  for (int64_t dim : layout.shape)
    if (dim < 0)
      return invalidModel("has the negative dimension " + std::to_string(dim));
  std::optional<int64_t> count = elementCount(layout.shape);
  if (!count || !byteCount(*type, layout.shape))
    return invalidModel("has more elements than 64 bits can count: " +
                        layout.text());
  layout.count = *count;
  return layout;
}

/// Finds the field that holds the data; there may be at most one.
Result<Content> contentOf(const Proto &proto, const Layout &layout,
                          const DataSource &source) {
  if (proto.data_location() == Proto::EXTERNAL) {
    if (!source.external)
      return invalidModel("has its data in another file, which is not allowed "
                          "here");
    Result<FileBytes> found = source.external->find(proto, layout.fileBytes());
    if (!found)
      return found.takeError();
    return Content{Proto::kRawDataFieldNumber, true, *found};
  }
  std::vector<Content> candidates;
  if (proto.has_raw_data()) {
    auto *data = reinterpret_cast<const std::byte *>(proto.raw_data().data());
    candidates.push_back({Proto::kRawDataFieldNumber,
                          true,
                          {{data, proto.raw_data().size()}, nullptr}});
  }
  const std::pair<uint32_t, int> typed[] = {
      {Proto::kFloatDataFieldNumber, proto.float_data_size()},
      {Proto::kInt32DataFieldNumber, proto.int32_data_size()},
      {Proto::kInt64DataFieldNumber, proto.int64_data_size()},
      {Proto::kDoubleDataFieldNumber, proto.double_data_size()},
      {Proto::kUint64DataFieldNumber, proto.uint64_data_size()},
      {Proto::kStringDataFieldNumber, proto.string_data_size()},
  };
  for (auto [field, size] : typed)
    if (size > 0)
      candidates.push_back({field, false, {}});
  for (const Proto::Payload &payload : proto.payload()) {
    uint64_t size = source.file.bytes.size();
    if (payload.offset() > size || payload.size() > size - payload.offset())
      return invalidModel("has data outside the file");
    candidates.push_back(
        {payload.field(),
         true,
         {source.file.bytes.subspan(payload.offset(), payload.size()),
          source.file.owner}});
  }
  // An empty raw_data beside a typed field is ignored.
  std::erase_if(candidates, [&](const Content &candidate) {
    return candidates.size() > 1 && candidate.located &&
           candidate.bytes.bytes.empty();
  });
  if (candidates.size() > 1)
    return invalidModel("has its data twice");
  return candidates.empty() ? Content{} : candidates.front();
}

/// Unpacks elements of 2 or 4 bits to one byte each.
void unpack(const Layout &layout, const std::byte *packed, Tensor &tensor) {
  unsigned perByte = elementsPerByte(layout.type), bits = 8 / perByte;
  bool isSigned = classOf(layout.type) == ElementClass::SInt;
  auto *out = reinterpret_cast<uint8_t *>(tensor.mutableBytes());
  for (int64_t i = 0; i < layout.count; ++i) {
    auto byte = std::to_integer<unsigned>(packed[i / perByte]);
    unsigned value = byte >> (i % perByte * bits) & ((1u << bits) - 1);
    if (isSigned && value >> (bits - 1))
      value |= 0xffu << bits;
    out[i] = static_cast<uint8_t>(value);
  }
}

Result<Tensor> fromRaw(const Layout &layout, const FileBytes &content) {
  int64_t needs = layout.fileBytes();
  if (content.bytes.size() != static_cast<uint64_t>(needs))
    return sizeError(layout, content.bytes.size(), needs, "bytes");
  const std::byte *data = content.bytes.data();
  if (elementsPerByte(layout.type) > 1) {
    Tensor tensor(layout.type, layout.shape);
    unpack(layout, data, tensor);
    return tensor;
  }
  // Any non-zero byte is true; a Tensor has 0 and 1.
  bool otherTrue = layout.type == ElementType::I1 &&
                   std::any_of(data, data + needs, [](std::byte value) {
                     return value > std::byte(1);
                   });
  if (content.owner && !otherTrue)
    return Tensor::share(layout.type, layout.shape, data, content.owner);
  Tensor tensor(layout.type, layout.shape);
  std::byte *out = tensor.mutableBytes();
  if (otherTrue)
    std::transform(data, data + needs, out, [](std::byte value) {
      return std::byte(value != std::byte(0));
    });
  else if (needs > 0)
    std::memcpy(out, data, needs);
  return tensor;
}

/// Iterates over the integers of int32_data, int64_data or uint64_data, in the
/// message or in the file.
class Numbers {
public:
  Numbers(const Proto &proto, const Content &content)
      : proto(proto), content(content), rest(content.bytes.bytes) {}

  /// Sign-extended where the field is signed.
  bool next(uint64_t &value) {
    if (content.located) {
      if (!takeVarint(rest, value))
        return false;
      if (content.field == Proto::kInt32DataFieldNumber)
        value = static_cast<int64_t>(static_cast<int32_t>(value));
      return true;
    }
    if (index >= size())
      return false;
    value = content.field == Proto::kInt32DataFieldNumber
                ? static_cast<int64_t>(proto.int32_data(index))
            : content.field == Proto::kInt64DataFieldNumber
                ? proto.int64_data(index)
                : proto.uint64_data(index);
    ++index;
    return true;
  }

  /// The number of integers; a truncated one counts.
  int64_t size() const {
    if (content.located)
      return std::count_if(rest.begin(), rest.end(), [](std::byte byte) {
        return byte < std::byte(0x80);
      });
    return content.field == Proto::kInt32DataFieldNumber
               ? proto.int32_data_size()
           : content.field == Proto::kInt64DataFieldNumber
               ? proto.int64_data_size()
               : proto.uint64_data_size();
  }

private:
  const Proto &proto;
  const Content &content;
  std::span<const std::byte> rest;
  int index = 0;
};

/// True if \p value fits \p bits bits, signed or unsigned. Programs differ in
/// whether they write a uint16 or an f16's bits sign-extended.
bool fits(uint64_t value, unsigned bits) {
  auto number = static_cast<int64_t>(value);
  return bits >= 64 ||
         (number >= -(int64_t(1) << (bits - 1)) && number < int64_t(1) << bits);
}

Result<Tensor> fromNumbers(const Layout &layout, const Proto &proto,
                           const Content &content) {
  Numbers numbers(proto, content);
  unsigned perByte = elementsPerByte(layout.type);
  // An integer holds one element, or one byte of packed elements.
  int64_t needs = layout.count / perByte + (layout.count % perByte != 0);
  if (int64_t has = numbers.size(); has != needs)
    return sizeError(layout, has, needs, "numbers");
  bool isBool = layout.type == ElementType::I1;
  size_t bytes = perByte > 1 ? 1 : byteSize(layout.type);
  Tensor tensor(layout.type, layout.shape);
  std::vector<std::byte> packed(perByte > 1 ? needs : 0);
  std::byte *out = perByte > 1 ? packed.data() : tensor.mutableBytes();
  for (int64_t i = 0; i < needs; ++i) {
    uint64_t value;
    if (!numbers.next(value))
      return invalidModel("has a malformed number in its data");
    if (isBool)
      value = value != 0;
    else if (!fits(value, 8 * bytes))
      return invalidModel(
          "has the number " + std::to_string(static_cast<int64_t>(value)) +
          " in its data, which is no " + std::string(name(layout.type)));
    std::memcpy(out + i * bytes, &value, bytes);
  }
  if (perByte > 1)
    unpack(layout, packed.data(), tensor);
  return tensor;
}

/// float_data and double_data have the same bytes in the file as in memory.
Result<Tensor> fromReals(const Layout &layout, const Proto &proto,
                         const Content &content) {
  if (content.located)
    return fromRaw(layout, content.bytes);
  bool isFloat = content.field == Proto::kFloatDataFieldNumber;
  const void *data = isFloat
                         ? static_cast<const void *>(proto.float_data().data())
                         : proto.double_data().data();
  size_t size = isFloat ? proto.float_data_size() * sizeof(float)
                        : proto.double_data_size() * sizeof(double);
  return fromRaw(layout, {{static_cast<const std::byte *>(data), size}, {}});
}

Result<Tensor> fromStrings(const Layout &layout, const Proto &proto) {
  if (proto.string_data_size() != layout.count)
    return sizeError(layout, proto.string_data_size(), layout.count, "strings");
  const std::vector<std::string_view> texts(proto.string_data().begin(),
                                            proto.string_data().end());
  return stringTensor(layout.shape, std::span<const std::string_view>(texts));
}

const char *fieldName(uint32_t field) {
  switch (field) {
  case Proto::kFloatDataFieldNumber:
    return "float_data";
  case Proto::kInt32DataFieldNumber:
    return "int32_data";
  case Proto::kInt64DataFieldNumber:
    return "int64_data";
  case Proto::kDoubleDataFieldNumber:
    return "double_data";
  case Proto::kUint64DataFieldNumber:
    return "uint64_data";
  case Proto::kStringDataFieldNumber:
    return "string_data";
  default:
    return "an unknown field";
  }
}

} // namespace

Result<Tensor> onnx::decodeTensor(const TensorProto &proto,
                                  const DataSource &source) {
  Result<Layout> layout = layoutOf(proto);
  if (!layout)
    return layout.takeError();
  Result<Content> content = contentOf(proto, *layout, source);
  if (!content)
    return content.takeError();
  if (content->field == 0) {
    if (layout->count > 0)
      return invalidModel("has no data, its shape " + layout->text() +
                          " says " + std::to_string(layout->count) +
                          " elements");
    return Tensor(layout->type, layout->shape);
  }
  if (content->field == Proto::kRawDataFieldNumber && !isString(layout->type))
    return fromRaw(*layout, content->bytes);
  if (content->field != typedFieldOf(proto.data_type()))
    return invalidModel("has its data in " +
                        std::string(fieldName(content->field)) +
                        ", where elements of type " +
                        dataTypeName(proto.data_type()) + " never are");
  if (isString(layout->type))
    return fromStrings(*layout, proto);
  if (isFloat(layout->type) || isComplex(layout->type))
    if (content->field != Proto::kInt32DataFieldNumber)
      return fromReals(*layout, proto, *content);
  return fromNumbers(*layout, proto, *content);
}

Result<Tensor> onnx::decodeSparse(const SparseTensorProto &proto,
                                  const DataSource &source) {
  Result<Tensor> values = decodeTensor(proto.values(), source);
  if (!values)
    return values.takeError();
  if (isString(values->type()))
    return unsupported("is sparse, of strings");
  Result<Tensor> indices = decodeTensor(proto.indices(), source);
  if (!indices) {
    return inside("its indices", indices.takeError());
  }
  Shape shape(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = elementCount(shape);
  std::optional<int64_t> bytes = byteCount(values->type(), shape);
  std::string text = toString(values->type(), shape);
  if (!count || !bytes)
    return invalidModel("has the impossible shape " + text);
  if (*bytes > maxDenseBytes)
    return unsupported("is sparse and too large to make dense: " + text);
  int64_t entries = values->size();
  auto rank = static_cast<int64_t>(shape.size());
  bool linear = indices->rank() == 1;
  if (values->rank() != 1 || indices->type() != ElementType::I64 ||
      indices->rank() < 1 || indices->rank() > 2 ||
      indices->dim(0) != entries || (!linear && indices->dim(1) != rank))
    return invalidModel(
        "has values " + toString(values->type(), values->shape()) +
        " and indices " + toString(indices->type(), indices->shape()) +
        ", which do not go together");
  Tensor dense(values->type(), shape);
  size_t width = byteSize(values->type());
  int64_t previous = -1;
  for (int64_t entry = 0; entry < entries; ++entry) {
    int64_t position = linear ? indices->at<int64_t>(entry) : 0;
    bool inside = position >= 0 && position < *count;
    for (int64_t axis = 0; !linear && inside && axis < rank; ++axis) {
      int64_t index = indices->at<int64_t>(entry * rank + axis);
      inside = index >= 0 && index < shape[axis];
      // Cannot overflow: all indices are in bounds, so it is below the element
      // count.
      if (inside)
        position = position * shape[axis] + index;
    }
    if (!inside)
      return invalidModel("has an index outside its shape " + text +
                          " at entry " + std::to_string(entry));
    if (position <= previous)
      return invalidModel("has indices that do not ascend at entry " +
                          std::to_string(entry));
    previous = position;
    std::memcpy(dense.mutableBytes() + position * width,
                values->data() + entry * width, width);
  }
  return dense;
}

Tensor onnx::packedForFile(const Tensor &tensor) {
  unsigned perByte = elementsPerByte(tensor.type());
  if (perByte == 1)
    return tensor;
  unsigned bits = 8 / perByte, mask = (1u << bits) - 1;
  int64_t count = tensor.size();
  Tensor packed(ElementType::UI8, {(count + perByte - 1) / perByte});
  auto *out = reinterpret_cast<uint8_t *>(packed.mutableBytes());
  for (int64_t i = 0; i < count; ++i) {
    auto value = std::to_integer<unsigned>(tensor.data()[i]) & mask;
    out[i / perByte] |= static_cast<uint8_t>(value << (i % perByte * bits));
  }
  return packed;
}

void onnx::addStrings(TensorProto &proto, const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    proto.add_string_data(std::string(stringAt(tensor, i)));
}
