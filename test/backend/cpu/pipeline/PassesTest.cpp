// The backend's passes, each left out and each watched, by value.
//
// Covers: backend/cpu/ir DeadCode
// Covers: backend/cpu/legalize Decompose LowerBatchNorms
// Covers: backend/cpu/ir Decompositions

#include "backend/cpu/pipeline/Passes.h"

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/program/Compiler.h"
#include "backend/cpu/target/Target.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

/// Something for each label: ordinary and 3-d convolutions, one with a large
/// weight that is computed, one whose weights are halves, products of bf16, an
/// attention between transposes, products of bytes, computed and not, and of
/// integers, by a vector, by a large computed weight, with a bias in f16, of
/// dimensions that lie apart, elementwise chains, two of which differ in a
/// number and two in whether bytes count from 0, a function of bytes, the least
/// and the greatest of all numbers, also of a convolution's, two loops, rows of
/// a table of bytes.
constexpr const char *someOfEach = R"((%x: tensor<1x32x12x12xf32>,
    %u: tensor<1x512x2x2xf32>, %v: tensor<1x4x5x8x8xf32>,
    %q: tensor<1x64x2x16xf32>, %b: tensor<40x64xui8>, %c: tensor<64x40xi8>,
    %m: tensor<64x72xf32>, %y: tensor<3x600xf32>, %z: tensor<8x16x24xf32>,
    %ids: tensor<5xi32>, %rows: tensor<5x2xf32>)
    -> (tensor<1x32x12x12xf32>, tensor<1x640x2x2xf32>, tensor<1x8x3x6x6xf32>,
        tensor<1x64x2x16xf32>, tensor<40x40xi32>, tensor<40x40xi32>,
        tensor<64x1xf32>, tensor<3x600xf32>, tensor<3x600xf32>,
        tensor<16x16xf32>, tensor<1x64x2x16xf32>, tensor<40x64xui8>,
        tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<3x600xf16>,
        tensor<f32>, tensor<f32>, tensor<40x40xi32>, tensor<5x64xf32>,
        tensor<40x64xf32>, tensor<40x64xf32>, tensor<f32>, tensor<f32>,
        tensor<5x1xf32>, tensor<f32>) {
%w = stablehlo.constant dense<0.03> : tensor<32x32x3x3xf32>
%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
  window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  : (tensor<1x32x12x12xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x12x12xf32>
%e = stablehlo.constant dense<0.5> : tensor<32x32x1x1xf32>
%xe = stablehlo.convolution(%x, %e) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
  window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  : (tensor<1x32x12x12xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x12x12xf32>
%1 = stablehlo.add %0, %xe : tensor<1x32x12x12xf32>
%2 = stablehlo.tanh %1 : tensor<1x32x12x12xf32>
%h = stablehlo.constant dense<0.01> : tensor<640x512x1x1xf16>
%hf = stablehlo.convert %h : (tensor<640x512x1x1xf16>) -> tensor<640x512x1x1xf32>
%3 = stablehlo.convolution(%u, %hf) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
  window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  : (tensor<1x512x2x2xf32>, tensor<640x512x1x1xf32>) -> tensor<1x640x2x2xf32>
%k = stablehlo.constant dense<0.1> : tensor<8x4x3x3x3xf32>
%4 = stablehlo.convolution(%v, %k) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2],
  window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
  : (tensor<1x4x5x8x8xf32>, tensor<8x4x3x3x3xf32>) -> tensor<1x8x3x6x6xf32>
%t = stablehlo.transpose %q, dims = [0, 2, 1, 3] : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32>
%a = nn.attention %t, %t, %t scale = 2.500000e-01
  : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32>
%5 = stablehlo.transpose %a, dims = [0, 2, 1, 3] : (tensor<1x2x64x16xf32>) -> tensor<1x64x2x16xf32>
%bi = stablehlo.convert %b : (tensor<40x64xui8>) -> tensor<40x64xi32>
%ci = stablehlo.convert %c : (tensor<64x40xi8>) -> tensor<64x40xi32>
%ct = stablehlo.transpose %ci, dims = [1, 0] : (tensor<64x40xi32>) -> tensor<40x64xi32>
%6 = stablehlo.dot_general %bi, %ct, contracting_dims = [1] x [1]
  : (tensor<40x64xi32>, tensor<40x64xi32>) -> tensor<40x40xi32>
%c3 = stablehlo.constant dense<300> : tensor<64x40xi32>
%cq = stablehlo.subtract %ci, %c3 : tensor<64x40xi32>
%19 = stablehlo.dot_general %bi, %cq, contracting_dims = [1] x [0]
  : (tensor<40x64xi32>, tensor<64x40xi32>) -> tensor<40x40xi32>
%cw = stablehlo.constant dense<3> : tensor<64x40xi32>
%11 = stablehlo.dot_general %bi, %cw, contracting_dims = [1] x [0]
  : (tensor<40x64xi32>, tensor<64x40xi32>) -> tensor<40x40xi32>
%s = stablehlo.slice %m [0:64, 0:1] : (tensor<64x72xf32>) -> tensor<64x1xf32>
%r = stablehlo.slice %m [0:64, 8:72] : (tensor<64x72xf32>) -> tensor<64x64xf32>
%7 = stablehlo.dot_general %r, %s, contracting_dims = [0] x [0]
  : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
%l = stablehlo.constant dense<0.02> : tensor<600x600xf16>
%lf = stablehlo.convert %l : (tensor<600x600xf16>) -> tensor<600x600xf32>
%yh = stablehlo.convert %y : (tensor<3x600xf32>) -> tensor<3x600xf16>
%ya = stablehlo.convert %yh : (tensor<3x600xf16>) -> tensor<3x600xf32>
%yb = stablehlo.convert %yh : (tensor<3x600xf16>) -> tensor<3x600xf32>
%da = stablehlo.dot_general %ya, %lf, contracting_dims = [1] x [0]
  : (tensor<3x600xf32>, tensor<600x600xf32>) -> tensor<3x600xf32>
%db = stablehlo.dot_general %yb, %lf, contracting_dims = [1] x [0]
  : (tensor<3x600xf32>, tensor<600x600xf32>) -> tensor<3x600xf32>
%yz = stablehlo.convert %y : (tensor<3x600xf32>) -> tensor<3x600xbf16>
%bw = stablehlo.constant dense<0.25> : tensor<600x600xbf16>
%bp = stablehlo.dot_general %yz, %bw, contracting_dims = [1] x [0]
  : (tensor<3x600xbf16>, tensor<600x600xbf16>) -> tensor<3x600xf32>
%dc = stablehlo.add %da, %db : tensor<3x600xf32>
%8 = stablehlo.add %dc, %bp : tensor<3x600xf32>
%g = stablehlo.constant dense<3> : tensor<600x600xi16>
%gf = stablehlo.convert %g : (tensor<600x600xi16>) -> tensor<600x600xf32>
%12 = stablehlo.dot_general %joined, %gf, contracting_dims = [1] x [0]
  : (tensor<3x600xf32>, tensor<600x600xf32>) -> tensor<3x600xf32>
%9 = stablehlo.dot_general %z, %z, contracting_dims = [0, 2] x [0, 2]
  : (tensor<8x16x24xf32>, tensor<8x16x24xf32>) -> tensor<16x16xf32>
%10 = stablehlo.exponential %q : tensor<1x64x2x16xf32>
%bf = stablehlo.convert %b : (tensor<40x64xui8>) -> tensor<40x64xf32>
%ten = stablehlo.constant dense<10.0> : tensor<40x64xf32>
%bs = stablehlo.multiply %bf, %ten : tensor<40x64xf32>
%bt = stablehlo.tanh %bs : tensor<40x64xf32>
%bm = stablehlo.multiply %bt, %ten : tensor<40x64xf32>
%br = stablehlo.round_nearest_even %bm : tensor<40x64xf32>
%13 = stablehlo.convert %br : (tensor<40x64xf32>) -> tensor<40x64xui8>
%half = stablehlo.constant dense<0.5> : tensor<1x64x2x16xf32>
%14 = stablehlo.multiply %q, %half : tensor<1x64x2x16xf32>
%third = stablehlo.constant dense<0.3> : tensor<1x64x2x16xf32>
%15 = stablehlo.multiply %q, %third : tensor<1x64x2x16xf32>
%hw = stablehlo.constant dense<0.005> : tensor<600x600xf16>
%hb = stablehlo.constant dense<0.1> : tensor<3x600xf16>
%hp = stablehlo.dot_general %yh, %hw, contracting_dims = [1] x [0]
  : (tensor<3x600xf16>, tensor<600x600xf16>) -> tensor<3x600xf16>
%16 = stablehlo.add %hp, %hb : tensor<3x600xf16>
%lo = stablehlo.constant dense<0x7F800000> : tensor<f32>
%17 = stablehlo.reduce(%m init: %lo) applies stablehlo.minimum
  across dimensions = [0, 1] : (tensor<64x72xf32>, tensor<f32>) -> tensor<f32>
%hi = stablehlo.constant dense<0xFF800000> : tensor<f32>
%18 = stablehlo.reduce(%m init: %hi) applies stablehlo.maximum
  across dimensions = [0, 1] : (tensor<64x72xf32>, tensor<f32>) -> tensor<f32>
%w0 = stablehlo.constant dense<0> : tensor<i32>
%wl:2 = stablehlo.while(%wi = %w0, %wa = %18) : tensor<i32>, tensor<f32>
 cond {
  %w3 = stablehlo.constant dense<3> : tensor<i32>
  %wc = stablehlo.compare LT, %wi, %w3
    : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %wc : tensor<i1>
} do {
  %w1 = stablehlo.constant dense<1> : tensor<i32>
  %wn = stablehlo.add %wi, %w1 : tensor<i32>
  %wt = stablehlo.tanh %wa : tensor<f32>
  stablehlo.return %wn, %wt : tensor<i32>, tensor<f32>
}
%vl:2 = stablehlo.while(%vi = %w0, %va = %17) : tensor<i32>, tensor<f32>
 cond {
  %v3 = stablehlo.constant dense<4> : tensor<i32>
  %vc = stablehlo.compare LT, %vi, %v3
    : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %vc : tensor<i1>
} do {
  %v1 = stablehlo.constant dense<1> : tensor<i32>
  %vn = stablehlo.add %vi, %v1 : tensor<i32>
  %vt = stablehlo.sine %va : tensor<f32>
  stablehlo.return %vn, %vt : tensor<i32>, tensor<f32>
}
%23 = stablehlo.reduce(%3 init: %lo) applies stablehlo.minimum across
  dimensions = [0, 1, 2, 3] : (tensor<1x640x2x2xf32>, tensor<f32>) -> tensor<f32>
%24 = stablehlo.reduce(%3 init: %hi) applies stablehlo.maximum across
  dimensions = [0, 1, 2, 3] : (tensor<1x640x2x2xf32>, tensor<f32>) -> tensor<f32>
%tb = stablehlo.constant dense<3> : tensor<100x64xi8>
%tf = stablehlo.convert %tb : (tensor<100x64xi8>) -> tensor<100x64xf32>
%20 = "stablehlo.gather"(%tf, %ids) <{dimension_numbers = #stablehlo.gather<
  offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
  index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}>
  : (tensor<100x64xf32>, tensor<5xi32>) -> tensor<5x64xf32>
%21 = stablehlo.multiply %bf, %ten : tensor<40x64xf32>
%three = stablehlo.constant dense<3.0> : tensor<40x64xf32>
%bd = stablehlo.subtract %bf, %three : tensor<40x64xf32>
%22 = stablehlo.multiply %bd, %ten : tensor<40x64xf32>
%25 = nn.tree_ensemble %rows, "sum" {roots = array<i32: 0>,
  features = array<i32: 1>, thresholds = array<f64: 0.25>,
  modes = array<i8: 0>, true_children = array<i32: -1>,
  false_children = array<i32: -2>, leaf_starts = array<i32: 0, 1, 2>,
  targets = array<i32: 0, 0>, weights = array<f64: 1.0, 2.0>,
  target_count = 1 : i64} : (tensor<5x2xf32>) -> tensor<5x1xf32>
return %2, %3, %4, %5, %6, %11, %7, %8, %12, %9, %10, %13, %14, %15, %16, %17, %wl#1, %19, %20, %21, %22, %23, %24, %25, %vl#1 : tensor<1x32x12x12xf32>,
  tensor<1x640x2x2xf32>, tensor<1x8x3x6x6xf32>, tensor<1x64x2x16xf32>,
  tensor<40x40xi32>, tensor<40x40xi32>, tensor<64x1xf32>, tensor<3x600xf32>,
  tensor<3x600xf32>, tensor<16x16xf32>, tensor<1x64x2x16xf32>, tensor<40x64xui8>,
  tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<3x600xf16>,
  tensor<f32>, tensor<f32>, tensor<40x40xi32>, tensor<5x64xf32>,
  tensor<40x64xf32>, tensor<40x64xf32>, tensor<f32>, tensor<f32>,
  tensor<5x1xf32>, tensor<f32> })";

/// \p name, a concatenate of 75 slices of %y, every other of \p second.
std::string concatenate(const std::string &name, const std::string &second) {
  std::string text, pieces, types;
  for (int i = 0; i < 75; ++i) {
    const int at = i * 8 * 7 % 600;
    const std::string piece = name + "_" + std::to_string(i);
    text += piece + " = stablehlo.slice " + (i % 2 ? second : "%y") +
            " [0:3, " + std::to_string(at) + ":" + std::to_string(at + 8) +
            "] : (tensor<3x600xf32>) -> tensor<3x8xf32>\n";
    pieces += (i ? ", " : "") + piece;
    types += std::string(i ? ", " : "") + "tensor<3x8xf32>";
  }
  return text + name + " = stablehlo.concatenate " + pieces + ", dim = 1 : (" +
         types + ") -> tensor<3x600xf32>\n";
}

/// That and concatenates of many pieces.
std::string everything() {
  std::string text = someOfEach;
  const size_t at = text.find("%12 = ");
  return text.insert(at, concatenate("%taken", "%y") +
                             concatenate("%joined", "%taken"));
}

/// What is wrong with the results where the passes run as \p passes say; "" if
/// nothing is. \p report gets what they did.
std::string wrongWith(const SimplifyOptions &passes, SimplifyReport &report) {
  Model model = test::parseModel(everything());
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, spec.shape);
    fillRandom(inputs.back(), inputs.size());
  }
  auto expected = interpret(model.entry(), inputs);
  if (!expected)
    return expected.error().message();
  cpu::CpuOptions options;
  options.passes = passes;
  options.onPrepared = [&](const SimplifyReport &done, mlir::ModuleOp) {
    report = done;
  };
  Result<Program> program = cpu::compileForCpu(model, options);
  if (!program)
    return program.error().message();
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  if (!executor)
    return executor.error().message();
  auto got = (*executor)->run(inputs);
  if (!got)
    return got.error().message();
  for (size_t i = 0; i < got->size(); ++i)
    for (int64_t j = 0; j < (*got)[i].size(); ++j)
      if (const double was = (*expected)[i].toDouble(j),
          is = (*got)[i].toDouble(j);
          !(std::abs(was - is) <= 2e-4 * (1 + std::abs(was))))
        return "result " + std::to_string(i) + ", element " +
               std::to_string(j) + ": " + std::to_string(is) + " instead of " +
               std::to_string(was);
  return "";
}

std::vector<std::string> backendLabels() {
  cpu::registerPatternLabels();
  std::vector<std::string> labels;
  for (const PatternInfo &info : allPatterns())
    if (info.pass.starts_with("cpu-"))
      labels.push_back(info.label.str());
  return labels;
}

} // namespace

TEST(CpuPasses, EachLabelAppliesAndCanBeLeftOut) {
  SimplifyReport report;
  EXPECT_EQ(wrongWith({}, report), "");
  const std::vector<std::string> labels = backendLabels();
  EXPECT_GE(labels.size(), 11u);
  for (const std::string &label : labels) {
    const cpu::Target host = *cpu::Target::host();
    // Products must be larger to be worth matrix units: see
    // KeepSplitOperandsTest.
    const bool isForMachine =
        label == "tabulate-int8" ? host.permutesBytes || host.shuffledBytes > 0
        : label == "widen-int8"  ? cpu::Arithmetic::bytesAreWords(host)
        : label == "bfloat16-products" ? cpu::prefersBFloat16(host)
        : label == "half-weights"      ? host.vectorRegisters >= 32
        : label == "keep-split-operands" || label == "split-once" ? false
        : label == "fuse-min-max" ? !host.hasMatrixUnits
                                  : true;
    const bool isAllowed = label != "carry-bias";
    EXPECT_EQ(report.patterns[label] > 0u, isForMachine && isAllowed) << label;
    SimplifyOptions passes;
    passes.disabledPatterns = {label};
    SimplifyReport without;
    EXPECT_EQ(wrongWith(passes, without), "") << label;
    EXPECT_EQ(without.patterns[label], 0u) << label;
  }
}

TEST(CpuPasses, AllCanBeLeftOut) {
  SimplifyOptions passes;
  passes.disabledPatterns = {"all"};
  SimplifyReport report;
  EXPECT_EQ(wrongWith(passes, report), "");
  EXPECT_TRUE(report.patterns.empty());
}

TEST(CpuPasses, TheOracleAgreesBehindEach) {
  SimplifyOptions passes;
  passes.verifyNumerics = true;
  SimplifyReport report;
  EXPECT_EQ(wrongWith(passes, report), "");
  EXPECT_EQ(report.verified.endedBy, "");
  EXPECT_GE(report.verified.comparisons, 20u);
}

TEST(CpuPasses, TheOracleAgreesBehindEachRewrite) {
  SimplifyOptions passes;
  passes.verifyEach = true;
  SimplifyReport report;
  EXPECT_EQ(wrongWith(passes, report), "");
  EXPECT_GE(report.verified.comparisons, 30u);
}

/// A reader marks the operations of one node, and a bias must stay in its node
/// where the graph is written again. Padded to whole blocks in each run, it
/// would be read by code with a branch for each channel.
TEST(CpuPasses, BiasesOfNodesArePaddedOnce) {
  const std::string body =
      R"((%x: tensor<1x16x?x?xf32> {sinter.dims = ["", "", "H", "W"]})
    -> tensor<1x20x?x?xf32> {
%w = stablehlo.constant dense<0.5> : tensor<20x16x1x1xf32>
%b = stablehlo.constant dense<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
    1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0]> : tensor<20xf32>
%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
  window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sinter.source = 0 : i64}
  : (tensor<1x16x?x?xf32>, tensor<20x16x1x1xf32>) -> tensor<1x20x?x?xf32>
%1 = stablehlo.reshape %b {sinter.source = 0 : i64} : (tensor<20xf32>) -> tensor<20x1x1xf32>
%2 = nn.broadcast_like %1, %0 {sinter.source = 0 : i64}
  : (tensor<20x1x1xf32>, tensor<1x20x?x?xf32>) -> tensor<1x20x?x?xf32>
%3 = stablehlo.add %0, %2 {sinter.source = 0 : i64} : tensor<1x20x?x?xf32>
return %3 : tensor<1x20x?x?xf32>
})";
  int pads = 0, kernels = 0;
  cpu::CpuOptions options;
  options.onPrepared = [&](const SimplifyReport &, mlir::ModuleOp module) {
    module.walk([&](mlir::Operation *op) {
      pads += mlir::isa<stablehlo::PadOp>(op) ? 1 : 0;
      kernels += mlir::isa<cpu::KernelOp>(op) ? 1 : 0;
    });
  };
  const Result<Program> program =
      cpu::compileForCpu(test::parseModel(body), options);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_GE(kernels, 1);
  EXPECT_EQ(pads, 0);
}

TEST(CpuPasses, UnknownNamesAreRefused) {
  SimplifyReport report;
  SimplifyOptions passes;
  passes.disabledPatterns = {"no-such-label"};
  EXPECT_NE(wrongWith(passes, report).find("no pattern 'no-such-label'"),
            std::string::npos);
  passes = {};
  passes.printIrAfter = {"cpu-no-such-pass"};
  EXPECT_NE(wrongWith(passes, report).find("no pass 'cpu-no-such-pass'"),
            std::string::npos);
}
