//===- CompareWithInterpreter.h - the oracle judges the backend -----------===//

#ifndef SINTER_TEST_BACKEND_CPU_COMPAREWITHINTERPRETER_H
#define SINTER_TEST_BACKEND_CPU_COMPAREWITHINTERPRETER_H

#include "backend/cpu/program/Compiler.h"

#include <string>

namespace sinter::test {

struct Tolerance {
  double relative = 2e-5;
  double absolute = 2e-6;
};

/// What \p body computes for random inputs, by the CPU backend on one and two
/// threads (which must agree to the bit) and by the interpreter (within
/// \p tolerance). Code is for \p target, or the machine that the test runs on.
/// \p body is the text of a function `main`, without the word
/// func: "(%x: tensor<2xf32>) -> tensor<2xf32> { ... }". Returns what is wrong,
/// or ""; \p compiled becomes what the backend ran.
std::string differs(const std::string &body, Tolerance tolerance = {},
                    std::shared_ptr<Program> *compiled = nullptr,
                    const std::optional<cpu::Target> &target = {});

/// The same with all that \p options say.
std::string differsWith(const std::string &body, Tolerance tolerance,
                        const cpu::CpuOptions &options,
                        std::shared_ptr<Program> *compiled = nullptr);

/// Machines that the one we run on is, too, with fewer instructions: of each
/// width of vectors.
std::vector<cpu::Target> lesserTargets();

/// Likewise, but the backend gets the model as the commands hand it over:
/// simplified, idioms raised.
std::string differsRaised(const std::string &body, Tolerance tolerance = {},
                          std::shared_ptr<Program> *compiled = nullptr,
                          const cpu::CpuOptions &options = {});

/// The program of that.
Result<Program> compileRaised(const std::string &body,
                              const cpu::CpuOptions &options = {});

/// The model of such a text.
Model parseModel(const std::string &body);

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_COMPAREWITHINTERPRETER_H
