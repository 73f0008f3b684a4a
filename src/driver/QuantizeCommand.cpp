//===- QuantizeCommand.cpp - sinter quantize ------------------------------===//

#include "driver/CalibrationData.h"
#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/OutputFiles.h"
#include "driver/Progress.h"
#include "driver/QuantizePage.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "engine/Quantize.h"
#include "runtime/MappedFile.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

using quantize::RangeMethod;
using quantize::Scheme;

nlohmann::json orNull(const std::optional<double> &number) {
  // JSON has no infinity: where nothing is off there is no ratio.
  return number && std::isfinite(*number) ? nlohmann::json(*number)
                                          : nlohmann::json();
}

nlohmann::json sideJson(const QuantizedSide &side) {
  return {{"bytes", side.bytes},
          {"latency_ms", side.milliseconds},
          {"accuracy", orNull(side.accuracy)}};
}

nlohmann::json reportJson(const std::string &model,
                          const QuantizeReport &report) {
  nlohmann::json layers = nlohmann::json::array();
  for (const QuantizedLayer &layer : report.layers)
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"kept_float", layer.keptFloat},
                      {"reason", layer.reason},
                      {"scheme", layer.scheme},
                      {"snr_db", orNull(layer.decibels)},
                      {"float_ms", layer.floatMilliseconds},
                      {"ms", layer.milliseconds}});
  return {
      {"model", model},
      {"samples", report.samples},
      {"judged", report.judged},
      {"before", sideJson(report.before)},
      {"after", sideJson(report.after)},
      {"agreement", orNull(report.agreement)},
      {"cosine", orNull(report.cosine)},
      {"snr_db", orNull(report.decibels)},
      {"snr_db_of_others", orNull(report.decibelsOfOthers)},
      {"accuracy_loss_of_others", orNull(report.accuracyLossOfOthers)},
      {"became_wrong", report.becameWrong},
      {"became_right", report.becameRight},
      {"layers", layers},
      {"rescales",
       {{"before", report.rescalesBefore}, {"after", report.rescalesAfter}}},
      {"notes", report.notes}};
}

std::string decibelText(const std::optional<double> &decibels) {
  if (!decibels)
    return "-";
  return std::isfinite(*decibels) ? text("%.1f dB", *decibels) : "exact";
}

class QuantizeCommand : public Command {
public:
  explicit QuantizeCommand(CLI::App &app) : command(app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    app.add_option("-o,--output", output,
                   "where the quantised model goes: .onnx, .mlir, .mlir.bc, "
                   ".stablehlo, .pdmodel, .json, or a folder of PaddlePaddle")
        ->type_name("FILE");
    addOverwrite(app, overwrite);
    addShapes(app, common);
    addBinding(app, common);
    addCalibration(app, calibration);
    addProfiles(app);
    addChoices(app);
    app.add_option("--report", reportFile,
                   "a page that tells what it cost, and where: .html, or .json")
        ->type_name("FILE")
        ->group("Report");
    addCache(app, common);
    app.add_option("--threads", common.threads, "how many threads to use")
        ->group("Compile");
    addReport(app, common);
  }

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
                   "where to write what was measured")
        ->type_name("FILE")
        ->group("Calibration");
    app.add_option("--profile", profileIn,
                   "take what was measured before from this file")
        ->type_name("FILE")
        ->group("Calibration");
  }

  void addChoices(CLI::App &app) {
    quantize::QuantizeOptions &how = options;
    const auto choice = [&](const char *flag, auto &place, auto table,
                            const char *what, const char *initial) {
      std::map<std::string, std::decay_t<decltype(place)>> map(table.begin(),
                                                               table.end());
      std::vector<std::string> names;
      for (const auto &[name, value] : map)
        names.push_back(name);
      app.add_option_function<std::string>(
             flag,
             [&place, map](const std::string &name) { place = map.at(name); },
             what)
          ->check(CLI::IsMember(names))
          ->default_str(initial)
          ->group("Choices");
    };
    choice("--scheme", how.scheme,
           std::vector<std::pair<std::string, Scheme>>{
               {"asymmetric", Scheme::Asymmetric},
               {"symmetric", Scheme::Symmetric},
               {"symmetric-u8", Scheme::SymmetricU8},
               {"power-of-two", Scheme::PowerOfTwo}},
           "how a range becomes a scale and a zero point",
           "asymmetric, or symmetric for PaddlePaddle");
    app.add_option("--activations", activations, "what activations become")
        ->check(CLI::IsMember({"uint8", "int8", "int16", "float"}))
        ->default_str("uint8, or int8 for symmetric schemes and StableHLO")
        ->group("Choices");
    app.add_option("--weights", weights, "what weights become")
        ->check(CLI::IsMember({"int8", "int4"}))
        ->default_str("int8")
        ->group("Choices");
    choice("--norms", how.norms,
           std::vector<std::pair<std::string, bool>>{{"float", false},
                                                     {"integers", true}},
           "what layer norms read and give", "float");
    app.add_option("--block", options.block,
                   "a scale for each N weights along the depth of matrix "
                   "products, where activations stay float")
        ->check(CLI::Range(2, 1 << 20))
        ->type_name("N")
        ->group("Choices");
    app.add_flag("--per-tensor", perTensor,
                 "one scale for a whole weight, in place of one for each "
                 "output channel")
        ->group("Choices");
    app.add_option_function<std::string>(
           "--range", [this](const std::string &text) { takeRange(text); },
           "what part of the numbers a range covers: max, percentile[:P], "
           "entropy, mse, or best: what is expected to have the least error "
           "with other inputs, by tensor")
        ->default_str("best")
        ->group("Choices");
    app.add_option("--keep-float", how.keepFloat,
                   "layers that stay float, by name or operation (* for any "
                   "text)")
        ->allow_extra_args(false)
        ->type_name("PATTERN")
        ->group("Choices");
    app.add_option("--only", how.only, "the products that become integers")
        ->allow_extra_args(false)
        ->type_name("PATTERN")
        ->group("Choices");
    app.add_option("--for", target,
                   "the CPU for which a layer that is estimated to be no "
                   "faster with bytes stays float: native, x86-64-v3, another "
                   "of LLVM's names, or any: speed decides nothing")
        ->default_str("native")
        ->type_name("CPU")
        ->group("Choices");
    app.add_option("--max-loss", mostLoss,
                   "layers stay float until no more is lost: points of "
                   "accuracy (percent) where classes are known, else the least "
                   "signal-to-noise ratio of the outputs in dB, for other "
                   "inputs with 90 % confidence")
        ->type_name("X")
        ->group("Choices");
    app.add_flag("--no-equalize", noEqualize,
                 "leave the channels of what products give as they are")
        ->group("Choices");
    app.add_flag("--no-smooth", noSmooth,
                 "leave the channels of what norms give as they are")
        ->group("Choices");
    app.add_flag("--no-bias-correction", noBiasCorrection,
                 "leave biases as they are")
        ->group("Choices");
  }

  /// Throws as CLI11 wants it of a value that is not one.
  void takeRange(const std::string &text) {
    const std::map<std::string, RangeMethod> methods = {
        {"best", RangeMethod::Best},
        {"max", RangeMethod::Max},
        {"percentile", RangeMethod::Percentile},
        {"entropy", RangeMethod::Entropy},
        {"mse", RangeMethod::SquaredError}};
    const size_t colon = text.find(':');
    const auto method = methods.find(text.substr(0, colon));
    const auto wrong = [&] {
      return CLI::ValidationError(
          "--range", "'" + text +
                         "' is none of max, percentile[:P], entropy, mse and "
                         "best");
    };
    if (method == methods.end() || (colon != std::string::npos &&
                                    method->second != RangeMethod::Percentile))
      throw wrong();
    options.range = method->second;
    if (colon == std::string::npos)
      return;
    char *end = nullptr;
    const std::string number = text.substr(colon + 1);
    options.percentile = std::strtod(number.c_str(), &end);
    if (number.empty() || *end || !(options.percentile > 50) ||
        options.percentile > 100)
      throw CLI::ValidationError("--range", "'" + text +
                                                "': a percentile is more than "
                                                "50 and at most 100");
  }

  Result<void> checkUsage() {
    options.weightsOnly = activations == "float" ||
                          (activations.empty() && calibration.sources.empty() &&
                           profileIn.empty() && !weights.empty());
    if (calibration.sources.empty() && profileIn.empty() &&
        !options.weightsOnly)
      return usageError("give --calibration DIR to measure ranges on, or "
                        "--profile FILE, or --weights int8 to make integers of "
                        "weights alone");
    if (options.block && !options.weightsOnly)
      return usageError("--block is for --weights alone: products of two "
                        "integers have one scale a channel; leave out "
                        "--calibration, or give --activations float");
    if (output.empty() && profileOut.empty() && reportFile.empty() &&
        !common.json)
      return usageError("nothing to do: give -o FILE, --profile-out FILE or "
                        "--report FILE");
    if (!profileOut.empty() && !profileIn.empty())
      return usageError("--profile-out writes what is measured, and --profile "
                        "takes it from a file: give one of them");
    if (!profileOut.empty() && calibration.sources.empty())
      return usageError("--profile-out needs --calibration DIR");
    if (mostLoss && calibration.sources.empty())
      return usageError("--max-loss needs --calibration DIR to judge by");
    if (mostLoss && !(*mostLoss >= 0))
      return usageError("--max-loss: a number from 0 on is wanted");
    for (const auto &[flag, file] :
         {std::pair("-o", &output), std::pair("--report", &reportFile),
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
    request.hasActivations = !activations.empty();
    request.hasScheme = command.count("--scheme") > 0;
    if (activations == "int8")
      options.activations = ElementType::I8;
    if (activations == "int16")
      options.activations = ElementType::I16;
    if (weights == "int4")
      options.weights = ElementType::I4;
    options.perChannel = !perTensor;
    options.equalize = !noEqualize;
    options.smooth = !noSmooth;
    options.correctBias = !noBiasCorrection;
    request.input = std::move(*input);
    request.overwrite = overwrite.allowed();
    request.output = output;
    request.options = options;
    request.passes = passOptions(common);
    request.wantsProfile = !profileOut.empty();
    request.onlyMeasures = onlyMeasures();
    request.target = target == "any" ? "" : target;
    request.threads = session.threads;
    request.kernelFolder = session.cacheFolder;
    request.compiler = compilerIdentity();
    request.ceilings = session.ceilings;
    request.mostLoss = mostLoss;
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
        line = progressLine(stage + ": sample", "samples");
        current = stage;
      }
      line(static_cast<unsigned>(done), static_cast<unsigned>(total));
    };
    return {};
  }

  Result<int> finish(const QuantizeReport &report) const {
    for (const std::string &note :
         common.verbose ? report.notes : std::vector<std::string>())
      std::fprintf(stderr, "note: %s: %s\n", common.model.c_str(),
                   note.c_str());
    if (!onlyMeasures() &&
        std::ranges::all_of(report.layers, &QuantizedLayer::keptFloat))
      std::fprintf(stderr, "note: %s: no layer computes with integers%s\n",
                   common.model.c_str(), whyNone(report).c_str());
    if (const auto others = std::ranges::count_if(
            report.layers, &QuantizedLayer::isWithoutBlocks))
      std::fprintf(stderr,
                   "note: %s: the weights of %td layers are no matrices, or "
                   "their depth is no multiple of --block %lld: their scales "
                   "are those without it\n",
                   common.model.c_str(), others,
                   static_cast<long long>(options.block));
    if (const std::string few = tooFew(report); !few.empty())
      std::fprintf(stderr, "note: %s: %s\n", common.model.c_str(), few.c_str());
    if (!profileOut.empty())
      if (Result<void> done = writeFileAtomically(profileOut, report.profile);
          !done)
        return done.takeError();
    const nlohmann::json json = reportJson(common.model, report);
    if (!reportFile.empty()) {
      const std::string contents = reportFile.ends_with(".json")
                                       ? json.dump(2) + "\n"
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
    printError(common.model + ": --max-loss " + text("%g", *mostLoss) +
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

  /// What is to be said where a bound of accuracy holds on samples that are too
  /// few to tell of others; empty where they are enough.
  std::string tooFew(const QuantizeReport &report) const {
    if (!mostLoss || !report.accuracyLossOfOthers || !report.boundHolds ||
        report.classified >= report.enough)
      return "";
    const std::string held =
        text("--max-loss %g is held on %llu samples, and others may lose up to "
             "%.3g points with 90 %% confidence",
             *mostLoss, static_cast<unsigned long long>(report.classified),
             *report.accuracyLossOfOthers * 100);
    return *mostLoss > 0
               ? held + text(": at least %llu to judge by, a fifth of those "
                             "that are given, can tell",
                             static_cast<unsigned long long>(report.enough))
               : held;
  }

  /// Why a bound of accuracy may not hold for others.
  static std::string changedAnswers(const QuantizeReport &report) {
    if (!report.accuracyLossOfOthers)
      return "";
    return text(" (with all layers as integers %llu answers become wrong, %llu "
                "right)",
                static_cast<unsigned long long>(report.becameWrong),
                static_cast<unsigned long long>(report.becameRight));
  }

  /// Whether a profile is all that is wanted.
  bool onlyMeasures() const {
    return output.empty() && reportFile.empty() && !common.json;
  }

  /// What keeps the first layer float.
  static std::string whyNone(const QuantizeReport &report) {
    if (report.layers.empty())
      return "";
    const QuantizedLayer &first = report.layers.front();
    return ": '" + first.name + "' stays float: " + first.reason;
  }

  void print(const QuantizeReport &report) const {
    if (onlyMeasures()) {
      std::printf("measured on %zu samples: %s\n", report.samples,
                  profileOut.c_str());
      return;
    }
    size_t integers = 0;
    for (const QuantizedLayer &layer : report.layers)
      integers += !layer.keptFloat;
    std::printf(
        "%zu of %zu layers %s, %zu samples%s\n", integers, report.layers.size(),
        options.weightsOnly ? "have weights that are integers"
                            : "compute with integers",
        report.samples,
        report.judged ? text(", judged on %zu", report.judged).c_str() : "");
    if (report.judged) {
      std::printf("signal to noise of the outputs %s",
                  decibelText(report.decibels).c_str());
      if (mostLoss && report.decibelsOfOthers && !report.before.accuracy)
        std::printf(" (of other inputs at least %s, with 90 %% confidence)",
                    decibelText(report.decibelsOfOthers).c_str());
      if (report.cosine)
        std::printf(", cosine %.5f", *report.cosine);
      if (report.agreement)
        std::printf(", same most probable class %.2f %%",
                    *report.agreement * 100);
      std::printf("\n");
    }
    if (report.after.accuracy) {
      std::printf("accuracy %.2f %% -> %.2f %%", *report.before.accuracy * 100,
                  *report.after.accuracy * 100);
      if (mostLoss)
        std::printf(" (of other inputs at most %.2f points less, with 90 %% "
                    "confidence)",
                    *report.accuracyLossOfOthers * 100);
      std::printf("\n");
    }
    if (report.after.bytes)
      std::printf("%.2f MB -> %.2f MB\n",
                  static_cast<double>(report.before.bytes) * 1e-6,
                  static_cast<double>(report.after.bytes) * 1e-6);
    if (report.judged && report.after.milliseconds > 0)
      std::printf("%.3f ms -> %.3f ms a run\n", report.before.milliseconds,
                  report.after.milliseconds);
    if (!common.verbose)
      return;
    for (const QuantizedLayer &layer : report.layers)
      std::printf("%-40s %-16s %8s  %s\n", layer.name.c_str(), layer.op.c_str(),
                  decibelText(layer.decibels).c_str(),
                  layer.keptFloat ? ("float: " + layer.reason).c_str()
                                  : layer.scheme.c_str());
  }

  CommonOptions common;
  CalibrationOptions calibration;
  const CLI::App &command;
  quantize::QuantizeOptions options;
  std::string output, reportFile, profileIn, profileOut, activations, weights;
  std::string target = "native";
  std::optional<double> mostLoss;
  OverwriteOptions overwrite;
  bool perTensor = false, noEqualize = false, noSmooth = false,
       noBiasCorrection = false;
};

} // namespace

std::unique_ptr<Command> makeQuantizeCommand(CLI::App &app) {
  return std::make_unique<QuantizeCommand>(app);
}

} // namespace sinter::driver
