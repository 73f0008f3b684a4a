// Covers: graph/storage Storage

#include "graph/storage/Storage.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace sinter;

namespace {

Model parsed(const std::string &text) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  EXPECT_TRUE(module) << text;
  return Model(context, std::move(module));
}

constexpr const char *counting = R"(
func.func @main(%x: tensor<4xf32> {sinter.name = "x"},
    %n: tensor<i64> {sinter.state = "count", sinter.initial = dense<7> : tensor<i64>},
    %w: tensor<4xf32> {sinter.state = "weight", sinter.initial = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>})
    -> (tensor<4xf32> {sinter.state = "weight"}, tensor<4xf32> {sinter.name = "y"},
        tensor<i64> {sinter.state = "count"}) {
  %one = stablehlo.constant dense<1> : tensor<i64>
  %m = stablehlo.add %n, %one : tensor<i64>
  %a = stablehlo.negate %x : tensor<4xf32>
  %y = stablehlo.add %a, %w : tensor<4xf32>
  return %y, %y, %m : tensor<4xf32>, tensor<4xf32>, tensor<i64>
})";

TEST(Storage, RolesOfEveryTensor) {
  Model model = parsed(counting);
  auto storage = Storage::of(model);
  ASSERT_TRUE(storage) << storage.error().message();
  ASSERT_EQ(storage->states().size(), 2u);
  const StateTensor &count = storage->states()[0],
                    &weight = storage->states()[1];
  EXPECT_EQ(count.spec, (TensorSpec{"count", ElementType::I64, {}}));
  EXPECT_EQ(count.argument, 1u);
  EXPECT_EQ(count.result, 2u);
  EXPECT_EQ(weight.argument, 2u);
  EXPECT_EQ(weight.result, 0u);
  EXPECT_EQ(storage->inputs().vec(), std::vector<unsigned>{0});
  EXPECT_EQ(storage->outputs().vec(), std::vector<unsigned>{1});

  mlir::func::FuncOp entry = model.entry();
  std::vector<Role> roles;
  for (mlir::Value argument : entry.getArguments())
    roles.push_back(storage->roleOf(argument));
  for (mlir::Operation &op : entry.front().without_terminator())
    roles.push_back(storage->roleOf(op.getResult(0)));
  using enum Role;
  // %y is an output that the state is saved from.
  EXPECT_EQ(roles, (std::vector<Role>{Input, State, State, Constant, State,
                                      Temporary, Output}));
  // What callers give and get does not include states.
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].name, "x");
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].name, "y");
}

TEST(Storage, WhenBytesMove) {
  using enum Role;
  using enum Transfer;
  EXPECT_EQ(transferBefore(Constant), OnceAtLoad);
  EXPECT_EQ(transferAfter(Constant), Never);
  EXPECT_EQ(transferBefore(Input), EachRun);
  EXPECT_EQ(transferAfter(Input), Never);
  EXPECT_EQ(transferBefore(Output), Never);
  EXPECT_EQ(transferBefore(Output, /*isPartlyWritten=*/true), EachRun);
  EXPECT_EQ(transferAfter(Output), EachRun);
  EXPECT_EQ(transferBefore(State), OnceAtLoad);
  EXPECT_EQ(transferAfter(State), WhenAsked);
  EXPECT_EQ(transferBefore(Temporary), Never);
  EXPECT_EQ(transferAfter(Temporary), Never);
}

std::string problemWith(const std::string &arguments,
                        const std::string &results,
                        const std::string &more = "") {
  Model model =
      parsed("func.func @main(" + arguments + ") -> (" + results +
             ") { return %a, %b : tensor<2xf32>, tensor<2xf32> }" + more);
  auto storage = Storage::of(model);
  return storage ? "" : storage.error().message();
}

TEST(Storage, EveryRestrictionHasItsMessage) {
  const std::string plain = "tensor<2xf32>";
  const std::string start = "sinter.initial = dense<0.0> : tensor<2xf32>";
  const std::string s = "{sinter.state = \"s\", " + start + "}";
  const std::string tied = "{sinter.state = \"s\"}";
  const std::string a = "%a: tensor<2xf32> ", b = "%b: tensor<2xf32> ";
  EXPECT_EQ(problemWith(a + s + ", " + b, plain + tied + ", " + plain), "");
  EXPECT_EQ(problemWith(a + s + ", " + b, plain + ", " + plain),
            "state 's': no result has it");
  EXPECT_EQ(problemWith(a + ", " + b, plain + tied + ", " + plain),
            "state 's': no argument has it");
  EXPECT_EQ(problemWith(a + s + ", " + b + s, plain + tied + ", " + plain),
            "state 's': two arguments have it");
  EXPECT_EQ(problemWith(a + s + ", " + b, plain + tied + ", " + plain + tied),
            "state 's': two results have it");
  EXPECT_EQ(problemWith(a + tied + ", " + b, plain + tied + ", " + plain),
            "state 's': its argument has no initial value");
  EXPECT_EQ(problemWith(a +
                            "{sinter.state = \"s\", sinter.initial = dense<0> "
                            ": tensor<2xi32>}, " +
                            b,
                        plain + tied + ", " + plain),
            "state 's': the initial value is of another type");
  EXPECT_EQ(problemWith(a + "{sinter.state = 1, " + start + "}, " + b,
                        plain + tied + ", " + plain),
            "argument 0: sinter.state is not a name");
  EXPECT_EQ(problemWith(a + "{sinter.state = \"\", " + start + "}, " + b,
                        plain + tied + ", " + plain),
            "argument 0: sinter.state is not a name");
  EXPECT_EQ(problemWith(a + "{" + start + "}, " + b, plain + ", " + plain),
            "argument 0 has sinter.initial and is no state");
  EXPECT_EQ(problemWith(a + s + ", " + b, plain + s + ", " + plain),
            "result 0 has sinter.initial, which belongs to the argument");
  EXPECT_EQ(problemWith(a + s + ", " + b, plain + tied + ", " + plain,
                        "func.func private @f(tensor<2xf32> " + tied + ")"),
            "a function that is not the one that is run has sinter.state");
}

TEST(Storage, TypesMustAgree) {
  Model model = parsed(R"(
func.func @main(%a: tensor<2xf32> {sinter.state = "s", sinter.initial = dense<0.0> : tensor<2xf32>},
    %b: tensor<3xf32>) -> (tensor<3xf32> {sinter.state = "s"}) {
  return %b : tensor<3xf32>
})");
  auto storage = Storage::of(model);
  ASSERT_FALSE(storage);
  EXPECT_EQ(storage.error().message(),
            "state 's': argument and result differ in type");
  Model open = parsed(R"(
func.func @main(%a: tensor<?xf32> {sinter.state = "s", sinter.initial = dense<0.0> : tensor<2xf32>})
    -> (tensor<?xf32> {sinter.state = "s"}) {
  return %a : tensor<?xf32>
})");
  auto unknown = Storage::of(open);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "state 's': its size is not known");
}

} // namespace
