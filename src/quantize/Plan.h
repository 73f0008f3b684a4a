//===- Plan.h - which layers are quantised, and how -----------------------===//
//
//   products with weights              are quantised, unless options say not
//   producers of a quantised operand   are quantised, too, if all of their own
//                                      operands come from such layers or from
//                                      outside
//
// So a chain of layers passes integers on, and values that only float layers
// use are not quantised. Elements that are only moved keep their scale.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_PLAN_H
#define SINTER_QUANTIZE_PLAN_H

#include "quantize/Ranges.h"
#include "quantize/Units.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <set>

namespace sinter::quantize {

/// The granularity of the scales of a product's quantised weights.
enum class WeightScales { PerTensor, PerChannel, Blocks };

struct LayerPlan {
  bool isQuantized = false;
  /// Why not.
  WhyFloat why;
  /// Whether its operands are quantised to 16 bits.
  bool isWide = false;
  /// Of a product: the squared errors of its quantised weights relative to
  /// their squares.
  double weightNoise = 0;
  WeightScales weightScales = WeightScales::PerTensor;
};

/// A concatenate with one scale for operands whose ranges differ much.
struct UnlikeRanges {
  /// The names of the result, and of the operands with the widest and the
  /// narrowest range.
  std::string result, widest, narrowest;
  double ratio = 1;
};

struct Plan {
  /// One a unit.
  std::vector<LayerPlan> layers;
  /// The values that are quantised, and their ranges.
  llvm::MapVector<mlir::Value, ChosenRange> values;
  /// How many rescales there would be if each of them had its own scale:
  /// operands and results of units that move elements and differ in their
  /// ranges.
  int64_t sharedScales = 0;
  /// The concatenates in 8 bits.
  std::vector<UnlikeRanges> unlikeRanges;
};

/// Returns the profile of a value; null where it was not profiled.
using ProfileOf = llvm::function_ref<const TensorProfile *(mlir::Value)>;

/// Units that are not quantised like the others.
struct Exceptions {
  /// Those that stay float, and why.
  std::map<unsigned, WhyFloat> left;
  /// Those with 16-bit operands.
  std::set<unsigned> wide;
};

Result<Plan> makePlan(const Units &units, ProfileOf profileOf,
                      const QuantizeOptions &options,
                      const Exceptions &exceptions = {});

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_PLAN_H
