//===- LoopCountsTest.cpp -------------------------------------------------===//
//
// Covers: backend/cpu/codegen LoopCounts

#include "backend/cpu/codegen/LoopCounts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <gtest/gtest.h>

using namespace sinter::cpu;

namespace {

/// What is told of a loop that counts up to \p end, a value or a number, by one
/// at a time.
std::optional<unsigned> countOf(const std::string &end,
                                const std::string &before = "") {
  const std::string text = "declare i64 @llvm.smin.i64(i64, i64)\n"
                           "define void @f(i64 %n, ptr %p) {\n"
                           "entry:\n" +
                           before + "  %enters = icmp sgt i64 " + end +
                           ", 0\n"
                           "  br i1 %enters, label %loop, label %end\n"
                           "loop:\n"
                           "  %i = phi i64 [0, %entry], [%next, %loop]\n"
                           "  store volatile i64 %i, ptr %p\n"
                           "  %next = add nuw nsw i64 %i, 1\n"
                           "  %more = icmp slt i64 %next, " +
                           end +
                           "\n"
                           "  br i1 %more, label %loop, label %end\n"
                           "end:\n"
                           "  ret void\n"
                           "}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, diagnostic, context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getMessage().str();
    return std::nullopt;
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::Function &function = *module->getFunction("f");
  TellLoopCounts().run(function, functions);
  return llvm::getLoopEstimatedTripCount(
      *functions.getResult<llvm::LoopAnalysis>(function).begin());
}

TEST(LoopCounts, KnownOnes) {
  EXPECT_EQ(countOf("256"), 256u);
  EXPECT_EQ(countOf("3"), 3u);
}

TEST(LoopCounts, FewAtMost) {
  EXPECT_EQ(countOf("%few", "%few = call i64 @llvm.smin.i64(i64 %n, i64 6)\n"),
            6u);
}

TEST(LoopCounts, NothingOfWhatMayBeMany) {
  EXPECT_EQ(countOf("%n"), std::nullopt);
  EXPECT_EQ(
      countOf("%many", "%many = call i64 @llvm.smin.i64(i64 %n, i64 500)\n"),
      std::nullopt);
}

} // namespace
