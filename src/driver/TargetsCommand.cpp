//===- TargetsCommand.cpp - sinter targets --------------------------------===//

#include "driver/Command.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

nlohmann::json jsonOf(const TargetFacts &facts) {
  return {{"target", facts.triple},
          {"cpu", facts.cpu},
          {"cpu_features", facts.features},
          {"pointer_bits", facts.pointerBits},
          {"fpu", facts.hasFpu},
          {"fused_multiply_add", facts.fuses},
          {"vector_bits", facts.vectorBits},
          {"vector_registers", facts.vectorRegisters},
          {"low_precision", facts.lowPrecision},
          {"matrix_units", facts.hasMatrixUnits},
          {"l1_bytes", facts.l1Bytes},
          {"l2_bytes", facts.l2Bytes}};
}

std::string arithmeticText(const TargetFacts &facts) {
  std::string text;
  if (!facts.hasFpu)
    text = "no FPU";
  else if (facts.vectorBits == 0)
    text = "no vectors";
  else
    text = std::to_string(facts.vectorRegisters) + " x " +
           std::to_string(facts.vectorBits) + " bits";
  if (facts.fuses)
    text += ", fma";
  for (const std::string &type : facts.lowPrecision)
    text += ", " + type;
  if (facts.hasMatrixUnits)
    text += ", amx";
  return text;
}

class TargetsCommand : public Command {
public:
  explicit TargetsCommand(CLI::App &app) {
    app.add_option("target", triple,
                   "a target, by LLVM's name: all its CPUs that LLVM knows "
                   "(default: those of which caches are known)")
        ->type_name("TARGET");
    app.add_flag("--json", isJson, "as JSON on standard output")
        ->group("Report");
  }

  Result<int> run() override {
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    Result<std::vector<TargetFacts>> all = (*compiler)->targets(triple);
    if (!all)
      return all.takeError();
    if (isJson) {
      nlohmann::json rows = nlohmann::json::array();
      for (const TargetFacts &facts : *all)
        rows.push_back(jsonOf(facts));
      printJsonLine({{"targets", rows}});
      return 0;
    }
    std::string last;
    for (const TargetFacts &facts : *all) {
      if (facts.triple != last)
        printTo(stdout, "%s\n", facts.triple.c_str());
      last = facts.triple;
      printTo(stdout, "  %-16s %-36s %4lld + %4lld KiB\n",
              facts.cpu.empty() ? "(any)" : facts.cpu.c_str(),
              arithmeticText(facts).c_str(),
              static_cast<long long>(facts.l1Bytes >> 10),
              static_cast<long long>(facts.l2Bytes >> 10));
    }
    return 0;
  }

private:
  std::string triple;
  bool isJson = false;
};

} // namespace

std::unique_ptr<Command> makeTargetsCommand(CLI::App &app) {
  return std::make_unique<TargetsCommand>(app);
}

} // namespace sinter::driver
