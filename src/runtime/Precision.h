//===- Precision.h - what a product of floats may be computed with --------===//

#ifndef SINTER_RUNTIME_PRECISION_H
#define SINTER_RUNTIME_PRECISION_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter {

/// What may stand for a product of f32 values (in a convolution, a matrix
/// product or attention), the most exact first. Errors are parts of the
/// greatest result.
enum class Precision : uint8_t {
  /// Products in f32, or in so many narrower ones that their sum is as near:
  /// about 1e-6.
  Exact,
  /// Also three products of bf16 parts, and fewer products of sums (Winograd's
  /// method): about 1e-5.
  Default,
  /// Also one product of what both operands are in bf16: about 3e-3.
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
