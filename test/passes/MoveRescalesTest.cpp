// Rescales move through chains of every kind of operation, with random
// scales, zero points and storage types: exactly, or each number within one
// unit.
//
// Covers: graph RealRange
// Covers: passes RescaleFunction RescaledSums RescaleTree

#include "passes/MoveRescales.h"
#include "graph/Quantization.h"
#include "graph/interfaces/Rescale.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/GraphHarness.h"
#include "passes/RescaleTree.h"
#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace mlir;

namespace sinter::test {
namespace {

/// Any numbers that the entry function's arguments store.
std::vector<Tensor> storedInputs(const Model &model, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (Type type : model.entry().getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    quant::QuantizedType element = quantizedOf(tensor);
    const IntegerBounds bounds =
        element ? boundsOf(element) : IntegerBounds{-1, 0};
    inputs.push_back(randomTensor(tensor, seed + inputs.size(),
                                  static_cast<double>(bounds.least),
                                  static_cast<double>(bounds.greatest) + 1));
  }
  return inputs;
}

std::vector<Tensor> runStored(const Model &model, uint64_t seed) {
  auto outputs = interpret(model.entry(), storedInputs(model, seed));
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

std::shared_ptr<PatternRun> allowing(const std::vector<std::string> &names) {
  auto run = PatternRun::create({}, {}, names);
  EXPECT_TRUE(run);
  return *run;
}

Model moved(const Model &model, const std::vector<std::string> &allowed = {}) {
  Model result = model.clone();
  applyPass(result, createMoveRescales(allowing(allowed)));
  EXPECT_TRUE(succeeded(mlir::verify(result.module())));
  return result;
}

/// The greatest difference of stored numbers.
double distance(const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
  double most = 0;
  EXPECT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k)
    for (int64_t i = 0; i < a[k].size(); ++i)
      most = std::max(most, std::abs(a[k].toDouble(i) - b[k].toDouble(i)));
  return most;
}

//===----------------------------------------------------------------------===//
// Random parameters
//===----------------------------------------------------------------------===//

class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  /// "i8:f32, 0.37:3" of storage \p storage.
  std::string parameters(const std::string &storage) {
    return storage + ":f32, " + scale(storage) + ":" + zero(storage);
  }
  std::string perAxis(const std::string &storage, int64_t axis, int64_t size) {
    std::string text = storage + ":f32:" + std::to_string(axis) + ", {";
    for (int64_t i = 0; i < size; ++i)
      text += (i ? ", " : "") + scale(storage) + ":" + zero(storage);
    return text + "}";
  }

private:
  std::string scale(const std::string &storage) {
    const double number = storage == "i16" ? 0.001 : 0.1;
    return llvm::formatv("{0:f6}", number * double(between(50, 400)) / 100);
  }
  std::string zero(const std::string &storage) {
    return std::to_string(storage == "u8" ? between(100, 156)
                                          : between(-20, 20));
  }
  std::mt19937_64 engine;
};

/// Text in which $a, $b and $c are random types of \p storage.
std::string withTypes(const std::string &text, const std::string &storage,
                      Draw &draw) {
  auto type = [&] {
    return "!quant.uniform<" + draw.parameters(storage) + ">";
  };
  return fill(text, {{"a", type()}, {"b", type()}, {"c", type()}});
}

const char *const storages[] = {"i8", "u8", "i16"};

/// What operations a rescale goes through: from $a to $b in front of each.
const char *const rescaledChains[] = {
    // Pools, and what is between.
    R"(func.func @main(%x: tensor<1x3x6x6x$a>) -> tensor<1x3x3x3x$c> {
      %r = stablehlo.uniform_quantize %x : (tensor<1x3x6x6x$a>) -> tensor<1x3x6x6x$b>
      %p = nn.relu %r : tensor<1x3x6x6x$b>
      %m = nn.max_pool %p, window = [3, 3] strides = [2, 2] {dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>} : (tensor<1x3x6x6x$b>) -> tensor<1x3x3x3x$b>
      %y = stablehlo.uniform_quantize %m : (tensor<1x3x3x3x$b>) -> tensor<1x3x3x3x$c>
      return %y : tensor<1x3x3x3x$c> })",
    // Four branches of one scale.
    R"(func.func @main(%x: tensor<2x3x$a>, %y: tensor<2x1x$a>, %z: tensor<3x2x$a>, %u: tensor<6x$a>) -> tensor<2x9x$b> {
      %0 = nn.quantize %x : (tensor<2x3x$a>) -> tensor<2x3x$b>
      %1 = nn.quantize %y : (tensor<2x1x$a>) -> tensor<2x1x$b>
      %2 = nn.quantize %z : (tensor<3x2x$a>) -> tensor<3x2x$b>
      %3 = nn.quantize %u : (tensor<6x$a>) -> tensor<6x$b>
      %t = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x2x$b>) -> tensor<2x3x$b>
      %s = stablehlo.reshape %3 : (tensor<6x$b>) -> tensor<2x3x$b>
      %h = stablehlo.slice %s [0:2, 1:3] : (tensor<2x3x$b>) -> tensor<2x2x$b>
      %c = stablehlo.concatenate %0, %1, %t, %h, dim = 1 : (tensor<2x3x$b>, tensor<2x1x$b>, tensor<2x3x$b>, tensor<2x2x$b>) -> tensor<2x9x$b>
      return %c : tensor<2x9x$b> })",
    // Greatest and least, chosen and repeated.
    R"(func.func @main(%x: tensor<4x6x$a>, %y: tensor<6x$a>, %p: tensor<4x6xi1>) -> tensor<2x6x$b> {
      %0 = stablehlo.uniform_quantize %x : (tensor<4x6x$a>) -> tensor<4x6x$b>
      %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6x$a>) -> tensor<4x6x$a>
      %2 = stablehlo.uniform_quantize %1 : (tensor<4x6x$a>) -> tensor<4x6x$b>
      %3 = stablehlo.maximum %0, %2 : tensor<4x6x$b>
      %4 = stablehlo.slice %3 [0:2, 0:6] : (tensor<4x6x$b>) -> tensor<2x6x$b>
      %5 = stablehlo.reverse %4, dims = [0] : tensor<2x6x$b>
      return %5 : tensor<2x6x$b> })",
    // There, elsewhere and back.
    R"(func.func @main(%x: tensor<4x6x$a>) -> tensor<6x4x$a> {
      %0 = stablehlo.uniform_quantize %x : (tensor<4x6x$a>) -> tensor<4x6x$b>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x$b>) -> tensor<6x4x$b>
      %2 = nn.quantize %1 : (tensor<6x4x$b>) -> tensor<6x4x$c>
      %3 = stablehlo.uniform_quantize %2 : (tensor<6x4x$c>) -> tensor<6x4x$a>
      return %3 : tensor<6x4x$a> })",
};

TEST(MoveRescales, KeepsEveryBitUnasked) {
  uint64_t changed = 0;
  for (const char *chain : rescaledChains)
    for (const char *storage : storages)
      for (uint64_t seed = 0; seed < 40; ++seed) {
        Draw draw(seed);
        Model before = parseModel(withTypes(chain, storage, draw));
        Model after = moved(before);
        SCOPED_TRACE(textOf(before) + "\n->\n" + textOf(after));
        EXPECT_LE(countRescales(after.module()),
                  countRescales(before.module()));
        changed += textOf(before) != textOf(after);
        for (uint64_t inputs : {1, 77})
          ASSERT_TRUE(
              sameBits(runStored(before, inputs), runStored(after, inputs)));
      }
  EXPECT_GT(changed, 200u);
}

/// Per axis, where operations of StableHLO take such.
TEST(MoveRescales, FollowsTheDimensionOfTheScales) {
  for (const char *storage : {"i8", "i16"})
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Draw draw(seed);
      std::string from = "!quant.uniform<" + draw.perAxis("i8", 1, 3) + ">";
      std::string parameters = draw.perAxis(storage, 1, 3);
      std::string moved0 = parameters;
      moved0.replace(moved0.find("f32:1"), 5, "f32:0");
      Model before = parseModel(
          fill(R"(func.func @main(%x: tensor<4x3x$a>) -> tensor<3x4x$c> {
            %0 = stablehlo.uniform_quantize %x : (tensor<4x3x$a>) -> tensor<4x3x$b>
            %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3x$b>) -> tensor<3x4x$c>
            return %1 : tensor<3x4x$c> })",
               {{"a", from},
                {"b", "!quant.uniform<" + parameters + ">"},
                {"c", "!quant.uniform<" + moved0 + ">"}}));
      Model after = moved(before);
      SCOPED_TRACE(textOf(before) + "\n->\n" + textOf(after));
      const bool sinks = llvm::StringRef(storage) == "i16";
      EXPECT_EQ(textOf(before) != textOf(after), sinks);
      ASSERT_TRUE(sameBits(runStored(before, seed), runStored(after, seed)));
    }
}

/// A function of quantised numbers, and a rescale of what it gives.
std::string withFunction(const std::string &function) {
  return fill(
      R"(func.func @main(%x: tensor<4x6x$a>) -> tensor<4x6x$c> {
        %0 = $function : (tensor<4x6x$a>) -> tensor<4x6x$b>
        %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x$b>) -> tensor<4x6x$c>
        return %1 : tensor<4x6x$c> })",
      {{"function", function}});
}

/// What is rounded once less is at most a unit away, whatever the scales.
TEST(MoveRescales, IsWithinOneUnitWhereThatIsAllowed) {
  const std::string texts[] = {
      R"(func.func @main(%x: tensor<4x6x$a>) -> tensor<4x6x$c> {
        %0 = stablehlo.uniform_quantize %x : (tensor<4x6x$a>) -> tensor<4x6x$b>
        %1 = stablehlo.uniform_quantize %0 : (tensor<4x6x$b>) -> tensor<4x6x$c>
        return %1 : tensor<4x6x$c> })",
      R"(func.func @main(%x: tensor<4x6x$a>, %y: tensor<4x6x$a>) -> tensor<6x4x$c> {
        %0 = stablehlo.add %x, %y : (tensor<4x6x$a>, tensor<4x6x$a>) -> tensor<4x6x$b>
        %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6x$b>) -> tensor<6x4x$b>
        %2 = nn.quantize %1 : (tensor<6x4x$b>) -> tensor<6x4x$c>
        return %2 : tensor<6x4x$c> })",
      R"(func.func @main(%x: tensor<1x4x3x3x$a>) -> tensor<1x4x3x3x$c> {
        %0 = nn.lrn %x {size = 3 : i64, alpha = 0.001, beta = 0.75, bias = 1.0} : (tensor<1x4x3x3x$a>) -> tensor<1x4x3x3x$b>
        %1 = stablehlo.uniform_quantize %0 : (tensor<1x4x3x3x$b>) -> tensor<1x4x3x3x$c>
        return %1 : tensor<1x4x3x3x$c> })",
      withFunction("nn.softmax %x, axes = [1]"),
      withFunction("nn.log_softmax %x, axes = [1]"),
      withFunction("nn.gelu %x {approximate = false}"),
      withFunction("nn.silu %x"),
      withFunction("stablehlo.logistic %x"),
      withFunction("stablehlo.tanh %x")};
  uint64_t gone = 0;
  for (const std::string &text : texts)
    for (const char *storage : storages)
      for (uint64_t seed = 0; seed < 60; ++seed) {
        Draw draw(seed);
        Model before = parseModel(withTypes(text, storage, draw));
        Model after = moved(before, {"requantize"});
        SCOPED_TRACE(textOf(before) + "\n->\n" + textOf(after));
        gone += countRescales(before.module()) - countRescales(after.module());
        ASSERT_LE(distance(runStored(before, seed), runStored(after, seed)), 1);
      }
  EXPECT_GT(gone, 50u);
}

//===----------------------------------------------------------------------===//
// A dialect that the pass has never heard of
//===----------------------------------------------------------------------===//

/// Every second element.
class HalfOp : public Op<HalfOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                         OpTrait::OneOperand, MemoryEffectOpInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HalfOp)
  using Op::Op;
  static StringRef getOperationName() { return "foreign.half"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};

class ForeignDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignDialect)
  static StringRef getDialectNamespace() { return "foreign"; }
  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {
    addOperations<HalfOp>();
  }
};

struct HalfModel : RescaleOpInterface::ExternalModel<HalfModel, HalfOp> {
  SmallVector<RescaleWay> getRescaleWays(Operation *) const {
    return {{{0}, RescaleRanges::Any}};
  }
  bool absorbsRescaleOfOperand(Operation *, unsigned) const { return false; }
  bool absorbsRescaleOfResult(Operation *) const { return false; }
};

TEST(MoveRescales, AsksOperationsOfAnyDialect) {
  for (bool says : {false, true}) {
    std::shared_ptr<MLIRContext> context = makeContext();
    context->loadDialect<ForeignDialect>();
    if (says)
      HalfOp::attachInterface<HalfModel>(*context);
    auto module = parseSourceString<ModuleOp>(R"(
      !a = !quant.uniform<i8:f32, 0.5>
      !b = !quant.uniform<i8:f32, 0.25:3>
      func.func @main(%x: tensor<8x!a>) -> tensor<4x!b> {
        %0 = stablehlo.uniform_quantize %x : (tensor<8x!a>) -> tensor<8x!b>
        %1 = "foreign.half"(%0) : (tensor<8x!b>) -> tensor<4x!b>
        return %1 : tensor<4x!b>
      })",
                                              context.get());
    ASSERT_TRUE(module);
    Model model(context, std::move(module));
    applyPass(model, createMoveRescales());
    Value result = model.entry().front().getTerminator()->getOperand(0);
    EXPECT_EQ(isa<HalfOp>(result.getDefiningOp()), !says) << textOf(model);
    if (says)
      EXPECT_EQ(
          result.getDefiningOp()->getOperand(0).getDefiningOp()->getOperand(0),
          model.entry().getArgument(0));
  }
}

} // namespace
} // namespace sinter::test
