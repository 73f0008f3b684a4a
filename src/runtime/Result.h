//===- Result.h - a value, or what went wrong -----------------------------===//
//
// Errors are values. Each carries the class of failure that decides the exit
// code of the command, and one line of text: file, node, operator, what is
// wrong, what would help.
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
};

/// \p text on one line and without control characters: what a file calls its
/// parts may hold any bytes. A line break and the indentation after it become a
/// space.
std::string oneLine(std::string_view text);

struct Error {
  Error(ErrorKind kind, std::string_view message)
      : kind(kind), message(oneLine(message)) {}

  ErrorKind kind;
  std::string message;
};

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
