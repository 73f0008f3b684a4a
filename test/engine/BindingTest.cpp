// Covers: engine NamedSizes
#include "engine/Binding.h"
#include "engine/NamedSizes.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

ModelInput input(std::string name, Shape shape,
                 std::vector<std::string> symbols) {
  ModelInput input;
  input.spec = {std::move(name), ElementType::F32, std::move(shape)};
  input.symbols = std::move(symbols);
  return input;
}

/// x [N, 3, L] and mask [N, L].
ModelDescription model() {
  ModelDescription model;
  model.inputs = {input("x", {-1, 3, -1}, {"N", "", "L"}),
                  input("mask", {-1, -1}, {"N", "L"})};
  return model;
}

using Tensors = std::vector<std::optional<Tensor>>;

Result<std::vector<Shape>> bind(const NamedShapes &shapes,
                                const Tensors &given = {},
                                std::string *noted = nullptr) {
  static const ModelDescription description = model();
  return bindShapes(description, shapes, given, [=](const std::string &text) {
    if (noted)
      *noted += text;
  });
}

TEST(Binding, SymbolsSpreadFromShapes) {
  auto shapes = bind({{"x", {2, 3, 5}}});
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (std::vector<Shape>{{2, 3, 5}, {2, 5}}));
}

TEST(Binding, SymbolsSpreadFromTensors) {
  auto shapes = bind({}, {std::nullopt, Tensor(ElementType::F32, {4, 7})});
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (std::vector<Shape>{{4, 3, 7}, {4, 7}}));
}

TEST(Binding, AnDynamicBatchIsOne) {
  std::string noted;
  auto shapes = bind({{"mask", {-1, 5}}}, {}, &noted);
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (std::vector<Shape>{{1, 3, 5}, {1, 5}}));
  EXPECT_NE(noted.find("'x', 'mask'"), std::string::npos) << noted;
}

TEST(Binding, SizesBySymbol) {
  auto shapes = withSizes(model(), {{"N", 2}, {"L", 5}}, {}, "shape");
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (NamedShapes{{"x", {2, 3, 5}}, {"mask", {2, 5}}}));
  // Beside shapes; an input without the dimension gets none.
  shapes = withSizes(model(), {{"L", 5}}, {{"x", {4, 3, -1}}}, "shape");
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (NamedShapes{{"x", {4, 3, 5}}, {"mask", {-1, 5}}}));
  for (const auto &[sizes, given, message] :
       {std::tuple<SymbolSizes, NamedShapes, std::string>{
            {{"M", 2}}, {}, "called 'M'; there are 'N' and 'L'"},
        {{{"L", 2}}, {{"mask", {2, 3}}}, "input 'mask' leaves dimension 'L'"},
        {{{"x[1]", 2}}, {}, "no dynamic dimension is called 'x[1]'"}}) {
    shapes = withSizes(model(), sizes, given, "shape");
    ASSERT_FALSE(shapes);
    EXPECT_EQ(shapes.error().kind, ErrorKind::Usage);
    EXPECT_NE(shapes.error().message().find(message), std::string::npos)
        << shapes.error().message();
  }
}

TEST(Binding, HintsAreReplaced) {
  ModelDescription model;
  model.inputs = {input("x", {1, 8}, {})};
  EXPECT_FALSE(withSizes(model, {{"x[1]", 4}}, {}, "shape"));
  model.inputs[0].sizesAreHints = true;
  auto shapes = withSizes(model, {{"x[1]", 4}}, {}, "shape");
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (NamedShapes{{"x", {1, 4}}}));
}

void expectUsage(const Result<std::vector<Shape>> &result,
                 const std::string &text) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  EXPECT_NE(result.error().message().find(text), std::string::npos)
      << result.error().message();
}

TEST(Binding, RefusesWhatIsDynamicOrContradicts) {
  expectUsage(bind({}), "dimension 2 (L) of input 'x'");
  expectUsage(bind({{"y", {1}}}), "no input 'y'");
  expectUsage(bind({{"mask", {1}}}), "f32 [N, L]");
  expectUsage(bind({{"x", {1, 4, 5}}}), "1x4x5xf32");
  expectUsage(bind({{"x", {2, 3, 5}}, {"mask", {3, 5}}}), "dimension N");
  expectUsage(bind({{"x", {2, 3, 5}}},
                   {std::nullopt, Tensor(ElementType::F32, {2, 6})}),
              "dimension L");
  const int64_t huge = int64_t(1) << 40;
  expectUsage(bind({{"x", {huge, 3, huge}}}), "too large");
}

TEST(Binding, GivenSizesWinOverHints) {
  ModelDescription description = model();
  for (ModelInput &input : description.inputs)
    input.sizesAreHints = true;
  auto bound = [&](const NamedShapes &shapes, const Tensors &given = {}) {
    return bindShapes(description, shapes, given, {});
  };
  auto shapes = bound({{"x", {2, 4, 5}}});
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(*shapes, (std::vector<Shape>{{2, 4, 5}, {2, 5}}));
  shapes = bound({}, {Tensor(ElementType::F32, {2, 4, 5}), std::nullopt});
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(shapes->front(), (Shape{2, 4, 5}));
  // What is not given stays as it is suggested.
  shapes = bound({{"x", {2, -1, 5}}});
  ASSERT_TRUE(shapes) << shapes.error().message();
  EXPECT_EQ(shapes->front(), (Shape{2, 3, 5}));
  // Two that are given hold each other.
  expectUsage(bound({{"x", {2, 4, 5}}},
                    {Tensor(ElementType::F32, {2, 3, 5}), std::nullopt}),
              "the given tensor");
  expectUsage(bound({{"x", {2, 4}}}), "shape has");
}

} // namespace
} // namespace sinter
