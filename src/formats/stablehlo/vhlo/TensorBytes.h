//===- TensorBytes.h - the bytes of a tensor in an artifact ---------------===//
//
// An artifact holds a tensor's elements one after the other, in whole bytes; a
// tensor whose elements are all the same may hold only one of them. Booleans
// are packed, the first in the lowest bit, and one for all is 0xFF or 0x00.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_TENSORBYTES_H
#define SINTER_FORMATS_STABLEHLO_VHLO_TENSORBYTES_H

#include "mlir/IR/BuiltinAttributes.h"

#include <memory>
#include <string>

namespace sinter::vhlo {

/// An attribute whose rawBytes() are what an artifact has for \p elements: the
/// elements themselves wherever possible. Null for elements of another kind
/// than dense or dense resource.
mlir::Attribute artifactBytes(mlir::ElementsAttr elements);

/// The bytes that an attribute made by artifactBytes holds.
llvm::ArrayRef<char> rawBytes(mlir::Attribute attribute);

/// Elements of \p type that an artifact has as \p bytes. Large ones are not
/// copied if \p owner keeps them alive. Null with \p problem if the bytes are
/// not those of such a tensor.
mlir::ElementsAttr elementsOf(mlir::ShapedType type, llvm::ArrayRef<char> bytes,
                              const std::shared_ptr<const void> &owner,
                              std::string &problem);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_TENSORBYTES_H
