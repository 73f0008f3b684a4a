//===- CompilerEntry.cpp - the doors of libsinter-compiler.so -------------===//

#include "backend/cpu/pipeline/Passes.h"
#include "engine/compiler/GuardedCompiler.h"
#include "runtime/LibraryContract.h"

extern "C" [[gnu::visibility("default")]] sinter::Compiler *sinterCompiler() {
  sinter::cpu::registerPatternLabels();
  static sinter::GuardedCompiler compiler;
  return &compiler;
}

extern "C" [[gnu::visibility("default")]] const char *sinterCompilerContract() {
  return sinter::libraryContract;
}
