//===- KernelFunction.cpp - the calling convention of kernels -------------===//

#include "backend/cpu/codegen/KernelFunction.h"

#include "backend/cpu/kernels/common/KernelBuilder.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The size of the buffer's type; 0 where it is dynamic.
static uint64_t bytesOf(const KernelBuffer &buffer) {
  if (buffer.isDynamic)
    return 0;
  const MemRefType type = buffer.type;
  Type element = type.getElementType();
  int64_t scalars = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    scalars = 2;
    element = complex.getElementType();
  }
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return uint64_t(type.getNumElements() * scalars *
                  int64_t(llvm::divideCeil(bits, 8)));
}

uint64_t cpu::contractBytes(const KernelBuffer &buffer) {
  return buffer.bytes.value_or(bytesOf(buffer));
}

/// The attributes of the pointer to a buffer that LLVM may rely on.
static DictionaryAttr argumentFacts(OpBuilder &builder,
                                    const KernelBuffer &buffer) {
  NamedAttrList facts;
  Attribute unit = builder.getUnitAttr();
  facts.set(LLVM::LLVMDialect::getNoAliasAttrName(), unit);
  if (!buffer.isWritten)
    facts.set(LLVM::LLVMDialect::getReadonlyAttrName(), unit);
  facts.set(LLVM::LLVMDialect::getAlignAttrName(),
            builder.getI64IntegerAttr(buffer.alignment));
  if (uint64_t bytes = bytesOf(buffer))
    facts.set(LLVM::LLVMDialect::getDereferenceableAttrName(),
              builder.getI64IntegerAttr(int64_t(bytes)));
  return facts.getDictionary(builder.getContext());
}

/// Creates the function that does the work. It is separate because pointer
/// attributes need arguments.
static func::FuncOp createBody(ModuleOp module, Location location,
                               StringRef name, ArrayRef<KernelBuffer> buffers,
                               TaskBuilder buildTask) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  MLIRContext *context = module.getContext();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> facts;
  for (const KernelBuffer &buffer : buffers) {
    types.push_back(buffer.type);
    facts.push_back(argumentFacts(builder, buffer));
  }
  types.append(2, builder.getIndexType());
  facts.append(2, builder.getDictionaryAttr({}));

  auto function = builder.create<func::FuncOp>(
      location, (name + bodySuffix).str(), builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  function.setAllArgAttrs(facts);
  for (auto [i, buffer] : llvm::enumerate(buffers))
    if (buffer.isSizes)
      function->setAttr(sizesArgument, builder.getI64IntegerAttr(i));

  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  ValueRange arguments = entry->getArguments();
  Value step = builder.create<arith::ConstantIndexOp>(location, 1);
  auto loop = builder.create<scf::ForOp>(location, arguments[buffers.size()],
                                         arguments[buffers.size() + 1], step);
  builder.create<func::ReturnOp>(location);
  builder.setInsertionPointToStart(loop.getBody());
  buildTask(builder, location, loop.getInductionVar(),
            arguments.take_front(buffers.size()));
  return function;
}

KernelContract cpu::createKernel(ModuleOp module, Location location,
                                 StringRef name, ArrayRef<KernelBuffer> buffers,
                                 TaskBuilder buildTask) {
  func::FuncOp body = createBody(module, location, name, buffers, buildTask);

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  MLIRContext *context = module.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto entry = builder.create<func::FuncOp>(
      location, name, builder.getFunctionType({pointer, i64, i64}, {}));
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToStart(block);

  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(indexBitsOf(module));
  LLVMTypeConverter converter(context, options);
  SmallVector<Value> operands;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    Value slot = builder.create<LLVM::GEPOp>(
        location, pointer, pointer, block->getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    Value address = builder.create<LLVM::LoadOp>(location, pointer, slot);
    Value descriptor = MemRefDescriptor::fromStaticShape(
        builder, location, converter, buffer.type, address);
    operands.push_back(builder
                           .create<UnrealizedConversionCastOp>(
                               location, buffer.type, descriptor)
                           .getResult(0));
  }
  for (unsigned bound : {1, 2})
    operands.push_back(builder.create<arith::IndexCastOp>(
        location, builder.getIndexType(), block->getArgument(bound)));
  builder.create<func::CallOp>(location, body, operands);
  builder.create<func::ReturnOp>(location);

  KernelContract contract;
  for (const KernelBuffer &buffer : buffers)
    contract.buffers.push_back({contractBytes(buffer),
                                static_cast<uint32_t>(buffer.alignment),
                                buffer.isWritten});
  return contract;
}

Value cpu::createScratch(OpBuilder &builder, Location location,
                         MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  return builder.create<memref::AllocaOp>(location, type,
                                          builder.getI64IntegerAttr(64));
}
