//===- TestProgram.h - a small program with code made by hand -------------===//

#ifndef SINTER_TEST_RUNTIME_TESTPROGRAM_H
#define SINTER_TEST_RUNTIME_TESTPROGRAM_H

#include "runtime/CpuFeatures.h"
#include "runtime/Program.h"

#include <cstring>

namespace sinter::test {

#if defined(__x86_64__)

extern "C" const std::byte sinterTestAddOne[], sinterTestIsBelowTen[],
    sinterTestApplyExp[], sinterTestExpAddress[], sinterTestReadTable[],
    sinterTestTableAddress[], sinterTestReadMode[], sinterTestDouble[],
    sinterTestCodeEnd[];

enum TestKernel : uint32_t {
  AddOne,     ///< buffers[1][task] = buffers[0][task] + 1, i32
  IsBelowTen, ///< buffers[1] (i1) = buffers[0] (i32) < 10
  ApplyExp,   ///< buffers[1] = expf(buffers[0])
  ReadTable,  ///< buffers[0] (i32) = 42, out of rodata
  ReadMode,   ///< buffers[0][task] = the floating-point control word, i32
  Double      ///< buffers[1] = buffers[0] + buffers[0], f32
};

inline CodeImage testCode() {
  CodeImage image;
  const size_t textSize = sinterTestCodeEnd - sinterTestAddOne;
  const int32_t table = 42;
  image.bytes.resize(imagePageSize + sizeof(table));
  std::memcpy(image.bytes.data(), sinterTestAddOne, textSize);
  std::memcpy(image.bytes.data() + imagePageSize, &table, sizeof(table));
  image.text = {0, textSize};
  image.rodata = {imagePageSize, sizeof(table)};
  for (const std::byte *entry :
       {sinterTestAddOne, sinterTestIsBelowTen, sinterTestApplyExp,
        sinterTestReadTable, sinterTestReadMode, sinterTestDouble})
    image.entries.push_back(entry - sinterTestAddOne);
  image.externals = {"expf"};
  image.relocations = {
      {uint64_t(sinterTestExpAddress - sinterTestAddOne), 0, 0},
      {uint64_t(sinterTestTableAddress - sinterTestAddOne),
       Relocation::internal, imagePageSize}};
  return image;
}

inline ConstantData constantOf(std::vector<int32_t> values) {
  auto tensor = std::make_shared<Tensor>(
      Tensor::of<int32_t>(ElementType::I32, {int64_t(values.size())}, values));
  return {tensor, {tensor->data(), tensor->bytes()}};
}

inline Step kernelStep(TestKernel kernel, std::vector<BufferReference> buffers,
                       int64_t tasks = 1) {
  Step step;
  step.kernel = kernel;
  step.buffers = std::move(buffers);
  step.tasks = tasks;
  step.layer = "layer" + std::to_string(kernel);
  return step;
}

inline Step copyStep(BufferReference from, BufferReference to) {
  Step step;
  step.kind = StepKind::Copy;
  step.buffers = {from, to};
  return step;
}

/// Input x: i32[1000]; outputs y = x + 1, the count that a loop reaches from 3
/// (10), and a number out of rodata (42).
inline Program testProgram() {
  using enum BufferSpace;
  using enum BufferAccess;
  Program program;
  program.triple = std::string(hostArchitecture()) + "-pc-linux-gnu";
  program.features = {hostCpuFeatures().front()};
  program.inputs = {{"x", ElementType::I32, {1000}}};
  program.outputs = {{"y", ElementType::I32, {1000}},
                     {"count", ElementType::I32, {}},
                     {"table", ElementType::I32, {}}};
  program.arenaBytes = 128;
  program.constants = {constantOf({7}), constantOf({1, 2, 3})};
  program.code = testCode();
  program.kernels = {{1000, {{4, 4, false}, {4, 4, true}}},
                     {1, {{4, 4, false}, {1, 1, true}}},
                     {1, {{4, 4, false}, {4, 4, true}}},
                     {1, {{4, 4, true}}},
                     {1000, {{4000, 4, true}}},
                     {1, {{4, 4, false}, {4, 4, true}}}};

  Step addOne = kernelStep(
      AddOne, {{Input, In, 0, 0, 4000}, {Output, Out, 0, 0, 4000}}, 1000);
  addOne.flops = 1e9;
  program.steps.push_back(addOne);

  const BufferReference counter{Arena, InOut, 0, 0, 4};
  const BufferReference next{Arena, InOut, 0, 4, 4};
  const BufferReference condition{Arena, InOut, 0, 64, 1};
  program.steps.push_back(copyStep({Constant, In, 1, 8, 4}, counter));
  Step loop;
  loop.kind = StepKind::While;
  loop.buffers = {condition};
  loop.bodies = {
      {kernelStep(IsBelowTen, {counter, condition})},
      {kernelStep(AddOne, {counter, next}), copyStep(next, counter)}};
  program.steps.push_back(loop);
  program.steps.push_back(copyStep(counter, {Output, Out, 1, 0, 4}));
  program.steps.push_back(kernelStep(ReadTable, {{Output, Out, 2, 0, 4}}));
  return program;
}

#endif // __x86_64__

} // namespace sinter::test

#endif // SINTER_TEST_RUNTIME_TESTPROGRAM_H
