//===- FloatReason.cpp - why a layer stays float, and what would help -----===//

#include "quantize/FloatReason.h"

#include "runtime/OptionNames.h"

namespace sinter::quantize {

namespace {

/// Options are named without dashes; `{}` stands for one in a text.
struct ReasonRow {
  FloatReason reason;
  const char *text;
  const char *remedy;
  /// The option in either, if there is one.
  const char *option = "";
};

constexpr const char *nothing = "nothing";
constexpr const char *otherExport =
    "an export, or a newer operator set, in which it is one node";

constexpr ReasonRow rows[] = {
    {FloatReason::NoFloats, "it has several results, or none of floats",
     nothing},
    {FloatReason::ElementType, "its elements are neither f32 nor f16 nor bf16",
     "the same model in f32"},
    {FloatReason::MixedTypes, "it has an operand of another float type",
     "operands of one type"},
    {FloatReason::ProductAmongOthers,
     "it is made of a matmul or convolution and several operations",
     "an export in which the matmul or convolution is a node of its own"},
    {FloatReason::SeveralOperations, "it is made of several operations",
     otherExport},
    {FloatReason::NoBias, "what follows the matmul or convolution is no bias",
     "a bias with one element for each output channel"},
    {FloatReason::InLargerNode,
     "the matmul or convolution belongs to a larger node",
     "an export in which the matmul or convolution is a node of its own"},
    {FloatReason::ComputedWeights, "its weights are computed",
     "constant weights: {} makes inputs constants", "bind"},
    {FloatReason::UnfitWeights,
     "its weights are not finite, or too small for a scale of their type",
     "finite weights of larger values"},
    {FloatReason::TwoActivations, "a product of two activations", nothing},
    {FloatReason::ConstantTable, "it gathers from a constant table", nothing},
    {FloatReason::NoIntegerForm, "it has no form with integers", nothing},
    {FloatReason::SingleValue, "it computes a single value", nothing},
    {FloatReason::OnlyConstants, "all its operands are constants",
     "`sinter optimize`, which computes it once"},
    {FloatReason::FloatInputs, "its inputs come from float layers",
     "integers in the layers before it"},
    {FloatReason::FloatUsers, "only float layers use it",
     "integers in the layers behind it"},
    {FloatReason::Output, "it gives an output of the model, which is of floats",
     nothing},
    {FloatReason::NoProfile, "the profile lacks its inputs",
     "a profile of this model"},
    {FloatReason::NeverComputed,
     "it was never computed with the calibration data",
     "samples that take its branch"},
    {FloatReason::NotFinite,
     "it has values that are not finite with the calibration data",
     "samples without NaN and infinity"},
    {FloatReason::NoElements, "it had no elements with the calibration data",
     "samples of other sizes"},
    {FloatReason::TooSmall, "its values are too small for a scale of its type",
     "the same model in f32"},
    {FloatReason::TooLarge, "its values are beyond 1e30", nothing},
    {FloatReason::KeepFloat, "{}", "leaving out {}", "keep-float"},
    {FloatReason::OnlyOthers, "{} names others", "leaving out {}", "only"},
    {FloatReason::Norms, "layer norms stay float, but for {} integers",
     "{} integers", "norms"},
    {FloatReason::WeightsOnly, "only weights become integers",
     "samples to measure ranges on, and no {} float", "activations"},
    {FloatReason::Slow, "no faster in int8, by estimate", "{} any", "cpu"},
    {FloatReason::Bound, "{}", "a weaker {}, or more samples", "max-loss"},
};

std::string filled(std::string text, const char *option) {
  if (const size_t place = text.find("{}"); place != std::string::npos)
    text.replace(place, 2, optionText(option));
  return text;
}

const ReasonRow *rowOf(FloatReason reason) {
  for (const ReasonRow &row : rows)
    if (row.reason == reason)
      return &row;
  return nullptr;
}

} // namespace

std::string textOf(FloatReason reason) {
  const ReasonRow *row = rowOf(reason);
  return row ? filled(row->text, row->option) : "";
}

std::string remedyFor(FloatReason reason) {
  const ReasonRow *row = rowOf(reason);
  return row ? filled(row->remedy, row->option) : "";
}

} // namespace sinter::quantize
