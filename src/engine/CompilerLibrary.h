//===- CompilerLibrary.h - loads the compiler on demand -------------------===//

#ifndef SINTER_ENGINE_COMPILERLIBRARY_H
#define SINTER_ENGINE_COMPILERLIBRARY_H

#include "engine/Compiler.h"

namespace sinter {

/// The compiler, loaded on the first call: from the file of
/// setCompilerLibrary(), else from that of the environment variable
/// SINTER_COMPILER_LIBRARY, else libsinter-compiler.so beside
/// libsinter-runtime.so. System errors.
Result<Compiler *> loadCompiler();

/// Sets the file that loadCompiler() loads; an empty one resets it. Usage error
/// if it has loaded another one.
Result<void> setCompilerLibrary(const std::string &path);

/// Identifies this build of the compiler (size and time of its file), without
/// loading it. A System error if it cannot be found.
Result<std::string> compilerIdentity();

} // namespace sinter

#endif // SINTER_ENGINE_COMPILERLIBRARY_H
