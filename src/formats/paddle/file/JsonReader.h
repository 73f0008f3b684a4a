//===- JsonReader.h - JSON from front to back -----------------------------===//
//
// A reader that sees a text (RFC 8259) token by token without making any
// object, so that a program of a million operators takes no memory but what it
// is decoded to, and the bytes of any value can be kept as they are. Containers
// nested more than `deepest` deep are refused.
//
// The first thing that is wrong is kept; after it every call fails.
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

  /// \p before: bytes in front of \p text, for messages.
  explicit JsonReader(std::string_view text, size_t before = 0)
      : text(text), before(before) {}

  bool failed() const { return !message.empty(); }
  /// What is wrong, with the place.
  const std::string &problem() const { return message; }
  /// Fails at the place that was reached; false.
  bool fail(std::string_view why);

  /// What the next value is; None where none is.
  Kind peek();
  /// Into an object; nextKey() then gives each key, and false at its end.
  bool enterObject() { return enter('{', "an object"); }
  /// The key is valid until the next call.
  bool nextKey(std::string_view &key);
  /// Into an array; nextElement() is false at its end.
  bool enterArray() { return enter('[', "an array"); }
  bool nextElement();
  bool readString(std::string &value);
  bool readInteger(int64_t &value);
  /// An object, and of its members the integer at \p key; without one, \p value
  /// stays. False if there is no object.
  bool readIntegerOf(std::string_view key, int64_t &value);
  bool readNumber(Number &value);
  bool readBool(bool &value);
  /// Over a value, whatever it is.
  bool skip();
  /// The string that the object that comes next has as \p key, without moving;
  /// empty if it has none.
  bool lookAhead(std::string_view key, std::string &value);
  /// Whether only space is left.
  bool atEnd();

  /// Where the next token begins.
  size_t position();
  std::string_view since(size_t begin) const {
    return text.substr(begin, place - begin);
  }

private:
  struct Container {
    bool isObject = false, isFirst = true;
  };
  void skipSpace();
  bool enter(char opening, const char *what);
  /// Over the comma before an element that is not the first one, or over the
  /// container's end.
  bool nextMember(bool isObject);
  bool readText(std::string_view &value);
  bool unescape(std::string_view &value, size_t begin);
  bool readEscape();
  bool readHex(uint32_t &unit);
  bool isDigit() const {
    return place < text.size() && text[place] >= '0' && text[place] <= '9';
  }
  bool takeDigits();
  bool takeWord(std::string_view word);

  std::string_view text;
  size_t before = 0, place = 0;
  std::vector<Container> containers;
  std::string buffer, message;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_JSONREADER_H
