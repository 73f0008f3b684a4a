//===- OptimizeOptions.cpp - options and report of `sinter optimize` ------===//

#include "interface/OptimizeOptions.h"

#include "interface/ModelFigures.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sinter {

void addOptimization(CLI::App &app, OptimizeRequest &request) {
  app.add_flag("--freeze", request.freeze,
               "make states constants with their initial values, and ONNX "
               "initializers that are inputs, too")
      ->group("Rewrites");
  app.add_flag("--raise-quantized", request.raiseQuantized,
               "raise spelled-out quantisation (QuantizeLinear, QLinearConv, "
               "ConvInteger) to quantised types; results may change by one "
               "step of a scale")
      ->group("Rewrites");
  app.add_flag("--change-outputs", request.changeOutputs,
               "let outputs change their quantised types, so that no rescale "
               "is left in front of them")
      ->group("Rewrites");
  app.add_flag("--standard-operators", request.standardOperators,
               "write ONNX's own operators alone: those of other domains "
               "(com.microsoft) become what they compute")
      ->group("Rewrites");
  app.add_option_function<std::string>(
         "--target",
         [&request](const std::string &) { request.forOnnxRuntime = true; },
         "onnxruntime: write the operators that ONNX Runtime has for several "
         "of ONNX's (MultiHeadAttention, SkipLayerNormalization, "
         "BiasGelu, FusedConv), where it has them for CPUs")
      ->check(CLI::IsMember({"onnxruntime"}))
      ->type_name("RUNTIME")
      ->group("Rewrites");
}

static nlohmann::json countsJson(const Counts &counts) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto &[name, count] : counts)
    object[name] = count;
  return object;
}

nlohmann::json asJson(const OptimizeReport &report) {
  const std::optional<FileCounts> &after = report.fileAfter;
  return {
      {"patterns", countsJson(report.patterns)},
      {"notes", report.notes},
      {"rescales",
       {{"before", report.rescalesBefore}, {"after", report.rescalesAfter}}},
      {"operators",
       {{"before", operatorsJson(report.fileBefore)},
        {"after", after ? operatorsJson(*after) : nlohmann::json()}}},
      {"weight_bytes",
       {{"before", report.fileBefore.weightBytes},
        {"after",
         after ? nlohmann::json(after->weightBytes) : nlohmann::json()}}},
      {"flops", flopsJson(report.flops)},
      {"before", countsJson(report.before)},
      {"after", countsJson(report.after)}};
}

} // namespace sinter
