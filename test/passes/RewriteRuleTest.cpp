// Every rule, alone: in test/passes/rules there is a function for each, called
// by the rule's label. What it makes of it stands in the file of the same name
// in test/passes/rules/forms; SINTER_WRITE_FORMS=1 writes those anew.
//
// Covers: graph RealRange Repetition
// Covers: graph/nn Pools
// Covers: passes Identities IdentityText RuleTables PatternLabels
// Covers: passes RaiseAttention RaiseGelu RaiseNorms RaiseRows RescaleFunction
// Covers: passes RescaledSums RescaleTree
// Covers: passes/rules *

#include "graph/FirstError.h"
#include "graph/Quantization.h"
#include "mlir/IR/Verifier.h"
#include "passes/GraphHarness.h"
#include "passes/RuleTables.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace sinter::test {
namespace {

namespace fs = std::filesystem;

/// One function of the files, by itself.
struct Example {
  /// The file's name, and the function's.
  std::string file, name;
  std::string label;
  /// Whether the rule must leave it alone.
  bool stays = false;
  Model model;
};

std::vector<RewriteRule> allRules() {
  std::vector<RewriteRule> rules;
  for (const RuleTable &table : ruleTables())
    llvm::append_range(rules, table.rules);
  return rules;
}

const fs::path folder = fs::path(SINTER_SOURCE_DIR) / "test/passes/rules";

std::string contentsOf(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The function alone, as a model whose entry it is.
Model modelOf(mlir::func::FuncOp function) {
  llvm::StringRef name = function.getName();
  std::string alone;
  llvm::raw_string_ostream stream(alone);
  function.print(stream);
  const size_t place = alone.find("@" + ("\"" + name + "\"").str());
  if (place != std::string::npos)
    alone.replace(place, name.size() + 3, "@main");
  else
    alone.replace(alone.find("@" + name.str()), name.size() + 1, "@main");
  return parseModel(alone);
}

/// The functions of all files as models, each of one function called main.
std::vector<Example> examples() {
  std::set<fs::path> files;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".mlir")
      files.insert(entry.path());
  std::vector<Example> all;
  for (const fs::path &path : files) {
    Model file = parseModel(contentsOf(path));
    for (auto function : file.module().getOps<mlir::func::FuncOp>()) {
      auto [label, rest] = function.getName().split('/');
      all.push_back({path.filename(), function.getName().str(), label.str(),
                     rest.starts_with("stays"), modelOf(function)});
    }
  }
  return all;
}

/// What rules make of an example, by the only rule of its name.
Model applied(const Example &example, PatternRun &run) {
  Model after = example.model.clone();
  EXPECT_TRUE(succeeded(applyRules(after.module(), {allRules()}, run)));
  return after;
}

std::vector<Tensor> runOn(const Model &model, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (mlir::Type type : model.entry().getArgumentTypes()) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    const bool isInteger =
        mlir::isa<mlir::IntegerType>(tensor.getElementType());
    if (auto quantised = quantizedOf(tensor)) {
      const IntegerBounds bounds = boundsOf(quantised);
      inputs.push_back(randomTensor(tensor, seed + inputs.size(),
                                    static_cast<double>(bounds.least),
                                    static_cast<double>(bounds.greatest) + 1));
      continue;
    }
    inputs.push_back(randomTensor(tensor, seed + inputs.size(),
                                  isInteger ? -6 : -1, isInteger ? 7 : 1));
  }
  auto outputs = interpret(model.entry(), inputs);
  EXPECT_TRUE(outputs) << outputs.error().message();
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

/// How far sums in another order, or with fewer roundings on the way, may be
/// from each other in these types.
double sumTolerance(const std::vector<Tensor> &tensors) {
  double tolerance = 1e-5;
  for (const Tensor &tensor : tensors)
    if (tensor.type() == ElementType::F16)
      tolerance = std::max(tolerance, 2e-3);
    else if (tensor.type() == ElementType::BF16)
      tolerance = std::max(tolerance, 2e-2);
  return tolerance;
}

/// Stored numbers that are one unit apart at most.
void expectWithinOne(const std::vector<Tensor> &before,
                     const std::vector<Tensor> &after) {
  ASSERT_EQ(before.size(), after.size());
  for (size_t k = 0; k < before.size(); ++k) {
    ASSERT_EQ(before[k].shape(), after[k].shape());
    ASSERT_EQ(before[k].type(), after[k].type());
    for (int64_t i = 0; i < before[k].size(); ++i)
      ASSERT_LE(std::abs(before[k].toDouble(i) - after[k].toDouble(i)), 1)
          << "output " << k << ", element " << i;
  }
}

TEST(RewriteRules, EachAppliesAndKeepsTheResults) {
  const std::vector<RewriteRule> rules = allRules();
  for (const Example &example : examples()) {
    SCOPED_TRACE(example.label + "\n" + textOf(example.model));
    auto run = PatternRun::create({"all"}, {example.label});
    ASSERT_TRUE(run) << run.error().message();
    const Model after = applied(example, **run);
    ASSERT_TRUE(succeeded(mlir::verify(after.module())));
    const uint64_t count = (*run)->counts().count(example.label);
    EXPECT_EQ(count != 0, !example.stays) << textOf(after);
    bool isExact = true, requantizes = false;
    for (const RewriteRule &rule : rules)
      if (rule.label == example.label) {
        isExact &= rule.needs == exact;
        requantizes |= (rule.needs & requantize) != 0;
      }
    for (uint64_t seed : {1, 77}) {
      const auto expected = runOn(example.model, seed);
      const auto got = runOn(after, seed);
      // Which way the oracle sums is not what a rule promises.
      const bool sums = llvm::StringRef(example.label).starts_with("raise-") ||
                        llvm::StringRef(example.label).ends_with("-norm") ||
                        example.label == "join-columns";
      if (requantizes) {
        expectWithinOne(expected, got);
        continue;
      }
      expectClose(expected, got, isExact && !sums ? 0 : sumTolerance(expected));
    }
  }
}

TEST(RewriteRules, EachGivesTheFormItPromises) {
  std::map<std::string, std::string> forms;
  for (const Example &example : examples()) {
    auto run = PatternRun::create({"all"}, {example.label});
    ASSERT_TRUE(run) << run.error().message();
    if (!example.stays)
      forms[example.file] += "// " + example.name + "\n" +
                             textOf(applied(example, **run)) + "\n// -----\n";
  }
  for (const auto &[file, text] : forms) {
    const fs::path path = folder / "forms" / file;
    if (std::getenv("SINTER_WRITE_FORMS"))
      std::ofstream(path) << text;
    std::istringstream got(text), expected(contentsOf(path));
    std::string example;
    for (std::string line, wanted; std::getline(got, line);) {
      std::getline(expected, wanted);
      if (llvm::StringRef(line).starts_with("// "))
        example = line;
      ASSERT_EQ(line, wanted)
          << file << ", " << example
          << ": if the new form is meant, SINTER_WRITE_FORMS=1 writes it";
    }
    std::string more;
    EXPECT_FALSE(std::getline(expected, more)) << file << ": " << more;
  }
}

TEST(RewriteRules, EachHasAnExample) {
  std::set<std::string> shown;
  for (const Example &example : examples())
    if (!example.stays)
      shown.insert(example.label);
  // Sizes that are known only at run time stand in move.mlir, custom calls in
  // refine-shapes.mlir, what the oracle does not run in simplify-algebra.mlir.
  const std::set<std::string> elsewhere = {
      "take-of-shape", "slice-of-shape", "custom-call-shapes",
      "custom-call-wrapper", "cross-replica-sum-to-all-reduce"};
  for (const RewriteRule &rule : allRules())
    EXPECT_TRUE(shown.contains(rule.label.str()) ||
                elsewhere.contains(rule.label.str()))
        << rule.label.str();
}

TEST(RewriteRules, NoneThatChangesResultsAppliesUnasked) {
  const PatternRun usual;
  for (const RewriteRule &rule : allRules())
    EXPECT_EQ(usual.isEnabled(rule.label), rule.needs == exact)
        << rule.label.str();
}

mlir::Value swapOperands(stablehlo::AddOp op, mlir::OpBuilder &builder) {
  return builder.create<stablehlo::AddOp>(op.getLoc(), op.getRhs(),
                                          op.getLhs());
}

TEST(RewriteRules, ThatUndoEachOtherEndInAnError) {
  const RewriteRule swapping[] = {
      rule<stablehlo::AddOp, swapOperands>("swap-sum",
                                           "add(x, y) -> add(y, x)"),
  };
  Model model = parseModel(R"(
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    })");
  const std::vector<Tensor> before = runOn(model, 1);
  PatternRun run;
  FirstError error(model.context());
  EXPECT_TRUE(failed(applyRules(model.module(), {swapping}, run)));
  EXPECT_EQ(error.take(),
            "rewriting does not end, at last by 'swap-sum' and 'swap-sum'; "
            "disable-patterns swap-sum keeps it from that");
  EXPECT_TRUE(succeeded(mlir::verify(model.module())));
  EXPECT_TRUE(sameBits(before, runOn(model, 1)));
}

TEST(RewriteRules, AllowancesEnable) {
  auto some = PatternRun::create({}, {}, {"reassociate"});
  ASSERT_TRUE(some);
  EXPECT_TRUE((*some)->isEnabled("add-constants-relaxed"));
  EXPECT_FALSE((*some)->isEnabled("factor-out-relaxed"));
  auto all = PatternRun::create({"add-zero-relaxed"}, {}, {"all"});
  ASSERT_TRUE(all);
  EXPECT_TRUE((*all)->isEnabled("factor-out-relaxed"));
  EXPECT_FALSE((*all)->isEnabled("add-zero-relaxed"));
  auto unknown = PatternRun::create({}, {}, {"carelessness"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Usage);
}

} // namespace
} // namespace sinter::test
