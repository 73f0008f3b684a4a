//===- HelperFunctions.cpp - what code generators call, as code -----------===//

#include "backend/cpu/ahead/HelperFunctions.h"

#include "backend/cpu/target/Target.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Builds one function.
class HelperBuilder {
public:
  explicit HelperBuilder(llvm::Module &module)
      : module(module), builder(module.getContext()),
        size(module.getDataLayout().getIntPtrType(module.getContext())) {}

  void addCopy(llvm::StringRef name, bool mayOverlap);
  /// memset(p, byte, n); of the names of Arm's ABI (p, n, byte), or (p, n).
  void addFill(llvm::StringRef name, int bytePlace, int sizePlace);
  void addExtension(llvm::StringRef name, bool asBits);
  void addTruncation(llvm::StringRef name, bool ofDouble, bool asBits);

private:
  using Body = llvm::function_ref<void(llvm::Value *at)>;

  llvm::Function *begin(llvm::StringRef name, llvm::Type *result,
                        llvm::ArrayRef<llvm::Type *> arguments);
  /// A loop over the numbers from 0 to \p count, or down from the last one.
  void loop(llvm::Value *count, bool isDown, Body body);
  llvm::Value *byteAt(llvm::Value *base, llvm::Value *offset) {
    return builder.CreateInBoundsGEP(builder.getInt8Ty(), base, offset);
  }
  llvm::BasicBlock *block(const char *name) {
    return llvm::BasicBlock::Create(module.getContext(), name,
                                    builder.GetInsertBlock()->getParent());
  }

  llvm::Module &module;
  llvm::IRBuilder<> builder;
  llvm::IntegerType *size;
};

} // namespace

llvm::Function *HelperBuilder::begin(llvm::StringRef name, llvm::Type *result,
                                     llvm::ArrayRef<llvm::Type *> arguments) {
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(result, arguments, false),
                             llvm::GlobalValue::InternalLinkage, name, module);
  function->setDSOLocal(true);
  function->setDoesNotThrow();
  // On 32-bit Arm they pass floats in core registers, wherever others do.
  const llvm::Triple triple(module.getTargetTriple());
  if (isArm32(triple))
    function->setCallingConv(llvm::CallingConv::ARM_AAPCS);
  // No loop of it is a call of itself.
  function->addFnAttr("no-builtins");
  llvm::appendToCompilerUsed(module, {function});
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  return function;
}

void HelperBuilder::loop(llvm::Value *count, bool isDown, Body body) {
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::BasicBlock *head = block("head"), *work = block("work"),
                   *after = block("after");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  llvm::PHINode *done = builder.CreatePHI(size, 2);
  done->addIncoming(llvm::ConstantInt::get(size, 0), before);
  builder.CreateCondBr(builder.CreateICmpULT(done, count), work, after);
  builder.SetInsertPoint(work);
  llvm::Value *next = builder.CreateAdd(done, llvm::ConstantInt::get(size, 1));
  body(isDown ? builder.CreateSub(count, next) : done);
  done->addIncoming(next, work);
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
}

void HelperBuilder::addCopy(llvm::StringRef name, bool mayOverlap) {
  llvm::PointerType *pointer = builder.getPtrTy();
  const bool returnsPointer = !name.starts_with("__aeabi");
  llvm::Function *function =
      begin(name, returnsPointer ? pointer : builder.getVoidTy(),
            {pointer, pointer, size});
  llvm::Value *to = function->getArg(0), *from = function->getArg(1);
  const auto copyByte = [&](llvm::Value *at) {
    builder.CreateStore(
        builder.CreateLoad(builder.getInt8Ty(), byteAt(from, at)),
        byteAt(to, at));
  };
  const auto finish = [&] {
    returnsPointer ? builder.CreateRet(to) : builder.CreateRetVoid();
  };
  if (mayOverlap) {
    llvm::BasicBlock *up = block("up"), *down = block("down");
    builder.CreateCondBr(builder.CreateICmpULE(to, from), up, down);
    builder.SetInsertPoint(down);
    loop(function->getArg(2), /*isDown=*/true, copyByte);
    finish();
    builder.SetInsertPoint(up);
  }
  loop(function->getArg(2), /*isDown=*/false, copyByte);
  finish();
}

void HelperBuilder::addFill(llvm::StringRef name, int bytePlace,
                            int sizePlace) {
  llvm::PointerType *pointer = builder.getPtrTy();
  const bool returnsPointer = !name.starts_with("__aeabi");
  llvm::SmallVector<llvm::Type *> arguments(bytePlace < 0 ? 2 : 3, size);
  arguments[0] = pointer;
  if (bytePlace > 0)
    arguments[bytePlace] = builder.getInt32Ty();
  llvm::Function *function =
      begin(name, returnsPointer ? pointer : builder.getVoidTy(), arguments);
  llvm::Value *byte = bytePlace < 0
                          ? llvm::cast<llvm::Value>(builder.getInt8(0))
                          : builder.CreateTrunc(function->getArg(bytePlace),
                                                builder.getInt8Ty());
  loop(function->getArg(sizePlace), /*isDown=*/false, [&](llvm::Value *at) {
    builder.CreateStore(byte, byteAt(function->getArg(0), at));
  });
  if (returnsPointer)
    builder.CreateRet(function->getArg(0));
  else
    builder.CreateRetVoid();
}

/// f16 -> f32, which holds it. \p asBits: the argument is an integer.
void HelperBuilder::addExtension(llvm::StringRef name, bool asBits) {
  llvm::Type *i32 = builder.getInt32Ty(), *f32 = builder.getFloatTy();
  llvm::Function *function =
      begin(name, f32, {asBits ? i32 : builder.getHalfTy()});
  llvm::Value *given = function->getArg(0);
  if (!asBits)
    given = builder.CreateZExt(
        builder.CreateBitCast(given, builder.getInt16Ty()), i32);
  const auto number = [&](uint32_t value) { return builder.getInt32(value); };
  llvm::Value *sign =
      builder.CreateShl(builder.CreateAnd(given, number(0x8000)), 16);
  llvm::Value *magnitude = builder.CreateAnd(given, number(0x7FFF));
  llvm::Value *normal = builder.CreateAdd(builder.CreateShl(magnitude, 13),
                                          number((127 - 15) << 23));
  // Multiples of 2^-24, which are normal floats.
  llvm::Value *small = builder.CreateBitCast(
      builder.CreateFMul(builder.CreateUIToFP(magnitude, f32),
                         llvm::ConstantFP::get(f32, 0x1p-24)),
      i32);
  llvm::Value *result = builder.CreateSelect(
      builder.CreateICmpULT(magnitude, number(0x0400)), small, normal);
  result = builder.CreateSelect(
      builder.CreateICmpUGE(magnitude, number(0x7C00)),
      builder.CreateSelect(builder.CreateICmpUGT(magnitude, number(0x7C00)),
                           number(0x7FC00000), number(0x7F800000)),
      result);
  builder.CreateRet(builder.CreateBitCast(builder.CreateOr(result, sign), f32));
}

/// f32 or f64 -> f16, to nearest, ties to even.
void HelperBuilder::addTruncation(llvm::StringRef name, bool ofDouble,
                                  bool asBits) {
  llvm::Type *i16 = builder.getInt16Ty();
  llvm::IntegerType *word =
      ofDouble ? builder.getInt64Ty() : builder.getInt32Ty();
  const unsigned bits = ofDouble ? 64 : 32, mantissa = ofDouble ? 52 : 23,
                 bias = ofDouble ? 1023 : 127, dropped = mantissa - 10;
  llvm::Function *function =
      begin(name, asBits ? i16 : builder.getHalfTy(),
            {ofDouble ? builder.getDoubleTy() : builder.getFloatTy()});
  const auto number = [&](uint64_t value) -> llvm::Value * {
    return llvm::ConstantInt::get(word, value);
  };
  /// The float 2^power.
  const auto power = [&](int exponent) {
    return uint64_t(int(bias) + exponent) << mantissa;
  };
  llvm::Value *given = builder.CreateBitCast(function->getArg(0), word);
  llvm::Value *sign =
      builder.CreateAnd(builder.CreateLShr(given, bits - 16), number(0x8000));
  llvm::Value *magnitude =
      builder.CreateAnd(given, number((uint64_t(1) << (bits - 1)) - 1));
  /// Drops bits of `value`, and rounds.
  const auto rounded = [&](llvm::Value *value, llvm::Value *shift) {
    llvm::Value *kept = builder.CreateLShr(value, shift);
    llvm::Value *half =
        builder.CreateShl(number(1), builder.CreateSub(shift, number(1)));
    llvm::Value *up = builder.CreateAdd(builder.CreateSub(half, number(1)),
                                        builder.CreateAnd(kept, number(1)));
    return builder.CreateLShr(builder.CreateAdd(value, up), shift);
  };
  llvm::Value *normal = rounded(
      builder.CreateSub(magnitude, number(uint64_t(bias - 15) << mantissa)),
      number(dropped));
  // Multiples of 2^-24. What is far below its half becomes zero, too.
  llvm::Value *significand = builder.CreateOr(
      builder.CreateAnd(magnitude, number((uint64_t(1) << mantissa) - 1)),
      number(uint64_t(1) << mantissa));
  llvm::Value *shift =
      builder.CreateSub(number(bias - 14 + dropped),
                        builder.CreateLShr(magnitude, number(mantissa)));
  const uint64_t most = mantissa + 2;
  shift = builder.CreateSelect(builder.CreateICmpULT(shift, number(most)),
                               shift, number(most));
  llvm::Value *result =
      builder.CreateSelect(builder.CreateICmpULT(magnitude, number(power(-14))),
                           rounded(significand, shift), normal);
  // 65520 is the first that rounds to infinity.
  const uint64_t overflow = power(15) | uint64_t(0x7FF) << (mantissa - 11);
  result =
      builder.CreateSelect(builder.CreateICmpUGE(magnitude, number(overflow)),
                           number(0x7C00), result);
  const uint64_t infinity = power(int(bias) + 1);
  result =
      builder.CreateSelect(builder.CreateICmpUGT(magnitude, number(infinity)),
                           number(0x7E00), result);
  result = builder.CreateTrunc(builder.CreateOr(result, sign), i16);
  builder.CreateRet(
      asBits ? result : builder.CreateBitCast(result, builder.getHalfTy()));
}

bool cpu::addHelperFunctions(llvm::Module &module,
                             llvm::ArrayRef<std::string> names) {
  HelperBuilder helper(module);
  bool any = false;
  for (const std::string &name : names) {
    llvm::StringRef base = name;
    if (base.consume_front("__aeabi_"))
      // __aeabi_memcpy4 and __aeabi_memcpy8 may rely on alignment.
      base.consume_back("4") || base.consume_back("8");
    const bool isArm = base.size() != name.size();
    if (base == "memcpy" || base == "memmove")
      helper.addCopy(name, base == "memmove");
    else if (base == "memset")
      helper.addFill(name, isArm ? 2 : 1, isArm ? 1 : 2);
    else if (isArm && base == "memclr")
      helper.addFill(name, -1, 1);
    else if (name == "__extendhfsf2")
      helper.addExtension(name, /*asBits=*/false);
    else if (name == "__gnu_h2f_ieee" || (isArm && base == "h2f"))
      helper.addExtension(name, /*asBits=*/true);
    else if (name == "__truncsfhf2" || name == "__truncdfhf2")
      helper.addTruncation(name, name == "__truncdfhf2", /*asBits=*/false);
    else if (name == "__gnu_f2h_ieee" || (isArm && base == "f2h"))
      helper.addTruncation(name, /*ofDouble=*/false, /*asBits=*/true);
    else if (isArm && base == "d2h")
      helper.addTruncation(name, /*ofDouble=*/true, /*asBits=*/true);
    else
      continue;
    any = true;
  }
  return any;
}
