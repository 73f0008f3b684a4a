//===- Judging.h - whether two implementations agree ----------------------===//

#ifndef SINTER_TEST_RANDOM_JUDGING_H
#define SINTER_TEST_RANDOM_JUDGING_H

#include "backend/cpu/TileEmulator.h"
#include "backend/cpu/program/Compiler.h"
#include "random/RandomProgram.h"
#include "runtime/CpuFeatures.h"
#include "runtime/ProgramExecutor.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace sinter::test {

inline uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline std::string textOf(const Model &model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  model.module().print(stream);
  return text;
}

/// The real and imaginary parts, or the numbers themselves.
inline std::vector<double> doublesOf(const Tensor &tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (tensor.type() == ElementType::C64)
      for (int part : {0, 1})
        numbers.push_back(tensor.at<std::array<float, 2>>(i)[part]);
    else if (tensor.type() == ElementType::C128)
      for (int part : {0, 1})
        numbers.push_back(tensor.at<std::array<double, 2>>(i)[part]);
    else
      numbers.push_back(tensor.toDouble(i));
  return numbers;
}

/// The first number that differs by more than \p tolerance times the largest
/// magnitude (or 1), and what it should be; nothing where none does.
inline std::optional<std::string>
difference(const Tensor &got, const Tensor &expected, double tolerance) {
  if (got.type() != expected.type() || got.shape() != expected.shape())
    return "another type or shape";
  const std::vector<double> a = doublesOf(got), b = doublesOf(expected);
  double largest = 1;
  for (double value : b)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  const double limit = tolerance * largest;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a[i]) && std::isfinite(b[i])
            ? !(std::abs(a[i] - b[i]) <= limit)
            : !(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))))
      return "number " + std::to_string(i) + " is " + std::to_string(a[i]) +
             ", not " + std::to_string(b[i]);
  return std::nullopt;
}

/// Whether no number differs by more than \p tolerance times the largest
/// magnitude (or 1).
inline bool agree(const Tensor &got, const Tensor &expected, double tolerance) {
  return !difference(got, expected, tolerance);
}

inline bool agree(const Tensor &got, const Tensor &expected) {
  return agree(got, expected, comparisonTolerance(got.type()));
}

enum class Verdict { Agrees, Differs, OracleFails, CompilerFails };

struct Judgement {
  Verdict verdict = Verdict::Agrees;
  std::string message;
};

/// The first result that is not as expected.
inline Judgement comparedWith(const std::vector<Tensor> &got,
                              const std::vector<Tensor> &expected,
                              const std::string &what) {
  for (size_t i = 0; i < got.size(); ++i)
    if (auto found =
            difference(got[i], expected[i], comparisonTolerance(got[i].type())))
      return {Verdict::Differs, "result " + std::to_string(i) + " differs " +
                                    what + ": " + *found};
  return {};
}

/// The machine that programs of \p seed are compiled for: mostly the one we run
/// on, sometimes one that has less and whose programs run here, too, or one
/// with matrix units for everything, which are emulated; that which SINTER_CPU
/// names, if it is set: "tiles" is the last one.
inline std::optional<cpu::Target> machineOf(uint64_t seed) {
  constexpr const char *lesser[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  const char *name = std::getenv("SINTER_CPU");
  if (!name && seed % 8 < std::size(lesser))
    name = lesser[seed % 8];
  if (name ? std::string_view(name) == "tiles"
           : seed % 8 == std::size(lesser)) {
    std::optional<cpu::Target> tiles = cpu::hostWithTiles();
    if (tiles)
      cpu::preferTiles(*tiles);
    return tiles;
  }
  if (!name)
    return std::nullopt;
  Result<cpu::Target> target = cpu::Target::named("", name, "");
  if (target && checkHost(target->triple, target->instructionSets))
    return std::move(*target);
  return std::nullopt;
}

/// How programs are compiled for \p machine, in one thread. Tiles that compute
/// everything are as exact as f32 is. SINTER_DUMP is a folder for the kernels'
/// code.
inline cpu::CpuOptions
optionsFor(const std::optional<cpu::Target> &machine = std::nullopt) {
  cpu::CpuOptions options;
  options.threads = 1;
  options.target = machine;
  if (machine && machine->hasMatrixUnits) {
    options.precision = Precision::Exact;
    options.onCode = cpu::emulateTiles;
  }
  if (const char *folder = std::getenv("SINTER_DUMP"))
    options.dumpFolder = folder;
  return options;
}

/// What the CPU backend makes of \p inputs on \p machine.
inline Result<std::vector<Tensor>>
compiledResults(const Model &model, const std::vector<Tensor> &inputs,
                const std::optional<cpu::Target> &machine = std::nullopt) {
  Result<Program> program = cpu::compileForCpu(model, optionsFor(machine));
  if (!program)
    return program.takeError();
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  if (!executor)
    return executor.takeError();
  return (*executor)->run(inputs);
}

} // namespace sinter::test

#endif // SINTER_TEST_RANDOM_JUDGING_H
