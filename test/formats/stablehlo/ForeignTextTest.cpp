// Covers: formats/stablehlo TextTokens

#include "formats/stablehlo/ForeignText.h"
#include "formats/Programs.h"

#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

std::string ours(std::string_view text) {
  Result<std::string> result = inOurTerms(text);
  return result ? *result : "error: " + result.error().message();
}

TEST(ForeignTextTest, EndsOfLocationsGo) {
  EXPECT_EQ(ours(R"(loc("f":1:2 to 3:4))"), R"(loc("f":1:2))");
  EXPECT_EQ(ours(R"(loc("f":1:2 to :4))"), R"(loc("f":1:2))");
  EXPECT_EQ(ours(R"(loc("f":1:2))"), R"(loc("f":1:2))");
  EXPECT_EQ(ours(R"(loc("a\"b":1:2 to 3:4) // "f":1:2 to 3:4)"),
            R"(loc("a\"b":1:2) // "f":1:2 to 3:4)");
  EXPECT_EQ(ours(R"("x\"f\":1:2 to 3:4")"), R"("x\"f\":1:2 to 3:4")");
}

TEST(ForeignTextTest, BooleansTakeABit) {
  EXPECT_EQ(ours(R"(dense<"0x0100010101000001FF"> : tensor<3x3xi1>)"),
            R"(dense<"0x9D01"> : tensor<3x3xi1>)");
  const std::string packed = R"(dense<"0x9D01"> : tensor<3x3xi1>)";
  EXPECT_EQ(ours(packed), packed);
  const std::string bytes = R"(dense<"0x010001"> : tensor<3xi8>)";
  EXPECT_EQ(ours(bytes), bytes);
}

TEST(ForeignTextTest, TypesThatWeLackAreNamed) {
  EXPECT_EQ(ours("a\n%0 = f : tensor<4xf8E3M4>"),
            "error: line 2: uses the element type f8E3M4, which MLIR 19 lacks");
  EXPECT_NE(ours("tensor<f4E2M1FN>").find("f4E2M1FN"), std::string::npos);
  EXPECT_EQ(ours("tensor<?x2xf8E4M3FN> @add_f8E3M4 // f8E3M4"),
            "tensor<?x2xf8E4M3FN> @add_f8E3M4 // f8E3M4");
}

TEST(ForeignTextTest, BareAttributesGetTheirNames) {
  EXPECT_EQ(ours(R"(sdy.mesh @m = <["x"=2]>)"),
            R"(sdy.mesh @m = #sdy.mesh<["x"=2]>)");
  EXPECT_EQ(ours(R"(sdy.sharding_constraint %0 <@m, [{"x"}]> : t)"),
            R"(sdy.sharding_constraint %0, [#sdy.sharding<@m, [{"x"}]>] : t)");
  EXPECT_EQ(ours(R"(in_shardings=[<@m, [{"x"}]>] out_shardings=[])"),
            R"(in_shardings=#sdy.sharding_per_value<[<@m, [{"x"}]>]> )"
            R"(out_shardings=#sdy.sharding_per_value<[]>)");
}

TEST(ForeignTextTest, AliasesMayNotStandForTooMuch) {
  std::string types = "!t0 = tuple<tensor<f32>, tensor<f32>>\n",
              lists = "#a0 = [1]", places = "#loc0 = loc(\"a\")\n";
  for (int i = 0; i < 40; ++i) {
    const std::string from = std::to_string(i), to = std::to_string(i + 1);
    types += "!t" + to + " = tuple<!t" + from + ",\n !t" + from + ">\n";
    lists += " #a" + to + " = [#a" + from + ", #a" + from + "]";
    places += "#loc" + to + " = loc(callsite(#loc" + from + " at #loc" + from +
              "))\n";
  }
  for (const std::string &text : {types, lists})
    EXPECT_NE(ours(text).find("has too many elements"), std::string::npos);
  EXPECT_EQ(ours(places), places);
  // Uses count in definitions only.
  std::string uses = "#a = [1]\n";
  for (int i = 0; i < 30; ++i)
    uses += "#b" + std::to_string(i) + " = [#a, #a]\nmodule { f(#a, #b0) }\n";
  EXPECT_EQ(ours(uses), uses);
}

TEST(ForeignTextTest, ConstantsOfShardyAreConstants) {
  EXPECT_EQ(ours("%0 = sdy.constant dense<1.0> : tensor<f32>"),
            "%0 = stablehlo.constant dense<1.0> : tensor<f32>");
}

TEST(ForeignTextTest, BrokenTextIsLeftToTheParser) {
  for (const char *text : {"\"", "dense<\"0x", "\"f\":1:2 to", "sdy.mesh",
                           "in_shardings=[", "dense<\"0x01\"> : tensor<", "/"})
    EXPECT_EQ(ours(text), text);
}

TEST(ForeignTextTest, ChunksKnowTheirLine) {
  const std::vector<TextChunk> chunks =
      splitChunks("a\n// -----\nb\nc\n// -----\n\nd");
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].text, "a\n");
  EXPECT_EQ(chunks[1].text, "b\nc\n");
  EXPECT_EQ(chunks[1].linesBefore, 2u);
  EXPECT_EQ(chunks[2].text, "\nd");
  EXPECT_EQ(chunks[2].linesBefore, 5u);
  EXPECT_EQ(splitChunks("").size(), 1u);
}

constexpr const char *textWithLocations = R"(#loc1 = loc("x.py":3:4 to 3:9)
module @jit_f attributes {mhlo.num_partitions = 2 : i32, other.thing = #other.kind<[1, "a"]>} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{replicated}", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {jax.result_info = ""}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32> loc(#loc1)
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x", ?}]> : tensor<8xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
      %3 = stablehlo.negate %arg1 : tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
)";

TEST(ForeignTextTest, AnExportWithShardingsIsReadAndWrittenBack) {
  Result<Model> model =
      parseStablehlo(textWithLocations, "textWithLocations.mlir");
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_TRUE(model->entry());
  Result<std::string> text = stablehloBytes(*model, StablehloForm::Text);
  ASSERT_TRUE(text);
  for (const char *piece :
       {R"(#other.kind<[1, "a"]>)", R"(sdy.mesh @mesh = <["x"=2]>)",
        R"(sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>)",
        R"(sdy.sharding_constraint %0 <@mesh, [{"x", ?}]> : tensor<8xf32>)",
        R"(in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] )"
        R"(manual_axes={"x"} (%arg1: tensor<4xf32>) {)"})
    EXPECT_NE(text->find(piece), std::string::npos) << piece << "\n" << *text;
  Result<Model> again = parseStablehlo(*text, "again.mlir");
  ASSERT_TRUE(again) << again.error().message();
  Result<std::string> twice = stablehloBytes(*again, StablehloForm::Text);
  ASSERT_TRUE(twice);
  EXPECT_EQ(*text, *twice);
}

TEST(ForeignTextTest, OperationsMustBeKnown) {
  Result<Model> model = parseStablehlo(
      "func.func @main() {\n  \"other.op\"() : () -> ()\n  return\n}",
      "a.mlir");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::InvalidModel);
  EXPECT_NE(model.error().message().find("a.mlir:2:"), std::string::npos)
      << model.error().message();
  EXPECT_NE(model.error().message().find("other.op"), std::string::npos);
}

} // namespace
