//===- CodegenTest.cpp ----------------------------------------------------===//
//
// Covers: backend/cpu/codegen Codegen Emitter HalfOperations Image
// Covers: backend/cpu/codegen KernelFunction LowerToLLVM Optimizer Subroutine
// Covers: backend/cpu/target Target

#include "backend/cpu/codegen/Codegen.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/codegen/Subroutine.h"

#include "runtime/CpuFeatures.h"
#include "runtime/Float.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr int64_t arraySize = 64;
struct alignas(64) Array {
  float values[arraySize];
};

using EmitFunction = llvm::function_ref<Value(OpBuilder &, Location, Value)>;

/// A kernel of `arraySize` tasks, out[i] = function(in[i]).
void addElementwise(KernelRunner &runner, StringRef name,
                    EmitFunction function) {
  Location loc = UnknownLoc::get(&runner.context());
  auto type = MemRefType::get({arraySize}, Float32Type::get(&runner.context()));
  KernelBuffer buffers[] = {{type}, {type, /*isWritten=*/true}};
  createKernel(
      runner.module(), loc, name, buffers,
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
        Value in = builder.create<memref::LoadOp>(loc, memrefs[0], task);
        builder.create<memref::StoreOp>(loc, function(builder, loc, in),
                                        memrefs[1], task);
      });
}

TEST(Codegen, RunsTasksOfTheRangeOnly) {
  KernelRunner runner;
  addElementwise(runner, "double_it", [](OpBuilder &b, Location loc, Value x) {
    return b.create<arith::AddFOp>(loc, x, x).getResult();
  });
  runner.compile();
  Array in, out;
  for (int i = 0; i < arraySize; ++i) {
    in.values[i] = i;
    out.values[i] = -1;
  }
  void *buffers[] = {&in, &out};
  runner.kernel("double_it")(buffers, 3, 40);
  for (int i = 0; i < arraySize; ++i)
    EXPECT_EQ(out.values[i], i >= 3 && i < 40 ? 2 * i : -1);
}

/// What a few instructions compute is not taken apart into calls.
TEST(Codegen, KeepsVectorsWhole) {
  KernelRunner runner;
  Location loc = UnknownLoc::get(&runner.context());
  auto vector = VectorType::get({4}, Float32Type::get(&runner.context()));
  auto type = MemRefType::get({arraySize}, Float32Type::get(&runner.context()));
  KernelBuffer buffers[] = {{type}, {type, /*isWritten=*/true}};
  createKernel(runner.module(), loc, "functions", buffers,
               [&](OpBuilder &b, Location loc, Value task, ValueRange memrefs) {
                 Value x =
                     b.create<vector::LoadOp>(loc, vector, memrefs[0], task);
                 Value values[] = {b.create<math::AbsFOp>(loc, x),
                                   b.create<math::CeilOp>(loc, x),
                                   b.create<math::CopySignOp>(loc, x, x),
                                   b.create<math::FloorOp>(loc, x),
                                   b.create<math::FmaOp>(loc, x, x, x),
                                   b.create<math::RoundOp>(loc, x),
                                   b.create<math::RoundEvenOp>(loc, x),
                                   b.create<math::SqrtOp>(loc, x),
                                   b.create<math::TruncOp>(loc, x)};
                 Value sum = x;
                 for (Value value : values)
                   sum = b.create<arith::AddFOp>(loc, sum, value);
                 b.create<vector::StoreOp>(loc, sum, memrefs[1], task);
               });
  std::string code;
  CodegenDumps dumps;
  dumps.llvmIr = &code;
  ASSERT_TRUE(bool(compile(runner.module(), runner.target(), dumps)));
  EXPECT_NE(code.find("<4 x float>"), std::string::npos);
  EXPECT_EQ(code.find("extractelement"), std::string::npos) << code;
}

TEST(Codegen, CallsTheLibraryAndReadsConstants) {
  KernelRunner runner;
  addElementwise(runner, "sine", [](OpBuilder &b, Location loc, Value x) {
    return b.create<math::SinOp>(loc, x).getResult();
  });
  addElementwise(runner, "tangent", [](OpBuilder &b, Location loc, Value x) {
    return b.create<math::TanOp>(loc, x).getResult();
  });
  addElementwise(runner, "exponential",
                 [](OpBuilder &b, Location loc, Value x) {
                   return b.create<math::ExpOp>(loc, x).getResult();
                 });
  addElementwise(runner, "erf", [](OpBuilder &b, Location loc, Value x) {
    return b.create<math::ErfOp>(loc, x).getResult();
  });
  runner.compile();
  Array in, out;
  for (int i = 0; i < arraySize; ++i)
    in.values[i] = (i - 20) * 0.7f;
  void *buffers[] = {&in, &out};
  auto expectLike = [&](const char *name, auto reference) {
    runner.kernel(name)(buffers, 0, arraySize);
    for (int i = 0; i < arraySize; ++i) {
      double expected = reference(static_cast<double>(in.values[i]));
      EXPECT_NEAR(out.values[i], expected, 1e-6 + 2e-6 * std::abs(expected))
          << name << "(" << in.values[i] << ")";
    }
  };
  expectLike("sine", [](double x) { return std::sin(x); });
  expectLike("tangent", [](double x) { return std::tan(x); });
  expectLike("exponential", [](double x) { return std::exp(x); });
  expectLike("erf", [](double x) { return std::erf(x); });
}

/// Computes x * x + exp(x) in the type, for one element, as text.
std::string squarePlusExp(StringRef name, StringRef type) {
  std::string text = R"mlir(
    func.func @NAME(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
      %in = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
      %slot = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %out = llvm.load %slot : !llvm.ptr -> !llvm.ptr
      %x = llvm.load %in : !llvm.ptr -> TYPE
      %square = arith.mulf %x, %x : TYPE
      %exp = math.exp %x : TYPE
      %sum = arith.addf %square, %exp : TYPE
      llvm.store %sum, %out : TYPE, !llvm.ptr
      return
    })mlir";
  for (auto [from, to] :
       {std::pair<StringRef, StringRef>{"NAME", name}, {"TYPE", type}})
    for (size_t at; (at = text.find(from.str())) != std::string::npos;)
      text.replace(at, from.size(), to.str());
  return text;
}

void addText(KernelRunner &runner, const std::string &text) {
  auto parsed = parseSourceString<ModuleOp>(text, &runner.context());
  ASSERT_TRUE(parsed);
  for (Operation &op : llvm::make_early_inc_range(*parsed->getBody()))
    op.moveBefore(runner.module().getBody(), runner.module().getBody()->end());
}

TEST(Codegen, ComputesInOtherFloatTypes) {
  Result<Target> host = Target::host();
  Result<Target> plain = Target::named("", "x86-64", "");
  ASSERT_TRUE(host && plain);
  for (const Target &target : {*host, *plain}) {
    KernelRunner runner(target);
    for (const char *type : {"f16", "bf16", "f64"})
      addText(runner, squarePlusExp(std::string("in_") + type, type));
    runner.compile();
    const double expected = 1.5 * 1.5 + std::exp(1.5);
    double wideIn = 1.5, wideOut = 0;
    void *wide[] = {&wideIn, &wideOut};
    runner.kernel("in_f64")(wide, 0, 1);
    EXPECT_NEAR(wideOut, expected, 1e-12);
    uint16_t in = Half(1.5f).bits(), out = 0;
    void *narrow[] = {&in, &out};
    runner.kernel("in_f16")(narrow, 0, 1);
    EXPECT_NEAR(float(Half::fromBits(out)), expected, 0.01);
    in = BFloat16(1.5f).bits();
    runner.kernel("in_bf16")(narrow, 0, 1);
    EXPECT_NEAR(float(BFloat16::fromBits(out)), expected, 0.05);
  }
}

/// max(x, 0) as kernels compute it, in f32: what LLVM makes of it for f16 must
/// not be a comparison a lane.
TEST(Codegen, ComparesVectorsOfHalvesAsVectors) {
  Result<Target> host = Target::host();
  ASSERT_TRUE(host);
  if (host->f32Lanes < 8)
    GTEST_SKIP() << "no vectors of eight f32";
  for (const char *type : {"f16", "bf16"}) {
    std::string text = R"mlir(
      func.func @positive(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
        %in = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
        %slot = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
        %out = llvm.load %slot : !llvm.ptr -> !llvm.ptr
        %x = llvm.load %in : !llvm.ptr -> vector<8xTYPE>
        %w = arith.extf %x : vector<8xTYPE> to vector<8xf32>
        %zero = arith.constant dense<0.0> : vector<8xf32>
        %m = arith.maximumf %w, %zero : vector<8xf32>
        %n = arith.truncf %m : vector<8xf32> to vector<8xTYPE>
        llvm.store %n, %out : vector<8xTYPE>, !llvm.ptr
        return
      })mlir";
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;)
      text.replace(at, 4, type);
    KernelRunner runner(*host);
    addText(runner, text);
    std::string assembly;
    CodegenDumps dumps;
    dumps.assembly = &assembly;
    Result<ObjectFile> object = cpu::compile(runner.module(), *host, dumps);
    ASSERT_TRUE(object) << object.error().message();
    size_t instructions = llvm::count(assembly, '\n');
    // Rounding to bf16 takes twenty more where no instruction does it.
    const bool rounds = StringRef(type) == "bf16" && !host->convertsBF16;
    EXPECT_LT(instructions, rounds ? 90u : 60u) << assembly;
  }
}

/// A memref copy becomes a call of memcpy, a global constant read-only data.
TEST(Codegen, CopiesFromGlobals) {
  KernelRunner runner;
  const char *text = R"mlir(
    memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 4.0, 8.0]>
    func.func @look_up(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
      %out = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
      %table = memref.get_global @table : memref<4xf32>
      %index = arith.index_cast %begin : i64 to index
      %value = memref.load %table[%index] : memref<4xf32>
      llvm.store %value, %out : f32, !llvm.ptr
      return
    })mlir";
  addText(runner, text);
  Location loc = UnknownLoc::get(&runner.context());
  auto big = MemRefType::get({100000}, Float32Type::get(&runner.context()));
  KernelBuffer buffers[] = {{big}, {big, /*isWritten=*/true}};
  createKernel(runner.module(), loc, "copy", buffers,
               [](OpBuilder &b, Location loc, Value, ValueRange memrefs) {
                 b.create<memref::CopyOp>(loc, memrefs[0], memrefs[1]);
               });
  runner.compile();
  float out = 0;
  void *outs[] = {&out};
  runner.kernel("look_up")(outs, 3, 4);
  EXPECT_EQ(out, 8.0f);
  std::vector<float> from(100016, 5.0f), to(100016);
  auto align = [](std::vector<float> &v) {
    return reinterpret_cast<void *>(
        (reinterpret_cast<uintptr_t>(v.data()) + 63) & ~uintptr_t(63));
  };
  void *copies[] = {align(from), align(to)};
  runner.kernel("copy")(copies, 0, 1);
  EXPECT_EQ(static_cast<float *>(copies[1])[99999], 5.0f);
}

TEST(Codegen, CompilesAndLinksSeveralModulesAtOnce) {
  constexpr int modules = 4;
  std::vector<ObjectFile> objects(modules);
  std::vector<std::thread> threads;
  for (int index = 0; index < modules; ++index)
    threads.emplace_back([&, index] {
      KernelRunner runner;
      addElementwise(
          runner, "k" + std::to_string(index),
          [&](OpBuilder &b, Location loc, Value x) {
            Value sine = b.create<math::SinOp>(loc, x);
            Value offset =
                b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(index));
            return b.create<arith::AddFOp>(loc, sine, offset).getResult();
          });
      objects[index] = *cpu::compile(runner.module(), runner.target());
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<std::string> names = {"k3", "k2", "k1", "k0"};
  Result<CodeImage> image = cpu::link(objects, names);
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_EQ(image->externals, std::vector<std::string>{"sinf"});
  Result<LoadedCode> loaded = LoadedCode::load(*image);
  ASSERT_TRUE(loaded) << loaded.error().message();
  Array in, out;
  in.values[0] = 0.5f;
  void *buffers[] = {&in, &out};
  for (int index = 0; index < modules; ++index) {
    loaded->kernel(modules - 1 - index)(buffers, 0, 1);
    EXPECT_NEAR(out.values[0], std::sin(0.5) + index, 1e-6);
  }
}

/// Writes a kernel that adds \p added by a subroutine, which adds what it is
/// told.
static void writeAdder(KernelRunner &runner, int64_t added) {
  auto type = MemRefType::get({4}, IndexType::get(&runner.context()));
  KernelBuffer buffers[] = {{type}, {type, /*isWritten=*/true}};
  createKernel(
      runner.module(), UnknownLoc::get(&runner.context()), "kernel", buffers,
      [&](OpBuilder &b, Location loc, Value task, ValueRange memory) {
        Value number = b.create<arith::ConstantIndexOp>(loc, added);
        callSubroutine(
            b, loc, {memory[0], memory[1], task, number}, {memory[1]},
            [&](OpBuilder &inner, ValueRange given) {
              Value from =
                  inner.create<memref::LoadOp>(loc, given[0], given[2]);
              Value sum = inner.create<arith::AddIOp>(loc, from, given[3]);
              inner.create<memref::StoreOp>(loc, sum, given[1], given[2]);
            });
      });
}

/// Kernels of two objects that add 1 and 2 call a subroutine of a third; one
/// that adds 3 has its own.
TEST(Codegen, ObjectsCallSubroutinesOfOthers) {
  std::vector<ObjectFile> objects;
  std::vector<std::string> names;
  for (int64_t added : {1, 2, 3}) {
    KernelRunner runner;
    writeAdder(runner, added);
    auto subroutines = takeSubroutines(runner.module());
    ASSERT_EQ(subroutines.size(), 1u);
    names.push_back("k" + std::to_string(added));
    rename(runner.module(), "kernel", names.back());
    if (added == 3)
      putBack(runner.module(), 0, *subroutines[0]);
    callByNames(runner.module(), {added == 3 ? "" : "adds"});
    objects.push_back(*cpu::compile(runner.module(), runner.target()));
    if (added != 2)
      continue;
    // Behind those that call it.
    nameSubroutine(*subroutines[0], "adds");
    objects.push_back(*cpu::compile(*subroutines[0], runner.target()));
  }
  Result<CodeImage> image = cpu::link(objects, names);
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_TRUE(image->externals.empty());
  Result<LoadedCode> loaded = LoadedCode::load(*image);
  ASSERT_TRUE(loaded) << loaded.error().message();
  int64_t in[] = {10, 20, 30, 40}, out[] = {0, 0, 0, 0};
  void *buffers[] = {in, out};
  loaded->kernel(0)(buffers, 0, 2);
  loaded->kernel(1)(buffers, 2, 3);
  loaded->kernel(2)(buffers, 3, 4);
  EXPECT_EQ(std::vector<int64_t>(out, out + 4),
            (std::vector<int64_t>{11, 21, 32, 43}));
  // Two of the same name.
  objects.push_back(objects.back());
  EXPECT_FALSE(cpu::link(objects, names));
}

/// The code generator's passes serve one module after the other.
TEST(Codegen, CodeIsTheSameBehindOther) {
  std::vector<ObjectFile> objects;
  for (int64_t added : {1, 2, 1}) {
    KernelRunner runner;
    writeAdder(runner, added);
    objects.push_back(*cpu::compile(runner.module(), runner.target()));
  }
  EXPECT_EQ(objects[0], objects[2]);
  EXPECT_NE(objects[0], objects[1]);
}

TEST(Codegen, ReportsWhatCannotBeLowered) {
  KernelRunner runner;
  OpBuilder builder = OpBuilder::atBlockEnd(runner.module().getBody());
  auto function = builder.create<func::FuncOp>(
      builder.getUnknownLoc(), "bad",
      builder.getFunctionType(
          {RankedTensorType::get({4}, builder.getF32Type())}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  builder.create<func::ReturnOp>(builder.getUnknownLoc());
  Result<ObjectFile> object = cpu::compile(runner.module(), runner.target());
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().kind, ErrorKind::System);
}

TEST(Target, DescribesMachinesByName) {
  Result<Target> skylake =
      Target::named("x86_64-unknown-linux-gnu", "skylake-avx512", "");
  ASSERT_TRUE(skylake) << skylake.error().message();
  EXPECT_EQ(skylake->f32Lanes, 16);
  EXPECT_FALSE(skylake->hasVnni);
  Result<Target> haswell = Target::named("x86_64-linux-gnu", "haswell", "");
  ASSERT_TRUE(haswell);
  EXPECT_EQ(haswell->f32Lanes, 8);
  EXPECT_EQ(haswell->vectorRegisters, 16);
  Result<Target> arm = Target::named("aarch64-linux-gnu", "cortex-a76", "");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->f32Lanes, 4);
  EXPECT_EQ(arm->vectorRegisters, 32);
  EXPECT_FALSE(Target::named("x86_64-linux-gnu", "no-such-cpu", ""));
  EXPECT_FALSE(Target::named("no-such-triple", "", ""));
  // LLVM makes code for graphics processors, too.
  Result<Target> gpu = Target::named("amdgcn-amd-amdhsa", "gfx90a", "");
  ASSERT_FALSE(gpu);
  EXPECT_NE(gpu.error().message().find("amdgcn-amd-amdhsa"), std::string::npos)
      << gpu.error().message();
}

/// What a CPU's name implies is said of the code, so that an older machine
/// refuses it.
TEST(Target, NamesImplyInstructionSets) {
  auto setsOf = [](const char *triple, const char *cpu, const char *features) {
    Result<Target> target = Target::named(triple, cpu, features);
    EXPECT_TRUE(target) << target.error().message();
    return target->instructionSets;
  };
  auto expect = [](const std::vector<std::string> &sets,
                   std::initializer_list<const char *> with,
                   std::initializer_list<const char *> without) {
    for (const char *name : with)
      EXPECT_TRUE(llvm::is_contained(sets, name)) << name;
    for (const char *name : without)
      EXPECT_FALSE(llvm::is_contained(sets, name)) << name;
  };
  const char *x86 = "x86_64-unknown-linux-gnu";
  expect(setsOf(x86, "x86-64", ""), {"sse", "sse2"},
         {"sse3", "avx", "avx2", "fma", "avx512f"});
  expect(setsOf(x86, "haswell", ""), {"avx2", "fma", "bmi2", "f16c", "movbe"},
         {"avx512f"});
  expect(setsOf(x86, "skylake-avx512", ""), {"avx512f", "avx512vl", "avx2"},
         {"avx512vnni"});
  expect(setsOf(x86, "sapphirerapids", ""),
         {"avx512fp16", "avx512bf16", "amx-tile", "amx-bf16", "amx-int8"}, {});
  expect(setsOf(x86, "sapphirerapids", "-amx-tile"), {"avx512fp16"},
         {"amx-tile", "amx-bf16", "amx-int8"});
  expect(setsOf(x86, "x86-64-v4", "+amx-int8"), {"amx-int8", "amx-tile"},
         {"amx-bf16"});
  expect(setsOf(x86, "haswell", "-avx2"), {"avx", "sse4.2"}, {"avx2"});
  expect(setsOf(x86, "x86-64", "+avx2"), {"avx", "avx2"}, {"fma"});
  expect(setsOf("aarch64-unknown-linux-gnu", "neoverse-n1", ""),
         {"neon", "dotprod", "fullfp16", "lse"}, {"sve", "bf16"});
}

TEST(Target, ProgramsOfOtherMachinesAreRefused) {
  // A CPU with something that no machine has together.
  Result<Target> machine = Target::named("", "sapphirerapids", "+xop,+fma4");
  ASSERT_TRUE(machine);
  Result<void> fits = checkHost(machine->triple, machine->instructionSets);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().kind, ErrorKind::Unsupported);
  Result<Target> baseline = Target::named("", "x86-64", "");
  ASSERT_TRUE(baseline);
  EXPECT_TRUE(checkHost(baseline->triple, baseline->instructionSets));
  Result<Target> host = Target::host();
  ASSERT_TRUE(host);
  EXPECT_TRUE(checkHost(host->triple, host->instructionSets));
  EXPECT_GT(host->instructionSets.size(), 2u);
}

TEST(Target, OtherMachinesCodeCanBeLinked) {
  Result<Target> arm = Target::named("aarch64-unknown-linux-gnu", "", "");
  ASSERT_TRUE(arm);
  KernelRunner runner(*arm);
  addElementwise(runner, "sine", [](OpBuilder &b, Location loc, Value x) {
    return b.create<math::SinOp>(loc, x).getResult();
  });
  Result<ObjectFile> object = cpu::compile(runner.module(), *arm);
  ASSERT_TRUE(object) << object.error().message();
  std::vector<std::string> names = {"sine"};
  Result<CodeImage> image = cpu::link(std::span(&*object, 1), names);
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_EQ(image->entries.size(), 1u);
  names.push_back("cosine");
  EXPECT_FALSE(cpu::link(std::span(&*object, 1), names));
}

} // namespace
