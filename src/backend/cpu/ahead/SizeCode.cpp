//===- SizeCode.cpp - sizes of a dynamic program, as code -----------------===//

#include "backend/cpu/ahead/SizeCode.h"

#include "runtime/Bundle.h"

using namespace sinter;
using namespace sinter::cpu;

SizeCode::SizeCode(llvm::IRBuilder<> &builder, const DynamicProgram &dynamic)
    : builder(builder), dynamic(dynamic),
      parameters(dynamic.parameters.size(), nullptr), bad(builder.getFalse()),
      condition(builder.getTrue()) {}

void SizeCode::give(uint32_t parameter, llvm::Value *value,
                    std::optional<int64_t> most) {
  parameters[parameter] = value;
  refuseIf(builder.CreateICmpSLT(value, number(0)));
  if (most)
    refuseIf(builder.CreateICmpSGT(value, number(*most)));
}

void SizeCode::addFollowing() {
  for (const FollowingSize &each : dynamic.following)
    parameters[each.parameter] = followingValue(each);
}

/// As of DynamicProgram.cpp.
llvm::Value *SizeCode::followingValue(const FollowingSize &each) {
  llvm::Value *size = valueOf(each.size), *other = valueOf(each.other);
  switch (each.kind) {
  case FollowingKind::Quotient:
    return builder.CreateSelect(builder.CreateICmpSLT(size, number(0)),
                                number(-1),
                                builder.CreateUDiv(size, number(each.divisor)));
  case FollowingKind::Least:
    return leastOf(size, other);
  case FollowingKind::Greatest:
    return greatestOf(size, other);
  case FollowingKind::Together:
    break;
  }
  llvm::Value *isSize =
      builder.CreateOr(builder.CreateICmpEQ(size, other),
                       builder.CreateICmpEQ(other, number(1)));
  return builder.CreateSelect(
      isSize, size,
      builder.CreateSelect(builder.CreateICmpEQ(size, number(1)), other,
                           number(-1)));
}

void SizeCode::addGuards() {
  for (const ShapeGuard &guard : dynamic.guards) {
    llvm::Value *left = valueOf(guard.left), *right = valueOf(guard.right);
    llvm::Value *differ = builder.CreateICmpNE(left, right);
    switch (guard.relation) {
    case ShapeGuard::Relation::Equal:
      refuseIf(differ);
      break;
    case ShapeGuard::Relation::AtMost:
      refuseIf(builder.CreateICmpSGT(left, right));
      break;
    case ShapeGuard::Relation::Broadcast:
      refuseIf(builder.CreateAnd(
          differ, builder.CreateAnd(builder.CreateICmpNE(left, number(1)),
                                    builder.CreateICmpNE(right, number(1)))));
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

SizeCode::Checked SizeCode::combined(llvm::Intrinsic::ID operation, Checked a,
                                     Checked b) {
  const auto *left = llvm::dyn_cast<llvm::ConstantInt>(a.value),
             *right = llvm::dyn_cast<llvm::ConstantInt>(b.value);
  if (left && right) {
    bool overflows = false;
    const llvm::APInt &one = left->getValue(), &other = right->getValue();
    const llvm::APInt value = operation == llvm::Intrinsic::sadd_with_overflow
                                  ? one.sadd_ov(other, overflows)
                                  : one.smul_ov(other, overflows);
    return {builder.getInt(value), either(either(a.overflows, b.overflows),
                                          builder.getInt1(overflows))};
  }
  llvm::Value *both =
      builder.CreateBinaryIntrinsic(operation, a.value, b.value);
  return {builder.CreateExtractValue(both, 0),
          either(either(a.overflows, b.overflows),
                 builder.CreateExtractValue(both, 1))};
}

llvm::Value *SizeCode::either(llvm::Value *a, llvm::Value *b) {
  return builder.CreateOr(a, b);
}

/// The sum of products, in the order of SizeExpression::at().
SizeCode::Checked SizeCode::checked(const SizeExpression &size) {
  const auto found = known.find(size);
  if (found != known.end())
    return found->second;
  std::optional<Checked> sum;
  for (const SizeExpression::Term &term : size.terms()) {
    std::optional<Checked> product;
    const auto times = [&](Checked factor) {
      product = product ? combined(llvm::Intrinsic::smul_with_overflow,
                                   *product, factor)
                        : factor;
    };
    if (term.factor != 1 || term.parameters.empty())
      times({number(term.factor), builder.getFalse()});
    for (uint32_t parameter : term.parameters)
      times({parameters[parameter], builder.getFalse()});
    sum = sum ? combined(llvm::Intrinsic::sadd_with_overflow, *sum, *product)
              : *product;
  }
  const Checked value = sum.value_or(Checked{number(0), builder.getFalse()});
  known.emplace(size, value);
  return value;
}

llvm::Value *SizeCode::used(Checked value) {
  refuseIf(value.overflows);
  return value.value;
}

llvm::Value *SizeCode::valueOf(const SizeExpression &size) {
  return used(checked(size));
}

llvm::Value *SizeCode::sizeOf(const SizeExpression &size) {
  llvm::Value *value = valueOf(size);
  refuseIf(builder.CreateICmpSLT(value, number(0)));
  return value;
}

llvm::Value *SizeCode::partsOf(const SizePart &part) {
  llvm::Value *size = sizeOf(part.size);
  if (part.block == 1)
    return size;
  llvm::Value *whole = builder.CreateUDiv(size, number(part.block));
  llvm::Value *isMore =
      builder.CreateICmpNE(builder.CreateMul(whole, number(part.block)), size);
  return builder.CreateAdd(whole,
                           builder.CreateZExt(isMore, builder.getInt64Ty()));
}

llvm::Value *SizeCode::isZero(const SizeExpression &size) {
  const Checked value = checked(size);
  return builder.CreateAnd(builder.CreateICmpEQ(value.value, number(0)),
                           builder.CreateNot(value.overflows));
}

llvm::Value *SizeCode::sumOf(llvm::Value *a, llvm::Value *b) {
  return used(combined(llvm::Intrinsic::sadd_with_overflow,
                       {a, builder.getFalse()}, {b, builder.getFalse()}));
}

llvm::Value *SizeCode::productOf(llvm::Value *a, llvm::Value *b) {
  const auto is = [](llvm::Value *value, uint64_t number) {
    const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant && constant->getZExtValue() == number;
  };
  if (is(a, 1))
    return b;
  if (is(b, 1))
    return a;
  return used(combined(llvm::Intrinsic::smul_with_overflow,
                       {a, builder.getFalse()}, {b, builder.getFalse()}));
}

llvm::Value *SizeCode::alignedUp(llvm::Value *bytes) {
  constexpr int64_t below = bundleAlignment - 1;
  return builder.CreateAnd(builder.CreateAdd(bytes, number(below)),
                           number(~below));
}

llvm::Value *SizeCode::greatestOf(llvm::Value *a, llvm::Value *b) {
  return builder.CreateSelect(builder.CreateICmpSGT(a, b), a, b);
}

llvm::Value *SizeCode::leastOf(llvm::Value *a, llvm::Value *b) {
  return builder.CreateSelect(builder.CreateICmpSLT(a, b), a, b);
}

//===----------------------------------------------------------------------===//
// What is bad
//===----------------------------------------------------------------------===//

void SizeCode::refuseIf(llvm::Value *isWrong) {
  bad = builder.CreateOr(bad, builder.CreateAnd(condition, isWrong));
}

SizeCode::Condition::Condition(SizeCode &code, llvm::Value *condition)
    : code(code), before(code.condition) {
  code.condition = code.builder.CreateAnd(before, condition);
}

SizeCode::Condition::~Condition() { code.condition = before; }
