//===- QuantizeCommand.cpp - sinter quantize ------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/InputOptions.h"
#include "driver/Progress.h"
#include "driver/QuantizePage.h"
#include "driver/QuantizeText.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "engine/Quantize.h"
#include "interface/OutputFiles.h"
#include "interface/QuantizeOptions.h"
#include "runtime/Json.h"
#include "runtime/MappedFile.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sinter::driver {
namespace {

class QuantizeCommand : public Command {
public:
  explicit QuantizeCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option(
           "-o,--output", output,
           "where to write the quantised model: .onnx, .mlir, .mlir.bc, "
           ".stablehlo, .pdmodel, .json, or a folder of PaddlePaddle")
        ->type_name("FILE")
        ->group("Output");
    addOverwrite(app, overwrite);
    addShapes(app, common);
    addBinding(app, common);
    addCalibration(app, calibration);
    addProfiles(app);
    choices.add(app);
    app.add_option("--html", pageFile,
                   "write a page with the accuracy lost, by layer")
        ->type_name("FILE")
        ->group("Report");
    // Its former name, which takes .json, too.
    app.add_option("--report", reportFile)->group("");
    addCache(app, common);
    addThreads(app, common);
    addReport(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    output = (*compiler)->outputFor(common.model, output);
    if (Result<void> good = checkUsage(); !good)
      return good.takeError();
    Result<SessionOptions> wanted = sessionOptions(common);
    if (!wanted)
      return wanted.takeError();
    const NamedShapes shapes = wanted->shapes;
    wanted->note = {};
    QuantizeRequest request;
    if (Result<void> done = fillRequest(request, *wanted); !done)
      return done.takeError();
    auto session = Session::open(common.model, std::move(*wanted));
    if (!session)
      return session.takeError();
    auto kept = preprocessingToKeep((*session)->model(),
                                    calibration.pictures.preprocessing);
    if (!kept)
      return inFile(kept.takeError(), common.model);
    request.input.metadata = std::move(*kept);
    if (!calibration.sources.empty()) {
      Result<Samples> samples =
          findSamples(**session, common.model, calibration, shapes);
      if (!samples)
        return samples.takeError();
      request.samples = std::move(*samples);
    }
    Result<QuantizeReport> report = (*compiler)->quantize(request);
    if (!report)
      return report.takeError();
    return finish(*report);
  }

private:
  void addProfiles(CLI::App &app) {
    app.add_option("--profile-out", profileOut,
                   "where to write the calibration profile")
        ->type_name("FILE")
        ->group("Calibration");
    app.add_option("--profile", profileIn,
                   "use a calibration profile that was written before")
        ->type_name("FILE")
        ->group("Calibration");
  }

  bool hasSamples() const {
    return !calibration.sources.empty() || !profileIn.empty();
  }

  Result<void> checkUsage() {
    const bool isWeightsOnly = choices.isWeightsOnly(hasSamples());
    if (!hasSamples() && !isWeightsOnly)
      return usageError("give --calibration DIR to measure ranges on, or "
                        "--profile FILE, or --weights int8 to make integers of "
                        "weights alone");
    if (choices.options.block && !isWeightsOnly)
      return usageError("--block is for --weights alone: matmuls of two "
                        "integers have one scale a channel; leave out "
                        "--calibration, or give --activations float");
    if (onlyMeasures() && profileOut.empty())
      return usageError("nothing to do: give -o FILE, --profile-out FILE, "
                        "--html FILE or --json");
    if (!profileOut.empty() && !profileIn.empty())
      return usageError("--profile-out writes what is measured, and --profile "
                        "takes it from a file: give one of them");
    if (!profileOut.empty() && calibration.sources.empty())
      return usageError("--profile-out needs --calibration DIR");
    if (choices.mostLoss && calibration.sources.empty())
      return usageError("--max-loss needs --calibration DIR to judge by");
    for (const auto &[flag, file] :
         {std::pair("-o", &output), std::pair("--report", &reportFile),
          std::pair("--html", &pageFile),
          std::pair("--profile-out", &profileOut)})
      if (Result<void> good = checkOutputFile(flag, *file, ""); !good)
        return good;
    if (!reportFile.empty() && !reportFile.ends_with(".html") &&
        !reportFile.ends_with(".json"))
      return usageError("--report '" + reportFile +
                        "': a page is .html, and the same as data .json");
    return {};
  }

  Result<void> fillRequest(QuantizeRequest &request,
                           const SessionOptions &session) {
    Result<ModelRequest> input = modelRequest(common);
    if (!input)
      return input.takeError();
    Result<std::string> compiler = compilerIdentity();
    if (!compiler)
      return compiler.takeError();
    if (Result<void> done = choices.apply(request, hasSamples()); !done)
      return done;
    request.input = std::move(*input);
    request.overwrite = overwrite.allowed();
    request.output = output;
    request.data = dataText();
    request.passes = passOptions(common);
    request.wantsProfile = !profileOut.empty();
    request.onlyMeasures = onlyMeasures();
    request.threads = session.threads;
    request.kernelFolder = session.cacheFolder;
    request.compiler = std::move(*compiler);
    request.ceilings = session.ceilings;
    if (!profileIn.empty()) {
      Result<std::string> read = readFile(profileIn, size_t(1) << 30);
      if (!read)
        return read.takeError();
      request.profile = std::move(*read);
      request.profilePath = profileIn;
    }
    request.progress = [line = std::function<void(unsigned, unsigned)>(),
                        current = std::string()](const std::string &stage,
                                                 size_t done,
                                                 size_t total) mutable {
      if (stage != current) {
        line = progressLine(stage, "samples");
        current = stage;
      }
      line(static_cast<unsigned>(done), static_cast<unsigned>(total));
    };
    return {};
  }

  Result<int> finish(const QuantizeReport &report) const {
    for (const std::string &note :
         common.verbose ? allNotes(report) : report.warnings)
      printTo(stderr, "note: %s: %s\n", common.model.c_str(), note.c_str());
    if (!onlyMeasures() &&
        std::ranges::all_of(report.layers, &QuantizedLayer::keptFloat))
      printTo(stderr, "note: %s: no layer computes with integers%s\n",
              common.model.c_str(), whyNone(report).c_str());
    if (const auto others = std::ranges::count_if(
            report.layers, &QuantizedLayer::isWithoutBlocks))
      printTo(stderr,
              "note: %s: the weights of %td layers are no matrices, or "
              "their depth is no multiple of --block %lld: their scales "
              "are those without it\n",
              common.model.c_str(), others,
              static_cast<long long>(choices.options.block));
    if (const std::string few = tooFew(report); !few.empty())
      printTo(stderr, "note: %s: %s\n", common.model.c_str(), few.c_str());
    if (!profileOut.empty())
      if (Result<void> done = writeFileAtomically(profileOut, report.profile);
          !done)
        return done.takeError();
    const nlohmann::json json = asJson(common.model, report);
    if (!pageFile.empty())
      if (Result<void> done =
              writeFileAtomically(pageFile, quantizePage(common.model, report));
          !done)
        return done.takeError();
    if (!reportFile.empty()) {
      const std::string contents = reportFile.ends_with(".json")
                                       ? jsonText(json, 2) + "\n"
                                       : quantizePage(common.model, report);
      if (Result<void> done = writeFileAtomically(reportFile, contents); !done)
        return done.takeError();
    }
    if (common.json)
      printJsonLine(json);
    else
      print(report);
    if (report.boundHolds)
      return 0;
    printError(common.model + ": --max-loss " + text("%g", *choices.mostLoss) +
               " cannot be held" +
               (report.judgedHold
                    ? text(" for other inputs with 90 %% confidence, of %zu "
                           "samples to judge by: give more",
                           report.judged) +
                          changedAnswers(report)
                    : std::string(", even with every layer left float that "
                                  "costs something")) +
               "; no model was written");
    return 1;
  }

  /// The note for a bound of accuracy that holds on too few samples to conclude
  /// on others; empty if they suffice.
  std::string tooFew(const QuantizeReport &report) const {
    if (!choices.mostLoss || !report.accuracyLossOfOthers ||
        !report.boundHolds || report.classified >= report.enough)
      return "";
    const std::string held = text(
        "--max-loss %g is held on %llu samples, and others may lose up to "
        "%.3g points with 90 %% confidence",
        *choices.mostLoss, static_cast<unsigned long long>(report.classified),
        *report.accuracyLossOfOthers * 100);
    return *choices.mostLoss > 0
               ? held + text(": it takes at least %llu to judge by, a fifth of "
                             "those that are given",
                             static_cast<unsigned long long>(report.enough))
               : held;
  }

  /// Why a bound of accuracy may not hold for other samples.
  static std::string changedAnswers(const QuantizeReport &report) {
    if (!report.accuracyLossOfOthers)
      return "";
    return text(" (with all layers as integers %llu answers become wrong, %llu "
                "right)",
                static_cast<unsigned long long>(report.becameWrong),
                static_cast<unsigned long long>(report.becameRight));
  }

  /// What ranges are measured on: "images/, more/".
  std::string dataText() const {
    if (!profileIn.empty())
      return "the profile " + profileIn;
    std::string text;
    for (const std::string &source : calibration.sources)
      text += (text.empty() ? "" : ", ") + source;
    return text;
  }

  /// Whether a profile is the only result.
  bool onlyMeasures() const {
    return output.empty() && reportFile.empty() && pageFile.empty() &&
           !common.json;
  }

  /// Why the first layer stays float.
  static std::string whyNone(const QuantizeReport &report) {
    if (report.layers.empty())
      return "";
    const QuantizedLayer &first = report.layers.front();
    return ": '" + first.name + "' stays float: " + first.reason;
  }

  void print(const QuantizeReport &report) const {
    if (onlyMeasures()) {
      printTo(stdout, "measured on %zu samples: %s\n", report.samples,
              profileOut.c_str());
      return;
    }
    printQuantized(report, {.hasBound = choices.mostLoss.has_value(),
                            .withLayers = common.verbose});
  }

  CommonOptions common;
  SampleOptions calibration;
  QuantizeChoices choices;
  std::string output, pageFile, reportFile, profileIn, profileOut;
  OverwriteOptions overwrite;
};

} // namespace

std::unique_ptr<Command> makeQuantizeCommand(CLI::App &app) {
  return std::make_unique<QuantizeCommand>(app);
}

} // namespace sinter::driver
