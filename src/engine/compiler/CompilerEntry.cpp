//===- CompilerEntry.cpp - the one door of libsinter-compiler.so ----------===//

#include "engine/compiler/MlirCompiler.h"

extern "C" [[gnu::visibility("default")]] sinter::Compiler *sinterCompiler() {
  static sinter::MlirCompiler compiler;
  return &compiler;
}
