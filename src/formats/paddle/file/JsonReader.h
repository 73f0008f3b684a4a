//===- JsonReader.h - streaming JSON reader -------------------------------===//
//
// Reads a text (RFC 8259) token by token without creating objects, so that a
// program of a million operators takes only the memory of its decoded form, and
// the bytes of any value can be kept unchanged. Containers nested more than
// `deepest` deep are rejected.
//
// The first error is kept; after it every call fails.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_JSONREADER_H
#define SINTER_FORMATS_PADDLE_FILE_JSONREADER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::paddle {

class JsonReader {
public:
  enum class Kind : uint8_t { Object, Array, String, Number, Bool, Null, None };
  struct Number {
    /// Whether it has neither a point nor an exponent and fits.
    bool isInteger = false;
    int64_t integer = 0;
    double real = 0;
  };
  static constexpr size_t deepest = 512;

  /// \p before: number of bytes before \p text, for messages.
  explicit JsonReader(std::string_view text, size_t before = 0)
      : text(text), before(before) {}

  bool failed() const { return !message.empty(); }
  /// The error, with its position.
  const std::string &problem() const { return message; }
  /// Records an error at the current position; returns false.
  bool fail(std::string_view why);

  /// The kind of the next value; None if there is none.
  Kind peek();
  /// Enters an object; nextKey() then reads each key, and is false at its end.
  bool enterObject() { return enter('{', "an object"); }
  /// The key is valid until the next call.
  bool nextKey(std::string_view &key);
  /// Enters an array; nextElement() is false at its end.
  bool enterArray() { return enter('[', "an array"); }
  bool nextElement();
  bool readString(std::string &value);
  bool readInteger(int64_t &value);
  /// Reads an object, and from it the integer at \p key; without one, \p value
  /// stays. False if there is no object.
  bool readIntegerOf(std::string_view key, int64_t &value);
  bool readNumber(Number &value);
  bool readBool(bool &value);
  /// Skips a value of any kind.
  bool skip();
  /// The string at \p key in the next object, without advancing; empty if it
  /// has none.
  bool lookAhead(std::string_view key, std::string &value);
  /// Whether only space is left.
  bool atEnd();

  /// The offset of the next token.
  size_t position();
  std::string_view since(size_t begin) const {
    return text.substr(begin, offset - begin);
  }

private:
  struct Container {
    bool isObject = false, isFirst = true;
  };
  void skipSpace();
  bool enter(char opening, const char *what);
  /// Skips the comma before an element that is not the first one, or the
  /// container's end.
  bool nextMember(bool isObject);
  bool readText(std::string_view &value);
  bool unescape(std::string_view &value, size_t begin);
  bool readEscape();
  bool readHex(uint32_t &unit);
  bool isDigit() const {
    return offset < text.size() && text[offset] >= '0' && text[offset] <= '9';
  }
  bool takeDigits();
  bool takeWord(std::string_view word);

  std::string_view text;
  size_t before = 0, offset = 0;
  std::vector<Container> containers;
  std::string buffer, message;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_JSONREADER_H
