//===- GuardedCompilerTest.cpp - fatal errors of LLVM are errors ----------===//

#include "engine/compiler/GuardedCompiler.h"
#include "Sanitizers.h"
#include "TemporaryFolder.h"
#include "engine/compiler/CpuAdjustment.h"

#include "llvm/Support/ErrorHandling.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

GuardedCompiler &compiler() {
  static GuardedCompiler compiler;
  return compiler;
}

/// A model of some kernels, compiled by several threads.
class GuardedCompilerTest : public testing::Test {
protected:
  GuardedCompilerTest() {
    std::string text = "func.func @main(%x: tensor<4x4xf32>) -> "
                       "tensor<4x4xf32> {\n";
    std::string last = "%x";
    for (int i = 0; i < 4; ++i) {
      const std::string dots = "%d" + std::to_string(i);
      text += dots + " = stablehlo.dot_general " + last + ", " + last +
              ", contracting_dims = [1] x [0] : (tensor<4x4xf32>, "
              "tensor<4x4xf32>) -> tensor<4x4xf32>\n";
      last = dots;
    }
    folder.write("m.mlir", text + "return " + last + " : tensor<4x4xf32>\n}\n");
  }
  ~GuardedCompilerTest() override { cpuAdjustment() = nullptr; }

  Result<std::shared_ptr<const Program>> compile() {
    ModelRequest request;
    request.path = folder.file("m.mlir");
    auto model = compiler().open(request);
    if (!model)
      return model.takeError();
    CompileRequest how;
    how.shapes = {{4, 4}};
    how.values.resize(1);
    how.threads = 3;
    return (*model)->compile(how);
  }

  void expectError(const Result<std::shared_ptr<const Program>> &program) {
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
    EXPECT_NE(program.error().message().find("LLVM cannot compile it: no way"),
              std::string::npos)
        << program.error().message();
  }

  test::TemporaryFolder folder;
};

TEST_F(GuardedCompilerTest, FatalErrorOfTheCallingThread) {
  cpuAdjustment() = [](cpu::CpuOptions &) {
    llvm::report_fatal_error("no way");
  };
  expectError(compile());
}

TEST_F(GuardedCompilerTest, FatalErrorOfAThreadThatCompilesKernels) {
  cpuAdjustment() = [](cpu::CpuOptions &options) {
    options.onCode = [](mlir::ModuleOp) { llvm::report_fatal_error("no way"); };
  };
  expectError(compile());
}

TEST_F(GuardedCompilerTest, TheNextModelCompiles) {
  cpuAdjustment() = [](cpu::CpuOptions &) {
    llvm::report_fatal_error("no way");
  };
  expectError(compile());
  cpuAdjustment() = nullptr;
  const auto program = compile();
  ASSERT_TRUE(program) << program.error().message();
}

/// Of a pass and of the threads that compile kernels: LLVM's frames are between
/// them and who could catch an exception.
TEST_F(GuardedCompilerTest, TensorsWithoutMemory) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  const CpuAdjustment ofPasses =
                          [](cpu::CpuOptions &) {
                            Tensor(ElementType::F32, {int64_t(1) << 50});
                          },
                      ofKernels = [](cpu::CpuOptions &options) {
                        options.onCode = [](mlir::ModuleOp) {
                          Tensor(ElementType::F32, {int64_t(1) << 50});
                        };
                      };
  for (CpuAdjustment adjustment : {ofPasses, ofKernels}) {
    cpuAdjustment() = adjustment;
    const auto program = compile();
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind, ErrorKind::System);
    EXPECT_NE(program.error().message().find("4503599627370496 bytes"),
              std::string::npos)
        << program.error().message();
  }
  cpuAdjustment() = nullptr;
  const auto program = compile();
  ASSERT_TRUE(program) << program.error().message();
}

TEST_F(GuardedCompilerTest, NewWithoutMemory) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  cpuAdjustment() = [](cpu::CpuOptions &options) {
    options.onCode = [](mlir::ModuleOp) {
      // A function whose calls nobody may leave out, unlike those of `new`.
      ::operator delete(::operator new(size_t(1) << 60));
    };
  };
  const auto program = compile();
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::System);
}

TEST_F(GuardedCompilerTest, MemoryIsOfTheSystem) {
  SKIP_IF_ALLOCATIONS_ARE_CHECKED();
  cpuAdjustment() = [](cpu::CpuOptions &) {
    llvm::report_bad_alloc_error("arena");
  };
  const auto program = compile();
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::System);
}

} // namespace
