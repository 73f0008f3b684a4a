// The gradient of each operation that has one, against differences: of the
// examples that docs/stablehlo-status.md and docs/nn-gradients.md speak of,
// with all floats in f64.
//
// Covers: graph/stablehlo OpenTuples

#include "graph/gradient/FiniteDifferences.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/OpenTuples.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "random/WideFloats.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace mlir;

namespace sinter {
namespace {

using namespace sinter::test;

/// Where the examples of these are smooth, and have numbers.
const std::map<std::string, Range> ranges = {
    {"stablehlo.atan2", {0.4, 1.6}},
    {"stablehlo.batch_norm_grad", {0.4, 1.6}},
    {"stablehlo.batch_norm_inference", {0.4, 1.6}},
    {"stablehlo.cbrt", {0.4, 1.6}},
    {"stablehlo.divide", {0.4, 1.6}},
    {"stablehlo.log", {0.4, 1.6}},
    {"stablehlo.log_plus_one", {0.4, 1.6}},
    {"stablehlo.power", {0.4, 1.6}},
    {"stablehlo.remainder", {0.4, 1.6}},
    {"stablehlo.rsqrt", {0.4, 1.6}},
    {"stablehlo.sqrt", {0.4, 1.6}},
    {"stablehlo.triangular_solve", {0.8, 1.6}},
    {"nn.acos", {-0.8, 0.8}},
    {"nn.acosh", {1.5, 2.5}},
    {"nn.asin", {-0.8, 0.8}},
    {"nn.atanh", {-0.8, 0.8}},
};

/// Held against differences on a grid of processes: DistributionTest.cpp.
const std::set<std::string> onGrids = {
    "stablehlo.all_gather",           "stablehlo.all_reduce",
    "stablehlo.all_to_all",           "stablehlo.async_start",
    "stablehlo.collective_broadcast", "stablehlo.collective_permute",
    "stablehlo.collective_reduce",    "stablehlo.cross-replica-sum",
    "stablehlo.reduce_scatter"};

/// They let gradients through that differences do not see: QuantizedTest.cpp,
/// GradientTest.cpp.
const std::set<std::string> rounding = {
    "nn.quantize", "stablehlo.reduce_precision", "stablehlo.uniform_dequantize",
    "stablehlo.uniform_quantize"};

bool holdsNumbers(Type type) {
  return isa<RankedTensorType>(type) &&
         isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

/// A file of examples, each in a function of its operation's name.
class Samples {
public:
  explicit Samples(const std::string &path) : context(makeContext()) {
    module = parseSourceFile<ModuleOp>(path, context.get());
    EXPECT_TRUE(module) << path;
  }

  /// The example as the one entry of a model, with all floats in f64; nothing
  /// where there is none.
  std::optional<Model> of(RegisteredOperationName name) const {
    std::string symbol = name.stripDialect().str();
    std::replace(symbol.begin(), symbol.end(), '-', '_');
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>((*module)->clone()));
    auto example = copy->lookupSymbol<func::FuncOp>(symbol);
    if (!example)
      return std::nullopt;
    example.setName(entryName);
    for (auto other : llvm::make_early_inc_range(copy->getOps<func::FuncOp>()))
      if (other != example && SymbolTable::symbolKnownUseEmpty(other, *copy))
        other.erase();
    inlineFutures(example);
    openTuples(example);
    return withWideFloats(Model(context, std::move(copy)));
  }

  std::shared_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

std::vector<Tensor> inputsOf(const Model &model, const std::string &name,
                             uint64_t seed) {
  auto range = ranges.find(name);
  std::vector<Tensor> inputs;
  for (Type type : model.entry().getArgumentTypes()) {
    Range one = range == ranges.end() ? Range() : range->second;
    one.integerLimit = 3;
    inputs.push_back(randomOf(type, seed + inputs.size(), one));
  }
  if (name == "stablehlo.cholesky")
    for (int64_t i = 0; i < 3; ++i)
      inputs[0].set<double>(4 * i, 4.0 + static_cast<double>(i));
  return inputs;
}

/// Whether the example of \p name was held against differences.
bool checkExample(const Samples &samples, RegisteredOperationName name) {
  SCOPED_TRACE(name.getStringRef().str());
  std::optional<Model> model = samples.of(name);
  if (!model) {
    ADD_FAILURE() << "there is no example";
    return false;
  }
  func::FuncOp entry = model->entry();
  if (!llvm::any_of(entry.getArgumentTypes(), holdsNumbers) ||
      !llvm::any_of(entry.getResultTypes(), holdsNumbers))
    return false;
  EXPECT_TRUE(succeeded(verify(model->module())));
  for (uint64_t seed : {1, 20})
    if (!checkModel(*model, inputsOf(*model, name.getStringRef().str(), seed),
                    seed, seed == 1))
      return false;
  return true;
}

/// Every rule is held against differences.
void checkDialect(const std::string &path, StringRef dialect) {
  Samples samples(SINTER_SOURCE_DIR "/test/graph/" + path);
  ASSERT_TRUE(samples.module);
  for (RegisteredOperationName name :
       samples.context->getRegisteredOperations()) {
    const std::string text = name.getStringRef().str();
    const bool hasRule = name.hasInterface<DifferentiableOpInterface>();
    const bool hasParts = name.hasInterface<DecomposableOpInterface>() ||
                          text.find("tuple") != std::string::npos ||
                          text.find("async") != std::string::npos;
    if (name.getDialectNamespace() != dialect || !(hasRule || hasParts) ||
        text == nn::DeferredOp::getOperationName() || onGrids.contains(text) ||
        rounding.contains(text))
      continue;
    const bool isChecked = checkExample(samples, name);
    EXPECT_TRUE(isChecked || !hasRule)
        << text << ": the example says nothing of the rule";
  }
}

TEST(GradientSamples, OfStablehlo) {
  checkDialect("stablehlo/samples.mlir", "stablehlo");
}

TEST(GradientSamples, OfNn) { checkDialect("nn-samples.mlir", "nn"); }

} // namespace
} // namespace sinter
