//===- Plan.h - which layers compute with integers, and with which --------===//
//
//   products with weights              read integers, unless told otherwise
//   what gives a tensor that one reads gives integers, and reads them, if all
//                                      that it reads is made by such a layer,
//                                      or comes from outside
//
// So a chain of layers hands on integers, and nothing is rounded that only
// float layers read. Numbers that are only moved keep their scale.
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

/// What a product's weights, once they are integers, have scales for.
enum class WeightScales { PerTensor, PerChannel, Blocks };

struct LayerPlan {
  bool isQuantized = false;
  /// Why not, for people.
  std::string reason;
  /// Whether what it reads is stored in 16 bits.
  bool isWide = false;
  /// Of a product: the squared errors of its weights as a part of their
  /// squares, once they are integers.
  double weightNoise = 0;
  WeightScales weightScales = WeightScales::PerTensor;
};

struct Plan {
  /// One a unit.
  std::vector<LayerPlan> layers;
  /// The values that are stored as integers, and how.
  llvm::MapVector<mlir::Value, ChosenRange> values;
  /// How many rescales there would be if each of them had a scale of its own:
  /// operands and results of what moves numbers that differ in their ranges.
  int64_t sharedScales = 0;
};

/// What is known of a value; null where it was not profiled.
using ProfileOf = llvm::function_ref<const TensorProfile *(mlir::Value)>;

/// Units that are not quantised as the others are.
struct Exceptions {
  /// Those that stay float, and why.
  std::map<unsigned, std::string> left;
  /// Those that read integers of 16 bits.
  std::set<unsigned> wide;
};

Result<Plan> makePlan(const Units &units, ProfileOf profileOf,
                      const QuantizeOptions &options,
                      const Exceptions &exceptions = {});

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_PLAN_H
