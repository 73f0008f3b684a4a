//===- Plan.cpp - which layers are quantised, and how ---------------------===//

#include "quantize/Plan.h"

#include "graph/stablehlo/StablehloOps.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>
#include <set>

using namespace mlir;

namespace sinter::quantize {

namespace {

/// Names with `*`, of layers or operations.
class NamePatterns {
public:
  static Result<NamePatterns> parse(const std::string &flag,
                                    const std::vector<std::string> &texts) {
    NamePatterns patterns;
    for (const std::string &text : texts) {
      auto pattern = llvm::GlobPattern::create(text);
      if (!pattern)
        return usageError(flag + " '" + text +
                          "': " + llvm::toString(pattern.takeError()));
      patterns.all.push_back(std::move(*pattern));
      patterns.isUsed.push_back(false);
    }
    return patterns;
  }
  bool isEmpty() const { return all.empty(); }
  bool match(const Unit &unit) {
    bool found = false;
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].match(unit.name) || all[i].match(unit.op) ||
          llvm::any_of(unit.opsInFile,
                       [&](const std::string &op) { return all[i].match(op); }))
        found = isUsed[i] = true;
    return found;
  }
  /// The index of the first pattern that matched nothing.
  std::optional<size_t> firstUnused() const {
    for (size_t i = 0; i < isUsed.size(); ++i)
      if (!isUsed[i])
        return i;
    return std::nullopt;
  }

private:
  std::vector<llvm::GlobPattern> all;
  std::vector<bool> isUsed;
};

class Planner {
public:
  Planner(const Units &units, ProfileOf profileOf,
          const QuantizeOptions &options, const Exceptions &exceptions)
      : units(units.units), all(units), profileOf(profileOf), options(options),
        exceptions(exceptions) {
    plan.layers.resize(this->units.size());
  }

  Result<void> chooseLeft();
  Error noSuchLayer(const std::string &flag, const std::string &pattern) const;
  void chooseLayers();
  void chooseCodes();
  void findUnlikeRanges();
  Plan take() { return std::move(plan); }

private:
  WhyFloat whyNotProfiled(const Unit &unit) const;
  WhyFloat whyNot(Value value) const;
  bool isMadeOfIntegers(Value value) const;
  void leave(unsigned number, const WhyFloat &why) {
    plan.layers[number].isQuantized = false;
    if (!plan.layers[number].why)
      plan.layers[number].why = why;
  }
  void leave(unsigned number, FloatReason reason) {
    leave(number, WhyFloat(reason));
  }

  const std::vector<Unit> &units;
  const Units &all;
  ProfileOf profileOf;
  const QuantizeOptions &options;
  const Exceptions &exceptions;
  Plan plan;
  llvm::DenseSet<Value> chosen;
};

} // namespace

/// Why a value cannot be stored as integers, if it cannot.
WhyFloat Planner::whyNot(Value value) const {
  const TensorProfile *profile = profileOf(value);
  if (!profile)
    return WhyFloat(FloatReason::NoProfile);
  const auto because = [&](FloatReason reason, const char *text) {
    return WhyFloat(reason, "'" + profile->name + "' " + text);
  };
  if (!profile->times)
    return because(FloatReason::NeverComputed,
                   "was never computed with the calibration data");
  if (profile->notFinite)
    return because(FloatReason::NotFinite,
                   "has values that are not finite with the calibration data");
  if (!profile->wasReached())
    return because(FloatReason::NoElements,
                   "had no elements with the calibration data");
  const double magnitude = std::max(-profile->least, profile->greatest);
  if (magnitude > 0 && magnitude / 255 < leastScaleOf(value))
    return because(FloatReason::TooSmall,
                   "holds values too small for a scale of its type");
  constexpr double most = 1e30;
  if (magnitude > most)
    return because(FloatReason::TooLarge, "holds values beyond 1e30");
  return {};
}

WhyFloat Planner::whyNotProfiled(const Unit &unit) const {
  for (OpOperand *operand : unit.data)
    if (WhyFloat why = whyNot(operand->get()))
      return why;
  return {};
}

Error Planner::noSuchLayer(const std::string &flag,
                           const std::string &pattern) const {
  std::set<std::string> known, inFile;
  for (const Unit &unit : units) {
    known.insert(unit.op);
    inFile.insert(unit.opsInFile.begin(), unit.opsInFile.end());
  }
  return usageError(
      flag + " '" + pattern +
      "': there is no layer of that name or operation; the "
      "operations are " +
      (inFile.empty() ? ""
                      : llvm::join(inFile, ", ") + ", or by Sinter's names ") +
      llvm::join(known, ", ") + ", and -v lists the layers");
}

Result<void> Planner::chooseLeft() {
  Result<NamePatterns> kept =
      NamePatterns::parse(optionText("keep-float"), options.keepFloat);
  if (!kept)
    return kept.takeError();
  Result<NamePatterns> only =
      NamePatterns::parse(optionText("only"), options.only);
  if (!only)
    return only.takeError();
  for (unsigned i = 0; i < units.size(); ++i) {
    const Unit &unit = units[i];
    const bool isKept = kept->match(unit);
    const bool isOther = !only->match(unit) && !only->isEmpty();
    if (unit.kind == UnitKind::Other)
      leave(i, unit.why);
    else if (isKept)
      leave(i, FloatReason::KeepFloat);
    else if (isOther && unit.kind == UnitKind::Product)
      leave(i, FloatReason::OnlyOthers);
    else if (auto why = exceptions.left.find(i); why != exceptions.left.end())
      leave(i, why->second);
    else if (unit.isNorm && !options.norms)
      leave(i, FloatReason::Norms);
    else if (WhyFloat why =
                 options.weightsOnly ? WhyFloat() : whyNotProfiled(unit))
      leave(i, why);
  }
  if (auto unused = kept->firstUnused())
    return noSuchLayer(optionText("keep-float"), options.keepFloat[*unused]);
  if (auto unused = only->firstUnused())
    return noSuchLayer(optionText("only"), options.only[*unused]);
  return {};
}

/// Whether the producer of \p value can return integers.
bool Planner::isMadeOfIntegers(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return true;
  auto number = all.unitOf.find(op);
  return number != all.unitOf.end() && plan.layers[number->second].isQuantized;
}

/// Why nothing computes with the integers of \p unit.
static FloatReason whyUnused(const Unit &unit) {
  const bool isReturned =
      !unit.result.use_empty() &&
      llvm::all_of(unit.result.getUsers(),
                   [](Operation *user) { return isa<func::ReturnOp>(user); });
  return isReturned ? FloatReason::Output : FloatReason::FloatUsers;
}

void Planner::chooseLayers() {
  for (unsigned i = 0; i < units.size(); ++i) {
    if (units[i].kind != UnitKind::Product || plan.layers[i].why)
      continue;
    plan.layers[i].isQuantized = true;
    if (!options.weightsOnly)
      chosen.insert(units[i].data.front()->get());
  }
  if (options.weightsOnly) {
    for (unsigned i = 0; i < units.size(); ++i)
      if (units[i].kind != UnitKind::Product)
        leave(i, FloatReason::WeightsOnly);
    return;
  }
  // Up from the products: the producers of their operands.
  for (unsigned i = units.size(); i-- > 0;) {
    const Unit &unit = units[i];
    if ((unit.kind != UnitKind::Computes && unit.kind != UnitKind::Moves) ||
        plan.layers[i].why)
      continue;
    if (!chosen.contains(unit.result)) {
      leave(i, whyUnused(unit));
      continue;
    }
    plan.layers[i].isQuantized = true;
    for (OpOperand *operand : unit.data)
      chosen.insert(operand->get());
  }
  // Down again: a unit without quantised operands has no quantised result. A
  // unit that only moves elements may have a float operand, which is quantised
  // in front of it.
  for (unsigned i = 0; i < units.size(); ++i) {
    const Unit &unit = units[i];
    if (unit.kind == UnitKind::Computes && plan.layers[i].isQuantized &&
        !llvm::all_of(unit.data, [&](OpOperand *operand) {
          return isMadeOfIntegers(operand->get());
        }))
      leave(i, FloatReason::FloatInputs);
  }
  // And up again: units that only float layers use now.
  chosen.clear();
  for (unsigned i = units.size(); i-- > 0;) {
    if (!plan.layers[i].isQuantized)
      continue;
    if (units[i].kind != UnitKind::Product &&
        !chosen.contains(units[i].result)) {
      leave(i, whyUnused(units[i]));
      continue;
    }
    for (OpOperand *operand : units[i].data)
      chosen.insert(operand->get());
  }
}

static bool differ(const TensorProfile *one, const TensorProfile *other) {
  return one && other &&
         (std::min(one->least, 0.0) != std::min(other->least, 0.0) ||
          std::max(one->greatest, 0.0) != std::max(other->greatest, 0.0));
}

/// The width of a range that holds all values and 0.
static double widthOf(const TensorProfile &profile) {
  return std::max(profile.greatest, 0.0) - std::min(profile.least, 0.0);
}

/// Finds concatenates of unlike ranges. One scale costs a bit of the narrower
/// one for each factor of two.
void Planner::findUnlikeRanges() {
  constexpr double most = 16;
  for (unsigned i = 0; i < units.size(); ++i) {
    const Unit &unit = units[i];
    auto chosenFor = plan.values.find(unit.result);
    if (!plan.layers[i].isQuantized ||
        !isa_and_nonnull<stablehlo::ConcatenateOp>(unit.core) ||
        chosenFor == plan.values.end() ||
        chosenFor->second.code.storage == ElementType::I16)
      continue;
    const TensorProfile *widest = nullptr, *narrowest = nullptr;
    for (OpOperand *operand : unit.data) {
      const TensorProfile *profile = profileOf(operand->get());
      if (!profile || !profile->wasReached() || widthOf(*profile) == 0)
        continue;
      if (!widest || widthOf(*profile) > widthOf(*widest))
        widest = profile;
      if (!narrowest || widthOf(*profile) < widthOf(*narrowest))
        narrowest = profile;
    }
    const TensorProfile *result = profileOf(unit.result);
    const double ratio = widest ? widthOf(*widest) / widthOf(*narrowest) : 1;
    if (ratio >= most)
      plan.unlikeRanges.push_back({result ? result->name : unit.name,
                                   widest->name, narrowest->name, ratio});
  }
}

/// Chooses one scale for values that are only moved; for a concatenate that of
/// the widest operand.
void Planner::chooseCodes() {
  llvm::EquivalenceClasses<const void *> same;
  for (unsigned i = 0; i < units.size(); ++i)
    if (units[i].kind == UnitKind::Moves && plan.layers[i].isQuantized)
      for (OpOperand *operand : units[i].data)
        same.unionSets(operand->get().getAsOpaquePointer(),
                       units[i].result.getAsOpaquePointer());
  llvm::DenseMap<const void *, std::pair<const TensorProfile *, Value>> widest;
  const auto leaderOf = [&](Value value) -> const void * {
    auto found = same.findLeader(value.getAsOpaquePointer());
    return found == same.member_end() ? value.getAsOpaquePointer() : *found;
  };
  const auto consider = [&](Value value) {
    const TensorProfile *profile = profileOf(value);
    if (!profile || !profile->wasReached())
      return;
    auto &best = widest[leaderOf(value)];
    if (!best.first || widthOf(*profile) > widthOf(*best.first))
      best = {profile, value};
  };
  const auto forEachValue = [&](auto use) {
    for (unsigned i = 0; i < units.size(); ++i) {
      if (!plan.layers[i].isQuantized)
        continue;
      for (OpOperand *operand : units[i].data)
        use(operand->get());
      if (chosen.contains(units[i].result))
        use(units[i].result);
    }
  };
  forEachValue(consider);
  for (unsigned i = 0; i < units.size(); ++i)
    if (units[i].kind == UnitKind::Moves && plan.layers[i].isQuantized)
      for (OpOperand *operand : units[i].data)
        plan.sharedScales +=
            differ(profileOf(operand->get()), profileOf(units[i].result));
  // A value that one unit uses in 16 bits has 16 bits for all.
  llvm::DenseSet<const void *> wide;
  for (unsigned i : exceptions.wide)
    if (plan.layers[i].isQuantized) {
      plan.layers[i].isWide = true;
      for (OpOperand *operand : units[i].data)
        wide.insert(leaderOf(operand->get()));
    }
  QuantizeOptions in16Bits = options;
  in16Bits.activations = ElementType::I16;
  llvm::DenseMap<const TensorProfile *, ChosenRange> known[2];
  forEachValue([&](Value value) {
    if (!chosen.contains(value) || plan.values.contains(value))
      return;
    const auto [profile, of] = widest.lookup(leaderOf(value));
    if (!profile)
      return;
    const bool isWide = wide.contains(leaderOf(value));
    auto [entry, isNew] = known[isWide].try_emplace(profile);
    if (isNew) {
      entry->second = chooseRange(*profile, isWide ? in16Bits : options,
                                  rangeBeforeRounding(of));
      entry->second.code =
          withLeastScale(entry->second.code, entry->second.range,
                         options.scheme, leastScaleOf(value));
    }
    plan.values.insert({value, entry->second});
  });
  findUnlikeRanges();
}

Result<Plan> makePlan(const Units &units, ProfileOf profileOf,
                      const QuantizeOptions &options,
                      const Exceptions &exceptions) {
  Planner planner(units, profileOf, options, exceptions);
  if (Result<void> good = planner.chooseLeft(); !good)
    return good.takeError();
  planner.chooseLayers();
  if (!options.weightsOnly)
    planner.chooseCodes();
  return planner.take();
}

} // namespace sinter::quantize
