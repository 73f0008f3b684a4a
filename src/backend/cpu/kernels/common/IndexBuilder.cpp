//===- IndexBuilder.cpp - builds index arithmetic and control flow --------===//

#include "backend/cpu/kernels/common/IndexBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/Program.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The first words of the keys of cached values.
namespace {
enum Kind : unsigned {
  Sum = 1,
  Difference,
  Product,
  Quotient,
  Remainder,
  Minimum,
  Maximum,
  Less,
  Equal,
  InRange,
  Both,
  Selected,
  Truth
};
} // namespace

IndexBuilder::IndexBuilder(OpBuilder &builder, Location location)
    : builder(builder), loc(location), scopes(1) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<func::FuncOp>();
  entry = &function.getBody().front();
}

Distance Distance::times(Dim size) const {
  Distance product = *this;
  if (const Dim more = Dim(number) * size; size.isStatic() && more.isStatic())
    product.number = more.value();
  else
    product.sizes.push_back(size.isStatic() ? Dim::unknown() : size);
  return product;
}

Value Distance::in(IndexBuilder &code) const {
  Value distance = code.index(number);
  for (Dim size : sizes)
    distance = code.mul(distance, size);
  return distance;
}

Value IndexBuilder::recall(const Key &key) const {
  for (const auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  return nullptr;
}

void IndexBuilder::remember(Key key, Value value) {
  scopes.back()[std::move(key)] = value;
}

/// Whether \p number is what the attributes of a scan of named length have in
/// place of one less (stablehlo::scanWindow).
static bool isNoSize(int64_t number) {
  return number >= mostTensorBytes || number <= -mostTensorBytes;
}

Value IndexBuilder::index(Dim size) {
  if (size.isUnknown())
    return noSize();
  const auto key = static_cast<int64_t>(size.key());
  if (Value known = indices.lookup(key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  Value made;
  if (std::optional<int64_t> number = size.name()) {
    made = sizeInTable(*number);
  } else {
    // Without a table there are no names, and numbers are what they are.
    if (isNoSize(size.value()) && entry->getParentOp()->hasAttr(sizesArgument))
      entry->getParentOp()->setAttr(usesNoSize, builder.getUnitAttr());
    made = create<arith::ConstantIndexOp>(size.value());
  }
  indices[key] = made;
  return made;
}

/// Anything, of code that is not for dynamic sizes. (Where all sizes are
/// static, it is how far apart the elements of a tensor without elements would
/// lie.)
Value IndexBuilder::noSize() {
  if (entry->getParentOp()->hasAttr(sizesArgument))
    entry->getParentOp()->setAttr(usesNoSize, builder.getUnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return create<arith::ConstantIndexOp>(1);
}

Value IndexBuilder::own(Dim size) {
  if (size.isDynamic() || !entry->getParentOp()->hasAttr(sizesArgument))
    return index(size);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  return create<index::ConstantOp>(size.value());
}

Value IndexBuilder::hidden(Value index) {
  Type i64 = builder.getI64Type();
  auto code = builder.create<LLVM::InlineAsmOp>(
      loc, TypeRange{i64}, ValueRange{create<arith::IndexCastOp>(i64, index)},
      /*asm_string=*/"", /*constraints=*/"=r,0", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  return create<arith::IndexCastOp>(builder.getIndexType(), code.getResult(0));
}

/// What the function's table has for named size \p number.
Value IndexBuilder::sizeInTable(int64_t number) {
  auto argument =
      entry->getParentOp()->getAttrOfType<IntegerAttr>(sizesArgument);
  if (!argument) {
    entry->getParentOp()->setAttr(usesNoSize, builder.getUnitAttr());
    return create<arith::ConstantIndexOp>(0);
  }
  Value place = create<arith::ConstantIndexOp>(number);
  Value loaded = create<memref::LoadOp>(entry->getArgument(argument.getInt()),
                                        ValueRange{place});
  Value size = create<arith::IndexCastOp>(builder.getIndexType(), loaded);
  assumeRange(size, {0, mostTensorBytes});
  return size;
}

Value IndexBuilder::boolean(bool value) {
  if (!truths[value]) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    truths[value] = create<arith::ConstantIntOp>(value, 1);
  }
  return truths[value];
}

std::optional<int64_t> IndexBuilder::constantOf(Value value) const {
  if (auto op = value.getDefiningOp<arith::ConstantIndexOp>())
    return op.value();
  return std::nullopt;
}

/// The key of the cached truth of \p condition.
static IndexBuilder::Key truthKey(Value condition) {
  return {Truth, reinterpret_cast<uintptr_t>(condition.getAsOpaquePointer())};
}

std::optional<bool> IndexBuilder::knownTruth(Value condition) const {
  for (bool value : {false, true})
    if (truths[value] && condition == truths[value])
      return value;
  if (Value known = recall(truthKey(condition)))
    return known == truths[true];
  return std::nullopt;
}

void IndexBuilder::assumeTruth(Value condition, bool truth) {
  boolean(true);
  remember(truthKey(condition), boolean(truth));
}

void IndexBuilder::assumeRange(Value index, Range range) {
  const Range all;
  if (range.least <= range.most && !constantOf(index) &&
      (range.least != all.least || range.most != all.most))
    ranges[index] = range;
}

IndexBuilder::Range IndexBuilder::rangeOf(Value index) const {
  if (std::optional<int64_t> value = constantOf(index))
    return {*value, *value};
  return ranges.lookup(index);
}

Value IndexBuilder::once(unsigned kind, ArrayRef<Value> operands,
                         llvm::function_ref<Value()> make) {
  Key key = {kind};
  for (Value operand : operands)
    key.push_back(reinterpret_cast<uintptr_t>(operand.getAsOpaquePointer()));
  if (Value known = recall(key))
    return known;
  Value made = make();
  remember(std::move(key), made);
  return made;
}

Value IndexBuilder::add(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return index(*left + *right);
  if (left && *left == 0)
    return b;
  if (right && *right == 0)
    return a;
  Value sum = once(Sum, {a, b}, [&] { return create<arith::AddIOp>(a, b); });
  Range first = rangeOf(a), second = rangeOf(b);
  auto least = llvm::checkedAdd(first.least, second.least);
  auto most = llvm::checkedAdd(first.most, second.most);
  if (least && most)
    assumeRange(sum, {*least, *most});
  return sum;
}

IndexBuilder::Bound IndexBuilder::asSum(Value index) const {
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> constant = constantOf(sum.getRhs()))
      return {sum.getLhs(), *constant};
  return {index, 0};
}

/// What \p end, where a loop ends or begins, is the least or greatest of.
void IndexBuilder::collectBounds(Value end, bool isUpper,
                                 Bounds &bounds) const {
  Operation *op = end.getDefiningOp();
  if (isUpper ? isa_and_present<arith::MinSIOp>(op)
              : isa_and_present<arith::MaxSIOp>(op)) {
    for (Value each : op->getOperands())
      collectBounds(each, isUpper, bounds);
  } else if (!constantOf(end)) {
    bounds.push_back(asSum(end));
  }
}

/// Whether a < b, as far as the bounds of loops decide it.
std::optional<bool> IndexBuilder::isLess(Bound a, Bound b) const {
  // Whether `lesser` + lessMore is at most `greater` + greaterMore.
  auto isAtMost = [&](Bound lesser, Bound greater) {
    auto holds = [](int64_t left, int64_t right, int64_t more) {
      const auto sum = llvm::checkedAdd(right, more);
      return sum && left <= *sum;
    };
    for (const Bound &each : upperBounds.lookup(lesser.index))
      // lesser.index <= each - 1
      if (each.index == greater.index)
        if (const auto most = llvm::checkedAdd(lesser.more, each.more);
            most && holds(*most, greater.more, 1))
          return true;
    for (const Bound &each : lowerBounds.lookup(greater.index))
      if (each.index == lesser.index &&
          holds(lesser.more, each.more, greater.more))
        return true;
    return false;
  };
  if (const auto above = llvm::checkedAdd(a.more, int64_t(1));
      above && isAtMost({a.index, *above}, b))
    return true;
  if (isAtMost(b, a))
    return false;
  return std::nullopt;
}

Value IndexBuilder::sub(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return index(*left - *right);
  if (right)
    return add(a, index(-*right));
  const auto [from, more] = asSum(a);
  const auto [to, less] = asSum(b);
  if (from == to)
    return index(more - less);
  return once(Difference, {a, b}, [&] { return create<arith::SubIOp>(a, b); });
}

Value IndexBuilder::mul(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return index(*left * *right);
  if (left)
    return mul(b, a);
  if (right && *right == 0)
    return b;
  if (right && *right == 1)
    return a;
  return once(Product, {a, b}, [&] { return create<arith::MulIOp>(a, b); });
}

Value IndexBuilder::div(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right && *right != 0)
    return index(*left / *right);
  if (right && *right == 1)
    return a;
  return once(Quotient, {a, b}, [&] { return create<arith::DivUIOp>(a, b); });
}

Value IndexBuilder::rem(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right && *right != 0)
    return index(*left % *right);
  if (right && *right == 1)
    return index(0);
  return once(Remainder, {a, b}, [&] { return create<arith::RemUIOp>(a, b); });
}

Value IndexBuilder::min(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return index(std::min(*left, *right));
  Value least =
      once(Minimum, {a, b}, [&] { return create<arith::MinSIOp>(a, b); });
  Range first = rangeOf(a), second = rangeOf(b);
  assumeRange(least, {std::min(first.least, second.least),
                      std::min(first.most, second.most)});
  return least;
}

Value IndexBuilder::max(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return index(std::max(*left, *right));
  Value most =
      once(Maximum, {a, b}, [&] { return create<arith::MaxSIOp>(a, b); });
  Range first = rangeOf(a), second = rangeOf(b);
  assumeRange(most, {std::max(first.least, second.least),
                     std::max(first.most, second.most)});
  return most;
}

Value IndexBuilder::less(Value a, Value b) {
  Range first = rangeOf(a), second = rangeOf(b);
  if (first.most < second.least)
    return boolean(true);
  if (first.least >= second.most)
    return boolean(false);
  if (std::optional<bool> known = isLess(asSum(a), asSum(b)))
    return boolean(*known);
  return once(Less, {a, b}, [&] {
    return create<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b);
  });
}

Value IndexBuilder::equal(Value a, Value b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return boolean(*left == *right);
  return once(Equal, {a, b}, [&] {
    return create<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
  });
}

Value IndexBuilder::inRange(Value a, Dim bound) {
  if (const std::optional<int64_t> number = bound.number()) {
    const Range range = rangeOf(a);
    if (range.least >= 0 && range.most < *number)
      return boolean(true);
    if (range.most < 0 || range.least >= *number)
      return boolean(false);
  }
  Value end = index(bound);
  return once(InRange, {a, end}, [&] {
    return create<arith::CmpIOp>(arith::CmpIPredicate::ult, a, end);
  });
}

Value IndexBuilder::both(Value a, Value b) {
  if (std::optional<bool> known = knownTruth(a))
    return *known ? b : a;
  if (std::optional<bool> known = knownTruth(b))
    return *known ? a : b;
  return once(Both, {a, b}, [&] { return create<arith::AndIOp>(a, b); });
}

Value IndexBuilder::select(Value condition, Value a, Value b) {
  if (std::optional<bool> known = knownTruth(condition))
    return *known ? a : b;
  return once(Selected, {condition, a, b},
              [&] { return create<arith::SelectOp>(condition, a, b); });
}

IndexBuilder::Carried
IndexBuilder::loop(Value lower, Value upper, int64_t step, ValueRange carried,
                   llvm::function_ref<Carried(Value, ValueRange)> body) {
  auto loop =
      builder.create<scf::ForOp>(loc, lower, upper, index(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  if (carried.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  if (int64_t end = rangeOf(upper).most; end > rangeOf(lower).least)
    assumeRange(loop.getInductionVar(), {rangeOf(lower).least, end - 1});
  collectBounds(lower, /*isUpper=*/false, lowerBounds[loop.getInductionVar()]);
  collectBounds(upper, /*isUpper=*/true, upperBounds[loop.getInductionVar()]);
  Carried next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    builder.create<scf::YieldOp>(loc, next);
  return Carried(loop.getResults());
}

void IndexBuilder::loop(Value lower, Value upper, int64_t step,
                        llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Carried();
  });
}

IndexBuilder::Carried IndexBuilder::loops(
    ArrayRef<Dim> shape, ValueRange carried,
    llvm::function_ref<Carried(ArrayRef<Value>, ValueRange)> body) {
  SmallVector<Value> position;
  auto nest = [&](auto &self, ValueRange values) -> Carried {
    if (position.size() == shape.size())
      return body(position, values);
    const Dim size = shape[position.size()];
    if (size == 1) {
      position.push_back(index(0));
      Carried result = self(self, values);
      position.pop_back();
      return result;
    }
    return loop(index(0), index(size), 1, values,
                [&](Value i, ValueRange inner) {
                  position.push_back(i);
                  Carried result = self(self, inner);
                  position.pop_back();
                  return result;
                });
  };
  return nest(nest, carried);
}

void IndexBuilder::loops(ArrayRef<Dim> shape,
                         llvm::function_ref<void(ArrayRef<Value>)> body) {
  loops(shape, {}, [&](ArrayRef<Value> position, ValueRange) {
    body(position);
    return Carried();
  });
}

IndexBuilder::Carried
IndexBuilder::repeat(ValueRange initial,
                     llvm::function_ref<Value(ValueRange)> condition,
                     llvm::function_ref<Carried(ValueRange)> body) {
  auto loop = builder.create<scf::WhileOp>(
      loc, initial.getTypes(), initial,
      [&](OpBuilder &, Location, ValueRange) {},
      [&](OpBuilder &, Location, ValueRange) {});
  OpBuilder::InsertionGuard guard(builder);
  {
    Scope scope(*this);
    builder.setInsertionPointToEnd(loop.getBeforeBody());
    ValueRange carried = loop.getBeforeArguments();
    Value again = condition(carried);
    builder.create<scf::ConditionOp>(loc, again, carried);
  }
  Scope scope(*this);
  builder.setInsertionPointToEnd(loop.getAfterBody());
  builder.create<scf::YieldOp>(loc, body(loop.getAfterArguments()));
  return Carried(loop.getResults());
}

IndexBuilder::Carried
IndexBuilder::branch(Value condition, llvm::function_ref<Carried()> then,
                     llvm::function_ref<Carried()> otherwise) {
  if (std::optional<bool> known = knownTruth(condition))
    return *known ? then() : otherwise();
  // The result types are only known after a branch is built, so it is built in
  // a temporary block first.
  auto write = [&](llvm::function_ref<Carried()> make, Block &block) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    Scope scope(*this);
    Carried values = make();
    builder.create<scf::YieldOp>(loc, values);
    return SmallVector<Type>(ValueRange(values).getTypes());
  };
  auto placeholder = builder.create<scf::IfOp>(loc, TypeRange(), condition,
                                               /*withElseRegion=*/true);
  for (Block *block : {placeholder.thenBlock(), placeholder.elseBlock()})
    block->getTerminator()->erase();
  SmallVector<Type> types = write(then, *placeholder.thenBlock());
  write(otherwise, *placeholder.elseBlock());
  auto op = builder.create<scf::IfOp>(loc, types, condition);
  op.getThenRegion().takeBody(placeholder.getThenRegion());
  op.getElseRegion().takeBody(placeholder.getElseRegion());
  placeholder.erase();
  return Carried(op.getResults());
}

void IndexBuilder::dispatch(Value count, ArrayRef<int64_t> sizes,
                            llvm::function_ref<void(size_t)> emit) {
  auto from = [&](auto &self, size_t number) -> void {
    if (number + 1 == sizes.size())
      return emit(number);
    when(
        less(index(sizes[number]), count), [&] { self(self, number + 1); },
        [&] { emit(number); });
  };
  from(from, 0);
}

void IndexBuilder::when(Value condition, llvm::function_ref<void()> then) {
  if (std::optional<bool> known = knownTruth(condition)) {
    if (*known)
      then();
    return;
  }
  auto op = builder.create<scf::IfOp>(loc, condition);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op.thenBlock()->getTerminator());
  Scope scope(*this);
  then();
}

void IndexBuilder::when(Value condition, llvm::function_ref<void()> then,
                        llvm::function_ref<void()> otherwise) {
  auto withoutValues = [](llvm::function_ref<void()> write) {
    return [write] {
      write();
      return Carried();
    };
  };
  branch(condition, withoutValues(then), withoutValues(otherwise));
}
