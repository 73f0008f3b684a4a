//===- NestProgramsTest.cpp - loops and branches in which sizes change ----===//
//
// Their regions are programs of their own. As the oracle, with values that
// decide how often a loop goes round and how large it makes things.
//
//===----------------------------------------------------------------------===//
//
// Covers: runtime/host NestedCalls

#include "Sanitizers.h"
#include "backend/cpu/shapes/ValueCase.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// A loop of %n rounds, an i32, over %i and what \p carried names, whose body
/// is
/// \p body and which is followed by \p rest.
std::string loopOf(const std::string &start, const std::string &type,
                   const std::string &body) {
  return R"(
       %c0 = stablehlo.constant dense<0> : tensor<i32>
       %w:2 = "stablehlo.while"(%c0, )" +
         start + R"() ({
       ^bb0(%i: tensor<i32>, %x: )" +
         type + R"():
         %c = stablehlo.compare LT, %i, %n :
             (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.return %c : tensor<i1>
       }, {
       ^bb0(%i: tensor<i32>, %x: )" +
         type + R"():
         %one = stablehlo.constant dense<1> : tensor<i32>
         %j = stablehlo.add %i, %one : tensor<i32>
)" + body +
         R"(         stablehlo.return %j, %y : tensor<i32>, )" + type + R"(
       }) : (tensor<i32>, )" +
         type + ") -> (tensor<i32>, " + type + ")\n";
}

const ValueCase nestedCases[] = {
    {"ids that grow by what was decided from all of them",
     "(%n: tensor<i32>, %s: tensor<1x3xi64>, %t: tensor<7x5xf32>) -> "
     "(tensor<1x?xi64>, tensor<i32>) {\n"
     "       %d = stablehlo.constant dense<[1, 3]> : tensor<2xi32>\n"
     "       %a = stablehlo.dynamic_reshape %s, %d : (tensor<1x3xi64>, "
     "tensor<2xi32>) -> tensor<1x?xi64>\n" +
         loopOf("%a", "tensor<1x?xi64>", R"(
         %e = nn.take %t, %x, axis = 0 :
             (tensor<7x5xf32>, tensor<1x?xi64>) -> tensor<1x?x5xf32>
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %m = stablehlo.reduce(%e init: %z) applies stablehlo.add
             across dimensions = [0, 1, 2] :
             (tensor<1x?x5xf32>, tensor<f32>) -> tensor<f32>
         %k = stablehlo.convert %m : (tensor<f32>) -> tensor<i64>
         %r = stablehlo.constant dense<7> : tensor<i64>
         %q = stablehlo.remainder %k, %r : tensor<i64>
         %p = stablehlo.reshape %q : (tensor<i64>) -> tensor<1x1xi64>
         %y = stablehlo.concatenate %x, %p, dim = 1 :
             (tensor<1x?xi64>, tensor<1x1xi64>) -> tensor<1x?xi64>
)") + "       return %w#1, %w#0 : tensor<1x?xi64>, tensor<i32>\n     }",
     {{ElementType::I32, {}, 0, 6},
      {ElementType::I64, {1, 3}, 0, 6},
      {ElementType::F32, {7, 5}, 0, 9}},
     1,
     2},
    {"rows that double, and are multiplied by a weight that is captured",
     "(%n: tensor<i32>, %s: tensor<2x4xf32>, %v: tensor<4x4xf32>) -> "
     "tensor<?x4xf32> {\n"
     "       %d = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n"
     "       %a = stablehlo.dynamic_reshape %s, %d : (tensor<2x4xf32>, "
     "tensor<2xi32>) -> tensor<?x4xf32>\n" +
         loopOf("%a", "tensor<?x4xf32>", R"(
         %p = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] :
             (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
         %h = stablehlo.tanh %p : tensor<?x4xf32>
         %y = stablehlo.concatenate %x, %h, dim = 0 :
             (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
)") + "       return %w#1 : tensor<?x4xf32>\n     }",
     {{ElementType::I32, {}, 0, 5},
      {ElementType::F32, {2, 4}},
      {ElementType::F32, {4, 4}}},
     1,
     2},
    {"rows that double, quantised",
     "(%n: tensor<i32>, %s: tensor<2x4xf32>, %v: tensor<4x4xf32>) -> "
     "tensor<?x4xf32> {\n"
     "       %d = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n"
     "       %a = stablehlo.dynamic_reshape %s, %d : (tensor<2x4xf32>, "
     "tensor<2xi32>) -> tensor<?x4xf32>\n" +
         loopOf("%a", "tensor<?x4xf32>", R"(
         %q = stablehlo.uniform_quantize %x : (tensor<?x4xf32>)
             -> tensor<?x4x!quant.uniform<i8:f32, 0.25:3>>
         %k = stablehlo.uniform_quantize %v : (tensor<4x4xf32>)
             -> tensor<4x4x!quant.uniform<i8:f32, 0.5>>
         %p = stablehlo.dot_general %q, %k, contracting_dims = [1] x [0] :
             (tensor<?x4x!quant.uniform<i8:f32, 0.25:3>>,
              tensor<4x4x!quant.uniform<i8:f32, 0.5>>)
             -> tensor<?x4x!quant.uniform<i8:f32, 0.5:1>>
         %h = stablehlo.uniform_dequantize %p :
             (tensor<?x4x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<?x4xf32>
         %y = stablehlo.concatenate %x, %h, dim = 0 :
             (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
)") + "       return %w#1 : tensor<?x4xf32>\n     }",
     {{ElementType::I32, {}, 0, 3},
      {ElementType::F32, {2, 4}},
      {ElementType::F32, {4, 4}}},
     1,
     2},
    {"what is left in each round, which computes how much that is",
     "(%n: tensor<i32>, %s: tensor<40xf32>) -> tensor<?xf32> {\n"
     "       %d = stablehlo.constant dense<40> : tensor<1xi32>\n"
     "       %a = stablehlo.dynamic_reshape %s, %d : (tensor<40xf32>, "
     "tensor<1xi32>) -> tensor<?xf32>\n" +
         loopOf("%a", "tensor<?xf32>", R"(
         %f = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
         %g = stablehlo.get_dimension_size %x, dim = 0 :
             (tensor<?xf32>) -> tensor<i32>
         %gv = stablehlo.reshape %g : (tensor<i32>) -> tensor<1xi32>
         %l = stablehlo.dynamic_broadcast_in_dim %f, %gv, dims = [] :
             (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
         %less = stablehlo.subtract %x, %l : tensor<?xf32>
         %o = nn.non_zero %less : (tensor<?xf32>) -> tensor<1x?xi64>
         %os = stablehlo.get_dimension_size %o, dim = 1 :
             (tensor<1x?xi64>) -> tensor<i32>
         %ov = stablehlo.reshape %os : (tensor<i32>) -> tensor<1xi32>
         %at = stablehlo.dynamic_reshape %o, %ov :
             (tensor<1x?xi64>, tensor<1xi32>) -> tensor<?xi64>
         %y = nn.take %x, %at, axis = 0 :
             (tensor<?xf32>, tensor<?xi64>) -> tensor<?xf32>
)") + "       return %w#1 : tensor<?xf32>\n     }",
     {{ElementType::I32, {}, 0, 4}, {ElementType::F32, {40}, -4, 4}},
     1,
     2},
    {"a branch that computes the size of its result",
     R"((%c: tensor<i1>, %x: tensor<30xf32>) -> tensor<1x?xi64> {
       %r = "stablehlo.if"(%c) ({
         %a = nn.non_zero %x : (tensor<30xf32>) -> tensor<1x?xi64>
         stablehlo.return %a : tensor<1x?xi64>
       }, {
         %k = stablehlo.constant dense<[[3, 5]]> : tensor<1x2xi64>
         %d = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
         %b = stablehlo.dynamic_reshape %k, %d :
             (tensor<1x2xi64>, tensor<2xi32>) -> tensor<1x?xi64>
         stablehlo.return %b : tensor<1x?xi64>
       }) : (tensor<i1>) -> tensor<1x?xi64>
       return %r : tensor<1x?xi64>
     })",
     {{ElementType::I1, {}, 0, 1}, {ElementType::F32, {30}}},
     1,
     2},
    {"one of three branches, by its number",
     R"((%k: tensor<i32>, %x: tensor<30xf32>) -> tensor<1x?xi64> {
       %r = "stablehlo.case"(%k) ({
         %a = nn.non_zero %x : (tensor<30xf32>) -> tensor<1x?xi64>
         stablehlo.return %a : tensor<1x?xi64>
       }, {
         %h = stablehlo.negate %x : tensor<30xf32>
         %m = stablehlo.maximum %h, %x : tensor<30xf32>
         %t = stablehlo.tanh %m : tensor<30xf32>
         %o = stablehlo.ceil %t : tensor<30xf32>
         %s = stablehlo.subtract %o, %x : tensor<30xf32>
         %a = nn.non_zero %s : (tensor<30xf32>) -> tensor<1x?xi64>
         stablehlo.return %a : tensor<1x?xi64>
       }, {
         %c = stablehlo.constant dense<[[3, 5]]> : tensor<1x2xi64>
         %d = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
         %b = stablehlo.dynamic_reshape %c, %d :
             (tensor<1x2xi64>, tensor<2xi32>) -> tensor<1x?xi64>
         stablehlo.return %b : tensor<1x?xi64>
       }) : (tensor<i32>) -> tensor<1x?xi64>
       return %r : tensor<1x?xi64>
     })",
     {{ElementType::I32, {}, -2, 4}, {ElementType::F32, {30}, -1, 2}},
     1,
     3},
    {"rows that a loop gathers while it computes sizes",
     "(%n: tensor<i32>, %z: tensor<6x9xf32>) -> tensor<?x9xf32> {\n"
     "       %e = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "       %d = stablehlo.constant dense<[0, 9]> : tensor<2xi32>\n"
     "       %a = stablehlo.dynamic_broadcast_in_dim %e, %d, dims = [] : "
     "(tensor<f32>, tensor<2xi32>) -> tensor<?x9xf32>\n" +
         loopOf("%a", "tensor<?x9xf32>", R"(
         %q = stablehlo.constant dense<0> : tensor<i32>
         %u = stablehlo.dynamic_slice %z, %i, %q, sizes = [1, 9] :
             (tensor<6x9xf32>, tensor<i32>, tensor<i32>) -> tensor<1x9xf32>
         %o = nn.non_zero %u : (tensor<1x9xf32>) -> tensor<2x?xi64>
         %os = stablehlo.get_dimension_size %o, dim = 1 :
             (tensor<2x?xi64>) -> tensor<i32>
         %ov = stablehlo.reshape %os : (tensor<i32>) -> tensor<1xi32>
         %f = stablehlo.dynamic_iota %ov, dim = 0 :
             (tensor<1xi32>) -> tensor<?xf32>
         %m = stablehlo.reduce(%f init: %e) applies stablehlo.add
             across dimensions = [0] :
             (tensor<?xf32>, tensor<f32>) -> tensor<f32>
         %b = stablehlo.broadcast_in_dim %m, dims = [] :
             (tensor<f32>) -> tensor<1x9xf32>
         %row = stablehlo.add %u, %b : tensor<1x9xf32>
         %y = stablehlo.concatenate %x, %row, dim = 0 :
             (tensor<?x9xf32>, tensor<1x9xf32>) -> tensor<?x9xf32>
)") + "       return %w#1 : tensor<?x9xf32>\n     }",
     {{ElementType::I32, {}, 0, 6}, {ElementType::F32, {6, 9}}},
     1,
     2},
    {"a loop that grows in a loop that grows",
     "(%n: tensor<i32>, %s: tensor<2xf32>) -> tensor<?xf32> {\n"
     "       %d = stablehlo.constant dense<2> : tensor<1xi32>\n"
     "       %a = stablehlo.dynamic_reshape %s, %d : (tensor<2xf32>, "
     "tensor<1xi32>) -> tensor<?xf32>\n" +
         loopOf("%a", "tensor<?xf32>", R"(
         %c2 = stablehlo.constant dense<0> : tensor<i32>
         %v:2 = "stablehlo.while"(%c2, %x) ({
         ^bb0(%k: tensor<i32>, %h: tensor<?xf32>):
           %c = stablehlo.compare LT, %k, %j :
               (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %c : tensor<i1>
         }, {
         ^bb0(%k: tensor<i32>, %h: tensor<?xf32>):
           %l = stablehlo.add %k, %one : tensor<i32>
           %zero = stablehlo.constant dense<0.5> : tensor<f32>
           %m = stablehlo.reduce(%h init: %zero) applies stablehlo.maximum
               across dimensions = [0] :
               (tensor<?xf32>, tensor<f32>) -> tensor<f32>
           %half = stablehlo.multiply %m, %zero : tensor<f32>
           %g = stablehlo.reshape %half : (tensor<f32>) -> tensor<1xf32>
           %o = stablehlo.concatenate %h, %g, dim = 0 :
               (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
           stablehlo.return %l, %o : tensor<i32>, tensor<?xf32>
         }) : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>)
         %y = stablehlo.concatenate %v#1, %v#1, dim = 0 :
             (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
)") + "       return %w#1 : tensor<?xf32>\n     }",
     {{ElementType::I32, {}, 0, 4}, {ElementType::F32, {2}}},
     1,
     4},
    {"random numbers that go on from round to round",
     "(%n: tensor<i32>) -> tensor<?xf32> {\n"
     "       %e = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "       %p = stablehlo.constant dense<1.0> : tensor<f32>\n"
     "       %d = stablehlo.constant dense<1> : tensor<1xi32>\n"
     "       %r = stablehlo.constant dense<3> : tensor<1xi64>\n"
     "       %a = stablehlo.dynamic_broadcast_in_dim %e, %d, dims = [] : "
     "(tensor<f32>, tensor<1xi32>) -> tensor<?xf32>\n" +
         loopOf("%a", "tensor<?xf32>", R"(
         %u = stablehlo.rng %e, %p, %r, distribution = UNIFORM :
             (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
         %m = stablehlo.reduce(%x init: %e) applies stablehlo.maximum
             across dimensions = [0] :
             (tensor<?xf32>, tensor<f32>) -> tensor<f32>
         %b = stablehlo.broadcast_in_dim %m, dims = [] :
             (tensor<f32>) -> tensor<3xf32>
         %v = stablehlo.maximum %u, %b : tensor<3xf32>
         %y = stablehlo.concatenate %x, %v, dim = 0 :
             (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
)") + "       return %w#1 : tensor<?xf32>\n     }",
     {{ElementType::I32, {}, 0, 6}},
     1,
     2},
};

class NestedLoops : public ::testing::TestWithParam<ValueCase> {};

} // namespace

TEST_P(NestedLoops, AreRunInEachRound) { checkValueCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Values, NestedLoops, ::testing::ValuesIn(nestedCases));

TEST(NestedProgram, FailsWithTheLoop) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  // The fourth round makes more than any machine has.
  const std::string body =
      "(%n: tensor<i32>, %s: tensor<5xf32>) -> tensor<?xf32> {\n"
      "       %d = stablehlo.constant dense<5> : tensor<1xi32>\n"
      "       %a = stablehlo.dynamic_reshape %s, %d : (tensor<5xf32>, "
      "tensor<1xi32>) -> tensor<?xf32>\n" +
      loopOf("%a", "tensor<?xf32>", R"(
         %g = stablehlo.get_dimension_size %x, dim = 0 :
             (tensor<?xf32>) -> tensor<i32>
         %q = stablehlo.convert %g : (tensor<i32>) -> tensor<i64>
         %s2 = stablehlo.multiply %q, %q : tensor<i64>
         %v = stablehlo.reshape %s2 : (tensor<i64>) -> tensor<1xi64>
         %f = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
         %y = stablehlo.dynamic_broadcast_in_dim %f, %v, dims = [] :
             (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
)") + "       return %w#1 : tensor<?xf32>\n     }";
  auto program = compileRaised(body);
  ASSERT_TRUE(program) << program.error().message();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor);
  const auto run = [&](int32_t rounds) {
    Tensor inputs[] = {Tensor(ElementType::I32, {}),
                       Tensor(ElementType::F32, {5})};
    inputs[0].set<int32_t>(0, rounds);
    return (*executor)->run(inputs);
  };
  auto few = run(2);
  ASSERT_TRUE(few);
  EXPECT_EQ((*few)[0].shape(), Shape({625}));
  auto many = run(4);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::System);
  EXPECT_NE(many.error().message().find("memory"), std::string::npos)
      << many.error().message();
  // And the next run is as if there had been none.
  few = run(1);
  ASSERT_TRUE(few);
  EXPECT_EQ((*few)[0].shape(), Shape({25}));
}

TEST(NestedProgram, ThatIsMissingIsDamage) {
  auto program = compileRaised(nestedCases[4].body);
  ASSERT_TRUE(program) << program.error().message();
  program->nested.pop_back();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor);
  Tensor inputs[] = {Tensor(ElementType::I1, {}),
                     Tensor(ElementType::F32, {30})};
  auto done = (*executor)->run(inputs);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::System);
  EXPECT_NE(done.error().message().find("there is no nested program 1"),
            std::string::npos)
      << done.error().message();
}
