//===- SortKernel.cpp - rows in the order of a comparator -----------------===//

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"
#include "backend/cpu/emit/SortOrder.h"
#include "backend/cpu/ir/CpuOps.h"

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
/// Programming 3, 5.2.5), others merged, from runs of one item up. Rows of
/// named length have the code for each, and choose when they are sorted: what
/// is sorted stably is the same either way.
///
/// Where only the front of a long row is read, its items are selected first:
/// items that are before the last of the front so far are collected, until
/// there are twice as many as wanted; then they are sorted, and half of them
/// dropped. A short front is kept in order instead. Blocks without such an item
/// are found by vectors.
class SortKernel : public KernelBody {
public:
  explicit SortKernel(stablehlo::SortOp op) : op(op) {
    shape = dimsOf(op.getInputs()[0]);
    dim = op.getDimension();
    if (dim < 0)
      dim += shape.size();
    // A sort of scalars has nothing to do.
    length = shape.empty() ? Dim(1) : shape[dim];
    nominal = nominalOf(length);
    if (auto attribute = op->getAttrOfType<IntegerAttr>(frontAttribute))
      front = attribute.getInt();
    chooseWay();
    int64_t passes = 0;
    while ((int64_t(1) << passes) < nominal)
      ++passes;
    nest.cost = double(nominal) * (selects(nominal) ? 4 : (passes + 1) * 8);
    for (auto [i, size] : llvm::enumerate(shape))
      if (int64_t(i) != dim)
        nest.shape.push_back(size);
    nest.shape.push_back(1);
    nest.keepRows = true;
  }

  int64_t tasks() const override { return nest.tasks(); }
  std::vector<TaskExtent> taskExtents() const override {
    return nest.taskExtents();
  }
  Scratch scratch() const override {
    Scratch all;
    all.bytes = uint64_t(fixedWords() + wordsAnItem() * length.valueOr(0)) * 8;
    if (isDynamic()) {
      all.size = length;
      all.bytesEach = uint64_t(wordsAnItem()) * 8;
    }
    return all;
  }

  void emit(Elemental &values, Value task, ValueRange outputs,
            Value scratch) override {
    elemental = &values;
    memory = outputs;
    KernelBuilder &e = values.code;
    i64 = e.builder.getI64Type();
    const int64_t words =
        cast<MemRefType>(scratch.getType()).getNumElements() / 8;
    buffer = e.create<memref::ViewOp>(MemRefType::get({words}, i64), scratch,
                                      e.index(0), ValueRange());
    nest.body = [&](ArrayRef<Value> outer, Value, Value) {
      row.assign(outer.begin(), outer.end());
      if (!order)
        sortByComparator();
      else if (isDynamic())
        sortAsLongAsItIs();
      else
        sortOrdered();
    };
    nest.emitTask(e, task);
  }

private:
  bool isDynamic() const { return length.isDynamic(); }

  /// A row whose length is known now.
  void sortAsLongAsItIs() {
    KernelBuilder &e = elemental->code;
    Value n = e.index(length);
    auto shortRow = [&] {
      usesRadix = selectsFront = false;
      isPacked ? sortOrdered() : sortByComparator();
    };
    auto longRow = [&] {
      if (mayBeSelected()) {
        usesRadix = false, selectsFront = true;
        e.when(
            e.less(e.index(leastForSelection() - 1), n), [&] { sortOrdered(); },
            [&] { rowByRadix(); });
        return;
      }
      rowByRadix();
    };
    e.when(
        e.less(e.index(mostItems), n), [&] { sortByComparator(); },
        [&] { e.when(e.less(n, e.index(leastByRadix())), shortRow, longRow); });
  }

  void rowByRadix() {
    usesRadix = true, selectsFront = false;
    sortOrdered();
  }

  void sortOrdered() {
    Value isUnordered = selectsFront ? selectFront() : prepareKeys();
    auto finish = [&] {
      selectsFront ? gather(itemsAt(), isPacked) : sortByKeys();
    };
    if (!order->hasUnordered())
      return finish();
    elemental->code.when(isUnordered, [&] { sortByComparator(); }, finish);
  }

  /// Below, counting digits costs more than it saves.
  int64_t leastByRadix() const { return isPacked ? 256 : 512; }

  void chooseWay() {
    // More digits make fewer passes, which pays where rows are beyond caches.
    constexpr int64_t longRow = 1 << 17;
    constexpr unsigned packedBits = 32;
    order = SortOrder::of(op);
    if (!order || nominal > mostItems) {
      order.reset();
      return;
    }
    isPacked = order->width() <= packedBits;
    selectsFront = selects(nominal);
    usesRadix = length >= leastByRadix() && !(selectsFront && !isDynamic());
    if (!isPacked && !usesRadix)
      order.reset();
    digitBits = nominal >= longRow && order && order->width() > 16 ? 11 : 8;
  }

  /// Whether the front is short enough, or there is no other way to sort it
  /// for less.
  bool mayBeSelected() const { return isPacked && front > 0 && front <= 4096; }
  /// Rows of fewer items are sorted as a whole.
  int64_t leastForSelection() const {
    return std::max<int64_t>(front * 4, leastByRadix());
  }
  bool selects(int64_t count) const {
    return order && mayBeSelected() && count >= leastForSelection();
  }

  int64_t digits() const {
    return order && usesRadix ? (order->width() + digitBits - 1) / digitBits
                              : 0;
  }
  int64_t buckets() const { return int64_t(1) << digitBits; }
  // The buffer: how often each digit is there, two halves of items, keys.
  int64_t fixedWords() const { return digits() * buckets(); }
  int64_t wordsAnItem() const { return order && !isPacked ? 3 : 2; }
  Value itemsAt() { return elemental->code.index(fixedWords()); }
  Value keysAt() {
    KernelBuilder &e = elemental->code;
    return e.add(e.mul(e.index(length), 2), itemsAt());
  }

  Coordinates coordinatesOf(Value index) const {
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
    Value count =
        front > 0 ? e.min(e.index(front), e.index(length)) : e.index(length);
    e.loop(e.index(0), count, 1, [&](Value i) {
      Value item = word(e.add(first, i));
      if (packed)
        item = e.create<arith::AndIOp>(
            item, number(std::numeric_limits<uint32_t>::max()));
      Coordinates from = coordinatesOf(toIndex(item)), to = coordinatesOf(i);
      for (auto [input, output] : llvm::zip(op.getInputs(), memory))
        elemental->store(elemental->at(input, from), output,
                         elemental->linearize(to, shape), elementOf(input));
    });
  }

  //===--------------------------------------------------------------------===//
  // By keys
  //===--------------------------------------------------------------------===//

  SortOrder::Key keyAt(Value i) {
    SmallVector<Value> elements;
    for (Value input : op.getInputs())
      elements.push_back(elemental->at(input, coordinatesOf(i)));
    return order->emit(*elemental, elements);
  }
  /// The item of place \p i, whose key is \p key, a word.
  Value packed(Value key, Value i) {
    KernelBuilder &e = elemental->code;
    return e.create<arith::OrIOp>(toWord(i),
                                  e.create<arith::ShLIOp>(key, number(32)));
  }

  /// Writes the items, and counts their digits. Whether there is one that the
  /// keys do not order.
  Value prepareKeys() {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(0), itemsAt(), 1, [&](Value i) { setWord(i, number(0)); });
    return e.loop(
        e.index(0), e.index(length), 1, ValueRange{e.boolean(false)},
        [&](Value i, ValueRange found) -> KernelBuilder::Carried {
          SortOrder::Key key = keyAt(i);
          if (key.bits.getType() != i64)
            key.bits = e.create<arith::ExtUIOp>(i64, key.bits);
          Value item = isPacked ? packed(key.bits, i) : toWord(i);
          if (!isPacked)
            setWord(e.add(i, keysAt()), key.bits);
          setWord(e.add(i, itemsAt()), item);
          for (int64_t digit = 0; digit < digits(); ++digit) {
            Value count = e.add(digitOf(key.bits, number(digit * digitBits)),
                                digit * buckets());
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
      return gather(mergeAll(isBeforeAsNumber()), isPacked);
    Value first =
        e.loop(e.index(0), e.index(digits()), 1, ValueRange{itemsAt()},
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
    Value counts = e.mul(digit, buckets());
    Value some = digitOf(keyOf(word(source)), shift);
    Value isShared = e.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                             word(e.add(counts, some)),
                                             toWord(e.index(length)));
    return e.branch(
        isShared, [&] { return KernelBuilder::Carried{source}; },
        [&] {
          Value target = otherHalf(source);
          e.loop(e.index(0), e.index(buckets()), 1, ValueRange{toWord(target)},
                 [&](Value bucket, ValueRange start) -> KernelBuilder::Carried {
                   Value where = e.add(counts, bucket);
                   Value count = word(where);
                   setWord(where, start[0]);
                   return {e.create<arith::AddIOp>(start[0], count)};
                 });
          e.loop(source, e.add(source, e.index(length)), 1, [&](Value i) {
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
  // The front alone
  //===--------------------------------------------------------------------===//

  /// Items of a block that are looked at together.
  static constexpr int64_t blockItems = 64;

  /// Sorts the front's items, to where items begin. Whether there is an element
  /// that the keys do not order.
  Value selectFront() {
    KernelBuilder &e = elemental->code;
    using Carried = KernelBuilder::Carried;
    items = e.index(2 * front);
    Value n = e.index(length);
    if (isShort())
      markMissing(e.index(0), e.index(front));
    // How many items are collected, the last of the front so far, and whether
    // there was an element without an order.
    Carried state = e.loop(
        e.index(0), n, blockItems,
        ValueRange{e.index(0), number(-1), e.boolean(false)},
        [&](Value begin, ValueRange carried) -> Carried {
          Value end = e.min(e.add(begin, blockItems), n);
          auto [least, unordered] = leastOf(begin, end);
          Value bound = e.create<arith::ShRUIOp>(carried[1], number(32));
          Value mayBeBefore =
              e.create<arith::CmpIOp>(arith::CmpIPredicate::ule, least, bound);
          Carried next = e.branch(
              mayBeBefore,
              [&] { return collect(begin, end, carried.take_front(2)); },
              [&] { return Carried(carried.take_front(2)); });
          next.push_back(unordered
                             ? e.create<arith::OrIOp>(carried[2], unordered)
                             : carried[2]);
          return next;
        });
    if (!isShort()) {
      markMissing(state[0], items);
      sortCollected();
    }
    items = {};
    return state[2];
  }

  /// The least key of [\p begin, \p end), a word, and whether there is one
  /// without an order (null if there cannot be).
  std::pair<Value, Value> leastOf(Value begin, Value end) {
    KernelBuilder &e = elemental->code;
    const bool hasUnordered = order->hasUnordered();
    Type type = e.builder.getIntegerType(order->width());
    KernelBuilder::Carried start{e.create<arith::ConstantOp>(
        e.builder.getIntegerAttr(type, APInt::getAllOnes(order->width())))};
    if (hasUnordered)
      start.push_back(e.boolean(false));
    KernelBuilder::Carried found = e.loop(
        begin, end, 1, start,
        [&](Value i, ValueRange carried) -> KernelBuilder::Carried {
          SortOrder::Key key = keyAt(i);
          KernelBuilder::Carried next{
              e.create<arith::MinUIOp>(carried[0], key.bits)};
          if (hasUnordered)
            next.push_back(e.create<arith::OrIOp>(carried[1], key.unordered));
          return next;
        });
    Value least = found[0].getType() == i64
                      ? found[0]
                      : e.create<arith::ExtUIOp>(i64, found[0]);
    return {least, hasUnordered ? found[1] : Value()};
  }

  /// Adds what of [\p begin, \p end) is before the last of the front.
  KernelBuilder::Carried collect(Value begin, Value end, ValueRange state) {
    KernelBuilder &e = elemental->code;
    using Carried = KernelBuilder::Carried;
    return e.loop(begin, end, 1, state,
                  [&](Value i, ValueRange carried) -> Carried {
                    Value bits = keyAt(i).bits;
                    if (bits.getType() != i64)
                      bits = e.create<arith::ExtUIOp>(i64, bits);
                    Value item = packed(bits, i);
                    Value isBefore = e.create<arith::CmpIOp>(
                        arith::CmpIPredicate::ult, item, carried[1]);
                    return e.branch(
                        isBefore, [&] { return collected(item, carried); },
                        [&] { return Carried(carried); });
                  });
  }

  /// Whether it costs less to keep the front in order than to sort it later.
  bool isShort() const { return front <= 32; }

  /// What comes last, in place of collected items [\p begin, \p end).
  void markMissing(Value begin, Value end) {
    KernelBuilder &e = elemental->code;
    e.loop(begin, end, 1,
           [&](Value i) { setWord(e.add(i, itemsAt()), number(-1)); });
  }

  /// Puts \p item into the front, which is in order, in place of its last; the
  /// new last.
  Value inserted(Value item) {
    KernelBuilder &e = elemental->code;
    auto before = [&](Value place) {
      return e.add(e.max(e.sub(place, 1), e.index(0)), itemsAt());
    };
    Value place = e.repeat(
        e.index(front - 1),
        [&](ValueRange place) {
          return e.both(e.less(e.index(0), place[0]),
                        isBeforeAsNumber()(item, word(before(place[0]))));
        },
        [&](ValueRange place) -> KernelBuilder::Carried {
          setWord(e.add(place[0], itemsAt()), word(before(place[0])));
          return {e.sub(place[0], 1)};
        })[0];
    setWord(e.add(place, itemsAt()), item);
    return word(e.add(itemsAt(), front - 1));
  }

  KernelBuilder::Carried collected(Value item, ValueRange state) {
    KernelBuilder &e = elemental->code;
    using Carried = KernelBuilder::Carried;
    if (isShort())
      return {state[0], inserted(item)};
    setWord(e.add(state[0], itemsAt()), item);
    Value count = e.add(state[0], 1);
    return e.branch(
        e.equal(count, items),
        [&] {
          sortCollected();
          return Carried{e.index(front), word(e.add(itemsAt(), front - 1))};
        },
        [&] { return Carried{count, state[1]}; });
  }

  void sortCollected() {
    KernelBuilder &e = elemental->code;
    Value first = mergeAll(isBeforeAsNumber());
    e.when(
        e.equal(first, itemsAt()), [] {},
        [&] {
          e.loop(e.index(0), e.index(front), 1, [&](Value i) {
            setWord(e.add(i, itemsAt()), word(e.add(first, i)));
          });
        });
  }

  //===--------------------------------------------------------------------===//
  // By merging
  //===--------------------------------------------------------------------===//

  using IsBefore = std::function<Value(Value, Value)>;

  IsBefore isBeforeAsNumber() {
    return [this](Value a, Value b) {
      return elemental->code.create<arith::CmpIOp>(arith::CmpIPredicate::ult, a,
                                                   b);
    };
  }

  /// How many items are merged.
  Value itemCount() { return items ? items : elemental->code.index(length); }

  void sortByComparator() {
    KernelBuilder &e = elemental->code;
    e.loop(e.index(0), e.index(length), 1,
           [&](Value i) { setWord(e.add(i, itemsAt()), toWord(i)); });
    auto isBefore = [&](Value a, Value b) {
      SmallVector<Value> arguments;
      for (Value input : op.getInputs())
        for (Value item : {a, b})
          arguments.push_back(
              elemental->at(input, coordinatesOf(toIndex(item))));
      return elemental->inlineRegion(op.getComparator(), arguments)[0];
    };
    gather(mergeAll(isBefore), false);
  }

  /// Where the half of the items begins that does not at \p half.
  Value otherHalf(Value half) {
    KernelBuilder &e = elemental->code;
    return e.sub(e.add(itemCount(), e.index(2 * fixedWords())), half);
  }

  /// Where the items stand then.
  Value mergeAll(const IsBefore &isBefore) {
    KernelBuilder &e = elemental->code;
    return e.repeat(
        ValueRange{e.index(1), itemsAt()},
        [&](ValueRange state) { return e.less(state[0], itemCount()); },
        [&](ValueRange state) -> KernelBuilder::Carried {
          mergeRuns(state[0], state[1], isBefore);
          return {e.add(state[0], state[0]), otherHalf(state[1])};
        })[1];
  }

  /// Merges neighbouring runs of \p width items, which stand at \p source.
  void mergeRuns(Value width, Value source, const IsBefore &isBefore) {
    KernelBuilder &e = elemental->code;
    Value twice = e.add(width, width);
    Value last = itemCount();
    Value target = otherHalf(source);
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
  KernelBuilder::Carried mergeStep(const IsBefore &isBefore, Value source,
                                   Value target, Value left, Value middle,
                                   Value right, Value end) {
    KernelBuilder &e = elemental->code;
    Value limit = e.sub(itemCount(), 1);
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
  ArrayRef<Dim> shape;
  /// Positions have 32 bits in an item.
  static constexpr int64_t mostItems = std::numeric_limits<uint32_t>::max();
  int64_t dim = 0;
  Dim length = 1;
  int64_t nominal = 1; ///< What a named length is as good as.
  std::optional<SortOrder> order;
  bool isPacked = false, usesRadix = false, selectsFront = false;
  /// How many items of a row are read; 0 for all.
  int64_t front = 0;
  /// How many items are merged, where these are not the whole row.
  Value items;
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
