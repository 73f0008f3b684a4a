//===- LoopNest.cpp - loops over a result, cut into tasks -----------------===//

#include "backend/cpu/emit/LoopNest.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// A task is one place of the first `outerDims` dimensions, and one chunk of
/// the innermost dimension if nothing lies between.
struct LoopNest::Split {
  size_t outerDims = 0;
  int64_t outer = 1;
  Dim chunk = 0;
  int64_t chunks = 1;
  /// Whether the innermost dimension is in chunks; of a named size, in how many
  /// is known when the program runs.
  bool isCut = false;
};

/// Arithmetic operations that make a task: some microseconds, far more than it
/// costs to start one.
static constexpr double taskCost = 16384;

/// Some elements, at least \p most / 2, that \p size is a multiple of, so that
/// all tasks do as many, or else \p most. Loops of as many have the same code:
/// taken are 7 times a power of two, even half as many, which divides what
/// images of 224 pixels become, a power of two, or as many as there can be.
static int64_t evenChunk(Dim size, int64_t most) {
  for (int64_t factor : {7, 1}) {
    int64_t chunk = 64 * factor;
    while (2 * chunk <= most)
      chunk *= 2;
    for (; chunk >= 64 * factor && 4 * chunk >= most; chunk /= 2)
      if (chunk <= most && size % chunk == 0)
        return chunk;
  }
  for (int64_t chunk = most; chunk >= 64 && 2 * chunk >= most; chunk -= 64)
    if (size % chunk == 0)
      return chunk;
  return most;
}

LoopNest::Split LoopNest::split() const {
  Split split;
  double remaining = cost;
  // All places of a named size are tasks of their own, as long as they are
  // not many in one of it.
  auto sizeOf = [](Dim size) {
    return size.isDynamic() ? 1e12 : double(size.value());
  };
  for (Dim size : shape)
    remaining *= sizeOf(size);
  while (split.outerDims + 1 < shape.size() && remaining > taskCost) {
    const Dim size = shape[split.outerDims++];
    if (isStaticShape(shape))
      split.outer *= size.value();
    remaining /= sizeOf(size);
  }
  split.chunk = shape.back();
  if (split.outerDims + 1 == shape.size() && !keepRows &&
      remaining > 2 * taskCost) {
    // Multiples of 64 elements: whole cache lines and vectors.
    int64_t elements =
        std::max<int64_t>(int64_t(taskCost / cost) / 64 * 64, 64);
    split.isCut = true;
    const int64_t chunk = shape.back().upTo(evenChunk(shape.back(), elements));
    split.chunk = chunk;
    split.chunks = ceilDivide(shape.back(), chunk).valueOr(1);
  }
  return split;
}

int64_t LoopNest::tasks() const {
  if (!isStaticShape(shape))
    return 1;
  Split s = split();
  return s.outer * s.chunks;
}

std::vector<TaskExtent> LoopNest::taskExtents() const {
  const Split s = split();
  std::vector<TaskExtent> parts;
  for (size_t i = 0; i < s.outerDims; ++i)
    parts.push_back({{shape[i]}, 1});
  if (s.isCut)
    parts.push_back({{shape.back()}, s.chunk.value()});
  // One task, whatever the sizes of what is read.
  if (parts.empty())
    parts.push_back({{}, 1});
  return parts;
}

void LoopNest::emitTask(KernelBuilder &code, Value task) const {
  Split s = split();
  Value chunks = code.index(s.chunks);
  const bool isCounted = s.isCut && shape.back().isDynamic();
  if (isCounted)
    chunks = code.div(code.add(code.index(shape.back()), s.chunk - 1), s.chunk);
  // Of one dimension, a task is a chunk however many there are.
  const bool isOne = s.isCut && s.outerDims == 0;
  Value chunk = isOne ? task : code.rem(task, chunks);
  Value rest = isOne ? code.index(0) : code.div(task, chunks);
  SmallVector<Value> outer(s.outerDims);
  for (size_t i = s.outerDims; i-- > 0;) {
    outer[i] = i == 0 && shape[i] != 1 ? rest : code.rem(rest, shape[i]);
    rest = code.div(rest, shape[i]);
  }
  llvm::ArrayRef<Dim> inner(shape);
  inner = inner.drop_front(s.outerDims).drop_back();
  code.loops(inner, [&](ArrayRef<Value> position) {
    SmallVector<Value> place(outer);
    llvm::append_range(place, position);
    Value begin = code.mul(chunk, s.chunk);
    Value end = code.add(begin, s.chunk);
    if ((s.chunks > 1 || isCounted) && shape.back() % s.chunk.value() != 0)
      end = code.min(end, code.index(shape.back()));
    body(place, begin, end);
  });
}
