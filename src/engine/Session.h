//===- Session.h - from a model file to something that runs ---------------===//
//
//     open      what the model asks for: from the cache, or by reading it
//     bind      a shape for every input
//     prepare   a program for these inputs: from the cache, or compiled
//     executor  run it
//
// A model that was compiled before runs without the compiler being loaded.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_SESSION_H
#define SINTER_ENGINE_SESSION_H

#include "engine/Compiler.h"
#include "runtime/Cache.h"
#include "runtime/CompileStage.h"
#include "runtime/FloatMode.h"
#include "runtime/ProgramExecutor.h"

#include <functional>
#include <memory>
#include <mutex>

namespace sinter {

enum class Backend { Cpu, Interpreter };

std::string_view name(Backend backend);

/// Which unknown dimensions stay open in a program, so that prepare() compiles
/// once for all of their sizes. What cannot be compiled so is compiled for the
/// sizes at hand, with a note.
enum class OpenSizes {
  None,
  /// Those to which SessionOptions::shapes gives no size.
  Unknown,
  /// Those of the symbols in SessionOptions::open, or all if that is empty;
  /// `shapes` say what bind() gives them.
  Wanted
};

struct SessionOptions : CodeOptions {
  Backend backend = Backend::Cpu;
  /// What the CPU backend does not support the interpreter runs, with a note.
  bool mayInterpret = false;
  /// Threads to compile and to run with; 0: as many as there are processors.
  /// All sessions of a process run on the same threads.
  unsigned threads = 0;
  /// Where finished programs are kept; empty: nowhere.
  std::string cacheFolder;
  NamedShapes shapes;
  /// As in ModelRequest.
  std::vector<DimensionName> dimensionNames;
  OpenSizes openSizes = OpenSizes::Unknown;
  std::vector<std::string> open;
  /// No input's dimension may be larger. Where all that stay open have a bound,
  /// memory for the largest sizes is taken at once.
  SizeBounds most;
  /// Inputs that become constants.
  NamedTensors bound;
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
  /// As in CompileRequest.
  std::function<void(unsigned done, unsigned total)> progress;
  CompileObserver stages;
};

struct SessionFacts {
  /// Everything up to the first run but compilation.
  double loadMs = 0;
  double compileMs = 0;
  bool fromCache = false;
};

class Session {
public:
  /// Finds out what the model at \p path asks for. Errors name the file.
  static Result<std::unique_ptr<Session>> open(const std::string &path,
                                               SessionOptions options);

  const ModelDescription &model() const { return description; }

  /// See bindShapes; the shapes of the options are bound, too.
  Result<std::vector<Shape>>
  bind(std::span<const std::optional<Tensor>> given) const;

  /// Makes the model ready for \p inputs, of known shapes: those that feed
  /// shapes must be run with the same values.
  /// The executor's observer is told of the values with the numbers \p
  /// observed (see runFacts).
  Result<void> prepare(std::span<const Tensor> inputs,
                       std::span<const int64_t> observed = {});
  /// What can be observed of the run that prepare() made ready.
  Result<RunFacts> runFacts();
  /// The sizes that bind() gives from now on. What the options left open stays
  /// open.
  void setShapes(NamedShapes shapes) { sizes = std::move(shapes); }
  /// As PassOptions::mostSteps, for what is prepared from now on.
  void limitSteps(uint64_t most) { options.passes.mostSteps = most; }

  /// After prepare(). Where the program computes sizes, and values lead beyond
  /// those that it is for, the run goes on with a program for these values.
  Executor &executor() { return *ready; }
  /// Another executor of what prepare() made ready, to run beside others. Those
  /// of the interpreter share the model and must take turns. They may compile,
  /// as executor() says, but not while prepare() does.
  Result<std::unique_ptr<Executor>> anotherExecutor();
  /// The compiled program, after prepare(); null for the interpreter.
  const Program *program() const { return compiled.get(); }
  const SessionFacts &facts() const { return measured; }
  unsigned threads() const;

private:
  Session(std::string path, SessionOptions options);

  /// A key of the model file's contents and the wanted shapes.
  Result<void> hashModel();
  bool describeFromCache();
  Result<void> describe();
  void rememberDescription();
  Result<void> read();
  Result<Hash128> programKey(const CompileRequest &request, bool isOpen) const;
  CompileRequest requestFor(std::span<const Tensor> inputs);
  bool hasOpenPrograms(const CompileRequest &request) const;
  std::shared_ptr<const Program>
  openProgramFor(std::span<const Tensor> inputs) const;
  void closeUnlessBranches(CompileRequest &request, const Error &limit);
  Result<void> makeReady(CompileRequest &request,
                         std::span<const Tensor> inputs);
  bool staysOpen(const ModelInput &input, size_t dim) const;
  std::vector<Shape> openShapes(std::span<const Tensor> inputs) const;
  Result<void> interpret(const CompileRequest &request);
  Result<void> interpretInstead(const CompileRequest &request, Error why);
  Result<void> compile(CompileRequest &request, std::span<const Tensor> inputs);
  /// What was compiled before for \p request, if it runs here; where opening
  /// it was refused before, that is taken out of \p request.
  std::shared_ptr<const Program> kept(CompileRequest &request);
  std::shared_ptr<const Program> fromCache(const Hash128 &key);
  std::string refusalPath(const Hash128 &key) const;
  void refuseToOpen(CompileRequest &request);
  void keepRefusal(const CompileRequest &request) const;
  void tellRefusal();
  Result<std::unique_ptr<Executor>>
  executorOf(std::shared_ptr<const Program> program, unsigned threads);
  Result<std::unique_ptr<ProgramExecutor>>
  programExecutor(std::shared_ptr<const Program> program,
                  unsigned threads) const;
  Result<std::unique_ptr<Executor>>
  executorForValues(std::span<const Tensor> inputs, unsigned threads,
                    const Error &why);
  Result<void> execute(std::shared_ptr<const Program> program);

  std::string path;
  SessionOptions options;
  ProgramCache cache;
  Hash128 modelHash;
  std::string descriptionPath;
  ModelDescription description;
  std::unique_ptr<CompilerModel> source;
  std::shared_ptr<const Program> compiled;
  /// What bind() gives, which may be other sizes than those of the options.
  NamedShapes sizes;
  /// The programs for all sizes, once there are some, and what is open of them.
  /// Where the graph follows from sizes, each is for those of some branches.
  std::vector<std::shared_ptr<const Program>> openPrograms;
  std::vector<Shape> openFor;
  /// Whether one for all sizes was not even for those that it was read for.
  bool hasOtherLimits = false;
  /// What cannot stay open, once that was found out, and why.
  std::vector<Shape> refusedFor;
  std::string refusal;
  bool toldRefusal = false, toldLimit = false, toldPerValues = false,
       toldBranches = false;
  /// Held by the executor that has a program made for its values.
  std::mutex makesForValues;
  std::unique_ptr<Executor> ready;
  CompileRequest prepared;
  SessionFacts measured;
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSION_H
