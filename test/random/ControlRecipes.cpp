//===- ControlRecipes.cpp - drawing control flow and the rest -------------===//

#include "random/Draft.h"

using namespace mlir;

namespace sinter {

namespace {

/// The types of some values of the program.
SmallVector<Type> someTypes(Draft &draft) {
  SmallVector<Type> types;
  for (int64_t i = draft.dice.between(1, 3); i > 0; --i)
    if (Value value = draft.pick(isPlain))
      types.push_back(value.getType());
  return types;
}

/// `if` of an i1 or `case` of an i32 over branches that are drawn.
bool drawBranches(Draft &draft, StringRef name, Type indexType,
                  unsigned branches) {
  SmallVector<Type> types = someTypes(draft);
  if (types.empty() || draft.isDeep())
    return false;
  Value index = draft.valueOf(RankedTensorType::get({}, indexType));
  Operation *op = draft.add(name, index, {}, types, Rounding::Exact, branches,
                            [&](Operation *op) {
                              for (Region &region : op->getRegions())
                                draft.drawnBlock(region, {}, types);
                            });
  if (op)
    draft.markRounded(op->getResults());
  return op;
}

/// Counts to a small number; what else it carries is drawn.
bool drawWhile(Draft &draft) {
  SmallVector<Type> carried = someTypes(draft);
  if (carried.empty() || draft.isDeep())
    return false;
  auto counter = RankedTensorType::get({}, draft.builder.getI32Type());
  SmallVector<Value> operands{draft.constant(counter, 0)};
  for (Type type : carried)
    operands.push_back(draft.valueOf(cast<RankedTensorType>(type)));
  Value one = draft.constant(counter, 1);
  Value limit = draft.constant(counter, draft.dice.between(0, 3));
  SmallVector<Type> types{counter};
  llvm::append_range(types, carried);
  Operation *op = draft.add(
      "stablehlo.while", operands, {}, types, Rounding::Exact, 2,
      [&](Operation *op) {
        draft.drawnBlock(op->getRegion(0), types, {}, [&](Block &block) {
          return draft.compared(block.getArgument(0), limit,
                                stablehlo::ComparisonDirection::LT);
        });
        draft.drawnBlock(op->getRegion(1), types, carried, [&](Block &block) {
          return draft.builder.create<stablehlo::AddOp>(
              draft.location, block.getArgument(0), one);
        });
      });
  if (op)
    draft.markRounded(op->getResults());
  return op;
}

bool drawOptimizationBarrier(Draft &draft) {
  Value first = draft.pick([](RankedTensorType) { return true; });
  if (!first)
    return false;
  Value second = draft.pick([](RankedTensorType) { return true; });
  SmallVector<Value> operands{first, second};
  return draft.add("stablehlo.optimization_barrier", operands, {},
                   llvm::to_vector(ValueRange(operands).getTypes()),
                   Rounding::Exact);
}

/// An operation that takes its result's sizes as a constant operand.
bool drawDynamic(Draft &draft, StringRef name) {
  Value value = draft.pick([](RankedTensorType) { return true; });
  if (!value)
    return false;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> sizes(type.getShape());
  SmallVector<NamedAttribute> attributes;
  if (name == "stablehlo.dynamic_broadcast_in_dim") {
    sizes.insert(sizes.begin(), draft.dice.between(1, 3));
    attributes.push_back(
        draft.list("broadcast_dimensions",
                   llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1))));
  } else if (name == "stablehlo.dynamic_reshape") {
    sizes = {type.getNumElements()};
  } else {
    if (type.getRank() == 0)
      return false;
    attributes.push_back(draft.number("iota_dimension", 0));
  }
  auto shapeType = RankedTensorType::get({int64_t(sizes.size())},
                                         draft.builder.getI64Type());
  SmallVector<Value> operands;
  if (name != "stablehlo.dynamic_iota")
    operands.push_back(value);
  operands.push_back(draft.constant(shapeType, sizes));
  return draft.add(name, operands, attributes,
                   SmallVector<Type>{type.clone(sizes)}, Rounding::Exact);
}

bool drawFft(Draft &draft) {
  Value value = draft.pick([](RankedTensorType type) {
    return type.getRank() >= 1 && isa<ComplexType>(type.getElementType()) &&
           type.getNumElements() > 0;
  });
  if (!value)
    return false;
  auto type = cast<RankedTensorType>(value.getType());
  const bool inverse = draft.dice.oneIn(2);
  auto kind = stablehlo::FftTypeAttr::get(draft.builder.getContext(),
                                          inverse ? stablehlo::FftType::IFFT
                                                  : stablehlo::FftType::FFT);
  return draft.add("stablehlo.fft", value,
                   {draft.attribute("fft_type", kind),
                    draft.list("fft_length", type.getShape().back())},
                   SmallVector<Type>{type}, Rounding::Rounds);
}

/// A triangle with a large diagonal, so that the solution stays small.
bool drawTriangularSolve(Draft &draft) {
  Type element = draft.dice.oneIn(2) ? Type(draft.builder.getF32Type())
                                     : Type(draft.builder.getF64Type());
  const int64_t size = draft.dice.between(1, 4);
  auto square = RankedTensorType::get({size, size}, element);
  SmallVector<int64_t> elements;
  for (int64_t i = 0; i < size * size; ++i)
    elements.push_back(i % (size + 1) == 0 ? 8 : draft.dice.between(-2, 2));
  Value a = draft.constant(square, elements);
  const bool left = draft.dice.oneIn(2);
  const int64_t others = draft.dice.between(1, 3);
  Value b = draft.valueOf(RankedTensorType::get(
      left ? ArrayRef<int64_t>{size, others} : ArrayRef<int64_t>{others, size},
      element));
  static constexpr stablehlo::Transpose kinds[] = {
      stablehlo::Transpose::NO_TRANSPOSE, stablehlo::Transpose::TRANSPOSE};
  return draft.add(
      "stablehlo.triangular_solve", {a, b},
      {draft.flag("left_side", left), draft.flag("lower", draft.dice.oneIn(2)),
       draft.flag("unit_diagonal", false),
       draft.attribute("transpose_a",
                       stablehlo::TransposeAttr::get(draft.builder.getContext(),
                                                     draft.dice.among(kinds)))},
      SmallVector<Type>{b.getType()}, Rounding::Rounds);
}

bool drawRngBitGenerator(Draft &draft) {
  auto state = RankedTensorType::get(
      {2}, draft.builder.getIntegerType(64, /*isSigned=*/false));
  Value seed = draft.fresh(state);
  static constexpr stablehlo::RngAlgorithm algorithms[] = {
      stablehlo::RngAlgorithm::THREE_FRY, stablehlo::RngAlgorithm::PHILOX};
  Type element = draft.builder.getIntegerType(draft.dice.oneIn(2) ? 32 : 64,
                                              /*isSigned=*/false);
  return draft.add(
      "stablehlo.rng_bit_generator", seed,
      {draft.attribute("rng_algorithm", stablehlo::RngAlgorithmAttr::get(
                                            draft.builder.getContext(),
                                            draft.dice.among(algorithms)))},
      SmallVector<Type>{state, RankedTensorType::get(draft.shape(), element)},
      Rounding::Exact);
}

} // namespace

std::vector<Recipe> controlRecipes() {
  std::vector<Recipe> recipes = {
      {"stablehlo.if",
       [](Draft &draft) {
         return drawBranches(draft, "stablehlo.if", draft.builder.getI1Type(),
                             2);
       }},
      {"stablehlo.case",
       [](Draft &draft) {
         return drawBranches(draft, "stablehlo.case",
                             draft.builder.getI32Type(),
                             draft.dice.between(1, 3));
       }},
      {"stablehlo.while", drawWhile},
      {"stablehlo.optimization_barrier", drawOptimizationBarrier},
      {"stablehlo.fft", drawFft},
      {"stablehlo.triangular_solve", drawTriangularSolve},
      {"stablehlo.rng_bit_generator", drawRngBitGenerator},
  };
  for (const char *name :
       {"stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_reshape",
        "stablehlo.dynamic_iota"})
    recipes.push_back(
        {name, [name](Draft &draft) { return drawDynamic(draft, name); }});
  return recipes;
}

} // namespace sinter
