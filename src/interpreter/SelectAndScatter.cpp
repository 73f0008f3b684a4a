//===- SelectAndScatter.cpp - select_and_scatter and map ------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/Strided.h"

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

namespace {

/// The windows of an operand, and the element of each that `select` selects.
class WindowSelector {
public:
  WindowSelector(const Tensor &operand,
                 const stablehlo::ConvolutionWindow &window,
                 ScalarFunction &select)
      : operand(operand), window(window), select(select),
        strides(rowMajorStrides(operand.shape())) {}

  /// The index of the selected element of the window at \p index; -1 if the
  /// window covers only padding.
  Result<int64_t> selectedIn(ArrayRef<int64_t> index) {
    Shape box;
    int64_t base = 0;
    for (size_t d = 0; d < window.size(); ++d) {
      const int64_t begin = index[d] * window[d].stride - window[d].paddingLow;
      const int64_t first = std::max<int64_t>(begin, 0);
      const int64_t last = std::min(begin + window[d].size, operand.dim(d));
      if (first >= last)
        return int64_t(-1);
      box.push_back(last - first);
      base += first * strides[d];
    }
    int64_t best = -1;
    IndexCounter position(box);
    const int64_t count = *elementCount(box);
    for (int64_t i = 0; i < count; ++i, position.next()) {
      int64_t offset = base;
      for (size_t d = 0; d < box.size(); ++d)
        offset += position[d] * strides[d];
      if (best < 0) {
        best = offset;
        continue;
      }
      const std::byte *arguments[] = {elementsFrom(operand, best),
                                      elementsFrom(operand, offset)};
      std::byte keeps = {};
      if (Result<void> ok = select.run(1, arguments, &keeps); !ok)
        return ok.takeError();
      if (keeps == std::byte())
        best = offset;
    }
    return best;
  }

private:
  const Tensor &operand;
  const stablehlo::ConvolutionWindow &window;
  ScalarFunction &select;
  std::vector<int64_t> strides;
};

} // namespace

static Result<Tensors> evaluateSelectAndScatter(const Call &call) {
  auto op = call.as<stablehlo::SelectAndScatterOp>();
  const Tensor &operand = call[0];
  const stablehlo::ConvolutionWindow window = op.getWindow();
  Shape windowCounts;
  for (auto [i, dimension] : llvm::enumerate(window)) {
    std::optional<int64_t> size =
        stablehlo::windowedSize(operand.dim(i), dimension);
    if (!size)
      return invalidModel("the window of dimension " + std::to_string(i) +
                          " makes no sense");
    windowCounts.push_back(*size);
  }
  if (windowCounts != call[1].shape())
    return invalidModel("the source has not one element a window");
  Region &region = op.getScatter();
  Result<Tensors> source =
      promoted(call[1], op.getSource().getType(), region, 1);
  if (!source)
    return source;
  Result<Tensors> init =
      promoted(call[2], op.getInitValue().getType(), region, 0);
  if (!init)
    return init;
  if (Result<void> ok = checkSize(init->front().type(), operand.shape()); !ok)
    return ok.takeError();
  Tensor result = splat(init->front(), operand.shape());
  ScalarFunction select(op.getSelect(), call.scope);
  ScalarFunction scatter(region, call.scope);
  WindowSelector selector(operand, window, select);
  IndexCounter index(windowCounts);
  for (int64_t i = 0; i < source->front().size(); ++i, index.next()) {
    Result<int64_t> selected = selector.selectedIn(*index);
    if (!selected)
      return selected.takeError();
    if (*selected < 0)
      continue;
    std::byte *to = elementsFrom(result, *selected);
    const std::byte *arguments[] = {to, elementsFrom(source->front(), i)};
    if (Result<void> ok = scatter.run(1, arguments, to); !ok)
      return ok.takeError();
  }
  return single(std::move(result));
}

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluateMap(const Call &call) {
  auto op = call.as<stablehlo::MapOp>();
  for (const Tensor &input : call.operands)
    if (input.shape() != call[0].shape())
      return invalidModel("inputs differ in shape");
  return ScalarFunction(op.getComputation(), call.scope).apply(call.operands);
}

void registerSelectAndScatter(Registry &registry) {
  registry.add<stablehlo::SelectAndScatterOp>(evaluateSelectAndScatter);
  registry.add<stablehlo::MapOp>(evaluateMap);
}

} // namespace sinter::interpreter
