// Norms of random shapes, spelt out as frameworks do, against themselves
// raised.
//
// Covers: passes RaiseGelu RaiseNorms

#include "passes/RaiseIdioms.h"
#include "mlir/IR/Verifier.h"
#include "passes/GraphHarness.h"
#include "passes/Pipelines.h"

#include <random>

namespace sinter::test {
namespace {

using Sizes = std::vector<int64_t>;

/// How a norm is spelt out.
struct NormForm {
  bool isCentred = true;
  bool isFast = false;    ///< The variance is the mean of squares less m * m.
  bool isDivided = false; ///< By the square root.
  bool isScaled = false;

  bool isExact() const { return !isFast && !isDivided; }
};

/// The text of one norm.
class Text {
public:
  Text(std::string element, Sizes sizes, size_t axis, NormForm form)
      : element(std::move(element)), sizes(std::move(sizes)), axis(axis),
        form(form) {}

  std::string write() {
    const std::string scale = type(Sizes(sizes.begin() + axis, sizes.end()));
    line("%z = stablehlo.constant dense<0.0> : " + type({}));
    line("%n = stablehlo.constant dense<" + std::to_string(count()) +
         ".0> : " + type(rows()));
    line("%eps = stablehlo.constant dense<0.125> : " + type(rows()));
    std::string centred = "%x";
    if (form.isCentred) {
      mean("%m", "%x");
      spread("%mw", "%m");
      binary("%c", "subtract", "%x", "%mw", sizes);
      centred = "%c";
    }
    const std::string squared = form.isFast ? "%x" : centred;
    binary("%q", "multiply", squared, squared, sizes);
    mean("%v0", "%q");
    std::string variance = "%v0";
    if (form.isFast) {
      binary("%mm", "multiply", "%m", "%m", rows());
      binary("%v1", "subtract", "%v0", "%mm", rows());
      variance = "%v1";
    }
    binary("%ve", "add", variance, "%eps", rows());
    line(std::string("%d = stablehlo.") + (form.isDivided ? "sqrt" : "rsqrt") +
         " %ve : " + type(rows()));
    spread("%dw", "%d");
    binary("%y", form.isDivided ? "divide" : "multiply", centred, "%dw", sizes);
    if (form.isScaled) {
      line("%gw = stablehlo.broadcast_in_dim %g, dims = " +
           list(axis, sizes.size()) + " : (" + scale + ") -> " + type(sizes));
      binary("%r", "multiply", "%y", "%gw", sizes);
    }
    return "func.func @main(%x: " + type(sizes) + ", %g: " + scale + ") -> " +
           type(sizes) + " {\n" + body + "  return " +
           (form.isScaled ? "%r" : "%y") + " : " + type(sizes) + "\n}\n";
  }

private:
  Sizes rows() const { return Sizes(sizes.begin(), sizes.begin() + axis); }
  int64_t count() const {
    int64_t result = 1;
    for (size_t i = axis; i < sizes.size(); ++i)
      result *= sizes[i];
    return result;
  }
  std::string type(const Sizes &of) const {
    std::string text = "tensor<";
    for (int64_t size : of)
      text += std::to_string(size) + "x";
    return text + element + ">";
  }
  static std::string list(size_t from, size_t to) {
    std::string text = "[";
    for (size_t i = from; i < to; ++i)
      text += (i == from ? "" : ", ") + std::to_string(i);
    return text + "]";
  }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  void binary(const std::string &result, const std::string &op,
              const std::string &a, const std::string &b, const Sizes &of) {
    line(result + " = stablehlo." + op + " " + a + ", " + b + " : " + type(of));
  }
  void mean(const std::string &result, const std::string &of) {
    line(result + "s = stablehlo.reduce(" + of +
         " init: %z) applies stablehlo.add across dimensions = " +
         list(axis, sizes.size()) + " : (" + type(sizes) + ", " + type({}) +
         ") -> " + type(rows()));
    binary(result, "divide", result + "s", "%n", rows());
  }
  void spread(const std::string &result, const std::string &of) {
    line(result + " = stablehlo.broadcast_in_dim " + of + ", dims = " +
         list(0, axis) + " : (" + type(rows()) + ") -> " + type(sizes));
  }

  std::string element;
  Sizes sizes;
  size_t axis;
  NormForm form;
  std::string body;
};

std::vector<Tensor> runOn(const Model &model) {
  std::vector<Tensor> inputs;
  for (mlir::Type type : model.entry().getArgumentTypes())
    inputs.push_back(randomTensor(mlir::cast<mlir::RankedTensorType>(type),
                                  inputs.size() + 5, -2, 2));
  auto outputs = interpret(model.entry(), inputs);
  EXPECT_TRUE(outputs) << outputs.error().message();
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

size_t countOf(const Model &model, llvm::StringRef name) {
  size_t count = 0;
  model.module().walk([&](mlir::Operation *op) {
    count += op->getName().getStringRef() == name;
  });
  return count;
}

TEST(RaiseIdioms, NormsOfAllShapesKeepTheirValues) {
  std::mt19937 random(11);
  auto below = [&](unsigned end) { return random() % end; };
  for (int i = 0; i < 120; ++i) {
    Sizes sizes(1 + below(4));
    for (int64_t &size : sizes)
      size = 1 + below(6);
    const size_t axis = below(sizes.size());
    // A size of 1 has no sum; a square of none is no variance.
    sizes.back() += 1;
    NormForm form;
    form.isCentred = below(3) != 0;
    form.isFast = form.isCentred && below(2);
    form.isDivided = below(3) == 0;
    form.isScaled = below(2);
    const std::string element = below(2) ? "f32" : "f64";
    const Model model = parseModel(Text(element, sizes, axis, form).write());
    SCOPED_TRACE(textOf(model));
    for (bool isRelaxed : {false, true}) {
      auto run = PatternRun::create(
          {}, {},
          isRelaxed ? std::vector<std::string>{"reassociate", "contract",
                                               "reciprocal"}
                    : std::vector<std::string>());
      ASSERT_TRUE(run) << run.error().message();
      const Model raised = model.clone();
      EXPECT_TRUE(
          succeeded(applyRules(raised.module(), {raiseIdiomsRules()}, **run)));
      ASSERT_TRUE(succeeded(mlir::verify(raised.module())));
      EXPECT_EQ(
          countOf(raised, form.isCentred ? "nn.layer_norm" : "nn.rms_norm"),
          form.isExact() || isRelaxed ? 1u : 0u);
      if (form.isScaled)
        EXPECT_EQ((*run)->counts().count("scale-norm"),
                  form.isExact() || isRelaxed ? 1u : 0u);
      expectClose(runOn(model), runOn(raised), 2e-5);
    }
  }
}

// What is written again stays in the operations that others can read.
TEST(RaiseIdioms, IsForKernelsAndCanBeSwitchedOff) {
  Model model = parseModel(Text("f32", {3, 4}, 1, NormForm()).write());
  auto simplified = simplify(model);
  ASSERT_TRUE(simplified) << simplified.error().message();
  EXPECT_EQ(countOf(model, "nn.layer_norm"), 0u);
  SimplifyOptions without;
  without.disabledPatterns = {"raise-norm"};
  Model other = model.clone();
  auto left = raiseForKernels(other, without);
  ASSERT_TRUE(left) << left.error().message();
  EXPECT_EQ(countOf(other, "nn.layer_norm"), 0u);
  auto raised = raiseForKernels(model, {});
  ASSERT_TRUE(raised) << raised.error().message();
  EXPECT_EQ(countOf(model, "nn.layer_norm"), 1u);
}

} // namespace
} // namespace sinter::test
