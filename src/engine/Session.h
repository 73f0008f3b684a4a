//===- Session.h - from a model file to something that runs ---------------===//
//
//     open      what the model asks for: from the cache, or by reading it
//     bind      a shape for every input
//     prepare   a program for these inputs: from the cache, or compiled
//     executor  run it
//
// A model that was compiled before runs without the compiler being loaded.
//
//     SessionOptions     what is wanted
//     SessionModel       what the model asks for, and the compiler's graph
//     SessionSizes       sizes of dynamic dimensions, and which stay dynamic
//     SessionPrograms    the program for given inputs
//     ProgramKeys        hashes by which the cache finds a model's entries
//     ModelCache         these entries
//     SessionExecutors   what runs a program
//     VerifyDynamic      a dynamic program beside the interpreter
//     SessionNotes       notes that are given once
//
// Threads may share a session. One of them at a time compiles; runs of what is
// ready do not wait for it, but for those of the interpreter, which reads the
// compiler's own graph.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_SESSION_H
#define SINTER_ENGINE_SESSION_H

#include "engine/SampleSizes.h"
#include "engine/SessionPrograms.h"
#include "engine/SessionSizes.h"
#include "runtime/Executor.h"

#include <memory>
#include <mutex>

namespace sinter {

/// An executor that its holder alone runs, and its program (null: it is of the
/// interpreter).
struct OwnExecutor {
  std::shared_ptr<Executor> executor;
  std::shared_ptr<const Program> program;
};

class Session {
public:
  /// Finds out what the model at \p path asks for. Errors name the file.
  static Result<std::unique_ptr<Session>> open(const std::string &path,
                                               SessionOptions options);

  /// What it was at the time of the call: which inputs feed shapes may show
  /// only when the model is compiled. Lives as long as the session.
  const ModelDescription &model() const { return source.description(); }

  /// See bindShapes; the shapes of the options are bound, too.
  Result<std::vector<Shape>>
  bind(std::span<const std::optional<Tensor>> given) const;
  /// The sizes to check the model at: up to three for what neither the shapes
  /// nor \p given say (see sampleSizes). \p alsoAllows: what else must take
  /// them.
  Result<std::vector<SampleSizes>>
  sizesToCheck(std::span<const std::optional<Tensor>> given,
               const AllowsShapes &alsoAllows = {});
  /// Whether the model takes inputs of \p shapes.
  bool accepts(const std::vector<Shape> &shapes,
               std::span<const std::optional<Tensor>> given = {});

  /// Makes the model ready for \p inputs, of known shapes: those that feed
  /// shapes must be run with the same values.
  /// The executor's observer is told of the values with the numbers \p
  /// observed (see runFacts).
  Result<void> prepare(std::span<const Tensor> inputs,
                       std::span<const int64_t> observed = {});
  /// The same, and what runs it, for threads that prepare for different inputs.
  /// The session outlives the executor.
  Result<std::shared_ptr<Executor>>
  executorFor(std::span<const Tensor> inputs,
              std::span<const int64_t> observed = {});
  /// Makes \p own ready for \p inputs, to run beside others on \p threads (0:
  /// as many as the session). It stays if it is of the program for these
  /// inputs, else it is made anew, and its states go over.
  Result<void> prepareOwn(OwnExecutor &own, std::span<const Tensor> inputs,
                          unsigned threads = 0);
  /// What can be observed of the run that prepare() made ready or, with \p
  /// ofDynamic, what was rewritten for a program of dynamic dimensions.
  Result<RunFacts> runFacts(bool ofDynamic = false);
  /// The weights of what prepare() made ready; \p folds: those of the
  /// simplified graph, too.
  Result<ModelWeights> weights(bool folds);
  /// The sizes that bind() gives from now on. What the options left open stays
  /// open.
  void setShapes(NamedShapes shapes) { sizes.set(std::move(shapes)); }
  /// As PassOptions::mostSteps, for what is prepared from now on.
  void limitSteps(uint64_t most);

  /// What prepare() made ready last. Where the program computes sizes, and
  /// values lead beyond those that it is for, the run goes on with a program
  /// for these values. Lives until prepare() makes another one ready, and
  /// readyExecutor() as long as somebody holds it.
  Executor &executor() { return *readyExecutor(); }
  std::shared_ptr<Executor> readyExecutor() const;
  /// Another executor of what prepare() made ready, to run beside others on \p
  /// threads (0: as many as the session) of \p pool (null: of the session's).
  /// Those of the interpreter share the model and must take turns, and nothing
  /// is prepared meanwhile.
  Result<std::unique_ptr<Executor>>
  anotherExecutor(unsigned threads = 1,
                  std::shared_ptr<ThreadPool> pool = nullptr);
  /// The compiled program, after prepare() and until the next; null for the
  /// interpreter.
  const Program *program() const;
  SessionFacts facts() const;
  /// A hash of all that the results follow from but the inputs: the model with
  /// all its files, what is bound, and the options. What processes of a grid
  /// run is the same where this is.
  Result<Hash128> identity();
  unsigned threads() const { return threadsOf(options); }

private:
  Session(const std::string &path, SessionOptions options);

  Result<void> describe();
  Result<CompileRequest> requestFor(std::span<const Tensor> inputs) const;
  Result<void> prepareAlone(std::span<const Tensor> inputs,
                            std::span<const int64_t> observed);
  Result<void> prepareNext(std::span<const Tensor> inputs,
                           std::span<const int64_t> observed);
  Result<void> makeNext(CompileRequest &request,
                        std::span<const Tensor> inputs);
  Result<void> useProgram(std::shared_ptr<const Program> program);
  Result<void> interpret(const CompileRequest &request);
  Result<void> interpretInstead(const CompileRequest &request, Error why);
  Result<void> verifyNext(std::span<const Tensor> inputs);
  Result<void> showNext();
  Result<std::unique_ptr<Executor>>
  executorOf(std::shared_ptr<const Program> program, unsigned threads,
             std::shared_ptr<ThreadPool> pool = nullptr);
  Result<std::unique_ptr<Executor>>
  executorForValues(std::span<const Tensor> inputs, unsigned threads,
                    std::shared_ptr<ThreadPool> pool, const Error &why);
  Error inModel(Error error) const {
    return inFile(std::move(error), source.path());
  }

  SessionOptions options;
  SessionNotes notes;
  SessionModel source;
  SessionSizes sizes;
  ProgramKeys keys;
  ModelCache cache;
  SessionPrograms programs;

  /// What prepare() was asked for last, after what is not dynamic was taken
  /// out.
  CompileRequest prepared;
  /// Of the call of prepare() that is under way: what is to be ready, or null
  /// where that is what is ready already; its program (null: the interpreter
  /// runs); and whether it goes on with the states of what is ready.
  struct Next {
    std::shared_ptr<Executor> executor;
    std::shared_ptr<const Program> program;
    bool takesStates = false;
  } next;
  SessionFacts measured;

  /// Held by prepare(), before the others.
  std::mutex preparing;
  /// Held by who uses the compiler, and what its use follows from: all above
  /// but `sizes` and the description, which have locks of their own. Nobody
  /// waits for a run who holds it.
  std::recursive_mutex compiling;
  /// Held for moments, for what is shown.
  mutable std::mutex showing;
  struct Shown {
    std::shared_ptr<Executor> executor;
    std::shared_ptr<const Program> program;
    SessionFacts facts;
  } shown;
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSION_H
