//===- GradientKernels.h - generators of weights' gradients in tests ------===//

#ifndef SINTER_TEST_BACKEND_CPU_KERNELS_CONV_GRADIENTKERNELS_H
#define SINTER_TEST_BACKEND_CPU_KERNELS_CONV_GRADIENTKERNELS_H

#include "backend/cpu/KernelBuffers.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/kernels/conv/Window.h"

#include <gtest/gtest.h>

namespace sinter::cpu {

/// "input 5x6 output ...", for messages.
inline std::string describeWindow(const WindowShape &s) {
  return (testing::Message()
          << "input " << s.inputHeight.value() << "x" << s.inputWidth.value()
          << " output " << s.outputHeight.value() << "x"
          << s.outputWidth.value() << " kernel " << s.kernelHeight << "x"
          << s.kernelWidth << " stride " << s.strideHeight << ","
          << s.strideWidth << " dilation " << s.dilationHeight << ","
          << s.dilationWidth << " pad " << s.padTop << "," << s.padLeft)
      .GetString();
}

/// Fills \p input and \p gradient with random numbers, and \p sums by all tasks
/// of the kernel that \p generator builds.
template <typename Generator>
void runGradient(KernelRunner &runner, const Generator &generator,
                 Floats &input, Floats &gradient, Floats &sums) {
  std::mt19937 random(9);
  input.randomize(random);
  gradient.randomize(random);
  auto type = [&](const Floats &floats) {
    return mlir::MemRefType::get({floats.size()},
                                 mlir::Float32Type::get(&runner.context()));
  };
  KernelBuffer buffers[] = {
      {type(input)}, {type(gradient)}, {type(sums), true}};
  createKernel(runner.module(), mlir::UnknownLoc::get(&runner.context()),
               "gradient", buffers,
               [&](mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value task, mlir::ValueRange memrefs) {
                 generator.build(builder, loc, task, memrefs[0], memrefs[1],
                                 memrefs[2]);
               });
  runner.compile();
  void *arguments[] = {input.data(), gradient.data(), sums.data()};
  runner.kernel("gradient")(arguments, 0, generator.tasks());
  EXPECT_TRUE(sums.guardsAreIntact());
}

} // namespace sinter::cpu

#endif // SINTER_TEST_BACKEND_CPU_KERNELS_CONV_GRADIENTKERNELS_H
