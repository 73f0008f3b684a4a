//===- Recurrent.h - LSTM of weights that are computed --------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_RECURRENT_H
#define SINTER_FORMATS_ONNX_OPS_RECURRENT_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// X [T, N, I], W [D, 4 H, I] and R [D, 4 H, H] of an LSTM.
struct LstmInputs {
  mlir::Value x, w, r;
};

/// Reads a node with LSTM's attributes and inputs from 3 on.
mlir::LogicalResult importLstmOf(NodeContext &node, const LstmInputs &inputs);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_RECURRENT_H
