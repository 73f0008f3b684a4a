//===- AlignZeroPointsTest.cpp - zero points where others have some -------===//
//
// Layers that round before or after a zero point is added, or have none, are
// one kernel, and each gives the oracle's numbers to the bit: ties, bounds,
// infinities, NaN and random numbers, in vectors and what is left beside them,
// on machines of each width of vectors.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/quantized/AlignZeroPoints.h"

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/target/Target.h"
#include "runtime/Program.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr Tolerance sameBits = {0, 0};

/// A layer: how it rounds, and its zero point.
struct ZeroPointLayer {
  enum Way { RoundsBefore, RoundsAfter } way;
  int zero;
};

/// Layers that quantise x, of \p size numbers, and dequantise the bytes.
struct ZeroPointLayers {
  std::string real, bytes, text, results, types;
  std::string element;

  ZeroPointLayers(int size, const std::string &element)
      : real("tensor<" + std::to_string(size) + "xf32>"),
        bytes("tensor<" + std::to_string(size) + "x" + element + ">"),
        element(element) {}

  std::string unary(const std::string &name, const std::string &operation,
                    const std::string &operand) {
    text += name + " = stablehlo." + operation + " " + operand + " : " + real +
            "\n";
    return name;
  }
  std::string withNumber(const std::string &name, const std::string &operation,
                         const std::string &operand, double number) {
    text += name + "n = stablehlo.constant dense<" + std::to_string(number) +
            "> : " + real + "\n";
    return unary(name, operation, operand + ", " + name + "n");
  }

  void add(const ZeroPointLayer &layer, const std::string &operand) {
    const std::string id = std::to_string(std::ranges::count(text, '#'));
    text += "// #\n";
    // Scales differ, so that each layer has numbers of its own.
    std::string x =
        withNumber("%s" + id, "multiply", operand, 1.0 + 0.25 * std::stoi(id));
    auto shift = [&] {
      if (layer.zero != 0)
        x = withNumber("%a" + id, "add", x, layer.zero);
    };
    const bool isSigned = element == "i8";
    if (layer.way == ZeroPointLayer::RoundsBefore) {
      x = unary("%r" + id, "round_nearest_even", x);
      shift();
    } else {
      shift();
    }
    text += "%l" + id + " = stablehlo.constant dense<" +
            (isSigned ? "-128.0" : "0.0") + "> : tensor<f32>\n%g" + id +
            " = stablehlo.constant dense<" + (isSigned ? "127.0" : "255.0") +
            "> : tensor<f32>\n%c" + id + " = stablehlo.clamp %l" + id + ", " +
            x + ", %g" + id + " : (tensor<f32>, " + real +
            ", tensor<f32>) -> " + real + "\n";
    x = "%c" + id;
    if (layer.way == ZeroPointLayer::RoundsAfter)
      x = unary("%r" + id, "round_nearest_even", x);
    text += "%b" + id + " = stablehlo.convert " + x + " : (" + real + ") -> " +
            bytes + "\n%f" + id + " = stablehlo.convert %b" + id + " : (" +
            bytes + ") -> " + real + "\n";
    x = "%f" + id;
    if (layer.zero != 0)
      x = withNumber("%d" + id, "subtract", x, layer.zero);
    x = withNumber("%m" + id, "multiply", x, 0.5 + std::stoi(id));
    results += (results.empty() ? "" : ", ") + x;
    types += (types.empty() ? "" : ", ") + real;
  }

  std::string body(const std::string &start, const std::string &operand) {
    return "(%x: " + real + ") -> (" + types + ") {\n" + start + text +
           "return " + results + " : " + types + "\n}";
  }
};

/// All ways, with zero points that are even, odd, and 0.
std::vector<ZeroPointLayer> allZeroPointLayers() {
  return {
      {ZeroPointLayer::RoundsAfter, 0},   {ZeroPointLayer::RoundsBefore, 0},
      {ZeroPointLayer::RoundsAfter, 3},   {ZeroPointLayer::RoundsBefore, 4},
      {ZeroPointLayer::RoundsAfter, 127}, {ZeroPointLayer::RoundsBefore, 11}};
}

void checkAligned(const std::vector<ZeroPointLayer> &layers, int size,
                  const std::string &element, const std::string &start,
                  const std::string &operand,
                  const std::optional<cpu::Target> &on) {
  ZeroPointLayers text(size, element);
  for (const ZeroPointLayer &layer : layers)
    text.add(layer, operand);
  std::shared_ptr<Program> program;
  EXPECT_EQ(differs(text.body(start, operand), sameBits, &program, on), "")
      << size << " x " << element;
  ASSERT_TRUE(program);
  // Theirs, and that of what all of them read.
  EXPECT_EQ(program->kernels.size(), 2u) << size << " x " << element;
}

/// Where other bytes than these are wanted, kernels are still correct.
std::vector<cpu::Target> machinesOfAllWidths() {
  std::vector<cpu::Target> all = lesserTargets();
  all.push_back(*cpu::Target::host());
  return all;
}

} // namespace

TEST(AlignZeroPoints, LayersOfAllWaysAreOneKernel) {
  Sweep sweep(3);
  const std::vector<ZeroPointLayer> all = allZeroPointLayers();
  for (const cpu::Target &target : machinesOfAllWidths())
    for (const char *element : {"ui8", "i8"})
      for (int size : {7, 24, 129})
        // All of them, and each pair.
        for (size_t first = 0; first < all.size(); ++first)
          for (size_t second = first; second < all.size(); ++second) {
            if (!sweep.takesNext())
              continue;
            std::vector<ZeroPointLayer> layers = {all[first], all[second]};
            if (first == second)
              layers = all;
            checkAligned(layers, size, element,
                         "%k = stablehlo.constant dense<90.0> : tensor<" +
                             std::to_string(size) +
                             "xf32>\n%y = stablehlo.multiply %x, %k : tensor<" +
                             std::to_string(size) + "xf32>\n",
                         "%y", target);
          }
}

/// Ties, bounds, infinities and NaN.
TEST(AlignZeroPoints, UnusualNumbers) {
  const std::string real = "tensor<24xf32>";
  const std::string start =
      "%o = stablehlo.constant dense<0.0> : " + real +
      "\n%v = stablehlo.constant dense<[0.5, 1.5, 2.5, -0.5, -1.5, 254.5, "
      "255.5, 126.5, 127.5, -128.5, -129.5, 300.0, -300.0, 3.0e9, -3.0e9, "
      "0x7F800000, 0xFF800000, 0x7FC00000, 0.49999997, 4.2, -4.7, 1.0e-40, "
      "-0.0, 251.5]> : " +
      real + "\n%i = stablehlo.multiply %x, %o : " + real +
      "\n%y = stablehlo.add %i, %v : " + real + "\n";
  for (const cpu::Target &target : machinesOfAllWidths())
    for (const char *element : {"ui8", "i8"})
      checkAligned(allZeroPointLayers(), 24, element, start, "%y", target);
}
