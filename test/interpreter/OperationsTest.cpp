//===- OperationsTest.cpp - the operations that few programs have ---------===//
//
// Covers: interpreter BatchNorm Checks Conversions Interpreter
// Covers: interpreter InterpreterExecutor Strided Tuples

#include "Evaluate.h"

namespace sinter {
namespace {

using Doubles = std::vector<double>;

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

TEST(BatchNorm, Training) {
  // Feature 0 holds 1, 3 (mean 2, variance 1), feature 1 holds 0, 4.
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %x = stablehlo.constant dense<[[1.0, 0.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %scale = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
      %offset = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
      %r, %mean, %var = "stablehlo.batch_norm_training"(%x, %scale, %offset)
          <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
          : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
          -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
      return %r, %mean, %var : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{-0.5, -2, 1.5, 4}));
  EXPECT_EQ(result.doubles(1), (Doubles{2, 2}));
  EXPECT_EQ(result.doubles(2), (Doubles{1, 4}));
}

/// The specification's example.
TEST(BatchNorm, Grad) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) {
      %x = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]],
                                     [[3.0, 4.0], [1.0, 2.0]]]>
          : tensor<2x2x2xf64>
      %scale = stablehlo.constant dense<1.0> : tensor<2xf64>
      %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
      %var = stablehlo.constant dense<1.0> : tensor<2xf64>
      %g = stablehlo.constant dense<0.1> : tensor<2x2x2xf64>
      %r:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %var, %g)
          <{epsilon = 0.0 : f32, feature_index = 2 : i64}>
          : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>,
             tensor<2x2x2xf64>)
          -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
      return %r#0, %r#1, %r#2
          : tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>
    })");
  ASSERT_EQ(result.error, "");
  for (double x : result.doubles(0))
    EXPECT_NEAR(x, 0, 1e-12);
  for (double x : result.doubles(1))
    EXPECT_NEAR(x, 0, 1e-12);
  for (double x : result.doubles(2))
    EXPECT_NEAR(x, 0.4, 1e-12);
}

//===----------------------------------------------------------------------===//
// Values that are no tensors
//===----------------------------------------------------------------------===//

TEST(Values, TuplesNestAndTokensPass) {
  Evaluated result = evaluateModule(
      R"(
    func.func @main(%t: tuple<tensor<i32>, tuple<tensor<2xf32>>>)
        -> (tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>) {
      %inner = stablehlo.get_tuple_element %t[1]
          : (tuple<tensor<i32>, tuple<tensor<2xf32>>>) -> tuple<tensor<2xf32>>
      %x = stablehlo.get_tuple_element %inner[0]
          : (tuple<tensor<2xf32>>) -> tensor<2xf32>
      %i = stablehlo.get_tuple_element %t[0]
          : (tuple<tensor<i32>, tuple<tensor<2xf32>>>) -> tensor<i32>
      %a = stablehlo.create_token : !stablehlo.token
      %b = stablehlo.after_all %a, %a : !stablehlo.token
      %c, %j = stablehlo.optimization_barrier %b, %i
          : !stablehlo.token, tensor<i32>
      %r = stablehlo.tuple %j, %c : tuple<tensor<i32>, !stablehlo.token>
      return %x, %r : tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>
    })",
      {Tensor::of<int32_t>(ElementType::I32, {}, std::array{7}),
       Tensor::of<float>(ElementType::F32, {2}, std::array{1.f, 2.f})});
  ASSERT_EQ(result.error, "");
  ASSERT_EQ(result.tensors.size(), 3u);
  EXPECT_EQ(result.doubles(0), (Doubles{1, 2}));
  EXPECT_EQ(result.doubles(1), (Doubles{7}));
  EXPECT_EQ(result.tensors[2].size(), 0);
}

TEST(Values, InputsOfATupleAreCounted) {
  EXPECT_NE(evaluateModule(R"(
    func.func @main(%t: tuple<tensor<i32>>) { return })")
                .error,
            "");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The specification's example.
TEST(SelectAndScatter, Example) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[[1, 5], [2, 5], [3, 6], [4, 4]]>
        : tensor<4x2xi64>
    %s = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %z = stablehlo.constant dense<0> : tensor<i64>
    %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{
      window_dimensions = array<i64: 3, 1>,
      window_strides = array<i64: 2, 1>,
      padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>
    }> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %0 = stablehlo.compare GE, %a, %b
            : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %0 : tensor<i1>
    }, {
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %0 = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %0 : tensor<i64>
    }) : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x2xi64>)",
                         "tensor<4x2xi64>")
                .doubles(),
            (Doubles{0, 0, 0, 0, 5, 14, 7, 0}));
}

/// A region that captures, calls, and holds control flow.
TEST(Map, AnyRegion) {
  Evaluated result = evaluateModule(R"(
    func.func @twice(%x: tensor<i32>) -> tensor<i32> {
      %r = stablehlo.add %x, %x : tensor<i32>
      return %r : tensor<i32>
    }
    func.func @main() -> (tensor<3xi32>, tensor<3xi32>) {
      %x = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
        ^bb0(%a: tensor<i32>):
          %0 = func.call @twice(%a) : (tensor<i32>) -> tensor<i32>
          %1 = stablehlo.add %0, %ten : tensor<i32>
          stablehlo.return %1 : tensor<i32>
      }) : (tensor<3xi32>) -> tensor<3xi32>
      %s = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
        ^bb0(%a: tensor<i32>):
          %0 = stablehlo.compare LT, %a, %zero
              : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %1 = "stablehlo.if"(%0) ({
            stablehlo.return %ten : tensor<i32>
          }, {
            stablehlo.return %a : tensor<i32>
          }) : (tensor<i1>) -> tensor<i32>
          stablehlo.return %1 : tensor<i32>
      }) : (tensor<3xi32>) -> tensor<3xi32>
      return %r, %s : tensor<3xi32>, tensor<3xi32>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{12, 6, 16}));
  EXPECT_EQ(result.doubles(1), (Doubles{1, 10, 3}));
}

/// Two results that depend on each other's arguments, and one that is an
/// argument.
TEST(Reduce, ArgMaxOfManyAndOfRows) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<f32>, tensor<i32>) {
      %i = stablehlo.iota dim = 0 : tensor<5000xi32>
      %k = stablehlo.constant dense<37> : tensor<5000xi32>
      %m = stablehlo.constant dense<4999> : tensor<5000xi32>
      %p = stablehlo.multiply %i, %k : tensor<5000xi32>
      %q = stablehlo.remainder %p, %m : tensor<5000xi32>
      %x = stablehlo.convert %q : (tensor<5000xi32>) -> tensor<5000xf32>
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.reduce(%x init: %low), (%i init: %zero)
          across dimensions = [0]
          : (tensor<5000xf32>, tensor<5000xi32>, tensor<f32>, tensor<i32>)
          -> (tensor<f32>, tensor<i32>)
       reducer(%a: tensor<f32>, %c: tensor<f32>)
              (%b: tensor<i32>, %d: tensor<i32>) {
        %0 = stablehlo.compare GE, %a, %c
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %1 = stablehlo.select %0, %a, %c : tensor<i1>, tensor<f32>
        %2 = stablehlo.select %0, %b, %d : tensor<i1>, tensor<i32>
        stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
      }
      return %r#0, %r#1 : tensor<f32>, tensor<i32>
    })");
  ASSERT_EQ(result.error, "");
  // 37 i = 4998 modulo 4999 at i = 4998 / 37 modulo 4999.
  int64_t expected = 0;
  while (37 * expected % 4999 != 4998)
    ++expected;
  EXPECT_EQ(result.doubles(0), (Doubles{4998}));
  EXPECT_EQ(result.doubles(1), (Doubles{double(expected)}));
}

/// A body in a wider type than the operands'.
TEST(Reduce, Promotes) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<100> : tensor<5xi8>
    %z = stablehlo.constant dense<0> : tensor<i8>
    %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %0 = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %0 : tensor<i32>
    }) : (tensor<5xi8>, tensor<i8>) -> tensor<i32>)",
                         "tensor<i32>")
                .doubles(),
            (Doubles{500}));
}

TEST(Sort, ComparatorOfSeveralOperations) {
  // By the remainder by 3, descending; equal ones stay in order.
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7]> : tensor<7xi32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %0 = stablehlo.remainder %a, %three : tensor<i32>
        %1 = stablehlo.remainder %b, %three : tensor<i32>
        %2 = stablehlo.compare GT, %0, %1
            : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
    }) : (tensor<7xi32>) -> tensor<7xi32>)",
                         "tensor<7xi32>")
                .doubles(),
            (Doubles{2, 5, 1, 4, 7, 3, 6}));
}

/// A comparator over two keys is no comparison of one thing with another.
TEST(Sort, ComparatorOfTwoKeys) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<4xi32>, tensor<4xf32>) {
      %x = stablehlo.constant dense<[1, 0, 1, 0]> : tensor<4xi32>
      %y = stablehlo.constant dense<[2.0, 5.0, 1.0, 4.0]> : tensor<4xf32>
      %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>,
             %d: tensor<f32>):
          %0 = stablehlo.compare LT, %a, %b
              : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %1 = stablehlo.compare EQ, %a, %b
              : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %2 = stablehlo.compare LT, %c, %d
              : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %3 = stablehlo.select %1, %2, %0 : tensor<i1>, tensor<i1>
          stablehlo.return %3 : tensor<i1>
      }) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
      return %r#0, %r#1 : tensor<4xi32>, tensor<4xf32>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{0, 0, 1, 1}));
  EXPECT_EQ(result.doubles(1), (Doubles{4, 5, 1, 2}));
}

/// In the order of all floats -NaN comes first and -0 before 0.
TEST(Sort, TotalOrderOfRows) {
  Evaluated result = evaluateBody(R"(
    %x = stablehlo.constant dense<[[0.0, 0xFFC00000, -0.0, 1.0],
                                   [0x7FC00000, 3.0, 0xFF800000, 2.0]]>
        : tensor<2x4xf32>
    %r = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %0 = stablehlo.compare GT, %b, %a, TOTALORDER
            : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %0 : tensor<i1>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>)",
                                  "tensor<2x4xf32>");
  ASSERT_EQ(result.error, "");
  const uint32_t expected[] = {0xFFC00000, 0x80000000, 0,          0x3F800000,
                               0xFF800000, 0x40000000, 0x40400000, 0x7FC00000};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(result.tensors[0].at<uint32_t>(i), expected[i]);
}

/// What is written over is nobody else's: neither an input nor a value that is
/// used again.
TEST(DynamicUpdateSlice, LeavesOthersAlone) {
  const Tensor input =
      Tensor::of<int32_t>(ElementType::I32, {3}, std::array{1, 2, 3});
  Evaluated result = evaluateModule(R"(
    func.func @main(%x: tensor<3xi32>)
        -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<3> : tensor<i32>
      %u = stablehlo.constant dense<9> : tensor<1xi32>
      %y = stablehlo.add %x, %x : tensor<3xi32>
      %i, %r, %last = stablehlo.while(%a = %z, %b = %y, %c = %y)
          : tensor<i32>, tensor<3xi32>, tensor<3xi32>
       cond {
        %p = stablehlo.compare LT, %a, %n
            : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %next = stablehlo.add %a, %one : tensor<i32>
        %d = stablehlo.dynamic_update_slice %b, %u, %a
            : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
        stablehlo.return %next, %d, %b
            : tensor<i32>, tensor<3xi32>, tensor<3xi32>
      }
      %s = stablehlo.dynamic_update_slice %x, %u, %z
          : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
      return %r, %last, %s : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
    })",
                                    {input});
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{9, 9, 9}));
  EXPECT_EQ(result.doubles(1), (Doubles{9, 9, 6}));
  EXPECT_EQ(result.doubles(2), (Doubles{9, 2, 3}));
  EXPECT_EQ(input.at<int32_t>(0), 1);
}

TEST(Scatter, LeavesOutWhatLiesOutside) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<0> : tensor<2x4xi32>
    %i = stablehlo.constant dense<[[0, -1], [1, 3], [0, 3], [0, 9]]>
        : tensor<4x2xi32>
    %u = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]>
        : tensor<4x2xi32>
    %r = "stablehlo.scatter"(%x, %i, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1],
        index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %0 = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %0 : tensor<i32>
    }) : (tensor<2x4xi32>, tensor<4x2xi32>, tensor<4x2xi32>)
        -> tensor<2x4xi32>)",
                         "tensor<2x4xi32>")
                .doubles(),
            (Doubles{2, 0, 0, 5, 0, 0, 0, 3}));
}

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

TEST(Einsum, BatchesSumsAndDiagonals) {
  const std::string operands = R"(
    %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>)";
  auto einsum = [&](const std::string &config, const std::string &type) {
    return evaluateBody(
               operands + "\n%r = stablehlo.einsum %a, %b, config = \"" +
                   config + "\" : (tensor<2x2xf32>, tensor<2x2xf32>) -> " +
                   type,
               type)
        .doubles();
  };
  EXPECT_EQ(einsum("ab,bc->ac", "tensor<2x2xf32>"), (Doubles{19, 22, 43, 50}));
  EXPECT_EQ(einsum("ab,ab->ba", "tensor<2x2xf32>"), (Doubles{5, 21, 12, 32}));
  EXPECT_EQ(einsum("aa,bc->b", "tensor<2xf32>"), (Doubles{55, 75}));
  EXPECT_EQ(evaluateBody(operands + R"(
    %r = stablehlo.unary_einsum %a, config = "ab->b"
        : (tensor<2x2xf32>) -> tensor<2xf32>)",
                         "tensor<2xf32>")
                .doubles(),
            (Doubles{4, 6}));
}

TEST(Dot, MatrixAndVector) {
  EXPECT_EQ(evaluateBody(R"(
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
    %b = stablehlo.constant dense<[5, 6]> : tensor<2xi8>
    %r = stablehlo.dot %a, %b : (tensor<2x2xi8>, tensor<2xi8>) -> tensor<2xi8>)",
                         "tensor<2xi8>")
                .doubles(),
            (Doubles{17, 39}));
}

TEST(TorchIndexSelect, Batched) {
  EXPECT_EQ(evaluateBody(R"(
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
    %r = "stablehlo.torch_index_select"(%a, %i)
        <{dim = 1 : i64, batch_dims = 1 : i64}>
        : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>)",
                         "tensor<2x2xi32>")
                .doubles(),
            (Doubles{3, 1, 5, 5}));
}

//===----------------------------------------------------------------------===//
// Shapes known only at run time
//===----------------------------------------------------------------------===//

TEST(Dynamism, SizesWithinBounds) {
  Evaluated result = evaluateModule(
      R"(
    func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
      %x = stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
      %y = stablehlo.set_dimension_size %x, %n, dim = 0
          : (tensor<4xf32>, tensor<i32>)
          -> tensor<?xf32, #stablehlo.bounds<4>>
      %size = stablehlo.get_dimension_size %y, dim = 0
          : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add
          across dimensions = [0]
          : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<f32>) -> tensor<f32>
      return %size, %sum : tensor<i32>, tensor<f32>
    })",
      {Tensor::of<int32_t>(ElementType::I32, {}, std::array{3})});
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{3}));
  EXPECT_EQ(result.doubles(1), (Doubles{7}));
}

TEST(Dynamism, BeyondTheBoundIsRefused) {
  EXPECT_NE(evaluateBody(R"(
    %x = stablehlo.constant dense<1.0> : tensor<4xf32>
    %n = stablehlo.constant dense<5> : tensor<i32>
    %r = stablehlo.set_dimension_size %x, %n, dim = 0
        : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>)",
                         "tensor<?xf32, #stablehlo.bounds<4>>")
                .error,
            "");
}

TEST(Dynamism, PadGatherAndConvolution) {
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %z = stablehlo.constant dense<9> : tensor<i32>
    %l = stablehlo.constant dense<1> : tensor<1xi64>
    %h = stablehlo.constant dense<-1> : tensor<1xi64>
    %i = stablehlo.constant dense<2> : tensor<1xi64>
    %r = stablehlo.dynamic_pad %x, %z, %l, %h, %i
        : (tensor<2xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>,
           tensor<1xi64>) -> tensor<4xi32>)",
                         "tensor<4xi32>")
                .doubles(),
            (Doubles{9, 1, 9, 9}));
}

//===----------------------------------------------------------------------===//
// Custom calls
//===----------------------------------------------------------------------===//

TEST(CustomCall, ShapeAssertionSaysWhatIsWrong) {
  Evaluated result = evaluateModule(R"(
    func.func @main() {
      %no = stablehlo.constant dense<false> : tensor<i1>
      %n = stablehlo.constant dense<5> : tensor<i32>
      stablehlo.custom_call @shape_assertion(%no, %n)
          {error_message = "size is {0}", has_side_effect = true}
          : (tensor<i1>, tensor<i32>) -> ()
      return
    })");
  EXPECT_NE(result.error.find("size is 5"), std::string::npos) << result.error;
}

TEST(CustomCall, TopKAndMarkers) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2xf32>, tensor<2xi32>) {
      %x = stablehlo.constant dense<[1.0, 5.0, 3.0, 5.0]> : tensor<4xf32>
      %y = stablehlo.custom_call @Sharding(%x)
          : (tensor<4xf32>) -> tensor<4xf32>
      %v, %i = stablehlo.custom_call @mhlo.topk(%y)
          {mhlo.attributes = {k = 2 : i64, largest = true}}
          : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
      return %v, %i : tensor<2xf32>, tensor<2xi32>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.doubles(0), (Doubles{5, 5}));
  EXPECT_EQ(result.doubles(1), (Doubles{1, 3}));
}

TEST(CustomCall, UnknownTargetsAreNamed) {
  Evaluated result = evaluateModule(R"(
    func.func @main() {
      stablehlo.custom_call @nobody() : () -> ()
      return
    })");
  EXPECT_NE(result.error.find("nobody"), std::string::npos);
}

/// Functions that call themselves without end are refused, not followed.
TEST(Call, RecursionIsBounded) {
  EXPECT_NE(evaluateModule(R"(
    func.func @main() {
      func.call @main() : () -> ()
      return
    })")
                .error,
            "");
}

} // namespace
} // namespace sinter
