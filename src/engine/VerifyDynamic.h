//===- VerifyDynamic.h - holds a dynamic program against the interpreter --===//
//
// Passes are checked on graphs; a program for all sizes is also run at some of
// them, beside the interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_VERIFYDYNAMIC_H
#define SINTER_ENGINE_VERIFYDYNAMIC_H

#include "engine/SampleSizes.h"
#include "engine/SessionModel.h"
#include "runtime/Program.h"

namespace sinter {

/// The shapes at which a program for \p inputs, of which \p dynamic is dynamic
/// (-1), is verified: their own, and up to two others that \p allows.
std::vector<NamedShapes> shapesToVerify(const ModelDescription &model,
                                        std::span<const Tensor> inputs,
                                        const std::vector<Shape> &dynamic,
                                        const AllowsShapes &allows);

/// Makes what runs a program.
using MakeRun = std::function<Result<std::unique_ptr<Executor>>()>;

/// Runs \p program, by what \p makeRun makes, and the interpreter's \p graph on
/// \p inputs, repeated to each of `request.passes.verifyShapes` that is within
/// the program's shape guards. What both refuse counts as the same. Returns the
/// shapes at which they agree, as a text. Errors: WrongResult where they do
/// not, and those of runs.
Result<std::string> verifyDynamic(const Program &program,
                                  const MakeRun &makeRun, CompilerModel &graph,
                                  const CompileRequest &request,
                                  std::span<const Tensor> inputs);

} // namespace sinter

#endif // SINTER_ENGINE_VERIFYDYNAMIC_H
