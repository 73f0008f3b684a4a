#include "formats/stablehlo/ValueScopes.h"

#include "formats/stablehlo/StablehloReader.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

std::string problem(std::string_view text) {
  Result<void> result = checkValueScopes(text);
  return result ? "" : result.error().message();
}

TEST(ValueScopesTest, TextsThatAreRightPass) {
  for (
      const char *text : {
          "",
          // Arguments are forgotten behind their function, declared or not.
          "func.func private @d(%a: t)\nfunc.func @f(%a: t {x = 1}) -> (t {y}) "
          "attributes {k} {\n return %a : t }\n"
          "func.func @g(%b: t) { %a = h(%b) return %a }",
          // Groups of results.
          "%0:2, %1 = f() \"g\"(%0#0, %0#1, %1) : t",
          // Bodies see what is around them, and their names end with them.
          "%0 = \"r\"() ({ ^bb0(%x: t, %y: t loc(\"a\")): %1 = f(%x, %0) }, {\n"
          "^bb0(%x: t): %1 = f(%x) }) : t %1 = f(%0)",
          "%0 = f %1:2 = while(%i = %0, %j = %0) : t, t attributes {a} cond { "
          "return %i } do { return %j, %i : t } %i = f(%1#1)",
          "%0 = f %1 = reduce(%0 init: %0) across : (t) -> t "
          "reducer(%a: t, %b: t) { return %a } "
          "%2 = reduce(%0 init: %1) : t reducer(%a: t, %b: t) { f(%b) }",
          // Braces of types are no bodies.
          "func.func @f(%a: t) -> q<{1:2, 3:4}> { return %a : q<{1:2}> }",
          // What is no value.
          "\"%a\" @\"%b\" // %c = f(%d)\n#a = [\"{\"]",
          // Names end where the lexer ends them.
          "%0 = f(%0abc) %-a.b$ = g(%-a.b$) f %0 -> t",
      })
    EXPECT_EQ(problem(text), "") << text;
}

TEST(ValueScopesTest, ValuesAreKnownWhereTheyAreUsed) {
  EXPECT_EQ(problem("func.func @f() {\n  use(%0) }\nfunc.func @g() { %0 = h }"),
            "2:7: use of undeclared value '%0'");
  // Behind the body that holds it, and before it.
  EXPECT_EQ(problem("\"f\"() ({ %0 = g })\nuse(%0)"),
            "2:5: use of undeclared value '%0'");
  EXPECT_EQ(problem("use(%0) \"f\"() ({ %0 = g })"),
            "1:5: use of undeclared value '%0'");
  EXPECT_EQ(problem("%0 = f(%0)"), "");
  EXPECT_EQ(problem("func.func @f(%a: t) {}\nuse %a"),
            "2:5: use of undeclared value '%a'");
  // The lexer ends a comment at any line break, and skips zero bytes.
  EXPECT_EQ(problem("// a\r%0 = f(%1)"), "1:13: use of undeclared value '%1'");
  EXPECT_EQ(problem(std::string_view("%0 \0 = f use(%0)", 16)), "");
}

TEST(ValueScopesTest, ValuesAreDefinedOnce) {
  EXPECT_EQ(problem("%0 = f\n%0 = g"), "2:1: redefinition of value '%0'");
  EXPECT_EQ(problem("%0, %0 = f"), "1:5: redefinition of value '%0'");
  EXPECT_EQ(problem("func.func @f(%a: t) { %a = g }"),
            "1:23: redefinition of value '%a'");
  EXPECT_EQ(problem("%0 = f g({ ^bb(%0: t): })"),
            "1:16: redefinition of value '%0'");
  EXPECT_EQ(problem("while(%a = %0) cond {} do { %a = f }").substr(0, 6),
            "1:12: ");
}

TEST(ValueScopesTest, ResultsAreThere) {
  EXPECT_EQ(problem("%0:2 = f g(%0#2)"),
            "1:14: value '%0' has 2 results, and no #2");
  EXPECT_EQ(problem("%0 = f g(%0#4294967295)"),
            "1:12: value '%0' has 1 results, and no #4294967295");
  for (const char *count : {"9223372036854775813", "0x7fffffff", "1048577",
                            "99999999999999999999999"})
    EXPECT_NE(problem("%0:" + std::string(count) + " = f").find("so many"),
              std::string::npos);
}

TEST(ValueScopesTest, BracketsMatch) {
  EXPECT_EQ(problem("f(\n]"), "2:1: ']' closes no open bracket");
  EXPECT_EQ(problem("}"), "1:1: '}' closes no open bracket");
  // What is left open is the parser's to tell.
  EXPECT_EQ(problem("f({"), "");
}

TEST(ValueScopesTest, OperationsNestForHundredsOfLevelsAtMost) {
  auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i)
      text += "f({";
    for (int i = 0; i < depth; ++i)
      text += "})";
    return problem(text);
  };
  EXPECT_EQ(nested(600), "");
  EXPECT_EQ(nested(601), "1:1803: operations nest more than 600 deep");
}

/// What MLIR's parser would free before it writes to it. Only valgrind sees
/// more than the message.
TEST(ValueScopesTest, TheParserNeverSeesPromises) {
  for (const char *text : {
           "func.func @f() { return %0 : tensor<f32> }\n"
           "func.func @g() { %0 = stablehlo.constant dense<0.0> : tensor<f32>\n"
           " 1 }",
           "func.func @f(%a: tensor<i1>) { %1 = stablehlo.not %0 : tensor<i1>\n"
           "\"stablehlo.if\"(%a) ({ %0 = stablehlo.not %a : tensor<i1> 1 })",
       }) {
    Result<Model> model = parseStablehlo(text, "a.mlir");
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message().find("use of undeclared value '%0'"),
              std::string::npos)
        << model.error().message();
  }
}

} // namespace
