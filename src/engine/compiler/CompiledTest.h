//===- CompiledTest.h - self-checking programs as native code -------------===//
//
// What a program says of its own results (`check`), and what it asks of who
// runs it (`interpreter`), become calls of functions of this process, in their
// place among what is computed. Each function that run_parallel names is
// compiled once, however many processes run it, and every process has a thread.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_COMPILEDTEST_H
#define SINTER_ENGINE_COMPILER_COMPILEDTEST_H

#include "engine/TestFile.h"
#include "graph/Model.h"

namespace sinter {

/// Compiles \p model's function of that name and runs it on \p arguments.
/// WrongResult where an expectation does not hold; the compiler's errors;
/// Unsupported for a function that runs itself in parallel.
Result<void> runCompiledTest(const Model &model, const std::string &function,
                             const std::vector<Tensor> &arguments,
                             const TestRequest &request);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_COMPILEDTEST_H
