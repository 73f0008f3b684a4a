//===- Precision.h - precision of f32 matmuls -----------------------------===//

#ifndef SINTER_RUNTIME_PRECISION_H
#define SINTER_RUNTIME_PRECISION_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter {

/// How matmuls, convolutions and attention of f32 may be computed, the most
/// exact first. Errors are relative to the largest result.
enum class Precision : uint8_t {
  /// In f32, or by as many products of narrower types as give the same
  /// precision: about 1e-6.
  Exact,
  /// Also three products of bf16 splits, and Winograd's method: about 1e-5.
  Default,
  /// Also one product of the operands rounded to bf16: about 3e-3.
  BFloat16
};

inline constexpr std::array<std::string_view, 3> precisionNames = {
    "f32-exact", "f32", "bf16"};

/// As users write it: "f32-exact", "f32", "bf16".
constexpr std::string_view name(Precision precision) {
  return precisionNames[static_cast<size_t>(precision)];
}

/// Nothing for any other text.
constexpr std::optional<Precision> precisionNamed(std::string_view text) {
  for (size_t i = 0; i < precisionNames.size(); ++i)
    if (precisionNames[i] == text)
      return static_cast<Precision>(i);
  return std::nullopt;
}

} // namespace sinter

#endif // SINTER_RUNTIME_PRECISION_H
