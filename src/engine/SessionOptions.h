//===- SessionOptions.h - what a session is to do with a model ------------===//

#ifndef SINTER_ENGINE_SESSIONOPTIONS_H
#define SINTER_ENGINE_SESSIONOPTIONS_H

#include "engine/Compiler.h"
#include "runtime/Allocator.h"
#include "runtime/ThreadPool.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

enum class Backend { Cpu, Interpreter };

std::string_view name(Backend backend);

/// Which dimensions are dynamic in a program, so that prepare() compiles once
/// for all of their sizes. A model that has no such program is compiled for the
/// shapes of each run, with a note.
enum class DynamicSizes {
  None,
  /// Those to which SessionOptions::shapes gives no size.
  Unknown,
  /// Those of the symbols in SessionOptions::dynamic, or all if that is empty;
  /// `shapes` say what bind() gives them.
  Wanted
};

struct SessionOptions : CodeOptions {
  Backend backend = Backend::Cpu;
  /// What the CPU backend does not support the interpreter runs, with a note.
  bool mayInterpret = false;
  /// Threads to compile and to run with; 0: as many as there are processors.
  unsigned threads = 0;
  /// What programs run on; null: the pool of the process.
  std::shared_ptr<ThreadPool> pool;
  /// As in ProgramExecutorOptions.
  std::shared_ptr<Allocator> allocator;
  /// Where finished programs are kept; empty: nowhere.
  std::string cacheFolder;
  NamedShapes shapes;
  /// As in ModelRequest.
  std::vector<DimensionName> dimensionNames;
  DynamicSizes dynamicSizes = DynamicSizes::Unknown;
  std::vector<std::string> dynamic;
  /// No input's dimension may be larger. Where all that stay open have a bound,
  /// memory for the largest sizes is taken at once.
  SizeBounds most;
  /// Inputs that become constants.
  NamedTensors bound;
  /// As in ModelRequest.
  std::vector<std::string> boundFiles;
  std::vector<std::string> replacedDefaults;
  /// As in ModelRequest.
  std::string function;
  OpenOptions opening;
  PassOptions passes;
  /// As in CompileRequest.
  bool interpretsRewritten = false;
  /// As in CompileRequest.
  std::optional<MachineCeilings> ceilings;
  std::function<void(const std::string &)> choice;
  /// Told what a user should know; one line each.
  std::function<void(const std::string &)> note;
  /// Gets what the model prints when it runs; empty: standard output does.
  Printer print;
  /// As in CompileRequest.
  std::function<void(unsigned done, unsigned total)> progress;
  CompileObserver stages;
};

/// Threads to compile and to run with.
unsigned threadsOf(const SessionOptions &options);

/// What the compiler is asked to read for a session of the model at \p path.
ModelRequest modelRequest(const std::string &path,
                          const SessionOptions &options);

/// What the compiler is asked to compile, but for the inputs.
CompileRequest compileRequest(const SessionOptions &options);

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONOPTIONS_H
