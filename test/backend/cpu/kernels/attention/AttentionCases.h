//===- AttentionCases.h - attention that tests compile --------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONCASES_H
#define SINTER_TEST_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONCASES_H

#include "backend/cpu/ProgramText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace sinter::test {

inline void replaceAll(std::string &text, llvm::StringRef from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

struct AttentionCase {
  std::string name;
  llvm::SmallVector<int64_t> query, key, value, mask;
  std::string attributes = "scale = 0.3";
};

/// The operation on operands whose heads stand in front or, with \p between,
/// (rank 4) behind the rows.
inline std::string bodyOf(const AttentionCase &test, bool between) {
  std::string arguments, moves, names, types;
  auto add = [&](const char *name, llvm::SmallVector<int64_t> shape,
                 bool moved) {
    std::string value = std::string("%") + name;
    std::string type = typeOf(shape);
    if (moved) {
      std::swap(shape[1], shape[2]);
      moves += value + "t = stablehlo.transpose " + value +
               ", dims = [0, 2, 1, 3] : (" + typeOf(shape) + ") -> " + type +
               "\n";
    }
    arguments += (arguments.empty() ? "" : ", ") + value + ": " + typeOf(shape);
    names += (names.empty() ? "" : ", ") + value + (moved ? "t" : "");
    types += (types.empty() ? "" : ", ") + type;
  };
  add("q", test.query, between);
  add("k", test.key, between);
  add("v", test.value, between);
  if (!test.mask.empty())
    add("m", test.mask, false);
  llvm::SmallVector<int64_t> shape = test.query;
  shape.back() = test.value.back();
  std::string result = typeOf(shape), text = moves;
  text += "%o = nn.attention " + names + " " + test.attributes + " : (" +
          types + ") -> " + result + "\n";
  std::string last = "%o";
  if (between) {
    std::string inner = result;
    std::swap(shape[1], shape[2]);
    result = typeOf(shape);
    text += "%r = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (" + inner +
            ") -> " + result + "\n";
    last = "%r";
  }
  return "(" + arguments + ") -> " + result + " {\n" + text + "return " + last +
         " : " + result + "\n}";
}

inline const AttentionCase attentionCases[] = {
    {"plain", {2, 3, 40, 16}, {2, 3, 48, 16}, {2, 3, 48, 32}, {}},
    {"odd sizes", {1, 2, 37, 19}, {1, 2, 53, 19}, {1, 2, 53, 21}, {}},
    {"mask of keys",
     {2, 3, 40, 16},
     {2, 3, 48, 16},
     {2, 3, 48, 16},
     {2, 1, 1, 48}},
    {"full mask",
     {2, 3, 33, 16},
     {2, 3, 31, 16},
     {2, 3, 31, 16},
     {2, 3, 33, 31}},
    {"shared heads",
     {2, 6, 24, 16},
     {2, 2, 32, 16},
     {2, 2, 32, 16},
     {1, 6, 1, 32}},
    {"causal",
     {1, 2, 70, 16},
     {1, 2, 70, 16},
     {1, 2, 70, 16},
     {},
     "scale = 0.3 causal"},
    {"blocks of keys", {1, 1, 70, 16}, {1, 1, 1030, 16}, {1, 1, 1030, 24}, {}},
    {"blocks and mask",
     {1, 2, 20, 8},
     {1, 2, 600, 8},
     {1, 2, 600, 8},
     {1, 1, 20, 600}},
    {"causal blocks",
     {1, 1, 700, 16},
     {1, 1, 700, 16},
     {1, 1, 700, 16},
     {},
     "scale = 0.3 causal"},
    {"one row", {1, 2, 1, 16}, {1, 2, 48, 16}, {1, 2, 48, 16}, {}},
    {"few rows, causal",
     {1, 2, 3, 16},
     {1, 2, 3, 16},
     {1, 2, 3, 16},
     {},
     "scale = 0.3 causal"},
    {"few of everything", {2, 2, 2, 3}, {2, 2, 5, 3}, {2, 2, 5, 2}, {}},
    {"few elements and a mask",
     {1, 3, 9, 1},
     {1, 3, 17, 1},
     {1, 3, 17, 1},
     {1, 3, 9, 17}},
    // Faster by products: decomposed.
    {"one key", {2, 3, 4, 16}, {2, 3, 1, 16}, {2, 3, 1, 16}, {}},
};

/// Attention that is spelt out, whose scores are $scores of %s, on keys $keys
/// of %k and values $values of %v.
inline constexpr const char *spelled =
    R"((%q: tensor<40x16xf32>, %k: tensor<Nx16xf32>, %v: tensor<Nx16xf32>) -> tensor<40x16xf32> {
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<Nx16xf32>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<Nx16xf32>
  %nothing = stablehlo.constant dense<0xFF800000> : tensor<40xNxf32>
  %little = stablehlo.constant dense<-1.0e30> : tensor<40xNxf32>
  %half = stablehlo.constant dense<0.5> : tensor<40xNxf32>
  %zero = stablehlo.constant dense<0.0> : tensor<40xNxf32>
  %row = stablehlo.iota dim = 0 : tensor<40xNxi32>
  %column = stablehlo.iota dim = 1 : tensor<40xNxi32>
  %three = stablehlo.constant dense<3> : tensor<40xNxi32>
  %late = stablehlo.constant dense<LATE> : tensor<40xNxi32>
  %in_row = stablehlo.compare EQ, %row, %three : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %in_column = stablehlo.compare EQ, %column, %three : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %early = stablehlo.compare LT, %column, %late : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %past = stablehlo.compare LE, %column, %row : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %number = stablehlo.iota dim = 0 : tensor<Nx16xi32>
  %wide = stablehlo.constant dense<3> : tensor<Nx16xi32>
  %third = stablehlo.compare EQ, %number, %wide : (tensor<Nx16xi32>, tensor<Nx16xi32>) -> tensor<Nx16xi1>
  %no_key = stablehlo.select %third, %nan, %k : tensor<Nx16xi1>, tensor<Nx16xf32>
  %big_key = stablehlo.select %third, %inf, %k : tensor<Nx16xi1>, tensor<Nx16xf32>
  %no_value = stablehlo.select %third, %nan, %v : tensor<Nx16xi1>, tensor<Nx16xf32>
  %big_value = stablehlo.select %third, %inf, %v : tensor<Nx16xi1>, tensor<Nx16xf32>
  %s = stablehlo.dot_general %q, $keys, contracting_dims = [1] x [1] : (tensor<40x16xf32>, tensor<Nx16xf32>) -> tensor<40xNxf32>
  %m = stablehlo.select $scores : tensor<40xNxi1>, tensor<40xNxf32>
  $add
  %e = nn.softmax $sum, axes = [1] : tensor<40xNxf32>
  %r = stablehlo.dot_general %e, $values, contracting_dims = [1] x [0] : (tensor<40xNxf32>, tensor<Nx16xf32>) -> tensor<40x16xf32>
  return %r : tensor<40x16xf32>
})";

/// What hides scores, and what is not finite.
struct Hidden {
  const char *name;
  const char *scores; ///< Operands of the choice.
  bool isAdded;       ///< What is chosen is added to the scores.
  const char *keys = "%k", *values = "%v";
};

inline const Hidden hidden[] = {
    {"a row, by infinity", "%in_row, %nothing, %zero", true},
    {"a row, by choice of infinity", "%in_row, %nothing, %s", false},
    {"a row, by choice of a number", "%in_row, %little, %s", false},
    {"a row, by choice of a small number", "%in_row, %half, %s", false},
    {"the first blocks, by infinity", "%early, %nothing, %zero", true},
    {"the first blocks, by choice", "%early, %nothing, %s", false},
    {"the first blocks, by choice of a number", "%early, %little, %s", false},
    {"what comes later, by choice", "%past, %s, %nothing", false},
    {"what comes later, by infinity", "%past, %zero, %nothing", true},
    {"what comes later, by a number", "%past, %s, %little", false},
    {"a key that is not a number, by infinity", "%in_column, %nothing, %zero",
     true, "%no_key"},
    {"a key that is not a number, by choice", "%in_column, %nothing, %s", false,
     "%no_key"},
    {"a key that is not a number, by choice of a number",
     "%in_column, %little, %s", false, "%no_key"},
    {"a row; a key is not a number", "%in_row, %little, %s", false, "%no_key"},
    {"a row; a key is infinite", "%in_row, %little, %s", false, "%big_key"},
    {"a row; a value is not a number", "%in_row, %little, %s", false, "%k",
     "%no_value"},
    {"a row; a value is infinite", "%in_row, %little, %s", false, "%k",
     "%big_value"},
};

/// That with so many keys.
inline std::string bodyOf(const Hidden &test, int64_t keys) {
  std::string text = spelled;
  replaceAll(text, "$scores", test.scores);
  replaceAll(text, "$keys", test.keys);
  replaceAll(text, "$values", test.values);
  replaceAll(text, "$add",
             test.isAdded ? "%t = stablehlo.add %s, %m : tensor<40xNxf32>"
                          : "");
  replaceAll(text, "$sum", test.isAdded ? "%t" : "%m");
  replaceAll(text, "LATE", std::to_string(keys - 10));
  replaceAll(text, "Nx", std::to_string(keys) + "x");
  return text;
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_KERNELS_ATTENTION_ATTENTIONCASES_H
