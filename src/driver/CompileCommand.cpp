//===- CompileCommand.cpp - sinter compile --------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "interface/AheadOfTime.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

class CompileCommand : public Command {
public:
  explicit CompileCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option("-o,--output", options.output,
                   "what to write: FILE.o, FILE.a, FILE.so, FILE.s (assembly) "
                   "or FILE.ll (LLVM IR), with a header beside it; or, without "
                   "an extension, a folder, which also gets an example and a "
                   "description in JSON")
        ->type_name("FILE|DIR")
        ->required();
    addAhead(app, options);
    addShapes(app, common);
    addBinding(app, common);
    addArithmetic(app, common);
    // Nothing runs here.
    app.get_option("--threads")
        ->description("threads to compile with (default: 0, one "
                      "for each processor)");
    app.get_option("--cpu")->description(
        "compile for this CPU, by LLVM's name, as x86-64-v3 or cortex-a76 "
        "(default: this one, or with --target any of its architecture)");
    addPatterns(app, common);
    addReport(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    BundleRequest request;
    request.choice = choicePrinter(common);
    request.stages = stageObserver(common);
    request.progress = progressLine("compiling", "kernels");
    Result<WrittenBundle> written =
        compileAhead(common, options, std::move(request), "-o");
    if (!written)
      return written.takeError();
    report(*written);
    return 0;
  }

private:
  static std::string sizeText(uint64_t bytes) {
    return bytesText(static_cast<double>(bytes));
  }

  void report(const WrittenBundle &written) const {
    if (common.json)
      return printJsonLine(asJson(written, common.model));
    const Bundle &bundle = written.bundle;
    for (const std::string &path : written.paths)
      printTo(stdout, "wrote %s\n", path.c_str());
    printTo(stdout,
            "code %s, constants %s, weights %s, state %s, stack at most %s\n",
            sizeText(bundle.codeBytes).c_str(),
            sizeText(bundle.dataBytes).c_str(),
            sizeText(bundle.weightBytes).c_str(),
            sizeText(bundle.stateBytes).c_str(),
            sizeText(bundle.stackBytes).c_str());
    for (const BundleInterface &entry : bundle.entries)
      printTo(stdout, "%s%s\n",
              entry.name == bundle.name ? "" : (entry.name + ": ").c_str(),
              entryText(entry).c_str());
    std::string externals;
    for (const std::string &symbol : bundle.externals)
      externals += " " + symbol;
    printTo(stdout, "external functions:%s\n",
            externals.empty() ? " none" : externals.c_str());
  }

  /// "dynamic dimensions N (at most 512), M; workspace at most 1.2 MB".
  static std::string entryText(const BundleInterface &entry) {
    std::string text;
    for (const BundleSize &each : entry.sizes)
      text +=
          (text.empty() ? "dynamic dimensions " : ", ") + oneLine(each.name) +
          (each.most ? " (at most " + std::to_string(*each.most) + ")" : "");
    if (!entry.workspaceBytes)
      return text + "; the workspace depends on them";
    text += (text.empty() ? "workspace " : "; workspace at most ") +
            sizeText(*entry.workspaceBytes);
    if (entry.threadBytes != 0)
      text += ", " + sizeText(entry.threadBytes) + " for each other thread";
    return text;
  }

  CommonOptions common;
  AheadOptions options;
};

} // namespace

std::unique_ptr<Command> makeCompileCommand(CLI::App &app) {
  return std::make_unique<CompileCommand>(app);
}

} // namespace sinter::driver
