//===- NodeTags.h - numbers in the locations of operations ----------------===//
//
// Passes keep locations, the backend's too, and steps of programs and messages
// name what they are about by them. So an operation whose location is its
// number is found again in whatever became of it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_NODETAGS_H
#define SINTER_ENGINE_COMPILER_NODETAGS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sinter {

/// A location that is \p number.
mlir::Location tagLocation(uint32_t number, mlir::MLIRContext *context);
/// The number that is the first name in \p location.
std::optional<uint32_t> tagIn(mlir::Location location);
/// The number that is the name \p layer of a step.
std::optional<uint32_t> tagIn(llvm::StringRef layer);
/// \p message with \p nameOf(number) in place of numbers.
std::string withoutTags(llvm::StringRef message,
                        llvm::function_ref<std::string(uint32_t)> nameOf);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_NODETAGS_H
