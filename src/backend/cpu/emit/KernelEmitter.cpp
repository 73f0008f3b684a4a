//===- KernelEmitter.cpp - from a cpu.kernel to a function ----------------===//

#include "backend/cpu/emit/KernelEmitter.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/LoopNest.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
static ArrayRef<int64_t> shapeOf(Value tensor) {
  return typeOf(tensor).getShape();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Arithmetic operations for all elements of \p op's results.
static double flopsOf(Operation &op) {
  using namespace stablehlo;
  if (op.getNumResults() == 0 || isa<ConstantOp>(op))
    return 0;
  double elements = typeOf(op.getResult(0)).getNumElements();
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<DotGeneralOp>([&](DotGeneralOp dot) {
        double depth = 1;
        for (int64_t dim :
             dot.getDotDimensionNumbers().getLhsContractingDimensions())
          depth *= shapeOf(dot.getLhs())[dim];
        return 2 * depth * elements;
      })
      .Case<ConvolutionOp>([&](ConvolutionOp conv) {
        auto numbers = conv.getDimensionNumbers();
        double depth =
            double(typeOf(conv.getRhs()).getNumElements()) /
            shapeOf(conv.getRhs())[numbers.getKernelOutputFeatureDimension()];
        return 2 * depth * elements;
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        return double(typeOf(reduce.getInputs()[0]).getNumElements());
      })
      .Case<ReduceWindowOp>([&](ReduceWindowOp window) {
        double size = 1;
        for (int64_t dim : window.getWindowDimensions())
          size *= dim;
        return size * elements;
      })
      .Case<ExpOp, Expm1Op, LogOp, Log1pOp, LogisticOp, TanhOp, SineOp,
            CosineOp, TanOp, PowOp, Atan2Op, CbrtOp, nn::ErfOp>(
          [&](auto) { return 20 * elements; })
      .Default([&](Operation *) { return elements; });
}

static double flopsOf(KernelOp kernel) {
  double flops = 0;
  for (Operation &op : kernel.getBody().front())
    flops += flopsOf(op);
  return flops;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The loops of one kernel, and what is in them.
class LoopKernel {
public:
  explicit LoopKernel(KernelOp kernel)
      : yield(cast<YieldOp>(kernel.getBody().front().getTerminator())),
        root(yield.getValues()[0].getDefiningOp()) {
    double size = std::max<int64_t>(1, typeOf(yield.getValues()[0])
                                           .getNumElements());
    cost = std::max(1.0, flopsOf(kernel) / size);
    if (auto concatenate = dyn_cast_or_null<stablehlo::ConcatenateOp>(root))
      addPieces(concatenate);
    else if (auto reduce = dyn_cast_or_null<stablehlo::ReduceOp>(root);
             reduce && keepsInnermost(reduce))
      addAccumulation(reduce);
    else
      addElements();
  }

  int64_t tasks() const {
    int64_t count = 0;
    for (const LoopNest &nest : nests)
      count += nest.tasks();
    return std::max<int64_t>(count, 1);
  }

  void emit(Elemental &values, Value task, ValueRange outputs) {
    elemental = &values;
    memory = outputs;
    Emission &e = values.emission;
    int64_t first = 0;
    for (const LoopNest &nest : nests) {
      int64_t end = first + nest.tasks();
      Value here = e.both(e.less(e.index(first - 1), task),
                          e.less(task, e.index(end)));
      if (nests.size() == 1)
        here = e.boolean(true);
      e.when(here, [&] { nest.emitTask(e, e.sub(task, first)); });
      first = end;
    }
  }

private:
  static std::vector<int64_t> loopShape(Value tensor) {
    ArrayRef<int64_t> shape = shapeOf(tensor);
    return shape.empty() ? std::vector<int64_t>{1} : shape.vec();
  }
  /// The loops' position as a place in a tensor (a scalar has none).
  static Coordinates placeOf(Value tensor, ArrayRef<Value> outer, Value last) {
    Coordinates place(outer.begin(), outer.end());
    place.push_back(last);
    if (shapeOf(tensor).empty())
      place.clear();
    return place;
  }

  /// Every element of the results, one after the other.
  void addElements() {
    LoopNest nest;
    nest.shape = loopShape(yield.getValues()[0]);
    nest.cost = cost;
    nest.body = [this](ArrayRef<Value> outer, Value begin, Value end) {
      Emission &e = elemental->emission;
      e.loop(begin, end, 1, [&](Value last) {
        for (auto [i, tensor] : llvm::enumerate(yield.getValues())) {
          Coordinates place = placeOf(tensor, outer, last);
          Value value = elemental->at(tensor, place);
          elemental->store(value, memory[i],
                           elemental->linearize(place, shapeOf(tensor)),
                           typeOf(tensor).getElementType());
        }
      });
    };
    nests.push_back(std::move(nest));
  }

  /// Each input of a concatenation by loops of its own, without a decision an
  /// element.
  void addPieces(stablehlo::ConcatenateOp op) {
    size_t dim = op.getDimension();
    int64_t start = 0;
    for (Value input : op.getInputs()) {
      if (typeOf(input).getNumElements() == 0)
        continue;
      LoopNest nest;
      nest.shape = loopShape(input);
      nest.cost = cost;
      nest.body = [this, input, start, dim](ArrayRef<Value> outer, Value begin,
                                            Value end) {
        Emission &e = elemental->emission;
        e.loop(begin, end, 1, [&](Value last) {
          Coordinates place = placeOf(input, outer, last);
          Value value = elemental->at(input, place);
          place[dim] = e.add(place[dim].value, start);
          elemental->store(
              value, memory[0],
              elemental->linearize(place, shapeOf(yield.getValues()[0])),
              typeOf(input).getElementType());
        });
      };
      nests.push_back(std::move(nest));
      start += shapeOf(input)[dim];
    }
  }

  static bool keepsInnermost(stablehlo::ReduceOp op) {
    int64_t last = typeOf(op.getInputs()[0]).getRank() - 1;
    return last >= 0 && !op.getDimensions().empty() &&
           !llvm::is_contained(op.getDimensions(), last) &&
           shapeOf(op.getInputs()[0]).back() > 1;
  }

  /// A reduction over outer dimensions: whole rows are added to the result's
  /// row, so that memory is read in order and neighbours are computed together.
  void addAccumulation(stablehlo::ReduceOp op) {
    LoopNest nest;
    nest.shape = loopShape(op.getResults()[0]);
    nest.cost = cost;
    nest.body = [this, op](ArrayRef<Value> outer, Value begin,
                           Value end) mutable {
      accumulateRow(op, outer, begin, end);
    };
    nests.push_back(std::move(nest));
  }

  void accumulateRow(stablehlo::ReduceOp op, ArrayRef<Value> outer,
                     Value begin, Value end) {
    Emission &e = elemental->emission;
    auto offset = [&](Value last) {
      Value result = op.getResults()[0];
      return elemental->linearize(placeOf(result, outer, last),
                                  shapeOf(result));
    };
    auto elementType = [&](size_t i) {
      return typeOf(op.getResults()[i]).getElementType();
    };
    e.loop(begin, end, 1, [&](Value last) {
      for (auto [i, init] : llvm::enumerate(op.getInitValues())) {
        Value value = elemental->at(init, ArrayRef<Coordinate>());
        value = emitConvert(e, value, typeOf(init).getElementType(),
                            elementType(i));
        elemental->store(value, memory[i], offset(last), elementType(i));
      }
    });
    ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
    SmallVector<int64_t> reduced(op.getDimensions()), sizes;
    llvm::sort(reduced);
    for (int64_t dim : reduced)
      sizes.push_back(shape[dim]);
    e.loops(sizes, [&](ArrayRef<Value> position) {
      e.loop(begin, end, 1, [&](Value last) {
        Coordinates source;
        size_t nextReduced = 0, nextKept = 0;
        for (int64_t dim = 0; dim + 1 < int64_t(shape.size()); ++dim)
          source.push_back(llvm::is_contained(reduced, dim)
                               ? position[nextReduced++]
                               : outer[nextKept++]);
        source.push_back(last);
        SmallVector<Value> arguments;
        for (size_t i = 0; i < op.getNumResults(); ++i)
          arguments.push_back(
              elemental->load(memory[i], offset(last), elementType(i)));
        for (auto [i, input] : llvm::enumerate(op.getInputs()))
          arguments.push_back(
              emitConvert(e, elemental->at(input, source),
                          typeOf(input).getElementType(), elementType(i)));
        SmallVector<Value> results =
            elemental->inlineRegion(op.getBody(), arguments);
        for (auto [i, value] : llvm::enumerate(results))
          elemental->store(value, memory[i], offset(last), elementType(i));
      });
    });
  }

  YieldOp yield;
  Operation *root;
  double cost;
  std::vector<LoopNest> nests;
  Elemental *elemental = nullptr;
  ValueRange memory;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

KernelPlan cpu::planKernel(KernelOp kernel, const Target &) {
  KernelPlan plan;
  plan.name = "loops";
  plan.flops = flopsOf(kernel);
  plan.tasks = LoopKernel(kernel).tasks();
  plan.packings.resize(kernel.getInputs().size());
  return plan;
}

/// A tensor as a kernel's buffer.
static KernelBuffer bufferOf(Value tensor, bool isWritten) {
  RankedTensorType type = typeOf(tensor);
  KernelBuffer buffer;
  buffer.type = MemRefType::get({type.getNumElements()},
                                storageType(type.getElementType()));
  buffer.isWritten = isWritten;
  return buffer;
}

void cpu::emitKernel(KernelOp kernel, const Target &, ModuleOp module,
                     StringRef name) {
  Block &body = kernel.getBody().front();
  SmallVector<KernelBuffer> buffers;
  for (Value argument : body.getArguments())
    buffers.push_back(bufferOf(argument, false));
  for (Value result : body.getTerminator()->getOperands())
    buffers.push_back(bufferOf(result, true));
  createKernel(module, UnknownLoc::get(module.getContext()), name, buffers,
               [&](OpBuilder &builder, Location location, Value task,
                   ValueRange memory) {
                 Emission emission(builder, location);
                 Elemental elemental(emission);
                 for (auto [argument, input] :
                      llvm::zip(body.getArguments(), memory))
                   elemental.bindMemory(argument, input);
                 LoopKernel(kernel).emit(
                     elemental, task, memory.drop_front(body.getNumArguments()));
               });
}
