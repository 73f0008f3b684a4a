//===- QuantizeGraph.h - profiles, plans and integers of graphs from text
//---===//

#ifndef SINTER_TEST_QUANTIZE_QUANTIZEGRAPH_H
#define SINTER_TEST_QUANTIZE_QUANTIZEGRAPH_H

#include "passes/GraphHarness.h"
#include "quantize/Insert.h"

namespace sinter::test {

/// A graph with the units, the profiles of chosen values and the plan.
class QuantizeGraph {
public:
  explicit QuantizeGraph(const std::string &text) : model(parseModel(text)) {
    units = quantize::findUnits(model);
  }

  /// The unit whose core is the \p nth operation called \p op, `add` say.
  int unit(llvm::StringRef op, int nth = 0) const {
    for (size_t i = 0; i < units.units.size(); ++i)
      if (units.units[i].op == op && nth-- == 0)
        return static_cast<int>(i);
    return -1;
  }
  quantize::UnitKind kind(llvm::StringRef op, int nth = 0) const {
    const int number = unit(op, nth);
    EXPECT_GE(number, 0) << op.str() << "\n" << textOf(model);
    return number < 0 ? quantize::UnitKind::Other : units.units[number].kind;
  }
  const quantize::Unit &at(llvm::StringRef op, int nth = 0) const {
    const int number = unit(op, nth);
    EXPECT_GE(number, 0) << op.str();
    return units.units[std::max(0, number)];
  }

  /// What was seen of a value: numbers from \p least to \p greatest, evenly.
  quantize::TensorProfile &profile(mlir::Value value, double least,
                                   double greatest) {
    quantize::TensorProfile &seen = profiles[value];
    seen = {};
    seen.name = "v" + std::to_string(profiles.size());
    seen.times = 1;
    seen.elements = quantize::TensorProfile::bins;
    seen.least = least;
    seen.greatest = greatest;
    if (least < greatest)
      seen.histogram.assign(quantize::TensorProfile::bins, 1);
    return seen;
  }
  /// All that units read and give, alike.
  void profileAll(double least, double greatest) {
    for (const quantize::Unit &unit : units.units) {
      for (mlir::OpOperand *operand : unit.data)
        profile(operand->get(), least, greatest);
      if (unit.result)
        profile(unit.result, least, greatest);
    }
  }
  Result<quantize::Plan> tryPlan(const quantize::QuantizeOptions &options = {},
                                 const quantize::Exceptions &exceptions = {}) {
    return quantize::makePlan(
        units, [this](mlir::Value value) { return profileOf(value); }, options,
        exceptions);
  }
  quantize::Plan &makePlan(const quantize::QuantizeOptions &options = {},
                           const quantize::Exceptions &exceptions = {}) {
    Result<quantize::Plan> made = tryPlan(options, exceptions);
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    plan = made ? std::move(*made) : quantize::Plan();
    return plan;
  }
  bool isQuantized(llvm::StringRef op, int nth = 0) const {
    const int number = unit(op, nth);
    EXPECT_GE(number, 0) << op.str();
    return number >= 0 && plan.layers[number].isQuantized;
  }
  std::string reason(llvm::StringRef op, int nth = 0) const {
    return plan.layers[unit(op, nth)].why.text;
  }
  void insert(const quantize::QuantizeOptions &options = {},
              QuantizedRounding rounding = QuantizedRounding::BeforeZeroPoint) {
    quantize::insertQuantization(
        units, plan, [this](mlir::Value value) { return profileOf(value); },
        options, rounding);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(model.module()))) << textOf(model);
  }
  const quantize::TensorProfile *profileOf(mlir::Value value) const {
    auto found = profiles.find(value);
    return found == profiles.end() ? nullptr : &found->second;
  }

  Model model;
  quantize::Units units;
  quantize::Plan plan;
  std::map<mlir::Value, quantize::TensorProfile,
           decltype([](mlir::Value a, mlir::Value b) {
             return a.getAsOpaquePointer() < b.getAsOpaquePointer();
           })>
      profiles;
};

} // namespace sinter::test

#endif // SINTER_TEST_QUANTIZE_QUANTIZEGRAPH_H
