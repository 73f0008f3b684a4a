//===- KnownSymbols.cpp - which unknown sizes of results are the same -----===//

#include "formats/import/KnownValues.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter::formats {

void KnownValues::observe(Operation *op) {
  bool dynamic = llvm::any_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
  if (!dynamic || op->getNumOperands() == 0)
    return;
  Value result = op->getResult(0);
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  Value first = op->getOperand(0);
  auto firstType = dyn_cast<RankedTensorType>(first.getType());
  if (!firstType)
    return;
  auto alike = [&](Value operand) {
    for (int64_t i = 0; i < rank; ++i)
      copySymbol(operand, i, result, i);
  };
  auto allBut = [&](int64_t dimension) {
    for (int64_t i = 0; i < rank; ++i)
      if (i != dimension)
        copySymbol(first, i, result, i);
  };
  auto fromShape = [&](Value shape) {
    auto sizes = elements(shape);
    for (int64_t i = 0; sizes && i < rank; ++i)
      if ((*sizes)[i].kind == Element::Symbol)
        setSymbol(result, i, (*sizes)[i].value);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<stablehlo::SelectOp, stablehlo::ClampOp>(
          [&](auto) { alike(op->getOperand(1)); })
      .Case<stablehlo::TransposeOp>([&](stablehlo::TransposeOp transpose) {
        for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
          copySymbol(first, from, result, i);
      })
      .Case<nn::BroadcastLikeOp>([&](auto) {
        // A size that meets only ones and itself is the result's.
        for (int64_t i = 0; i < rank; ++i) {
          std::optional<Element> size;
          bool clear = true;
          for (Value operand : op->getOperands()) {
            int64_t missing =
                rank - cast<RankedTensorType>(operand.getType()).getRank();
            if (i < missing)
              continue;
            Element here = sizeOf(operand, i - missing);
            if (here == Element::integer(1))
              continue;
            clear &= !size || *size == here;
            size = here;
          }
          if (clear && size && size->kind == Element::Symbol)
            setSymbol(result, i, size->value);
        }
      })
      .Case<stablehlo::ConvolutionOp>([&](stablehlo::ConvolutionOp conv) {
        auto numbers = conv.getDimensionNumbers();
        copySymbol(first, numbers.getInputBatchDimension(), result,
                   numbers.getOutputBatchDimension());
      })
      .Case<nn::MaxPoolOp, nn::AveragePoolOp, nn::LpPoolOp,
            nn::MaxPoolIndicesOp>([&](auto) {
        copySymbol(first, 0, result, 0);
        copySymbol(first, 1, result, 1);
      })
      .Case<stablehlo::DotGeneralOp>([&](stablehlo::DotGeneralOp dot) {
        auto numbers = dot.getDotDimensionNumbers();
        int64_t at = 0;
        for (int64_t i : numbers.getLhsBatchingDimensions())
          copySymbol(first, i, result, at++);
        auto free = [&](Value operand, ArrayRef<int64_t> batching,
                        ArrayRef<int64_t> contracting) {
          auto type = cast<RankedTensorType>(operand.getType());
          for (int64_t i = 0; i < type.getRank(); ++i)
            if (!llvm::is_contained(batching, i) &&
                !llvm::is_contained(contracting, i))
              copySymbol(operand, i, result, at++);
        };
        free(first, numbers.getLhsBatchingDimensions(),
             numbers.getLhsContractingDimensions());
        free(op->getOperand(1), numbers.getRhsBatchingDimensions(),
             numbers.getRhsContractingDimensions());
      })
      .Case<nn::TakeOp>([&](nn::TakeOp take) {
        int64_t axis = take.getAxis();
        int64_t indexRank = take.getIndices().getType().getRank();
        for (int64_t i = 0; i < rank; ++i)
          if (i < axis)
            copySymbol(first, i, result, i);
          else if (i < axis + indexRank)
            copySymbol(take.getIndices(), i - axis, result, i);
          else
            copySymbol(first, i - indexRank + 1, result, i);
      })
      .Case<nn::TakeAlongOp>([&](auto) { alike(op->getOperand(1)); })
      .Case<stablehlo::ConcatenateOp>([&](stablehlo::ConcatenateOp concat) {
        allBut(concat.getDimension());
      })
      .Case<nn::TopKOp>([&](nn::TopKOp top) {
        for (Value each : op->getResults())
          for (int64_t i = 0; i < rank; ++i)
            if (i != static_cast<int64_t>(top.getAxis()))
              copySymbol(first, i, each, i);
      })
      .Case<stablehlo::PadOp>([&](stablehlo::PadOp pad) {
        for (int64_t i = 0; i < rank; ++i)
          if (!pad.getEdgePaddingLow()[i] && !pad.getEdgePaddingHigh()[i] &&
              !pad.getInteriorPadding()[i])
            copySymbol(first, i, result, i);
      })
      .Case<nn::PadModeOp>([&](nn::PadModeOp pad) {
        for (int64_t i = 0; i < rank; ++i)
          if (!pad.getLow()[i] && !pad.getHigh()[i])
            copySymbol(first, i, result, i);
      })
      .Case<stablehlo::ReduceOp>([&](stablehlo::ReduceOp reduce) {
        int64_t at = 0;
        for (int64_t i = 0; i < firstType.getRank(); ++i)
          if (!llvm::is_contained(reduce.getDimensions(), i))
            copySymbol(first, i, result, at++);
      })
      .Case<nn::ArgMaxOp, nn::ArgMinOp>([&](auto arg) {
        int64_t at = 0;
        for (int64_t i = 0; i < firstType.getRank(); ++i) {
          if (i != static_cast<int64_t>(arg.getAxis()))
            copySymbol(first, i, result, at++);
          else if (arg.getKeepDimension())
            ++at;
        }
      })
      .Case<stablehlo::BroadcastInDimOp>(
          [&](stablehlo::BroadcastInDimOp broadcast) {
            for (auto [i, to] :
                 llvm::enumerate(broadcast.getBroadcastDimensions()))
              copySymbol(first, i, result, to);
          })
      .Case<stablehlo::DynamicReshapeOp, stablehlo::DynamicBroadcastInDimOp>(
          [&](auto) { fromShape(op->getOperand(1)); })
      .Case<stablehlo::DynamicIotaOp>([&](auto) { fromShape(first); })
      .Case<stablehlo::RealDynamicSliceOp>([&](auto) {
        // [0, size) with step 1 keeps the size.
        auto starts = elements(op->getOperand(1));
        auto limits = elements(op->getOperand(2));
        auto strides = elements(op->getOperand(3));
        if (!starts || !limits || !strides)
          return;
        for (int64_t i = 0; i < rank; ++i)
          if ((*starts)[i] == Element::integer(0) &&
              (*strides)[i] == Element::integer(1) &&
              (*limits)[i] == sizeOf(first, i))
            copySymbol(first, i, result, i);
      })
      .Case<nn::LstmOp, nn::GruOp, nn::RnnOp>([&](auto) {
        copySymbol(first, 0, result, 0);
        copySymbol(first, 1, result, 2);
        for (Value state : op->getResults().drop_front())
          copySymbol(first, 1, state, 1);
      })
      .Case<nn::ResizeOp>([&](nn::ResizeOp resize) {
        for (int64_t i = 0; i < rank; ++i)
          if (resize.getScales()[i] == 1.0)
            copySymbol(first, i, result, i);
      })
      .Default([&](Operation *) {
        // Elementwise ops and those whose result is like their operand.
        if (firstType.getRank() != rank)
          return;
        bool sameShape =
            op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
            isa<stablehlo::BatchNormInferenceOp, stablehlo::ReverseOp,
                nn::PReluOp, nn::LrnOp, nn::SoftmaxOp, nn::LogSoftmaxOp,
                nn::HardmaxOp, nn::LayerNormOp, nn::RmsNormOp, nn::GroupNormOp,
                nn::LpNormalizeOp, nn::CumulativeSumOp>(op);
        if (sameShape)
          alike(first);
      });
}

} // namespace sinter::formats
