//===- Result.h - a value or an error -------------------------------------===//
//
// Errors are values. Each carries the class of failure that decides the exit
// code of the command, what is wrong, and as far as it is known: in which file,
// at which node, in which operator, and what would help.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_RESULT_H
#define SINTER_RUNTIME_RESULT_H

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sinter {

/// Why something failed. The numbers are the exit codes of the command.
enum class ErrorKind {
  WrongResult = 1,  ///< A test or a comparison failed.
  Usage = 2,        ///< The user asked for something that makes no sense.
  InvalidModel = 3, ///< The file is not a valid model.
  Unsupported = 4,  ///< The model uses something that is not supported.
  System = 5,       ///< I/O, memory, or the operating system failed.
  Cancelled = 6,    ///< The caller cancelled it (Cancellation.h).
};

/// \p text on one line and without control characters: names in a file may
/// contain any bytes. A line break and the indentation after it become a space.
std::string oneLine(std::string_view text);

struct Error {
  Error(ErrorKind kind, std::string_view what)
      : kind(kind), what(oneLine(what)) {}

  ErrorKind kind;
  /// What is wrong, without where and without what would help.
  std::string what;
  /// The file that it is about, as the caller named it; empty if none.
  std::string file;
  /// "3:7": line and column in a text file; else empty.
  std::string position;
  /// The node and its operator, by the file's names; empty if unknown.
  std::string node, op;
  /// Where it is inside of the file, outermost first: "node 'conv1' (Conv)".
  std::string where;
  /// What the user can do about it: "did you mean 'x'?". May be empty.
  std::string hint;

  /// All of it in a line: "FILE: WHERE: WHAT; HINT". The file is in front only
  /// if it is not named behind that.
  std::string message() const;
};

/// \p error about the file at \p path, unless it is about one already.
Error inFile(Error error, const std::string &path);

/// \p error with \p subject, "output 'y'" say, in front of where it is.
Error inside(std::string_view subject, Error error);

/// The same, for a node called \p node of the operator \p op. Those of an
/// inner node, which the error may have already, stay.
Error atNode(std::string_view subject, std::string_view node,
             std::string_view op, Error error);

/// \p error with what would help, behind what it says of that already.
Error withHint(std::string_view hint, Error error);

/// Either a \p T or an Error. `Result<void>` is a success or an Error.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }
  const Error &error() const { return std::get<1>(state); }
  Error takeError() { return std::move(std::get<1>(state)); }

private:
  std::variant<T, Error> state;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  const Error &error() const { return std::get<1>(state); }
  Error takeError() { return std::move(std::get<1>(state)); }

private:
  std::variant<std::monostate, Error> state;
};

inline Error usageError(std::string_view message) {
  return {ErrorKind::Usage, message};
}
inline Error invalidModel(std::string_view message) {
  return {ErrorKind::InvalidModel, message};
}
inline Error unsupported(std::string_view message) {
  return {ErrorKind::Unsupported, message};
}
inline Error systemError(std::string_view message) {
  return {ErrorKind::System, message};
}

} // namespace sinter

#endif // SINTER_RUNTIME_RESULT_H
