//===- TileCodeTest.cpp - code for matrix units ---------------------------===//

#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/codegen/Codegen.h"

#include "runtime/CpuFeatures.h"
#include "runtime/MatrixUnits.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr const char *triple = "x86_64-unknown-linux-gnu";

/// The product of two tiles of signed bytes, 16 rows of 64.
constexpr const char *tileProduct = R"mlir(
  func.func @tiles(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
    %a = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %slot1 = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %b = llvm.load %slot1 : !llvm.ptr -> !llvm.ptr
    %slot2 = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %c = llvm.load %slot2 : !llvm.ptr -> !llvm.ptr
    %slot3 = llvm.getelementptr %buffers[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %shapes = llvm.load %slot3 : !llvm.ptr -> !llvm.ptr
    %t0 = llvm.mlir.constant(0 : i8) : i8
    %t1 = llvm.mlir.constant(1 : i8) : i8
    %t2 = llvm.mlir.constant(2 : i8) : i8
    %stride = llvm.mlir.constant(64 : i64) : i64
    llvm.call_intrinsic "llvm.x86.ldtilecfg"(%shapes) : (!llvm.ptr) -> ()
    llvm.call_intrinsic "llvm.x86.tilezero"(%t0) : (i8) -> ()
    llvm.call_intrinsic "llvm.x86.tileloadd64"(%t1, %a, %stride) : (i8, !llvm.ptr, i64) -> ()
    llvm.call_intrinsic "llvm.x86.tileloadd64"(%t2, %b, %stride) : (i8, !llvm.ptr, i64) -> ()
    llvm.call_intrinsic "llvm.x86.tdpbssd"(%t0, %t1, %t2) : (i8, i8, i8) -> ()
    llvm.call_intrinsic "llvm.x86.tilestored64"(%t0, %c, %stride) : (i8, !llvm.ptr, i64) -> ()
    llvm.call_intrinsic "llvm.x86.tilerelease"() : () -> ()
    return
  })mlir";

constexpr const char *plainSum = R"mlir(
  func.func @sum(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
    %a = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %a : !llvm.ptr -> vector<16xf32>
    %y = arith.addf %x, %x : vector<16xf32>
    llvm.store %y, %a : vector<16xf32>, !llvm.ptr
    return
  })mlir";

struct Compiled {
  Result<ObjectFile> object;
  std::vector<std::string> features;
  std::string assembly;
};

Compiled compiled(const char *text, const Target &target) {
  KernelRunner runner(target);
  auto parsed = parseSourceString<ModuleOp>(text, &runner.context());
  EXPECT_TRUE(parsed);
  for (Operation &op : llvm::make_early_inc_range(*parsed->getBody()))
    op.moveBefore(runner.module().getBody(), runner.module().getBody()->end());
  Compiled result{systemError(""), {}, ""};
  CodegenDumps dumps;
  dumps.assembly = &result.assembly;
  result.object =
      cpu::compile(runner.module(), target, dumps, &result.features);
  return result;
}

TEST(TileCode, SaysWhatItNeeds) {
  const Target target = *Target::named(triple, "sapphirerapids", "");
  EXPECT_TRUE(target.hasMatrixUnits);
  const Compiled code = compiled(tileProduct, target);
  ASSERT_TRUE(code.object) << code.object.error().message();
  EXPECT_EQ(code.features, (std::vector<std::string>{"amx-int8", "amx-tile"}));
  for (const char *instruction : {"ldtilecfg", "tdpbssd", "tilestored"})
    EXPECT_NE(code.assembly.find(instruction), std::string::npos)
        << code.assembly;
}

TEST(TileCode, OtherCodeNeedsAndHasNoTiles) {
  const Target with = *Target::named(triple, "sapphirerapids", ""),
               without = *Target::named(triple, "sapphirerapids", "-amx-tile");
  EXPECT_FALSE(without.hasMatrixUnits);
  const Compiled code = compiled(plainSum, with),
                 same = compiled(plainSum, without);
  ASSERT_TRUE(code.object && same.object);
  EXPECT_TRUE(code.features.empty());
  EXPECT_EQ(*code.object, *same.object);
}

TEST(TileCode, IsRefusedForOtherMachines) {
  const Compiled code =
      compiled(tileProduct, *Target::named(triple, "x86-64-v4", ""));
  ASSERT_FALSE(code.object);
  EXPECT_EQ(code.object.error().kind, ErrorKind::System);
  EXPECT_NE(code.object.error().message().find("matrix units"),
            std::string::npos);
}

TEST(TileCode, Runs) {
  const Target target = *Target::host();
  EXPECT_EQ(target.hasMatrixUnits,
            llvm::is_contained(hostCpuFeatures(), "amx-tile") &&
                llvm::is_contained(hostCpuFeatures(), "amx-bf16") &&
                llvm::is_contained(hostCpuFeatures(), "amx-int8"));
  if (!target.hasMatrixUnits)
    GTEST_SKIP() << "there are no matrix units here";
  KernelRunner runner(target);
  auto parsed = parseSourceString<ModuleOp>(tileProduct, &runner.context());
  ASSERT_TRUE(parsed);
  for (Operation &op : llvm::make_early_inc_range(*parsed->getBody()))
    op.moveBefore(runner.module().getBody(), runner.module().getBody()->end());
  runner.compile();
  alignas(64) int8_t lhs[16 * 64], rhs[16 * 64];
  alignas(64) int32_t sums[16 * 16];
  for (int i = 0; i < 16 * 64; ++i) {
    lhs[i] = static_cast<int8_t>(i % 17 - 8);
    rhs[i] = static_cast<int8_t>(i % 23 - 11);
  }
  // Palette 1; tiles 0 to 2 have 16 rows of 64 bytes (Intel SDM volume 1,
  // 18.3.1).
  alignas(64) uint8_t shapes[64] = {1};
  for (int tile = 0; tile < 3; ++tile) {
    shapes[16 + 2 * tile] = 64;
    shapes[48 + tile] = 16;
  }
  void *buffers[] = {lhs, rhs, sums, shapes};
  runner.kernel("tiles")(buffers, 0, 1);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      int32_t expected = 0;
      for (int k = 0; k < 64; ++k)
        expected += lhs[row * 64 + k] * rhs[k / 4 * 64 + column * 4 + k % 4];
      EXPECT_EQ(sums[row * 16 + column], expected);
    }
}

/// Left out, matrix units are no part of the machine, whatever it has.
TEST(TileCode, MatrixUnitsCanBeLeftOut) {
  const Target target = *Target::host("-amx-tile");
  EXPECT_FALSE(target.hasMatrixUnits);
  for (const std::string &set : target.instructionSets)
    EXPECT_FALSE(isMatrixFeature(set)) << set;
  EXPECT_FALSE(Target::host("-no-such-thing"));
  EXPECT_FALSE(Target::host("amx-tile"));
  EXPECT_FALSE(Target::named(triple, "x86-64", "+no-such-thing"));
}

} // namespace
