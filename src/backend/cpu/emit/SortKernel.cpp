//===- SortKernel.cpp - rows in the order of a comparator -----------------===//

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"
#include "backend/cpu/emit/SortOrder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Sorts each row stably by itself: items, one for each place of the row, go
/// back and forth between two halves of a buffer; then the results are
/// gathered.
///
/// Where the comparator orders by one number, its key is computed once. Up to
/// 32 bits stand above the position in the item. Long rows are sorted by radix,
/// a digit of the key a pass from the lowest up (Knuth, The Art of Computer
/// Programming 3, 5.2.5), others merged, from runs of one item up.
class SortKernel : public KernelBody {
public:
  explicit SortKernel(stablehlo::SortOp op) : op(op) {
    shape = shapeOf(op.getInputs()[0]);
    dim = op.getDimension();
    if (dim < 0)
      dim += shape.size();
    // A sort of scalars has nothing to do.
    length = shape.empty() ? 1 : shape[dim];
    while ((int64_t(1) << passes) < length)
      ++passes;
    chooseWay();
    nest.cost = double(length) * (passes + 1) * 8;
    for (auto [i, size] : llvm::enumerate(shape))
      if (int64_t(i) != dim)
        nest.shape.push_back(size);
    nest.shape.push_back(1);
    nest.keepRows = true;
  }

  int64_t tasks() const override { return nest.tasks(); }
  uint64_t scratchBytes() const override { return words() * 8; }

  void emit(Elemental &values, Value task, ValueRange outputs,
            Value scratch) override {
    elemental = &values;
    memory = outputs;
    KernelBuilder &e = values.code;
    i64 = e.builder.getI64Type();
    buffer = e.create<memref::ViewOp>(MemRefType::get({words()}, i64), scratch,
                                      e.index(0), ValueRange());
    nest.body = [&](ArrayRef<Value> outer, Value, Value) {
      row.assign(outer.begin(), outer.end());
      if (!order)
        return sortByComparator();
      Value isUnordered = prepareKeys();
      if (!order->hasUnordered())
        return sortByKeys();
      e.branch(
          isUnordered,
          [&] {
            sortByComparator();
            return KernelBuilder::Carried();
          },
          [&] {
            sortByKeys();
            return KernelBuilder::Carried();
          });
    };
    nest.emitTask(e, task);
  }

private:
  void chooseWay() {
    // Below, counting digits costs more than it saves.
    constexpr int64_t leastByRadix = 256, leastIndirect = 512;
    // More digits make fewer passes, which pays where rows are beyond caches.
    constexpr int64_t longRow = 1 << 17;
    constexpr unsigned packedBits = 32;
    order = SortOrder::of(op);
    if (!order || length > std::numeric_limits<uint32_t>::max()) {
      order.reset();
      return;
    }
    isPacked = order->width() <= packedBits;
    usesRadix = length >= (isPacked ? leastByRadix : leastIndirect);
    if (!isPacked && !usesRadix)
      order.reset();
    digitBits = length >= longRow && order && order->width() > 16 ? 11 : 8;
  }

  int64_t digits() const {
    return order && usesRadix ? (order->width() + digitBits - 1) / digitBits
                              : 0;
  }
  int64_t buckets() const { return int64_t(1) << digitBits; }
  // The buffer: two halves of items, how often each digit is there, keys.
  int64_t countsAt() const { return 2 * length; }
  int64_t keysAt() const { return countsAt() + digits() * buckets(); }
  int64_t words() const { return keysAt() + (order && !isPacked ? length : 0); }

  Coordinates placeOf(Value index) const {
    Coordinates place(row.begin(), row.end());
    if (!shape.empty())
      place.insert(place.begin() + dim, Coordinate(index));
    return place;
  }

  //===--------------------------------------------------------------------===//
  // Words of the buffer
  //===--------------------------------------------------------------------===//

  Value word(Value position) {
    return elemental->code.create<memref::LoadOp>(buffer, position);
  }
  void setWord(Value position, Value value) {
    KernelBuilder &e = elemental->code;
    e.builder.create<memref::StoreOp>(e.loc, value, buffer, position);
  }
  Value number(int64_t value) {
    return elemental->code.create<arith::ConstantIntOp>(value, 64);
  }
  Value toWord(Value index) {
    return elemental->code.create<arith::IndexCastOp>(i64, index);
  }
  Value toIndex(Value word) {
    KernelBuilder &e = elemental->code;
    return e.create<arith::IndexCastOp>(e.builder.getIndexType(), word);
  }

  /// Writes the results, given the items in order from \p first on.
  void gather(Value first, bool packed) {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(0), e.index(length), 1, [&](Value i) {
      Value item = word(e.add(first, i));
      if (packed)
        item = e.create<arith::AndIOp>(
            item, number(std::numeric_limits<uint32_t>::max()));
      Coordinates from = placeOf(toIndex(item)), to = placeOf(i);
      for (auto [input, output] : llvm::zip(op.getInputs(), memory))
        elemental->store(elemental->at(input, from), output,
                         elemental->linearize(to, shape), elementOf(input));
    });
  }

  //===--------------------------------------------------------------------===//
  // By keys
  //===--------------------------------------------------------------------===//

  /// Writes the items, and counts their digits. Whether there is one that the
  /// keys do not order.
  Value prepareKeys() {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(countsAt()), e.index(keysAt()), 1,
           [&](Value i) { setWord(i, number(0)); });
    return e.loop(
        e.index(0), e.index(length), 1, ValueRange{e.boolean(false)},
        [&](Value i, ValueRange found) -> KernelBuilder::Carried {
          SmallVector<Value> elements;
          for (Value input : op.getInputs())
            elements.push_back(elemental->at(input, placeOf(i)));
          SortOrder::Key key = order->emit(*elemental, elements);
          if (key.bits.getType() != i64)
            key.bits = e.create<arith::ExtUIOp>(i64, key.bits);
          Value item = toWord(i);
          if (isPacked)
            item = e.create<arith::OrIOp>(
                item, e.create<arith::ShLIOp>(key.bits, number(32)));
          else
            setWord(e.add(i, keysAt()), key.bits);
          setWord(i, item);
          for (int64_t digit = 0; digit < digits(); ++digit) {
            Value count = e.add(digitOf(key.bits, number(digit * digitBits)),
                                countsAt() + digit * buckets());
            setWord(count, e.create<arith::AddIOp>(word(count), number(1)));
          }
          return {key.unordered
                      ? e.create<arith::OrIOp>(found[0], key.unordered)
                      : found[0]};
        })[0];
  }

  Value digitOf(Value key, Value shift) {
    KernelBuilder &e = elemental->code;
    return toIndex(e.create<arith::AndIOp>(e.create<arith::ShRUIOp>(key, shift),
                                           number(buckets() - 1)));
  }

  void sortByKeys() {
    KernelBuilder &e = elemental->code;
    if (!usesRadix)
      return gather(mergeAll([&](Value a, Value b) {
                      return e.create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                                     a, b);
                    }),
                    isPacked);
    Value first =
        e.loop(e.index(0), e.index(digits()), 1, ValueRange{e.index(0)},
               [&](Value digit, ValueRange source) {
                 return sortByDigit(digit, source[0]);
               })[0];
    gather(first, isPacked);
  }

  /// The key that stands in, or belongs to, \p item.
  Value keyOf(Value item) {
    KernelBuilder &e = elemental->code;
    return isPacked ? e.create<arith::ShRUIOp>(item, number(32))
                    : word(e.add(toIndex(item), keysAt()));
  }

  /// One pass over the items from \p source on; where they stand then.
  KernelBuilder::Carried sortByDigit(Value digit, Value source) {
    KernelBuilder &e = elemental->code;
    Value shift = toWord(e.mul(digit, digitBits));
    Value counts = e.add(e.mul(digit, buckets()), countsAt());
    Value some = digitOf(keyOf(word(source)), shift);
    Value isShared = e.create<arith::CmpIOp>(
        arith::CmpIPredicate::eq, word(e.add(counts, some)), number(length));
    return e.branch(
        isShared, [&] { return KernelBuilder::Carried{source}; },
        [&] {
          Value target = e.sub(e.index(length), source);
          e.loop(e.index(0), e.index(buckets()), 1, ValueRange{toWord(target)},
                 [&](Value bucket, ValueRange start) -> KernelBuilder::Carried {
                   Value where = e.add(counts, bucket);
                   Value count = word(where);
                   setWord(where, start[0]);
                   return {e.create<arith::AddIOp>(start[0], count)};
                 });
          e.loop(source, e.add(source, length), 1, [&](Value i) {
            Value item = word(i);
            Value next = e.add(counts, digitOf(keyOf(item), shift));
            Value position = word(next);
            setWord(next, e.create<arith::AddIOp>(position, number(1)));
            setWord(toIndex(position), item);
          });
          return KernelBuilder::Carried{target};
        });
  }

  //===--------------------------------------------------------------------===//
  // By merging
  //===--------------------------------------------------------------------===//

  using IsBefore = llvm::function_ref<Value(Value, Value)>;

  void sortByComparator() {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(0), e.index(length), 1,
           [&](Value i) { setWord(i, toWord(i)); });
    auto isBefore = [&](Value a, Value b) {
      SmallVector<Value> arguments;
      for (Value input : op.getInputs())
        for (Value item : {a, b})
          arguments.push_back(elemental->at(input, placeOf(toIndex(item))));
      return elemental->inlineRegion(op.getComparator(), arguments)[0];
    };
    gather(mergeAll(isBefore), false);
  }

  /// Where the items stand then.
  Value mergeAll(IsBefore isBefore) {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(0), e.index(passes), 1,
           [&](Value pass) { mergeRuns(pass, isBefore); });
    return e.index(passes % 2 * length);
  }

  /// Merges neighbouring runs of 2^pass items.
  void mergeRuns(Value pass, IsBefore isBefore) {
    KernelBuilder &e = elemental->code;
    Value width = e.create<arith::ShLIOp>(e.index(1), pass);
    Value twice = e.add(width, width);
    Value last = e.index(length);
    Value source = e.mul(e.rem(pass, 2), length);
    Value target = e.sub(e.index(length), source);
    Value runs = e.create<arith::CeilDivUIOp>(last, twice);
    e.loop(e.index(0), runs, 1, [&](Value run) {
      Value begin = e.create<arith::MulIOp>(run, twice);
      Value middle = e.min(e.add(begin, width), last);
      Value end = e.min(e.add(begin, twice), last);
      e.loop(begin, end, 1, ValueRange{begin, middle},
             [&](Value k, ValueRange next) {
               return mergeStep(isBefore, source, e.add(target, k), next[0],
                                middle, next[1], end);
             });
    });
  }

  /// Takes the lesser of the next items of both runs; of equal ones, the left.
  KernelBuilder::Carried mergeStep(IsBefore isBefore, Value source,
                                   Value target, Value left, Value middle,
                                   Value right, Value end) {
    KernelBuilder &e = elemental->code;
    Value limit = e.index(length - 1);
    Value a = word(e.add(source, e.min(left, limit)));
    Value b = word(e.add(source, e.min(right, limit)));
    Value hasLeft = e.less(left, middle), hasRight = e.less(right, end);
    Value takeRight = e.create<arith::AndIOp>(hasRight, isBefore(b, a));
    takeRight = e.create<arith::SelectOp>(hasLeft, takeRight, e.boolean(true));
    setWord(target, e.create<arith::SelectOp>(takeRight, b, a));
    Value step =
        e.create<arith::IndexCastUIOp>(e.builder.getIndexType(), takeRight);
    return {e.add(left, e.sub(e.index(1), step)), e.add(right, step)};
  }

  stablehlo::SortOp op;
  ArrayRef<int64_t> shape;
  int64_t dim = 0, length = 1, passes = 0;
  std::optional<SortOrder> order;
  bool isPacked = false, usesRadix = false;
  unsigned digitBits = 8;
  LoopNest nest;
  Elemental *elemental = nullptr;
  ValueRange memory;
  Type i64;
  Value buffer;
  SmallVector<Value> row;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createSortKernel(stablehlo::SortOp op) {
  return std::make_unique<SortKernel>(op);
}
