// Rounding to storage elements: by numbers against the definitions in exact
// arithmetic, and as operations against the numbers.

#include "graph/Quantization.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace sinter;

namespace {

constexpr QuantizedRounding stablehlo = QuantizedRounding::AfterZeroPoint,
                            onnx = QuantizedRounding::BeforeZeroPoint;

struct Floats {
  const char *name;
  FloatType type;
  ElementType element;
};

class Quantization : public testing::Test {
protected:
  std::shared_ptr<MLIRContext> context = makeContext();
  Builder builder{context.get()};
  const Floats floats[3] = {{"f32", builder.getF32Type(), ElementType::F32},
                            {"f16", builder.getF16Type(), ElementType::F16},
                            {"bf16", builder.getBF16Type(), ElementType::BF16}};

  IntegerType integer(unsigned width, bool isUnsigned) {
    return isUnsigned ? builder.getIntegerType(width, false)
                      : builder.getIntegerType(width);
  }
};

/// Ties to even.
long double nearest(long double x) { return std::nearbyintl(x); }

TEST_F(Quantization, BoundsOfStorage) {
  EXPECT_EQ(boundsOf(integer(4, true)), (IntegerBounds{0, 15}));
  EXPECT_EQ(boundsOf(integer(4, false)), (IntegerBounds{-8, 7}));
  EXPECT_EQ(boundsOf(integer(8, false)), (IntegerBounds{-128, 127}));
  EXPECT_EQ(boundsOf(integer(16, true)), (IntegerBounds{0, 65535}));
  EXPECT_EQ(boundsOf(integer(32, false)),
            (IntegerBounds{-2147483648ll, 2147483647}));
  EXPECT_EQ(boundsOf(integer(32, true)), (IntegerBounds{0, 4294967295ll}));
}

TEST_F(Quantization, TypesOfParameters) {
  FloatType f32 = builder.getF32Type();
  for (unsigned width : {4u, 8u, 16u, 32u})
    for (bool isUnsigned : {false, true}) {
      QuantizationParameters parameters{{0.5}, {3}, -1};
      auto type = quantizedElement(integer(width, isUnsigned), f32, parameters);
      ASSERT_TRUE(type);
      EXPECT_EQ(parametersOf(type), parameters);
      EXPECT_EQ(storageOf(type), integer(width, isUnsigned));
      EXPECT_EQ(boundsOf(type), boundsOf(integer(width, isUnsigned)));
    }
  QuantizationParameters perAxis{{0.5, 0.25}, {0, -4}, 1};
  EXPECT_EQ(parametersOf(quantizedElement(integer(8, false), f32, perAxis)),
            perAxis);
  // What is no type: zero points and scales out of range, widths that are
  // none, as many zero points as scales.
  const double infinity = std::numeric_limits<double>::infinity();
  for (const QuantizationParameters &wrong :
       {QuantizationParameters{{0.5}, {128}, -1},
        QuantizationParameters{{0}, {0}, -1},
        QuantizationParameters{{-1}, {0}, -1},
        QuantizationParameters{{infinity}, {0}, -1},
        QuantizationParameters{{1e300}, {0}, -1},
        QuantizationParameters{{std::nan("")}, {0}, -1},
        QuantizationParameters{{0.5, 0.5}, {0}, 0},
        QuantizationParameters{{0.5, 0.5}, {0, 0}, -1},
        QuantizationParameters{{}, {}, 0}})
    EXPECT_FALSE(quantizedElement(integer(8, false), f32, wrong));
  EXPECT_FALSE(quantizedElement(integer(64, false), f32,
                                QuantizationParameters{{0.5}, {0}, -1}));
  EXPECT_FALSE(quantizedElement(integer(7, false), f32,
                                QuantizationParameters{{0.5}, {0}, -1}));
}

/// Where no step but the one to an integer rounds: multiples of a quarter of a
/// scale that is a power of two.
TEST_F(Quantization, NumbersAreTheDefinitions) {
  for (bool isUnsigned : {false, true})
    for (unsigned width : {4u, 8u}) {
      const IntegerBounds bounds = boundsOf(integer(width, isUnsigned));
      for (int64_t zero = bounds.least; zero <= bounds.greatest;
           zero += width == 4 ? 1 : 15)
        for (int quarter = -1100; quarter <= 1100; ++quarter) {
          const long double scale = 0.125L, x = quarter * scale / 4;
          auto clamp = [&](long double number) {
            return std::clamp<long double>(number, bounds.least,
                                           bounds.greatest);
          };
          for (const Floats &each : {floats[0], floats[1]}) {
            ASSERT_EQ(
                quantizedNumber(x, scale, zero, bounds, each.type, stablehlo),
                nearest(clamp(x / scale + zero)))
                << quarter << " " << zero << each.name;
            ASSERT_EQ(quantizedNumber(x, scale, zero, bounds, each.type, onnx),
                      clamp(nearest(x / scale) + zero))
                << quarter << " " << zero << each.name;
          }
        }
    }
}

/// The two differ by one at most: in the middle beside odd zero points, and
/// where the sum with the zero point is rounded.
TEST_F(Quantization, RoundingsAreToldApart) {
  FloatType f32 = builder.getF32Type();
  const IntegerBounds bounds{-128, 127};
  EXPECT_EQ(quantizedNumber(0.25, 0.5, 1, bounds, f32, stablehlo), 2);
  EXPECT_EQ(quantizedNumber(0.25, 0.5, 1, bounds, f32, onnx), 1);
  EXPECT_EQ(quantizedNumber(0.25, 0.5, 2, bounds, f32, stablehlo), 2);
  EXPECT_EQ(quantizedNumber(0.25, 0.5, 2, bounds, f32, onnx), 2);
  const double below = std::nextafterf(1.5f, 0);
  EXPECT_EQ(quantizedNumber(below, 1, 126, bounds, f32, onnx), 127);
  EXPECT_EQ(quantizedNumber(below, 1, 100, bounds, f32, stablehlo), 102);
  EXPECT_EQ(quantizedNumber(below, 1, 100, bounds, f32, onnx), 101);
  // Without a zero point they are one.
  for (int eighth = -2000; eighth <= 2000; ++eighth)
    EXPECT_EQ(quantizedNumber(eighth / 8.0, 1, 0, bounds, f32, stablehlo),
              quantizedNumber(eighth / 8.0, 1, 0, bounds, f32, onnx));
}

TEST_F(Quantization, WhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (QuantizedRounding rounding : {stablehlo, onnx})
    for (const Floats &each : floats) {
      auto of = [&](double x) {
        return quantizedNumber(x, 0.5, 3, {-128, 127}, each.type, rounding);
      };
      EXPECT_EQ(of(infinity), 127);
      EXPECT_EQ(of(-infinity), -128);
      EXPECT_EQ(of(std::nan("")), 0);
    }
}

TEST_F(Quantization, EveryElementStandsForItsNumber) {
  for (const Floats &each : floats)
    for (double scale : {0.5, 0.1, 1e-3, 3.7})
      for (int64_t zero : {-128, -3, 0, 127})
        for (int64_t element = -128; element < 128; ++element) {
          auto rounded = [&](double number) {
            return FloatAttr::get(each.type, number).getValueAsDouble();
          };
          EXPECT_EQ(
              dequantizedNumber(element, scale, zero, each.type),
              rounded(static_cast<double>(element - zero) * rounded(scale)));
        }
}

/// quantise(dequantise(k)) is k wherever the float holds k - z well.
TEST_F(Quantization, ThereAndBack) {
  for (double scale : {0.5, 0.1, 1e-3, 3.7})
    for (int64_t zero : {-128, -3, 0, 127})
      for (int64_t element = -128; element < 128; ++element)
        for (QuantizedRounding rounding : {stablehlo, onnx})
          EXPECT_EQ(quantizedNumber(dequantizedNumber(element, scale, zero,
                                                      builder.getF32Type()),
                                    scale, zero, {-128, 127},
                                    builder.getF32Type(), rounding),
                    element);
}

/// The operations give, by the interpreter, what the numbers say: per tensor
/// and per axis, with sizes that are known and not.
TEST_F(Quantization, OperationsAreTheNumbers) {
  for (const Floats &each : floats)
    for (bool isUnsigned : {false, true})
      for (unsigned width : {4u, 8u, 16u})
        for (bool isPerAxis : {false, true})
          for (bool isDynamic : {false, true})
            for (QuantizedRounding rounding : {stablehlo, onnx}) {
              QuantizationParameters parameters =
                  isPerAxis
                      ? QuantizationParameters{{0.5, 0.1, 0.3}, {1, 0, 5}, 1}
                      : QuantizationParameters{{0.25}, {3}, -1};
              auto type = quantizedElement(integer(width, isUnsigned),
                                           each.type, parameters);
              ASSERT_TRUE(type);
              OwningOpRef<ModuleOp> module =
                  ModuleOp::create(builder.getUnknownLoc());
              const int64_t open = ShapedType::kDynamic;
              auto operand =
                  RankedTensorType::get({isDynamic ? open : 97, 3}, each.type);
              OpBuilder inside(context.get());
              inside.setInsertionPointToEnd(module->getBody());
              auto function = inside.create<func::FuncOp>(
                  builder.getUnknownLoc(), "main",
                  builder.getFunctionType({operand}, {}));
              Block *block = function.addEntryBlock();
              inside.setInsertionPointToEnd(block);
              nn::TensorBuilder emit(inside, builder.getUnknownLoc());
              Value storage =
                  emitQuantized(emit, block->getArgument(0), type, rounding);
              Value back = emitDequantized(emit, storage, type, each.type);
              inside.create<func::ReturnOp>(builder.getUnknownLoc(),
                                            ValueRange{storage, back});
              function.setFunctionType(builder.getFunctionType(
                  {operand}, {storage.getType(), back.getType()}));
              Tensor x(each.element, {97, 3});
              fillRandom(x, 5, {-3, 6, 16});
              auto got = interpret(function, {x});
              ASSERT_TRUE(got) << got.error().message();
              const auto rounded = *roundedParametersOf(type);
              for (int64_t i = 0; i < x.size(); ++i) {
                const size_t at = isPerAxis ? i % 3 : 0;
                const int64_t expected = quantizedNumber(
                    x.toDouble(i), rounded.scales[at], rounded.zeroPoints[at],
                    boundsOf(type), each.type, rounding);
                ASSERT_EQ((*got)[0].toInteger(i), expected)
                    << x.toDouble(i) << each.name << width;
                if (width <= 8)
                  ASSERT_EQ((*got)[1].toDouble(i),
                            dequantizedNumber(expected, rounded.scales[at],
                                              rounded.zeroPoints[at],
                                              each.type));
              }
            }
}

} // namespace
