#include "backend/cpu/ahead/BundleLayout.h"

#include "backend/cpu/ahead/SharedWeights.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Constants of the sizes \p bytes, each full of its index.
std::vector<ConstantData> constantsOf(std::initializer_list<size_t> bytes) {
  std::vector<ConstantData> constants;
  for (const size_t size : bytes) {
    auto owner = std::make_shared<std::vector<std::byte>>(
        size, static_cast<std::byte>(constants.size()));
    constants.push_back({owner, *owner});
  }
  return constants;
}

BufferReference buffer(BufferSpace space, BufferAccess access, uint32_t index,
                       uint64_t offset, uint64_t bytes) {
  return {space, access, index, offset, bytes};
}

Step copyStep(BufferReference from, BufferReference to) {
  Step step;
  step.kind = StepKind::Copy;
  step.layer = "layer";
  step.buffers = {from, to};
  return step;
}

Step hostCall(const char *function) {
  Step step;
  step.kind = StepKind::HostCall;
  step.hostFunction = function;
  return step;
}

/// The layout of \p program with its weights.
Result<BundleLayout> withWeights(const Program &program, BundleWeights where) {
  Result<BundleLayout> layout = BundleLayout::of(program);
  if (layout)
    layOutWeights({{&program, &*layout}}, where);
  return layout;
}

/// One kernel that reads an input and two of four constants, in a loop that
/// uses scratch and the arena; and two states.
Program someProgram() {
  using enum BufferSpace;
  using enum BufferAccess;
  Program program;
  program.inputs = {{"x", ElementType::F32, {3}}};
  program.outputs = {{"y", ElementType::F16, {5}}};
  program.constants = constantsOf({100, 7, 64, 20});
  program.states = {{{"a", ElementType::I32, {5}}, 3},
                    {{"b", ElementType::I32, {5}}, 3}};
  program.kernels = {
      {1, {{12, 32, false}, {100, 64, false}, {10, 2, true}, {200, 64, true}}}};
  Step kernel;
  kernel.buffers = {
      buffer(Input, In, 0, 0, 12), buffer(Constant, In, 0, 0, 100),
      buffer(Output, Out, 0, 0, 10), buffer(Scratch, InOut, 0, 0, 200)};
  Step loop;
  loop.kind = StepKind::While;
  loop.buffers = {buffer(Arena, In, 0, 320, 1)};
  loop.bodies = {
      {copyStep(buffer(Constant, In, 2, 0, 64), buffer(Arena, Out, 0, 0, 64))},
      {kernel}};
  program.steps = {loop};
  program.arenaBytes = 1024;
  return program;
}

} // namespace

TEST(BundleLayout, Workspace) {
  Result<BundleLayout> layout = BundleLayout::of(someProgram());
  ASSERT_TRUE(layout) << layout.error().message();
  // What steps use of the arena, not what was planned.
  EXPECT_EQ(layout->scratchOffset, 384u);
  EXPECT_EQ(layout->workspaceBytes, 384u + 256u);
}

TEST(BundleLayout, TensorsAreAlignedAsKernelsNeed) {
  Result<BundleLayout> layout = BundleLayout::of(someProgram());
  ASSERT_TRUE(layout) << layout.error().message();
  EXPECT_EQ(layout->inputs[0].bytes, 12u);
  EXPECT_EQ(layout->inputs[0].alignment, 32u);
  EXPECT_EQ(layout->outputs[0].bytes, 10u);
  EXPECT_EQ(layout->outputs[0].alignment, 2u);
}

TEST(BundleLayout, States) {
  Result<BundleLayout> layout = BundleLayout::of(someProgram());
  ASSERT_TRUE(layout) << layout.error().message();
  EXPECT_EQ(layout->states[0].offset, 0u);
  EXPECT_EQ(layout->states[1].offset, 64u);
  EXPECT_EQ(layout->stateBytes, 128u);
  EXPECT_EQ(layout->states[1].alignment, bundleAlignment);
}

TEST(BundleLayout, WeightsAreTheConstantsInUse) {
  const Program program = someProgram();
  for (const BundleWeights where :
       {BundleWeights::InCode, BundleWeights::InFile}) {
    Result<BundleLayout> layout = withWeights(program, where);
    ASSERT_TRUE(layout) << layout.error().message();
    const uint64_t begin = where == BundleWeights::InFile ? 64 : 0;
    EXPECT_EQ(layout->constants[0], begin);
    EXPECT_EQ(layout->constants[1], std::nullopt);
    EXPECT_EQ(layout->constants[2], begin + 128);
    EXPECT_EQ(layout->constants[3], begin + 192);
    ASSERT_EQ(layout->weights.size(), begin + 256);
    EXPECT_EQ(layout->weights[begin + 128], 2);
    EXPECT_EQ(layout->weights[begin + 192 + 19], 3);
    EXPECT_EQ(layout->weights[begin + 192 + 20], 0);
  }
}

TEST(BundleLayout, EqualConstantsHaveOneCopy) {
  Program first = someProgram(), second = someProgram();
  second.constants[0] = second.constants[2];
  Result<BundleLayout> one = BundleLayout::of(first),
                       other = BundleLayout::of(second);
  ASSERT_TRUE(one && other);
  layOutWeights({{&first, &*one}, {&second, &*other}}, BundleWeights::InCode);
  EXPECT_EQ(one->weights.size(), 256u);
  EXPECT_TRUE(other->weights.empty());
  EXPECT_EQ(other->constants[0], 128u);
  EXPECT_EQ(other->constants[1], std::nullopt);
  EXPECT_EQ(other->constants[2], 128u);
  EXPECT_EQ(other->constants[3], 192u);
}

TEST(BundleLayout, HeaderOfAFile) {
  Program program = someProgram();
  Result<BundleLayout> first = withWeights(program, BundleWeights::InFile);
  program.constants = constantsOf({99, 7, 64, 20});
  Result<BundleLayout> second = withWeights(program, BundleWeights::InFile);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(std::memcmp(first->weights.data(), "SINTERW1", 8), 0);
  uint64_t size;
  std::memcpy(&size, first->weights.data() + 24, 8);
  EXPECT_EQ(size, first->weights.size());
  program.constants = constantsOf({101, 7, 64, 20});
  Result<BundleLayout> third = withWeights(program, BundleWeights::InFile);
  ASSERT_TRUE(third);
  // The first constant is all zeros; so is what follows it.
  EXPECT_EQ(std::memcmp(first->weights.data(), third->weights.data(), 64), 0);
  program.constants[2] = program.constants[3];
  third = withWeights(program, BundleWeights::InFile);
  ASSERT_TRUE(third);
  EXPECT_NE(std::memcmp(first->weights.data(), third->weights.data(), 64), 0);
}

TEST(BundleLayout, CopiesMustNotOverlap) {
  using enum BufferSpace;
  Program program;
  program.arenaBytes = 128;
  const auto accepts = [&](uint64_t from, uint64_t to) {
    program.steps = {copyStep(buffer(Arena, BufferAccess::In, 0, from, 32),
                              buffer(Arena, BufferAccess::Out, 0, to, 32))};
    return bool(BundleLayout::of(program));
  };
  EXPECT_TRUE(accepts(0, 32));
  EXPECT_TRUE(accepts(32, 0));
  EXPECT_TRUE(accepts(32, 32));
  EXPECT_FALSE(accepts(0, 16));
  EXPECT_FALSE(accepts(16, 0));
}

TEST(BundleLayout, HostCallsAreListedWithTheirCounts) {
  Program program;
  EXPECT_TRUE(checkNeedsNoRuntime(program));
  Step branch;
  branch.kind = StepKind::If;
  branch.bodies = {{hostCall("sinter.b")}, {hostCall("sinter.a")}};
  program.steps = {hostCall("sinter.b"), branch};
  const Result<void> checked = checkNeedsNoRuntime(program);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(checked.error().message().find("sinter.a (1), sinter.b (2)"),
            std::string::npos)
      << checked.error().message();
}

TEST(BundleLayout, CallsOfTheLibraryAreNotListedIfAllowed) {
  Program program;
  program.steps = {hostCall("lapack_spotrf_ffi"), hostCall("sinter.fft")};
  EXPECT_FALSE(checkNeedsNoRuntime(program));
  EXPECT_TRUE(checkNeedsNoRuntime(program, /*mayCallRuntime=*/true));
  // The first by their names are what the library does not have.
  program.steps = {hostCall("sinter.fft"), hostCall("a.function"),
                   hostCall("lapack_none_ffi")};
  const Result<void> checked =
      checkNeedsNoRuntime(program, /*mayCallRuntime=*/true);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message(),
            "functions that a bundle cannot call: a.function (1), "
            "lapack_none_ffi (1)");
}
