//===- CompilerLibrary.h - loads the compiler when it is needed -----------===//

#ifndef SINTER_ENGINE_COMPILERLIBRARY_H
#define SINTER_ENGINE_COMPILERLIBRARY_H

#include "engine/Compiler.h"

namespace sinter {

/// The compiler out of ../lib/libsinter-compiler.so, seen from the running
/// program's folder; loaded on the first call. System errors.
Result<Compiler *> loadCompiler();

/// What tells this build of the compiler from another one (size and time of its
/// file), without loading it. Empty where it is missing.
std::string compilerIdentity();

} // namespace sinter

#endif // SINTER_ENGINE_COMPILERLIBRARY_H
