//===- KnownCalls.cpp - custom calls of JAX, XLA and MHLO -----------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/CustomCalls.h"
#include "interpreter/ElementwiseLoops.h"
#include "interpreter/OrderKeys.h"
#include "interpreter/Reductions.h"
#include "interpreter/Rng.h"
#include "interpreter/Strided.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// An attribute of the call, where writers put it: beside the others, in
/// `mhlo.attributes`, or in a dictionary `backend_config`.
static Attribute attributeOf(const Call &call, StringRef name) {
  for (StringRef holder :
       {"mhlo.attributes", "backend_config", "mhlo.backend_config"})
    if (auto dictionary = call.op->getAttrOfType<DictionaryAttr>(holder))
      if (Attribute attribute = dictionary.get(name))
        return attribute;
  return call.op->getAttr(name);
}

/// The region of the one function that the call names.
static Region *calledRegion(const Call &call) {
  auto names = call.op->getAttrOfType<ArrayAttr>("called_computations");
  if (!names || names.size() != 1)
    return nullptr;
  auto name = dyn_cast<SymbolRefAttr>(names[0]);
  auto function =
      name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call.op, name)
           : func::FuncOp();
  return function && !function.isExternal() ? &function.getBody() : nullptr;
}

static Result<void> expectCounts(const Call &call, size_t operands,
                                 size_t results) {
  if (call.operands.size() == operands && call.op->getNumResults() == results &&
      llvm::all_of(call.op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return {};
  return invalidModel("takes " + std::to_string(operands) +
                      " operands and gives " + std::to_string(results) +
                      " tensors");
}

//===----------------------------------------------------------------------===//
// Markers and assertions
//===----------------------------------------------------------------------===//

/// What says something about its operands to a compiler, and gives them back.
static Result<Tensors> evaluateIdentity(const Call &call) {
  if (call.operands.size() != call.op->getNumResults())
    return invalidModel("has not as many results as operands");
  return Tensors(call.operands.begin(), call.operands.end());
}

/// A value whose shape the other operands say.
static Result<Tensors> evaluateFirst(const Call &call) {
  if (call.operands.empty() || call.op->getNumResults() != 1)
    return invalidModel("has not one result, or no operands");
  return Tensors{call[0]};
}

/// `{0}`, `{1}`... of the message stand for the operands after the first.
static Result<Tensors> evaluateShapeAssertion(const Call &call) {
  if (call.operands.empty() || call[0].type() != ElementType::I1 ||
      call[0].size() != 1)
    return invalidModel("takes what is asserted, a tensor<i1>");
  if (call[0].at<uint8_t>(0))
    return Tensors();
  auto message =
      dyn_cast_or_null<StringAttr>(attributeOf(call, "error_message"));
  std::string text = message ? message.getValue().str() : "does not hold";
  for (size_t i = 1; i < call.operands.size(); ++i) {
    const std::string place = "{" + std::to_string(i - 1) + "}";
    const size_t at = text.find(place);
    if (at != std::string::npos && call[i].size() == 1)
      text.replace(at, place.size(), std::to_string(call[i].toInteger(0)));
  }
  return usageError(text);
}

/// A buffer that holds nothing yet.
static Result<Tensors> evaluateCreateBuffer(const Call &call) {
  auto type = call.op->getNumResults() == 1
                  ? dyn_cast<ShapedType>(call.op->getResult(0).getType())
                  : ShapedType();
  auto element = type ? elementTypeOf(type.getElementType()) : std::nullopt;
  if (!element || !type.hasStaticShape())
    return invalidModel("gives one buffer of a known shape");
  return produce(*element, toShape(type.getShape()), [](Tensor &) {});
}

//===----------------------------------------------------------------------===//
// Operations of shapes that are operands
//===----------------------------------------------------------------------===//

/// Inputs, initial values, window_dimensions, window_strides, base_dilations,
/// window_dilations, padding.
static Result<Tensors> evaluateDynamicReduceWindow(const Call &call) {
  const size_t count = call.op->getNumResults();
  Region *body = calledRegion(call);
  if (!body || count == 0 || call.operands.size() != 2 * count + 5)
    return invalidModel("takes inputs, initial values, five arrays of numbers, "
                        "and calls one function");
  std::vector<int64_t> numbers[5];
  const auto rank = static_cast<size_t>(call[0].rank());
  for (size_t i = 0; i < 5; ++i) {
    numbers[i] = integers(call[2 * count + i]);
    if (numbers[i].size() != (i == 4 ? 2 * rank : rank))
      return invalidModel("a window has not one number a dimension");
  }
  stablehlo::ConvolutionWindow window;
  for (size_t i = 0; i < rank; ++i) {
    stablehlo::WindowDimension dimension;
    dimension.size = numbers[0][i];
    dimension.stride = numbers[1][i];
    dimension.baseDilation = numbers[2][i];
    dimension.windowDilation = numbers[3][i];
    dimension.paddingLow = numbers[4][2 * i];
    dimension.paddingHigh = numbers[4][2 * i + 1];
    window.push_back(dimension);
  }
  return reduceWindow(call, count, window, *body);
}

static Result<Tensors> evaluateDynamicRngBitGenerator(const Call &call) {
  if (Result<void> ok = expectCounts(call, 2, 2); !ok)
    return ok.takeError();
  auto algorithm = dyn_cast_or_null<stablehlo::RngAlgorithmAttr>(
      attributeOf(call, "rng_algorithm"));
  if (!algorithm)
    return invalidModel("has no rng_algorithm");
  return randomBits(call[0], algorithm.getValue(), call.resultElement(1),
                    integers(call[1]));
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

/// The \p k largest (or least) elements of each row, the first of equal ones
/// first, and their indices. NaN is larger than all.
static Result<Tensors> topK(const Call &call, int64_t k, bool largest) {
  const Tensor &operand = call[0];
  if (operand.rank() == 0 || isComplex(operand.type()) || k < 0 ||
      k > operand.shape().back())
    return invalidModel("k is not between 0 and the last dimension's size");
  Shape shape = operand.shape();
  const int64_t size = shape.back();
  shape.back() = k;
  if (Result<void> ok = checkSize(ElementType::I64, operand.shape()); !ok)
    return ok.takeError();
  Tensor values(operand.type(), shape), indices(call.resultElement(1), shape);
  if (values.size() == 0)
    return Tensors{values, indices};
  const std::vector<int64_t> keys = orderKeys(operand);
  const size_t bytes = byteSize(operand.type());
  std::vector<int64_t> order(size);
  for (int64_t row = 0; row < operand.size() / size; ++row) {
    const int64_t *key = keys.data() + row * size;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return largest ? key[a] > key[b] : key[a] < key[b];
    });
    for (int64_t i = 0; i < k; ++i)
      std::memcpy(values.mutableBytes() + (row * k + i) * bytes,
                  operand.data() + (row * size + order[i]) * bytes, bytes);
    storeIntegers(indices, row * k, std::span(order).first(k));
  }
  return Tensors{values, indices};
}

static Result<Tensors> evaluateTopK(const Call &call) {
  if (Result<void> ok = expectCounts(call, 1, 2); !ok)
    return ok.takeError();
  auto k = dyn_cast_or_null<IntegerAttr>(attributeOf(call, "k"));
  auto largest = dyn_cast_or_null<BoolAttr>(attributeOf(call, "largest"));
  if (!k || k.getValue().getBitWidth() > 64)
    return invalidModel("has no k");
  return topK(call, k.getValue().getSExtValue(),
              !largest || largest.getValue());
}

static Result<Tensors> evaluateDynamicTopK(const Call &call) {
  if (Result<void> ok = expectCounts(call, 2, 2); !ok)
    return ok.takeError();
  if (call[1].size() != 1)
    return invalidModel("k is no scalar");
  return topK(call, integers(call[1]).front(), true);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

#define FUNCTION(Name, function)                                               \
  struct Name {                                                                \
    static double real(double x) { return std::function(x); }                  \
    static Complex complex(Complex x) { return std::function(x); }             \
  };
namespace {
FUNCTION(Acos, acos)
FUNCTION(Acosh, acosh)
FUNCTION(Asin, asin)
FUNCTION(Asinh, asinh)
FUNCTION(Atan, atan)
FUNCTION(Atanh, atanh)
FUNCTION(Cosh, cosh)
FUNCTION(Sinh, sinh)
FUNCTION(Tan, tan)
struct Erf {
  static double real(double x) { return std::erf(x); }
};
} // namespace
#undef FUNCTION

template <typename Function>
static Result<Tensors> evaluateFunction(const Call &call) {
  if (Result<void> ok = expectCounts(call, 1, 1); !ok)
    return ok.takeError();
  Result<Kernel> kernel =
      elementwiseKernel<Function, 1>(call.op, call[0].type());
  if (!kernel)
    return kernel.takeError();
  return produce(call[0].type(), call[0].shape(), [&](Tensor &result) {
    const std::byte *from[] = {call[0].data()};
    (*kernel)(result.size(), from, result.mutableBytes());
  });
}

void addKnownCalls(llvm::StringMap<Evaluator> &evaluators) {
  for (const char *marker :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
        "annotate_device_placement", "xla.sdy.FuncResultSharding",
        "xla.sdy.LocalToGlobalShape", "xla.sdy.GlobalToLocalShape",
        "LayoutConstraint", "MoveToHost", "MoveToDevice", "Pin", "Unpin"})
    evaluators[marker] = evaluateIdentity;
  evaluators["stablehlo.shape_refinement_operand_wrapper"] = evaluateFirst;
  evaluators["shape_assertion"] = evaluateShapeAssertion;
  evaluators["CreateBuffer"] = evaluateCreateBuffer;
  evaluators["stablehlo.dynamic_reduce_window"] = evaluateDynamicReduceWindow;
  evaluators["stablehlo.dynamic_rng_bit_generator"] =
      evaluateDynamicRngBitGenerator;
  evaluators["stablehlo.dynamic_top_k"] = evaluateDynamicTopK;
  evaluators["mhlo.topk"] = evaluateTopK;
  evaluators["mhlo.acos"] = evaluateFunction<Acos>;
  evaluators["mhlo.acosh"] = evaluateFunction<Acosh>;
  evaluators["mhlo.asin"] = evaluateFunction<Asin>;
  evaluators["mhlo.asinh"] = evaluateFunction<Asinh>;
  evaluators["mhlo.atan"] = evaluateFunction<Atan>;
  evaluators["mhlo.atanh"] = evaluateFunction<Atanh>;
  evaluators["mhlo.cosh"] = evaluateFunction<Cosh>;
  evaluators["mhlo.sinh"] = evaluateFunction<Sinh>;
  evaluators["mhlo.tan"] = evaluateFunction<Tan>;
  evaluators["mhlo.erf"] = evaluateFunction<Erf>;
}

} // namespace sinter::interpreter
