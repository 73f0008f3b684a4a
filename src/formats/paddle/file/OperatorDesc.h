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

/// Decodes operators one by one, reusing memory.
class OperatorDecoder {
public:
  OperatorDecoder();
  ~OperatorDecoder();

  /// Decodes the operator in the bytes of an OpDesc. Errors name the operator
  /// if it has a name.
  Result<Operator> decode(std::span<const std::byte> bytes);

private:
  Result<void> keep(std::span<const std::byte> bytes);

  std::unique_ptr<schema::OpDesc> message;
  /// The bytes without the call stack.
  std::string kept;
};

inline Result<Operator> decodeOperator(std::span<const std::byte> bytes) {
  return OperatorDecoder().decode(bytes);
}

/// The bytes of \p op. An operator that was decoded here keeps its bytes,
/// without its call stack and with its current arguments. A new one has
/// attributes of the kinds that all versions of Paddle support (INT or LONG,
/// FLOAT, ...). Unsupported if an attribute has no such kind.
Result<std::string> encodeOperator(const Operator &op);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_OPERATORDESC_H
