//===- KnownCalls.cpp - custom calls of JAX, XLA and MHLO -----------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/CustomCalls.h"
#include "interpreter/ElementwiseLoops.h"
#include "interpreter/OrderKeys.h"
#include "interpreter/Reductions.h"
#include "interpreter/Rng.h"
#include "interpreter/Strided.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/ImagePixels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// An attribute of the call, at any of its usual positions: beside the others,
/// in `mhlo.attributes`, or in a dictionary `backend_config`.
static Attribute attributeOf(const Call &call, StringRef name) {
  for (StringRef holder :
       {"mhlo.attributes", "backend_config", "mhlo.backend_config"})
    if (auto dictionary = call.op->getAttrOfType<DictionaryAttr>(holder))
      if (Attribute attribute = dictionary.get(name))
        return attribute;
  return call.op->getAttr(name);
}

/// The region of the only function that the call refers to.
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

/// A marker for compilers, which returns its operands.
static Result<Tensors> evaluateMarker(const Call &call) {
  if (call.operands.size() != call.op->getNumResults())
    return invalidModel("has not as many results as operands");
  return Tensors(call.operands.begin(), call.operands.end());
}

/// Returns the first operand, whose shape the others describe.
static Result<Tensors> evaluateFirst(const Call &call) {
  if (call.operands.empty() || call.op->getNumResults() != 1)
    return invalidModel("has not one result, or no operands");
  return Tensors{call[0]};
}

/// `{0}`, `{1}`... in the message are replaced by the operands after the first.
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
    const std::string marker = "{" + std::to_string(i - 1) + "}";
    const size_t at = text.find(marker);
    if (at != std::string::npos && call[i].size() == 1)
      text.replace(at, marker.size(), std::to_string(call[i].toInteger(0)));
  }
  return usageError(text);
}

/// A buffer without defined contents.
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
// Operations with shapes as operands
//===----------------------------------------------------------------------===//

/// The operands are inputs, initial values, window_dimensions, window_strides,
/// base_dilations, window_dilations, padding.
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

static Result<Tensors> evaluateTopKCall(const Call &call) {
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

/// The element of a row that comes first by the comparator, without those in
/// \p isTaken.
static Result<int64_t> firstOf(const Call &call, Region &comparator,
                               const std::vector<Tensor> (&rows)[2],
                               const std::vector<bool> &isTaken) {
  int64_t first = -1;
  for (size_t i = 0; i < isTaken.size(); ++i) {
    if (isTaken[i])
      continue;
    if (first >= 0) {
      Result<Tensors> before = runRegion(
          comparator, {rows[0][i], rows[0][first], rows[1][i], rows[1][first]},
          call.scope);
      if (!before)
        return before.takeError();
      if (!before->front().at<uint8_t>(0))
        continue;
    }
    first = static_cast<int64_t>(i);
  }
  return first;
}

/// The exact \p k elements that come first by the comparator, and those at the
/// same indices in the second operand.
static Result<Tensors> approxTopK(const Call &call, int64_t k) {
  Region *comparator = calledRegion(call);
  auto dimension =
      dyn_cast_or_null<IntegerAttr>(attributeOf(call, "reduction_dim"));
  auto aggregates =
      dyn_cast_or_null<BoolAttr>(attributeOf(call, "aggregate_to_topk"));
  if (!comparator || comparator->getNumArguments() != 4 || !dimension ||
      !dimension.getType().isInteger(64) || !aggregates ||
      call[0].shape() != call[1].shape())
    return invalidModel("takes values and indices, and calls one function");
  if (!aggregates.getValue())
    return unsupported("without aggregate_to_topk");
  const int64_t axis = dimension.getInt();
  if (axis < 0 || axis >= call[0].rank() || k < 0 || k > call[0].dim(axis))
    return invalidModel("k is not between 0 and the dimension's size");
  const AxisView view(call[0].shape(), axis);
  Shape shape = call[0].shape();
  shape[axis] = k;
  Tensor results[2] = {Tensor(call[0].type(), shape),
                       Tensor(call[1].type(), shape)};
  for (int64_t outer = 0; outer < view.outer; ++outer)
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      std::vector<Tensor> rows[2];
      for (int which : {0, 1})
        for (int64_t i = 0; i < view.size; ++i)
          rows[which].push_back(scalarAt(
              call[which], (outer * view.size + i) * view.inner + inner));
      std::vector<bool> isTaken(view.size, false);
      for (int64_t rank = 0; rank < k; ++rank) {
        Result<int64_t> first = firstOf(call, *comparator, rows, isTaken);
        if (!first)
          return first.takeError();
        isTaken[*first] = true;
        for (int which : {0, 1})
          std::memcpy(results[which].mutableBytes() +
                          ((outer * k + rank) * view.inner + inner) *
                              rows[which][*first].bytes(),
                      rows[which][*first].data(), rows[which][*first].bytes());
      }
    }
  return Tensors{results[0], results[1]};
}

static Result<Tensors> evaluateApproxTopK(const Call &call) {
  if (call.operands.size() < 4 || call.op->getNumResults() != 2)
    return invalidModel("takes 4 operands and gives 2 tensors");
  auto k = dyn_cast_or_null<IntegerAttr>(attributeOf(call, "top_k"));
  if (!k || !k.getType().isInteger(64))
    return invalidModel("has no top_k");
  return approxTopK(call, k.getInt());
}

static Result<Tensors> evaluateDynamicApproxTopK(const Call &call) {
  // The shapes of the results may be further operands.
  if (call.operands.size() < 5 || call.op->getNumResults() != 2)
    return invalidModel("takes 5 operands and gives 2 tensors");
  if (call[4].size() != 1)
    return invalidModel("k is no scalar");
  return approxTopK(call, integers(call[4]).front());
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
FUNCTION(Tangent, tan)
struct Erf {
  static double real(double x) { return std::erf(x); }
};
} // namespace
#undef FUNCTION

template <typename Function>
static Result<Tensors> evaluateFunction(const Call &call) {
  if (Result<void> ok = expectCounts(call, 1, 1); !ok)
    return ok.takeError();
  Result<ArrayFunction> function =
      elementwiseFunction<Function, 1>(call.op, call[0].type());
  if (!function)
    return function.takeError();
  return produce(call[0].type(), call[0].shape(), [&](Tensor &result) {
    const std::byte *from[] = {call[0].data()};
    (*function)(result.size(), from, result.mutableBytes());
  });
}

/// ONNX's ImageDecoder; `backend_config` is the format of the pixels.
static Result<Tensors> evaluateDecodeImage(const Call &call) {
  if (Result<void> ok = expectCounts(call, 1, 1); !ok)
    return ok.takeError();
  auto name = call.op->getAttrOfType<StringAttr>("backend_config");
  const auto format =
      name ? pixelFormatOf(name.getValue()) : std::optional<ImageChannels>();
  if (!format || call[0].type() != ElementType::UI8 || call[0].rank() != 1)
    return invalidModel("takes bytes and the format of pixels");
  Result<Tensor> pixels =
      decodePixels({call[0].data(), call[0].bytes()}, *format);
  return pixels ? Result<Tensors>(Tensors{*pixels}) : pixels.takeError();
}

void addKnownCalls(llvm::StringMap<Evaluator> &evaluators) {
  for (const char *marker :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
        "annotate_device_placement", "xla.sdy.FuncResultSharding",
        "xla.sdy.LocalToGlobalShape", "xla.sdy.GlobalToLocalShape",
        "LayoutConstraint", "MoveToHost", "MoveToDevice", "Pin", "Unpin"})
    evaluators[marker] = evaluateMarker;
  evaluators["stablehlo.shape_refinement_operand_wrapper"] = evaluateFirst;
  evaluators["shape_assertion"] = evaluateShapeAssertion;
  evaluators["sinter.decode_image"] = evaluateDecodeImage;
  evaluators["CreateBuffer"] = evaluateCreateBuffer;
  evaluators["stablehlo.dynamic_reduce_window"] = evaluateDynamicReduceWindow;
  evaluators["stablehlo.dynamic_rng_bit_generator"] =
      evaluateDynamicRngBitGenerator;
  evaluators["stablehlo.dynamic_top_k"] = evaluateDynamicTopK;
  evaluators["stablehlo.dynamic_approx_top_k"] = evaluateDynamicApproxTopK;
  evaluators["ApproxTopK"] = evaluateApproxTopK;
  evaluators["mhlo.topk"] = evaluateTopKCall;
  evaluators["mhlo.acos"] = evaluateFunction<Acos>;
  evaluators["mhlo.acosh"] = evaluateFunction<Acosh>;
  evaluators["mhlo.asin"] = evaluateFunction<Asin>;
  evaluators["mhlo.asinh"] = evaluateFunction<Asinh>;
  evaluators["mhlo.atan"] = evaluateFunction<Atan>;
  evaluators["mhlo.atanh"] = evaluateFunction<Atanh>;
  evaluators["mhlo.cosh"] = evaluateFunction<Cosh>;
  evaluators["mhlo.sinh"] = evaluateFunction<Sinh>;
  evaluators["mhlo.tan"] = evaluateFunction<Tangent>;
  evaluators["mhlo.erf"] = evaluateFunction<Erf>;
}

} // namespace sinter::interpreter
