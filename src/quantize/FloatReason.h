//===- FloatReason.h - why a layer stays float, and what would help -------===//

#ifndef SINTER_QUANTIZE_FLOATREASON_H
#define SINTER_QUANTIZE_FLOATREASON_H

#include <cstdint>
#include <string>

namespace sinter::quantize {

enum class FloatReason : uint8_t {
  None, ///< It computes with integers.
  // What it is.
  NoFloats,
  ElementType,
  MixedTypes,
  ProductAmongOthers,
  SeveralOperations,
  NoBias,
  InLargerNode,
  ComputedWeights,
  UnfitWeights,
  TwoActivations,
  ConstantTable,
  NoIntegerForm,
  SingleValue,
  OnlyConstants,
  // Where it is.
  FloatInputs,
  FloatUsers,
  Output,
  // What the calibration data showed.
  NoProfile,
  NeverComputed,
  NotFinite,
  NoElements,
  TooSmall,
  TooLarge,
  // What was asked for.
  KeepFloat,
  OnlyOthers,
  Norms,
  WeightsOnly,
  Slow,
  Bound,
};

/// The reason, for a group of layers: "it has no form with integers".
std::string textOf(FloatReason reason);

/// What would make such a layer integer: "--norms integers"; "nothing" if it
/// has no integer form at all.
std::string remedyFor(FloatReason reason);

/// Why one layer stays float.
struct WhyFloat {
  FloatReason reason = FloatReason::None;
  /// With the names and numbers that belong to it.
  std::string text;

  WhyFloat() = default;
  explicit WhyFloat(FloatReason reason)
      : reason(reason), text(textOf(reason)) {}
  WhyFloat(FloatReason reason, std::string text)
      : reason(reason), text(std::move(text)) {}

  explicit operator bool() const { return reason != FloatReason::None; }
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_FLOATREASON_H
