//===- QuantizeOptions.cpp - options and report of `sinter quantize` ------===//

#include "interface/QuantizeOptions.h"

#include "interface/QuantizeSummary.h"

#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace sinter {

using quantize::RangeMethod;
using quantize::Scheme;

void QuantizeChoices::add(CLI::App &app) {
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
  app.get_option("--scheme")->each([this](const std::string &) {
    hasScheme = true;
  });
  app.add_option("--activations", activations, "the type of activations")
      ->check(CLI::IsMember({"uint8", "int8", "int16", "float"}))
      ->default_str("uint8, or int8 for symmetric schemes and StableHLO")
      ->group("Choices");
  app.add_option("--weights", weights, "the type of weights")
      ->check(CLI::IsMember({"int8", "int4"}))
      ->default_str("int8")
      ->group("Choices");
  choice("--norms", how.norms,
         std::vector<std::pair<std::string, bool>>{{"float", false},
                                                   {"integers", true}},
         "whether layer norms stay float or become integers", "float");
  app.add_option("--block", options.block,
                 "a scale for each block of N weights along the depth of "
                 "matmuls, with float activations")
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("N")
      ->group("Choices");
  app.add_flag("--per-tensor", perTensor,
               "one scale per weight tensor, not per output channel")
      ->group("Choices");
  app.add_option_function<std::string>(
         "--range", [this](const std::string &text) { takeRange(text); },
         "what a range covers: max, percentile[:P], entropy, mse, or best: "
         "for each tensor the one with the least expected error on unseen "
         "inputs")
      ->default_str("best")
      ->group("Choices");
  app.add_option("--keep-float", how.keepFloat,
                 "layers that stay float, by name or operation (* for any "
                 "text)")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Choices");
  app.add_option("--only", how.only,
                 "the matmuls and convolutions that become integers")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group("Choices");
  // --for is its former name.
  app.add_option("--cpu,--for", target,
                 "layers that the cost model estimates to be no faster in "
                 "int8 on this CPU stay float: native, x86-64-v3, another of "
                 "LLVM's names, or any: speed decides nothing")
      ->default_str("native")
      ->type_name("CPU")
      ->group("Choices");
  app.add_option(
         "--max-loss", mostLoss,
         "keep layers float until the loss is within this bound: points of "
         "accuracy "
         "(percent) with known classes, else the least SQNR of the outputs "
         "in dB, for unseen inputs with 90 % confidence")
      ->type_name("X")
      ->group("Choices");
  app.add_flag("--no-equalize", noEqualize,
               "do not equalize channels of matmuls and convolutions")
      ->group("Choices");
  app.add_flag("--no-smooth", noSmooth, "do not smooth channels of norms")
      ->group("Choices");
  app.add_flag("--no-bias-correction", noBiasCorrection,
               "do not correct biases for the mean error")
      ->group("Choices");
}

/// Throws CLI11's error for an invalid value.
void QuantizeChoices::takeRange(const std::string &text) {
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
  if (method == methods.end() ||
      (colon != std::string::npos && method->second != RangeMethod::Percentile))
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

Result<void> QuantizeChoices::apply(QuantizeRequest &request,
                                    bool hasSamples) const {
  quantize::QuantizeOptions all = options;
  all.weightsOnly = isWeightsOnly(hasSamples);
  if (!hasSamples && !all.weightsOnly)
    return withHint("give samples to measure ranges on, or " +
                        optionText("weights") +
                        " int8 to make integers of weights alone",
                    usageError("there are no ranges of activations"));
  if (all.block && !all.weightsOnly)
    return withHint(
        "leave out the samples, or give " + optionText("activations") +
            " float",
        usageError(optionText("block") +
                   " is for weights alone: products of two integers have one "
                   "scale a channel"));
  if (mostLoss && !(*mostLoss >= 0))
    return usageError(optionText("max-loss") +
                      ": a number from 0 on is wanted");
  request.hasActivations = !activations.empty();
  request.hasScheme = hasScheme;
  if (activations == "int8")
    all.activations = ElementType::I8;
  if (activations == "int16")
    all.activations = ElementType::I16;
  if (weights == "int4")
    all.weights = ElementType::I4;
  all.perChannel = !perTensor;
  all.equalize = !noEqualize;
  all.smooth = !noSmooth;
  all.correctBias = !noBiasCorrection;
  request.options = all;
  request.target = target == "any" ? "" : target;
  request.mostLoss = mostLoss;
  return {};
}

static nlohmann::json orNull(const std::optional<double> &number) {
  // JSON has no infinity, the SQNR of equal outputs.
  return number && std::isfinite(*number) ? nlohmann::json(*number)
                                          : nlohmann::json();
}

static nlohmann::json sideJson(const QuantizedSide &side) {
  return {{"bytes", side.bytes},
          {"latency_ms", side.milliseconds},
          {"accuracy", orNull(side.accuracy)}};
}

static nlohmann::json sizesJson(const QuantizeReport &report) {
  nlohmann::json all = nlohmann::json::array();
  for (const QuantizeReport::AtSizes &each : report.sizes)
    all.push_back(
        {{"sizes", std::map<std::string, int64_t>(each.sizes.chosen.begin(),
                                                  each.sizes.chosen.end())},
         {"snr_db", orNull(each.decibels)}});
  return all;
}

std::vector<std::string> allNotes(const QuantizeReport &report) {
  std::vector<std::string> all = report.notes;
  all.insert(all.end(), report.warnings.begin(), report.warnings.end());
  return all;
}

nlohmann::json asJson(const std::string &model, const QuantizeReport &report) {
  nlohmann::json layers = nlohmann::json::array();
  for (const QuantizedLayer &layer : report.layers)
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"op_in_file", layer.opInFile},
                      {"kept_float", layer.keptFloat},
                      {"reason", layer.reason},
                      {"remedy", layer.remedy},
                      {"scheme", layer.scheme},
                      {"snr_db", orNull(layer.decibels)},
                      {"float_ms", layer.floatMilliseconds},
                      {"ms", layer.milliseconds}});
  return {
      {"model", model},
      {"data", report.data},
      {"method", report.method},
      {"summary", asJson(QuantizeSummary::of(report))},
      {"samples", report.samples},
      {"judged", report.judged},
      {"before", sideJson(report.before)},
      {"after", sideJson(report.after)},
      {"agreement", orNull(report.agreement)},
      {"cosine", orNull(report.cosine)},
      {"snr_db", orNull(report.decibels)},
      {"sizes", sizesJson(report)},
      {"static_because", report.staticBecause},
      {"snr_db_of_others", orNull(report.decibelsOfOthers)},
      {"accuracy_loss_of_others", orNull(report.accuracyLossOfOthers)},
      {"became_wrong", report.becameWrong},
      {"became_right", report.becameRight},
      {"layers", layers},
      {"rescales",
       {{"before", report.rescalesBefore}, {"after", report.rescalesAfter}}},
      {"notes", allNotes(report)}};
}

} // namespace sinter
