//===- TensorBytes.h - the bytes of a tensor in an artifact ---------------===//
//
// An artifact has a tensor's elements contiguously, in whole bytes; a splat may
// have only one element. Booleans are packed, the first in the lowest bit, and
// a splat is 0xFF or 0x00.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_TENSORBYTES_H
#define SINTER_FORMATS_STABLEHLO_VHLO_TENSORBYTES_H

#include "mlir/IR/BuiltinAttributes.h"

#include <memory>
#include <string>

namespace sinter::vhlo {

/// An attribute whose rawBytes() are the bytes of \p elements in an artifact:
/// \p elements itself if possible. Null for elements of another kind than dense
/// or dense resource.
mlir::Attribute artifactBytes(mlir::ElementsAttr elements);

/// The bytes of an attribute made by artifactBytes.
llvm::ArrayRef<char> rawBytes(mlir::Attribute attribute);

/// Decodes elements of \p type from an artifact's \p bytes. Large ones are not
/// copied if \p owner keeps them alive. Null with \p problem if the bytes are
/// not those of such a tensor.
mlir::ElementsAttr elementsOf(mlir::ShapedType type, llvm::ArrayRef<char> bytes,
                              const std::shared_ptr<const void> &owner,
                              std::string &problem);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_TENSORBYTES_H
