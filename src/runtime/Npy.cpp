//===- Npy.cpp - NumPy's array files --------------------------------------===//

#include "runtime/Npy.h"
#include "runtime/Float.h"
#include "runtime/MappedFile.h"
#include "runtime/NpyStrings.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sinter {

namespace {

constexpr std::string_view npyMagic = "\x93NUMPY";
constexpr size_t dataAlignment = 64;
constexpr size_t maxRank = 64;

struct TypeCode {
  std::string_view code; ///< NumPy's letter and size.
  ElementType type;
};

/// The types read; the first entry of a type is written.
constexpr TypeCode typeCodes[] = {
    {"b1", ElementType::I1},   {"i1", ElementType::I8},
    {"i2", ElementType::I16},  {"i4", ElementType::I32},
    {"i8", ElementType::I64},  {"u1", ElementType::UI8},
    {"u2", ElementType::UI16}, {"u4", ElementType::UI32},
    {"u8", ElementType::UI64}, {"f2", ElementType::F16},
    {"f4", ElementType::F32},  {"f8", ElementType::F64},
    {"c8", ElementType::C64},  {"c16", ElementType::C128},
    {"V2", ElementType::BF16}, {"?", ElementType::I1},
};

struct Header {
  ElementType type = ElementType::F32;
  bool bigEndian = false;
  bool fortranOrder = false;
  Shape shape;
  /// Of strings.
  NpyStrings strings;

  /// Bytes of all elements; nothing if they do not fit into 64 bits.
  std::optional<int64_t> bytes() const {
    std::optional<int64_t> count = elementCount(shape);
    const int64_t each =
        isString(type) ? strings.bytes() : static_cast<int64_t>(byteSize(type));
    if (!count || __builtin_mul_overflow(*count, each, &*count))
      return std::nullopt;
    return count;
  }
};

/// Reads the header's text, a literal of a Python dictionary with the keys
/// 'descr' (a string), 'fortran_order' (True or False) and 'shape' (a tuple).
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  /// The header, or an error.
  Result<Header> parse() {
    Header header;
    unsigned seen = 0;
    if (!take('{'))
      return error("no dictionary");
    while (!take('}')) {
      std::optional<std::string_view> key = string();
      if (!key || !take(':'))
        return error("no key");
      if (*key == "descr")
        seen |= 1;
      else if (*key == "fortran_order")
        seen |= 2;
      else if (*key == "shape")
        seen |= 4;
      if (Result<void> value = parseValue(*key, header); !value)
        return value.takeError();
      if (!take(',') && peek() != '}')
        return error("no ',' after '" + std::string(*key) + "'");
    }
    if (seen != 7)
      return error("one of 'descr', 'fortran_order', 'shape' is missing");
    return header;
  }

private:
  static Error error(std::string what) {
    return systemError("its header is not valid: " + std::move(what));
  }

  Result<void> parseValue(std::string_view key, Header &header) {
    if (key == "descr")
      return parseType(header);
    if (key == "fortran_order") {
      header.fortranOrder = takeWord("True");
      if (!header.fortranOrder && !takeWord("False"))
        return error("'fortran_order' is neither True nor False");
      return {};
    }
    if (key == "shape")
      return parseShape(header.shape);
    return error("unknown key '" + std::string(key) + "'");
  }

  Result<void> parseType(Header &header) {
    if (peek() == '[')
      return unsupported("records are not supported");
    std::optional<std::string_view> descr = string();
    if (!descr || descr->empty())
      return error("'descr' is no string");
    header.bigEndian = descr->front() == '>';
    std::string_view code = *descr;
    if (std::string_view("<>|=").find(code.front()) != std::string_view::npos)
      code.remove_prefix(1);
    for (const TypeCode &known : typeCodes)
      if (known.code == code) {
        header.type = known.type;
        return {};
      }
    if (code.starts_with('U') || code.starts_with('S'))
      return parseStringType(code, header);
    return unsupported("elements of type '" + std::string(*descr) +
                       "' are not supported");
  }

  Result<void> parseStringType(std::string_view code, Header &header) {
    constexpr int64_t longest = int64_t(1) << 32;
    header.type = ElementType::STRING;
    header.strings.isUnicode = code.front() == 'U';
    header.strings.bigEndian = header.bigEndian;
    code.remove_prefix(1);
    int64_t &length = header.strings.length;
    const auto [end, error] =
        std::from_chars(code.data(), code.data() + code.size(), length);
    if (error != std::errc() || end != code.data() + code.size() ||
        length < 0 || length > longest)
      return HeaderParser::error("'descr' has no length of strings");
    return {};
  }

  Result<void> parseShape(Shape &shape) {
    if (!take('('))
      return error("'shape' is no tuple");
    while (!take(')')) {
      peek();
      int64_t dim = 0;
      auto [end, code] =
          std::from_chars(rest.data(), rest.data() + rest.size(), dim);
      if (code != std::errc() || dim < 0 || shape.size() == maxRank)
        return error("'shape' is not valid");
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      shape.push_back(dim);
      take('L'); // Python 2 wrote long integers so.
      if (!take(',') && peek() != ')')
        return error("'shape' is not valid");
    }
    return {};
  }

  /// The next character that is not white space, or 0.
  char peek() {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    return rest.empty() ? '\0' : rest.front();
  }
  bool take(char expected) {
    if (peek() != expected)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    peek();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    const size_t end = rest.find(quote, 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view contents = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return contents;
  }

  std::string_view rest;
};

/// Splits a file into the text of its header and its data.
Result<std::string_view> headerText(std::span<const std::byte> bytes,
                                    std::span<const std::byte> &data) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size());
  if (!text.starts_with(npyMagic))
    return systemError("not a .npy file");
  const size_t lengthBegin = npyMagic.size() + 2;
  const int version = text.size() > npyMagic.size()
                          ? static_cast<unsigned char>(text[npyMagic.size()])
                          : 0;
  const size_t lengthSize = version == 1 ? 2 : 4;
  if (text.size() < lengthBegin + lengthSize)
    return systemError("the file ends in its header");
  if (version < 1 || version > 3)
    return unsupported("version " + std::to_string(version) +
                       " of the .npy format");
  size_t length = 0;
  for (size_t i = lengthSize; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(text[lengthBegin + i]);
  const size_t begin = lengthBegin + lengthSize;
  if (length > text.size() - begin)
    return systemError("the file ends in its header");
  data = bytes.subspan(begin + length);
  return text.substr(begin, length);
}

/// Copies \p source, in column-major order, into row-major order.
void transpose(std::byte *target, const std::byte *source, const Shape &shape,
               size_t elementBytes) {
  const size_t rank = shape.size();
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t axis = 1; axis < rank; ++axis)
    strides[axis] = strides[axis - 1] * shape[axis - 1];
  int64_t position = 0;
  for (int64_t left = *elementCount(shape); left > 0; --left) {
    std::memcpy(target, source + position * elementBytes, elementBytes);
    target += elementBytes;
    for (size_t axis = rank; axis-- > 0;) {
      position += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      position -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

void swapBytes(Tensor &tensor) {
  const size_t size =
      byteSize(tensor.type()) / (isComplex(tensor.type()) ? 2 : 1);
  std::byte *begin = tensor.mutableBytes();
  for (std::byte *number = begin; number != begin + tensor.bytes();
       number += size)
    std::reverse(number, number + size);
}

Result<Tensor> convertStrings(const Header &header,
                              std::span<const std::byte> data) {
  // Empty texts have no order.
  if (!header.fortranOrder || header.strings.bytes() == 0)
    return readNpyStrings(header.strings, header.shape, data.data());
  std::vector<std::byte> ordered(static_cast<size_t>(*header.bytes()));
  transpose(ordered.data(), data.data(), header.shape,
            static_cast<size_t>(header.strings.bytes()));
  return readNpyStrings(header.strings, header.shape, ordered.data());
}

Result<Tensor> convert(const Header &header, std::span<const std::byte> data) {
  if (isString(header.type))
    return convertStrings(header, data);
  Tensor tensor(header.type, header.shape);
  if (header.fortranOrder)
    transpose(tensor.mutableBytes(), data.data(), header.shape,
              byteSize(header.type));
  else if (tensor.size() != 0)
    std::memcpy(tensor.mutableBytes(), data.data(), tensor.bytes());
  if (header.bigEndian)
    swapBytes(tensor);
  if (header.type == ElementType::I1)
    for (uint8_t &element : tensor.mutableValues<uint8_t>())
      element = element != 0;
  return tensor;
}

/// The header of a file and, in \p data, what follows it.
Result<Header> headerOf(std::span<const std::byte> bytes,
                        std::span<const std::byte> &data) {
  Result<std::string_view> text = headerText(bytes, data);
  return text ? HeaderParser(*text).parse() : text.takeError();
}

Error withName(const std::string &name, Error error) {
  return inside("'" + name + "'", std::move(error));
}

std::string descr(ElementType type) {
  for (const TypeCode &known : typeCodes)
    if (known.type == type)
      return (byteSize(type) == 1 ? "|" : "<") + std::string(known.code);
  return classOf(type) == ElementClass::SInt ? "|i1" : "|u1";
}

} // namespace

/// Whether \p bytes, of which the first are those of a .npy file, have all of
/// its header. A longer header than any that NumPy writes counts as whole, so
/// that its reader refuses it.
static bool hasWholeHeader(std::span<const std::byte> bytes) {
  constexpr size_t longest = size_t(1) << 20;
  const size_t begin = npyMagic.size() + 2;
  if (bytes.size() <= npyMagic.size())
    return false;
  const size_t lengthSize =
      std::to_integer<int>(bytes[npyMagic.size()]) == 1 ? 2 : 4;
  if (bytes.size() < begin + lengthSize)
    return false;
  size_t length = 0;
  for (size_t i = lengthSize; i-- > 0;)
    length = length << 8 | std::to_integer<size_t>(bytes[begin + i]);
  return length > longest || bytes.size() >= begin + lengthSize + length;
}

Result<std::optional<uint64_t>> npySize(std::span<const std::byte> bytes,
                                        const std::string &name) {
  const size_t known = std::min(bytes.size(), npyMagic.size());
  if (known > 0 && std::memcmp(bytes.data(), npyMagic.data(), known) != 0)
    return withName(name, systemError("not a .npy file"));
  if (!hasWholeHeader(bytes))
    return std::optional<uint64_t>();
  std::span<const std::byte> data;
  Result<Header> header = headerOf(bytes, data);
  if (!header)
    return withName(name, header.takeError());
  const std::optional<int64_t> size = header->bytes();
  if (!size)
    return withName(name, systemError(toString(header->type, header->shape) +
                                      " is too large"));
  return std::optional(static_cast<uint64_t>(*size) +
                       static_cast<uint64_t>(data.data() - bytes.data()));
}

Result<Tensor> parseNpy(std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner,
                        const std::string &name) {
  std::span<const std::byte> data;
  Result<Header> header = headerOf(bytes, data);
  if (!header)
    return withName(name, header.takeError());
  std::optional<int64_t> size = header->bytes();
  // Strings of no characters take no bytes of the file, but of memory.
  if (!size || static_cast<uint64_t>(*size) > data.size() ||
      static_cast<uint64_t>(*elementCount(header->shape)) > bytes.size())
    return withName(name, systemError(toString(header->type, header->shape) +
                                      " needs more bytes than the file has"));
  if (!header->fortranOrder && !header->bigEndian &&
      header->type != ElementType::I1 && !isString(header->type))
    return Tensor::share(header->type, header->shape, data.data(),
                         std::move(owner));
  Result<Tensor> converted =
      catchingOutOfMemory("the array", [&] { return convert(*header, data); });
  return converted ? std::move(converted)
                   : Result<Tensor>(withName(name, converted.takeError()));
}

Result<Tensor> readNpy(const std::string &path) {
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return parseNpy((*file)->bytes(), *file, path);
}

/// The values of \p array, rounded.
static Tensor roundedToBf16(const Tensor &array) {
  Tensor rounded(ElementType::BF16, array.shape());
  for (int64_t i = 0; i < array.size(); ++i)
    rounded.set(i, BFloat16(array.at<float>(i)));
  return rounded;
}

Tensor asStored(Tensor array, ElementType type) {
  if (type == ElementType::BF16 && array.type() == ElementType::F32)
    return roundedToBf16(array);
  const bool isKnown =
      type != ElementType::BF16 &&
      std::ranges::any_of(
          typeCodes, [&](const TypeCode &code) { return code.type == type; });
  const std::string code =
      type == ElementType::BF16 ? descr(ElementType::UI16) : descr(type);
  if (isKnown || type == array.type() || code != descr(array.type()) ||
      byteSize(type) != byteSize(array.type()))
    return array;
  Tensor stored =
      Tensor::of<std::byte>(type, array.shape(), {array.data(), array.bytes()});
  // A byte may hold values that a narrow integer cannot.
  if (isInteger(type))
    for (int64_t i = 0; i < array.size(); ++i) {
      const int64_t value = array.toInteger(i);
      const int64_t half = int64_t(1) << (bitWidth(type) - 1);
      const bool fits = classOf(type) == ElementClass::SInt
                            ? value >= -half && value < half
                            : value < 2 * half;
      if (!fits)
        return array;
    }
  return stored;
}

Result<void> writeNpy(const std::string &path, const Tensor &tensor,
                      WriteMode mode) {
  std::string shape;
  for (int64_t dim : tensor.shape())
    shape += std::to_string(dim) + (tensor.rank() == 1 ? "," : ", ");
  if (tensor.rank() > 1)
    shape.resize(shape.size() - 2);
  NpyStrings strings;
  std::vector<std::byte> stringBytes;
  std::string type = descr(tensor.type());
  if (isString(tensor.type())) {
    strings = npyFormOf(tensor);
    type = (strings.isUnicode ? "<U" : "|S") + std::to_string(strings.length);
    Result<std::vector<std::byte>> bytes = npyBytesOf(tensor, strings);
    if (!bytes)
      return inFile(bytes.takeError(), path);
    stringBytes = std::move(*bytes);
  }
  std::string header = "{'descr': '" + type +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t prefix = npyMagic.size() + 4;
  header.append(dataAlignment - 1 - (prefix + header.size()) % dataAlignment,
                ' ');
  header += '\n';
  std::string start(npyMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF),
            static_cast<char>(header.size() >> 8)};
  start += header;
  const std::span<const std::byte> chunks[] = {
      std::as_bytes(std::span(start)),
      isString(tensor.type())
          ? std::span<const std::byte>(stringBytes)
          : std::span<const std::byte>(tensor.data(), tensor.bytes())};
  return writeFileAtomically(path, chunks, mode);
}

} // namespace sinter
