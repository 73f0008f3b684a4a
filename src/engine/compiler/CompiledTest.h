//===- CompiledTest.h - self-checking programs as native code -------------===//
//
// Checks of a program on its own results (`check`) and requests to its
// interpreter (`interpreter`) become runtime calls, in order with the
// computation. Each function that run_parallel names is compiled once, however
// many processes run it, and every process has a thread.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_COMPILEDTEST_H
#define SINTER_ENGINE_COMPILER_COMPILEDTEST_H

#include "engine/TestFile.h"
#include "graph/Model.h"

namespace sinter {

/// Compiles \p model's function of that name and runs it on \p arguments.
/// WrongResult if an expectation fails; the compiler's errors; Unsupported for
/// a function that runs itself in parallel.
Result<void> runCompiledTest(const Model &model, const std::string &function,
                             const std::vector<Tensor> &arguments,
                             const TestRequest &request);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_COMPILEDTEST_H
