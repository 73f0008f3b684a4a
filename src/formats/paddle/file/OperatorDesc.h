//===- OperatorDesc.h - one operator as protobuf --------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_OPERATORDESC_H
#define SINTER_FORMATS_PADDLE_FILE_OPERATORDESC_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace sinter::paddle {

namespace schema {
class OpDesc;
}

/// Decodes one operator after the other, in the same memory.
class OperatorDecoder {
public:
  OperatorDecoder();
  ~OperatorDecoder();

  /// The operator in the bytes of an OpDesc. Errors name the operator as far as
  /// it has a name.
  Result<Operator> decode(std::span<const std::byte> bytes);

private:
  Result<void> keep(std::span<const std::byte> bytes);

  std::unique_ptr<schema::OpDesc> message;
  /// The bytes without call stack.
  std::string kept;
};

inline Result<Operator> decodeOperator(std::span<const std::byte> bytes) {
  return OperatorDecoder().decode(bytes);
}

/// The bytes of \p op. One that was decoded here has the bytes that it had,
/// without its call stack and with the arguments that it has now. A new one has
/// attributes of the kinds that all versions of Paddle read (INT or LONG,
/// FLOAT, ...). Unsupported where an attribute has no such kind.
Result<std::string> encodeOperator(const Operator &op);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_OPERATORDESC_H
