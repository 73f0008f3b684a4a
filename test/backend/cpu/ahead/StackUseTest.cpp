#include "backend/cpu/ahead/StackUse.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace sinter;
using namespace sinter::cpu;

namespace {

Result<uint64_t> useOf(const char *text, const StackFrames &frames) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, problem, context);
  if (!module)
    return systemError(problem.getMessage().str());
  return stackUse(*module, frames);
}

/// Beside each frame: a return address, and a gap.
constexpr uint64_t beside = 72;

} // namespace

TEST(StackUse, DeepestPath) {
  const Result<uint64_t> use =
      useOf(R"(
declare void @external()
define void @leaf() { call void @external() ret void }
define void @other() { ret void }
define void @root() { call void @leaf() call void @other() ret void })",
            {{"leaf", 100}, {"other", 40}, {"root", 8}});
  ASSERT_TRUE(use) << use.error().message();
  EXPECT_EQ(*use, 100 + 8 + 2 * beside);
}

TEST(StackUse, FunctionsWithoutAFrame) {
  const Result<uint64_t> use = useOf("define void @f() { ret void }", {});
  ASSERT_TRUE(use) << use.error().message();
  EXPECT_EQ(*use, beside);
}

TEST(StackUse, CallsOfAddresses) {
  // The callback runs the task, which runs one of two functions.
  const Result<uint64_t> use =
      useOf(R"(
define void @small() { ret void }
define void @large() { ret void }
define void @task(ptr %kernel) { call void %kernel(), !callees !0 ret void }
define void @root(ptr %run) { call void %run(ptr @task) ret void }
!0 = !{ptr @small, ptr @large})",
            {{"small", 8}, {"large", 200}, {"task", 16}, {"root", 24}});
  ASSERT_TRUE(use) << use.error().message();
  EXPECT_EQ(*use, 200 + 16 + 24 + 3 * beside);
}

TEST(StackUse, CirclesAreRefused) {
  EXPECT_FALSE(useOf(R"(
define void @a() { call void @b() ret void }
define void @b() { call void @a() ret void })",
                     {}));
}
