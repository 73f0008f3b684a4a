#include "formats/paddle/file/ParameterFile.h"

#include "formats/paddle/file/DataTypes.h"
#include "formats/paddle/file/framework.pb.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sinter::paddle {

using schema::VarType;

static_assert(std::endian::native == std::endian::little,
              "elements lie in the file as they do in memory");

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

namespace {

/// Takes a scalar off the front of \p file; false if it is too short.
template <typename T> bool take(ParameterBytes &file, T &value) {
  if (file.bytes.size() < sizeof(T))
    return false;
  std::memcpy(&value, file.bytes.data(), sizeof(T));
  file.bytes = file.bytes.subspan(sizeof(T));
  return true;
}

bool skip(ParameterBytes &file, uint64_t bytes) {
  if (bytes > file.bytes.size())
    return false;
  file.bytes = file.bytes.subspan(bytes);
  return true;
}

Error cutOff() { return invalidModel("the file ends within it"); }

/// Takes the levels of detail before a tensor's type and sizes.
Result<void> takeLevels(ParameterBytes &file) {
  uint32_t version = 0;
  uint64_t levels = 0;
  if (!take(file, version))
    return cutOff();
  if (version != 0)
    return invalidModel("no tensor as Paddle saves them begins there (its "
                        "version would be " +
                        std::to_string(version) + ")");
  if (!take(file, levels))
    return cutOff();
  // Each level takes at least its byte count.
  for (uint64_t i = 0; i < levels; ++i) {
    uint64_t bytes = 0;
    if (!take(file, bytes) || !skip(file, bytes))
      return cutOff();
  }
  return {};
}

/// Booleans in a file may be any byte; a Tensor has 0 and 1.
Tensor withBooleans(Tensor tensor) {
  const auto bytes = std::span(tensor.data(), tensor.bytes());
  const auto isBoolean = [](std::byte each) { return each <= std::byte(1); };
  if (std::ranges::all_of(bytes, isBoolean))
    return tensor;
  Tensor copy(tensor.type(), tensor.shape());
  std::ranges::transform(bytes, copy.mutableBytes(), [](std::byte each) {
    return std::byte(each != std::byte(0));
  });
  return copy;
}

} // namespace

Result<Tensor> takeTensor(ParameterBytes &file) {
  if (Result<void> taken = takeLevels(file); !taken)
    return taken.takeError();
  uint32_t version = 0;
  int32_t size = 0;
  if (!take(file, version) || !take(file, size))
    return cutOff();
  if (version != 0)
    return invalidModel("its tensor has version " + std::to_string(version) +
                        ", which is not known");
  if (size < 0)
    return invalidModel("its type takes " + std::to_string(size) + " bytes");
  const std::byte *message = file.bytes.data();
  if (!skip(file, size))
    return cutOff();
  VarType::TensorDesc described;
  if (!described.ParsePartialFromArray(message, size) ||
      !described.has_data_type())
    return invalidModel("its type is no well-formed message");
  const auto type = elementTypeOfNumber(described.data_type());
  if (!type)
    return invalidModel("it has elements of type " +
                        nameOfTypeNumber(described.data_type()) +
                        ", which no tensor has");
  Shape shape(described.dims().begin(), described.dims().end());
  const std::optional<int64_t> bytes = byteCount(*type, shape);
  if (!bytes)
    return invalidModel("its sizes are impossible");
  const std::byte *data = file.bytes.data();
  if (!skip(file, *bytes))
    return cutOff();
  Tensor tensor = Tensor::share(*type, std::move(shape), data, file.owner);
  return *type == ElementType::I1 ? withBooleans(std::move(tensor)) : tensor;
}

//===----------------------------------------------------------------------===//
// Whole files
//===----------------------------------------------------------------------===//

/// The program's declaration, in the form of toString for tensors.
static std::string declaredText(const Variable &declared) {
  std::string text;
  for (int64_t size : declared.dims)
    text += (size < 0 ? std::string("?") : std::to_string(size)) + "x";
  return text + (declared.type ? std::string(name(*declared.type)) : "?");
}

static bool agrees(const Tensor &tensor, const Variable &declared) {
  if (declared.type && *declared.type != tensor.type())
    return false;
  return std::ranges::equal(
      tensor.shape(), declared.dims,
      [](int64_t size, int64_t said) { return said < 0 || size == said; });
}

static Error mismatch(const Tensor &tensor, const Variable &declared) {
  return invalidModel("it is " + toString(tensor.type(), tensor.shape()) +
                      ", and the program declares " + declaredText(declared));
}

Result<std::vector<Tensor>>
readCombined(ParameterBytes file, std::span<const Variable *const> declared) {
  const size_t length = file.bytes.size();
  std::vector<Tensor> tensors;
  for (const Variable *each : declared) {
    const size_t offset = length - file.bytes.size();
    const auto inParameter = [&](const Error &error) {
      return inside("parameter " + std::to_string(tensors.size() + 1) + " of " +
                        std::to_string(declared.size()) + ", '" + each->name +
                        "', at byte " + std::to_string(offset),
                    error);
    };
    if (file.bytes.empty())
      return invalidModel("it ends after " + std::to_string(tensors.size()) +
                          " parameters; the program has " +
                          std::to_string(declared.size()) + ", next '" +
                          each->name + "'");
    Result<Tensor> tensor = takeTensor(file);
    if (!tensor)
      return inParameter(tensor.error());
    if (!agrees(*tensor, *each))
      return inParameter(mismatch(*tensor, *each));
    tensors.push_back(std::move(*tensor));
  }
  if (!file.bytes.empty())
    return invalidModel("after the program's " +
                        std::to_string(declared.size()) +
                        " parameters there are " +
                        std::to_string(file.bytes.size()) + " more bytes");
  return tensors;
}

Result<Tensor> readSeparate(ParameterBytes file, const Variable &declared) {
  Result<Tensor> tensor = takeTensor(file);
  if (!tensor)
    return tensor;
  if (!agrees(*tensor, declared))
    return mismatch(*tensor, declared);
  if (!file.bytes.empty())
    return invalidModel("after its elements there are " +
                        std::to_string(file.bytes.size()) + " more bytes");
  return tensor;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Result<std::string> tensorHeader(const Tensor &tensor) {
  const std::optional<int32_t> number = numberOfElementType(tensor.type());
  if (!number)
    return unsupported("Paddle has no tensors of " +
                       std::string(name(tensor.type())));
  VarType::TensorDesc described;
  described.set_data_type(*number);
  for (int64_t size : tensor.shape())
    described.add_dims(size);
  const std::string message = described.SerializePartialAsString();
  // Version, no levels of detail, version of the tensor, and the message.
  std::string header(4 + 8 + 4, '\0');
  const auto size = static_cast<int32_t>(message.size());
  header.append(reinterpret_cast<const char *>(&size), sizeof(size));
  return header + message;
}

} // namespace sinter::paddle
