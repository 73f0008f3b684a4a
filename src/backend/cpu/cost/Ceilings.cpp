//===- Ceilings.cpp - kernels that do nothing but keep a machine busy -----===//

#include "backend/cpu/cost/Ceilings.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/kernels/amx/TileInstructions.h"
#include "backend/cpu/kernels/common/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace sinter::cpu {
namespace {

/// Vectors that are read before the sums of the first are needed again.
constexpr int64_t readChains = 8;

/// One step of a chain.
using Step =
    llvm::function_ref<Value(VectorBuilder &, Value x, Value a, Value b)>;

void emitChains(ModuleOp module, StringRef name, VectorType type,
                const ChainKernel &kernel, Step step) {
  const auto flat = [&](int64_t size) {
    return MemRefType::get({size}, type.getElementType());
  };
  createKernel(
      module, module.getLoc(), name,
      {{flat(kernel.inputSize()), /*isWritten=*/false},
       {flat(kernel.lanes), /*isWritten=*/true}},
      [&](OpBuilder &builder, Location loc, Value, ValueRange buffers) {
        VectorBuilder code(builder, loc);
        const auto read = [&](int64_t number) {
          return code.load(buffers[0], code.index(number * kernel.lanes), type);
        };
        SmallVector<Value> chains;
        for (int64_t i = 0; i < kernel.chains; ++i)
          chains.push_back(read(i));
        const Value a = read(kernel.chains), b = read(kernel.chains + 1);
        chains = code.loop(code.index(0), code.index(chainSteps), 1, chains,
                           [&](Value, ValueRange carried) {
                             SmallVector<Value> next;
                             for (Value x : carried)
                               next.push_back(step(code, x, a, b));
                             return next;
                           });
        Value sum = chains.front();
        for (Value x : ArrayRef(chains).drop_front())
          sum = isa<FloatType>(type.getElementType())
                    ? code.addVectors(sum, x)
                    : code.create<arith::AddIOp>(sum, x);
        code.store(sum, buffers[1], code.index(0));
      });
}

/// As many as registers hold beside what is multiplied and added.
ChainKernel chainsFor(const Target &target, int64_t lanes, double operations) {
  ChainKernel kernel;
  kernel.chains = target.vectorRegisters - 4;
  kernel.lanes = lanes;
  kernel.operationsPerTask =
      operations * static_cast<double>(kernel.chains * chainSteps * lanes);
  return kernel;
}

/// An instruction that multiplies integers and adds neighbours, by the bytes
/// of its vectors.
struct DotInstruction {
  int64_t bytes;
  const char *feature, *intrinsic;
};

constexpr DotInstruction dotsOfBytes[] = {
    {64, "avx512vnni", "llvm.x86.avx512.vpdpbusd.512"},
    {32, "avx512vnni", "llvm.x86.avx512.vpdpbusd.256"},
    {32, "avxvnni", "llvm.x86.avx512.vpdpbusd.256"},
};
constexpr DotInstruction dotsOfPairs[] = {
    {64, "avx512bw", "llvm.x86.avx512.pmaddw.d.512"},
    {32, "avx2", "llvm.x86.avx2.pmadd.wd"},
    {16, "", "llvm.x86.sse2.pmadd.wd"},
};

/// The first that \p target has; the widest stand first.
const DotInstruction *find(ArrayRef<DotInstruction> instructions,
                           const Target &target) {
  const auto *found =
      llvm::find_if(instructions, [&](const DotInstruction &each) {
        const bool isThere =
            !*each.feature ||
            llvm::is_contained(target.instructionSets, each.feature);
        return each.bytes <= target.vectorBytes() && isThere;
      });
  return found == instructions.end() ? nullptr : found;
}

Value call(VectorBuilder &code, const char *intrinsic, VectorType type,
           ValueRange operands) {
  return code.builder
      .create<LLVM::CallIntrinsicOp>(
          code.loc, type, code.builder.getStringAttr(intrinsic), operands)
      ->getResult(0);
}

} // namespace

ChainKernel emitMultiplyAdds(ModuleOp module, StringRef name,
                             const Target &target, unsigned bits) {
  Builder builder(module.getContext());
  ChainKernel kernel =
      chainsFor(target, target.f32Lanes * 32 / bits, /*operations=*/2);
  kernel.instruction =
      target.hasFma ? "fused multiply-add" : "multiplication and addition";
  auto type = VectorType::get(
      {kernel.lanes}, bits == 64 ? builder.getF64Type() : builder.getF32Type());
  emitChains(module, name, type, kernel,
             [&](VectorBuilder &code, Value x, Value a, Value b) {
               if (target.hasFma)
                 return code.fma(x, a, b);
               return code.addVectors(code.create<arith::MulFOp>(x, a), b);
             });
  return kernel;
}

std::optional<ChainKernel> emitIntegerDots(ModuleOp module, StringRef name,
                                           const Target &target) {
  if (!llvm::Triple(target.triple).isX86())
    return std::nullopt;
  const DotInstruction *bytes = find(dotsOfBytes, target);
  const DotInstruction &dot = bytes ? *bytes : *find(dotsOfPairs, target);
  ChainKernel kernel = chainsFor(target, dot.bytes / 4, bytes ? 8 : 4);
  kernel.instruction =
      bytes ? "dot product of 8 bits" : "multiply-add of 16 bits";
  Builder builder(module.getContext());
  auto type = VectorType::get({kernel.lanes}, builder.getI32Type());
  auto pairs = VectorType::get({kernel.lanes * 2}, builder.getI16Type());
  emitChains(module, name, type, kernel,
             [&](VectorBuilder &code, Value x, Value a, Value b) -> Value {
               if (bytes)
                 return call(code, dot.intrinsic, type, {x, a, b});
               // Of the chain's own numbers: a product that every step has
               // in common would be computed once.
               Value halves = code.create<vector::BitCastOp>(pairs, x);
               Value other = code.create<vector::BitCastOp>(pairs, b);
               return code.create<arith::AddIOp>(
                   x, call(code, dot.intrinsic, type, {halves, other}));
             });
  return kernel;
}

std::optional<ChainKernel> emitBFloat16Dots(ModuleOp module, StringRef name,
                                            const Target &target) {
  if (!target.hasBF16Dot)
    return std::nullopt;
  ChainKernel kernel = chainsFor(target, target.f32Lanes, /*operations=*/4);
  kernel.instruction = "dot product of bf16";
  Builder builder(module.getContext());
  auto words = VectorType::get({kernel.lanes}, builder.getI32Type()),
       floats = VectorType::get({kernel.lanes}, builder.getF32Type()),
       pairs = VectorType::get({kernel.lanes * 2}, builder.getBF16Type());
  emitChains(module, name, words, kernel,
             [&](VectorBuilder &code, Value x, Value a, Value b) -> Value {
               auto as = [&](VectorType type, Value value) -> Value {
                 return code.create<vector::BitCastOp>(type, value);
               };
               return as(words,
                         call(code, "llvm.x86.avx512bf16.dpbf16ps.512", floats,
                              {as(floats, x), as(pairs, a), as(pairs, b)}));
             });
  return kernel;
}

int64_t readGrain(const Target &target) { return readChains * target.f32Lanes; }

void emitReads(ModuleOp module, StringRef name, const Target &target,
               int64_t most) {
  Builder builder(module.getContext());
  const int64_t lanes = target.f32Lanes;
  auto type = VectorType::get({lanes}, builder.getI32Type());
  createKernel(
      module, module.getLoc(), name,
      {{MemRefType::get({most}, builder.getI32Type()), /*isWritten=*/false},
       {MemRefType::get({1}, builder.getI64Type()), /*isWritten=*/false},
       {MemRefType::get({lanes}, builder.getI32Type()), /*isWritten=*/true}},
      [&](OpBuilder &builder, Location loc, Value, ValueRange buffers) {
        VectorBuilder code(builder, loc);
        // Not a constant: a loop that is written out could be moved out of that
        // over tasks, which all read the same.
        Value size = code.create<arith::IndexCastOp>(
            builder.getIndexType(),
            code.create<memref::LoadOp>(buffers[1], code.index(0)));
        SmallVector<Value> sums(readChains, code.zero(type));
        sums = code.loop(
            code.index(0), size, readGrain(target), sums,
            [&](Value at, ValueRange carried) {
              SmallVector<Value> next;
              for (auto [i, sum] : llvm::enumerate(carried))
                next.push_back(code.create<arith::AddIOp>(
                    sum, code.load(buffers[0], code.add(at, i * lanes), type)));
              return next;
            });
        Value sum = sums.front();
        for (Value each : ArrayRef(sums).drop_front())
          sum = code.create<arith::AddIOp>(sum, each);
        code.store(sum, buffers[2], code.index(0));
      });
}

TileChainKernel emitTileProducts(ModuleOp module, StringRef name,
                                 const Target &target, ElementType part,
                                 int64_t bytes) {
  assert(target.hasMatrixUnits);
  constexpr int64_t registers = 4, stepBytes = registers * tileBytes;
  const bool isOfBytes = part != ElementType::BF16;
  TileChainKernel kernel;
  kernel.inputBytes = std::max(stepBytes, bytes / stepBytes * stepBytes);
  kernel.steps = bytes == 0 ? chainSteps : kernel.inputBytes / stepBytes;
  kernel.bytesPerTask = bytes == 0 ? 0 : kernel.inputBytes;
  // Each of a row's 64 bytes is multiplied for each of 16 columns.
  const double ofRegisters =
      2.0 * mostTileRows * 16 * tileRowBytes / (isOfBytes ? 1 : 2);
  kernel.operationsPerTask =
      ofRegisters * registers * static_cast<double>(kernel.steps);
  Builder b(module.getContext());
  const auto flat = [&](int64_t size) {
    return MemRefType::get({size}, b.getI8Type());
  };
  createKernel(
      module, module.getLoc(), name,
      {{flat(kernel.inputBytes), /*isWritten=*/false},
       {flat(stepBytes), /*isWritten=*/true}},
      [&](OpBuilder &builder, Location loc, Value, ValueRange buffers) {
        VectorBuilder code(builder, loc);
        TileInstructions tiles(code);
        std::array<TileShape, tileRegisters> shapes;
        shapes.fill({mostTileRows, tileRowBytes});
        configureTiles(code, shapes);
        const Value numbers = tiles.addressOf(code.flatten(buffers[0])),
                    sums = tiles.addressOf(code.flatten(buffers[1]));
        const auto load = [&](Value from) {
          for (int64_t i = 0; i < registers; ++i)
            tiles.load(registers + i, numbers, code.add(from, i * tileBytes),
                       tileRowBytes);
        };
        for (int64_t i = 0; i < registers; ++i)
          tiles.zero(i);
        load(code.index(0));
        code.loop(code.index(0), code.index(kernel.steps), 1, [&](Value step) {
          if (bytes != 0)
            load(code.mul(step, stepBytes));
          for (int64_t i = 0; i < registers; ++i)
            tiles.multiply(i, registers + i / 2, registers + 2 + i % 2, part,
                           isOfBytes ? ElementType::I8 : part);
        });
        for (int64_t i = 0; i < registers; ++i)
          tiles.store(i, sums, code.index(i * tileBytes), tileRowBytes);
      });
  return kernel;
}

} // namespace sinter::cpu
