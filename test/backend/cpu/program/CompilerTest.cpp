// Covers: backend/cpu/program KernelCompilation ProgramConstants

#include "backend/cpu/program/Compiler.h"

#include "backend/cpu/CompareWithInterpreter.h"
#include "graph/ConstantScope.h"
#include "graph/Constants.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ObjectFile.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

constexpr const char *twoKernels =
    R"((%x: tensor<40x40xf32>) -> (tensor<40x40xf32>, tensor<40xf32>) {
%w = stablehlo.constant dense<0.5> : tensor<40x40xf32>
%z = stablehlo.constant dense<0.0> : tensor<f32>
%d = stablehlo.dot %x, %w : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
%e = stablehlo.exponential %d : tensor<40x40xf32>
%s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1]
  : (tensor<40x40xf32>, tensor<f32>) -> tensor<40xf32>
return %e, %s : tensor<40x40xf32>, tensor<40xf32> })";

cpu::Compiled compiled() {
  Result<cpu::Compiled> compiled =
      cpu::compileToObjects(test::parseModel(twoKernels));
  EXPECT_TRUE(compiled) << compiled.error().message();
  return std::move(*compiled);
}

/// How often each global function is defined.
llvm::StringMap<int> definitions(const std::vector<cpu::ObjectFile> &objects) {
  llvm::StringMap<int> counts;
  for (const cpu::ObjectFile &object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef({object.data(), object.size()}, "object"));
    EXPECT_TRUE(bool(file));
    for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
      const uint32_t flags = llvm::cantFail(symbol.getFlags());
      if ((flags & llvm::object::SymbolRef::SF_Global) &&
          !(flags & llvm::object::SymbolRef::SF_Undefined))
        ++counts[llvm::cantFail(symbol.getName())];
    }
  }
  return counts;
}

} // namespace

TEST(Compiler, NamesTheFunctionOfEveryKernel) {
  cpu::Compiled program = compiled();
  EXPECT_TRUE(program.program.code.bytes.empty());
  EXPECT_GE(program.names.size(), 2u);
  EXPECT_EQ(program.names.size(), program.program.kernels.size());
  llvm::StringMap<int> defined = definitions(program.objects);
  for (const std::string &name : program.names)
    EXPECT_EQ(defined.lookup(name), 1) << name;
  for (const Step &step : program.program.steps)
    if (step.kind == StepKind::Kernel)
      EXPECT_LT(step.kernel, program.names.size());
}

TEST(Compiler, LinksWhatItCompiled) {
  Result<Program> linked = cpu::linkProgram(compiled());
  ASSERT_TRUE(linked) << linked.error().message();
  EXPECT_TRUE(verify(*linked));
  Result<Program> whole = cpu::compileForCpu(test::parseModel(twoKernels));
  ASSERT_TRUE(whole);
  EXPECT_EQ(linked->code.bytes, whole->code.bytes);
  EXPECT_EQ(linked->code.entries, whole->code.entries);
  EXPECT_EQ(test::differs(twoKernels), "");
}

TEST(Compiler, SaysWhichFunctionIsMissing) {
  cpu::Compiled program = compiled();
  program.names.back() = "nobody";
  Result<Program> linked = cpu::linkProgram(std::move(program));
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().kind, ErrorKind::System);
  EXPECT_NE(linked.error().message().find("nobody"), std::string::npos);
}

/// A packed weight is freed in a scope, what a kernel reads as it is never, nor
/// what is packed and read.
TEST(Compiler, FreesWhatItPacked) {
  const Model model =
      test::parseModel(R"((%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
%w = stablehlo.constant dense<0.5> : tensor<40x40xf32>
%a = stablehlo.constant dense<0.5> : tensor<40x40xf32>
%both = stablehlo.constant dense<0.5> : tensor<40x40xf32>
%d = stablehlo.dot %x, %w : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
%s = stablehlo.add %d, %a : tensor<40x40xf32>
%e = stablehlo.dot %s, %both : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
%r = stablehlo.add %e, %both : tensor<40x40xf32>
return %r : tensor<40x40xf32> })");
  for (bool isScratch : {false, true}) {
    ConstantScope scope;
    std::vector<mlir::ElementsAttr> values;
    model.module()->walk([&](stablehlo::ConstantOp op) {
      Tensor tensor(ElementType::F32, {40, 40});
      for (float &each : tensor.mutableValues<float>())
        each = float(values.size() + 1) /
               float(&each - tensor.mutableValues<float>().data() + 1);
      op.setValueAttr(toAttribute(tensor, "", model.context()));
      values.push_back(op.getValue());
    });
    ASSERT_EQ(values.size(), 3u);
    cpu::CpuOptions options;
    options.constantScope = isScratch ? &scope : nullptr;
    Result<Program> program = cpu::compileForCpu(model, options);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(toTensor(values[0]).has_value(), !isScratch);
    EXPECT_TRUE(toTensor(values[1]));
    EXPECT_TRUE(toTensor(values[2]));
  }
}
