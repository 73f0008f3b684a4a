//===- TileInstructions.cpp - AMX instructions ----------------------------===//

#include "backend/cpu/kernels/amx/TileInstructions.h"

#include "backend/cpu/codegen/KernelFunction.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static void callTileIntrinsic(OpBuilder &builder, Location location,
                              StringRef name, ValueRange operands) {
  builder.create<LLVM::CallIntrinsicOp>(
      location, TypeRange(), builder.getStringAttr("llvm.x86." + name),
      operands, LLVM::FastmathFlagsAttr());
}

/// The memory that ldtilecfg reads: palette 1, bytes of a row from 16 on, rows
/// from 48 on (SDM volume 1, table 18-1).
static constexpr size_t configurationBytes = 64, bytesAt = 16, rowsAt = 48;

static SmallVector<int8_t>
configurationOf(const std::array<TileShape, tileRegisters> &shapes) {
  SmallVector<int8_t> bytes(configurationBytes, 0);
  bytes[0] = 1;
  for (auto [tile, shape] : llvm::enumerate(shapes)) {
    assert(shape.rows <= mostTileRows && shape.bytes <= tileRowBytes);
    bytes[bytesAt + 2 * tile] = int8_t(shape.bytes);
    bytes[rowsAt + tile] = int8_t(shape.rows);
  }
  return bytes;
}

void cpu::configureTiles(VectorBuilder &code,
                         const std::array<TileShape, tileRegisters> &shapes) {
  OpBuilder &builder = code.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto function = builder.getInsertionBlock()
                      ->getParentOp()
                      ->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  Value memory =
      createScratch(builder, code.loc,
                    MemRefType::get({configurationBytes}, builder.getI8Type()));
  builder.setInsertionPointAfterValue(memory);
  const SmallVector<int8_t> bytes = configurationOf(shapes);
  Value numbers = builder.create<arith::ConstantOp>(
      code.loc, DenseElementsAttr::get(
                    VectorType::get({configurationBytes}, builder.getI8Type()),
                    ArrayRef<int8_t>(bytes)));
  Value zero = builder.create<arith::ConstantIndexOp>(code.loc, 0);
  builder.create<vector::StoreOp>(code.loc, numbers, memory, zero);
  // Values that tasks compute are not available yet.
  VectorBuilder atStart(builder, code.loc);
  for (auto [tile, shape] : llvm::enumerate(shapes))
    if (shape.dynamicRows) {
      Value rows = atStart.create<arith::IndexCastOp>(
          builder.getI8Type(), shape.dynamicRows(atStart));
      builder.create<memref::StoreOp>(code.loc, rows, memory,
                                      atStart.index(int64_t(rowsAt + tile)));
    }
  Value address = TileInstructions(code).addressOf(memory);
  callTileIntrinsic(builder, code.loc, "ldtilecfg", address);
  builder.setInsertionPoint(function.getBody().back().getTerminator());
  callTileIntrinsic(builder, code.loc, "tilerelease", {});
}

Value TileInstructions::addressOf(Value flat) {
  OpBuilder &b = code.builder;
  LLVMTypeConverter converter(b.getContext());
  Value descriptor = b.create<UnrealizedConversionCastOp>(
                          code.loc, converter.convertType(flat.getType()), flat)
                         .getResult(0);
  return b.create<LLVM::ExtractValueOp>(code.loc, descriptor,
                                        ArrayRef<int64_t>{1});
}

Value TileInstructions::number(int64_t tile) {
  OpBuilder &b = code.builder;
  return b.create<LLVM::ConstantOp>(code.loc, b.getI8Type(),
                                    b.getI8IntegerAttr(int8_t(tile)));
}

Value TileInstructions::at(Value address, Value offset) {
  OpBuilder &b = code.builder;
  Value number = b.create<arith::IndexCastOp>(code.loc, b.getI64Type(), offset);
  return b.create<LLVM::GEPOp>(code.loc, address.getType(), b.getI8Type(),
                               address, ValueRange{number});
}

Value TileInstructions::addressAt(Value address, Value offset) {
  // Loop strength reduction does not look through it, and it is gone before
  // instruction selection.
  return code.builder
      .create<LLVM::CallIntrinsicOp>(
          code.loc, address.getType(),
          code.builder.getStringAttr("llvm.launder.invariant.group"),
          ValueRange{at(address, offset)}, LLVM::FastmathFlagsAttr())
      .getResult(0);
}

void TileInstructions::call(StringRef name, ValueRange operands) {
  callTileIntrinsic(code.builder, code.loc, name, operands);
}

void TileInstructions::zero(int64_t tile) { call("tilezero", number(tile)); }

void TileInstructions::load(int64_t tile, Value address, Value offset,
                            int64_t stride) {
  OpBuilder &b = code.builder;
  Value apart = b.create<LLVM::ConstantOp>(code.loc, b.getI64Type(),
                                           b.getI64IntegerAttr(stride));
  call("tileloadd64", {number(tile), at(address, offset), apart});
}

void TileInstructions::store(int64_t tile, Value address, Value offset,
                             int64_t stride) {
  OpBuilder &b = code.builder;
  Value apart = b.create<LLVM::ConstantOp>(code.loc, b.getI64Type(),
                                           b.getI64IntegerAttr(stride));
  call("tilestored64", {number(tile), at(address, offset), apart});
}

void TileInstructions::multiply(int64_t sums, int64_t a, int64_t b,
                                ElementType lhs, ElementType rhs) {
  const auto sign = [](ElementType type) {
    return type == ElementType::UI8 ? "u" : "s";
  };
  const std::string name =
      lhs == ElementType::BF16
          ? "tdpbf16ps"
          : std::string("tdpb") + sign(lhs) + sign(rhs) + "d";
  call(name, {number(sums), number(a), number(b)});
}
