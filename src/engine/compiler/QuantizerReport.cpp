//===- QuantizerReport.cpp - the report on quantised layers ---------------===//

#include "engine/compiler/Quantizer.h"

#include "engine/compiler/Simplification.h"
#include "graph/Quantization.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/MoveRescales.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mlir;

namespace sinter {

using quantize::TensorProfile;
using quantize::UnitKind;
using quantize::Units;

static const char *textOf(quantize::Scheme scheme) {
  switch (scheme) {
  case quantize::Scheme::Asymmetric:
    return "asymmetric";
  case quantize::Scheme::Symmetric:
    return "symmetric";
  case quantize::Scheme::SymmetricU8:
    return "symmetric-u8";
  case quantize::Scheme::PowerOfTwo:
    return "power-of-two";
  }
  llvm_unreachable("no such scheme");
}

/// " by channel", " in blocks of 32"; empty if all weights have one scale.
static std::string textOf(quantize::WeightScales scales, int64_t block) {
  switch (scales) {
  case quantize::WeightScales::PerTensor:
    return "";
  case quantize::WeightScales::PerChannel:
    return " by channel";
  case quantize::WeightScales::Blocks:
    return " in blocks of " + std::to_string(block);
  }
  llvm_unreachable("no such scales");
}

static QuantizedLayer::Kind kindOf(Operation *core) {
  return isa<stablehlo::ConvolutionOp>(core) ? QuantizedLayer::Kind::Convolution
         : isa<stablehlo::DotGeneralOp>(core) ? QuantizedLayer::Kind::Matmul
                                              : QuantizedLayer::Kind::Other;
}

/// "u8 asymmetric, weights i8 by channel, ranges: best".
static std::string methodText(const quantize::QuantizeOptions &options) {
  std::string text;
  if (!options.weightsOnly)
    text = std::string(name(options.activations)) + " " +
           textOf(options.scheme) + ", ";
  text += "weights " + std::string(name(options.weights)) +
          textOf(options.block        ? quantize::WeightScales::Blocks
                 : options.perChannel ? quantize::WeightScales::PerChannel
                                      : quantize::WeightScales::PerTensor,
                 options.block);
  if (!options.weightsOnly)
    text += ", ranges: " + quantize::nameOf(options.range).str();
  return text;
}

/// What a user of the model wants to know later, as JSON.
std::string Quantizer::note() const {
  llvm::json::Object note{{"producer", "sinter " SINTER_VERSION},
                          {"method", report.method},
                          {"samples", static_cast<int64_t>(report.samples)},
                          {"judged", static_cast<int64_t>(report.judged)}};
  if (!report.data.empty())
    note["data"] = llvm::json::fixUTF8(report.data);
  const auto add = [&](llvm::StringRef key, std::optional<double> value) {
    if (value && std::isfinite(*value))
      note[key] = *value;
  };
  add("snr_db", report.decibels);
  add("agreement", report.agreement);
  add("accuracy_before", report.before.accuracy);
  add("accuracy_after", report.after.accuracy);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(note));
  return text;
}

void Quantizer::describeLayers(const QuantizedModel &quantized) {
  report.method = methodText(options());
  report.isWeightsOnly = options().weightsOnly;
  report.layers.clear();
  for (auto [unit, plan] :
       llvm::zip_equal(quantized.units.units, quantized.plan.layers)) {
    QuantizedLayer layer;
    layer.name = unit.name;
    layer.op = unit.op;
    layer.keptFloat = !plan.isQuantized;
    layer.opInFile =
        unit.opsInFile.empty() ? unit.op : llvm::join(unit.opsInFile, "/");
    layer.kind = kindOf(unit.core);
    layer.reason = plan.why.text;
    layer.commonReason = textOf(plan.why.reason);
    layer.remedy = remedyFor(plan.why.reason);
    if (plan.isQuantized && !options().weightsOnly)
      layer.scheme = std::string(name(plan.isWide ? ElementType::I16
                                                  : options().activations)) +
                     " " + textOf(options().scheme);
    if (plan.isQuantized && unit.kind == UnitKind::Product)
      layer.scheme += (layer.scheme.empty() ? "weights " : ", weights ") +
                      std::string(name(options().weights)) +
                      textOf(plan.weightScales, options().block);
    layer.isWithoutBlocks = options().block != 0 && plan.isQuantized &&
                            plan.weightScales != quantize::WeightScales::Blocks;
    if (auto chosen = quantized.plan.values.find(unit.result);
        chosen != quantized.plan.values.end()) {
      layer.rangeMethod = quantize::nameOf(chosen->second.method).str();
      layer.least = chosen->second.range.least;
      layer.greatest = chosen->second.range.greatest;
    }
    report.layers.push_back(std::move(layer));
  }
  for (const quantize::UnlikeRanges &each : quantized.plan.unlikeRanges)
    report.warnings.push_back(
        llvm::formatv("'{0}' concatenates tensors of unlike ranges: one scale "
                      "serves '{1}' and '{2}', whose range is {3:f0} times "
                      "narrower and has {4:f0} of the 255 steps",
                      each.result, each.widest, each.narrowest, each.ratio,
                      std::max(1.0, 255 / each.ratio))
            .str());
  for (auto [times, place] :
       {std::pair(&kernelTimes[0], &QuantizedLayer::floatMilliseconds),
        std::pair(&kernelTimes[1], &QuantizedLayer::milliseconds)})
    for (const auto &[name, milliseconds] : *times)
      if (auto unit = quantized.unitOfKernel.find(name);
          unit != quantized.unitOfKernel.end())
        report.layers[unit->second].*place += milliseconds;
  // The observed ranges of their results.
  const Units units = quantize::findUnits(model);
  for (auto [number, unit] : llvm::enumerate(units.units)) {
    const TensorProfile *seen = unit.result ? profileOf(unit.result) : nullptr;
    if (!seen || !seen->wasReached())
      continue;
    report.layers[number].seenLeast = seen->least;
    report.layers[number].seenGreatest = seen->greatest;
    report.layers[number].histogram = seen->histogram;
  }
}

/// Rescales move within a unit until they vanish.
Result<Model> Quantizer::raised(const QuantizedModel &quantized) {
  Model raised = quantized.model.clone();
  SimplifyOptions how = simplifyOptions(request.passes);
  how.keepsQuantizedConstants = true;
  how.allowed.push_back("requantize");
  for (auto *stage : {raiseQuantized, simplify})
    if (Result<SimplifyReport> done = stage(raised, how); !done)
      return inFile(done.takeError(), request.input.path);
  report.rescalesBefore = quantized.plan.sharedScales;
  report.rescalesAfter = static_cast<int64_t>(countRescales(raised.module()));
  return raised;
}

} // namespace sinter
