//===- SessionPrograms.h - the program that a session runs ----------------===//
//
// For the inputs at hand it is the first of these that there can be:
//
//     dynamic      for all sizes of what is dynamic in the request
//     static       for the sizes of the inputs, and all values
//     for values   for these sizes and values, where sizes follow from values
//
// and of each kind one that the session has, one of the cache, or a new one.
// What a model cannot have is found out once, and kept in the cache, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_SESSIONPROGRAMS_H
#define SINTER_ENGINE_SESSIONPROGRAMS_H

#include "engine/DynamicPrograms.h"
#include "engine/ModelCache.h"
#include "engine/ProgramKeys.h"
#include "engine/SessionFacts.h"
#include "engine/SessionModel.h"

namespace sinter {

/// One thread at a time uses it.
class SessionPrograms {
public:
  SessionPrograms(const SessionOptions &options, SessionModel &model,
                  ProgramKeys &keys, ModelCache &cache, SessionNotes &notes)
      : options(options), model(model), keys(keys), cache(cache), notes(notes) {
  }

  /// Makes \p request, which is then made here or of the interpreter, report
  /// what it is refused. What is known to be refused is taken out of it.
  void prepare(CompileRequest &request);

  /// The program for \p request and \p inputs. What turned out not to be
  /// dynamic is taken out of the request. \p facts says what it took. Errors:
  /// those of the model and of compilation.
  Result<std::shared_ptr<const Program>>
  programFor(CompileRequest &request, std::span<const Tensor> inputs,
             SessionFacts &facts);

  /// The program for the values of \p request alone.
  Result<std::shared_ptr<const Program>>
  programForValues(CompileRequest request);

  /// Notes why the program is static, if that was reported.
  void noteRefusal();

  /// Forgets what was made and what was refused: the options have changed.
  void clear();

private:
  bool mayHaveOneMore(const CompileRequest &request) const;
  void giveUpDynamic(CompileRequest &request, const Error &guard);
  void refuseDynamic(CompileRequest &request);
  Result<std::shared_ptr<const Program>> loadOrCompile(CompileRequest &request,
                                                       std::span<const Tensor>,
                                                       SessionFacts &facts);
  bool isCached(const CompileRequest &request) const;
  std::shared_ptr<const Program> load(CompileRequest &request);
  Result<Hash128> dynamicKey(const CompileRequest &request);
  void keep(const CompileRequest &request, const Program &program);
  void keepDescription();

  const SessionOptions &options;
  SessionModel &model;
  ProgramKeys &keys;
  ModelCache &cache;
  SessionNotes &notes;

  DynamicPrograms dynamic;
  /// Whether a dynamic program was not even for the sizes that it was made for:
  /// then it is no use to make others for other branches.
  bool excludesOwnSizes = false;
  /// What cannot be dynamic, as in CompileRequest::dynamic, and why.
  std::vector<Shape> refused;
  std::string refusal;
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONPROGRAMS_H
