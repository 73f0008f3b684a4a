//===- CompilerEntry.cpp - the doors of libsinter-compiler.so -------------===//

#include "backend/cpu/Passes.h"
#include "engine/CompilerContract.h"
#include "engine/compiler/MlirCompiler.h"

extern "C" [[gnu::visibility("default")]] sinter::Compiler *sinterCompiler() {
  sinter::cpu::registerPatternLabels();
  static sinter::MlirCompiler compiler;
  return &compiler;
}

extern "C" [[gnu::visibility("default")]] const char *sinterCompilerContract() {
  return sinter::compilerContract;
}
