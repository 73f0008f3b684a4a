//===- ChannelsFirst.h - networks with channels last, or with windows
//------===//
//
//   convolution [b, 0, 1, f]x...->[b, 0, 1, f]
//     ->  transpose, convolution [b, f, 0, 1]x...->[b, f, 0, 1], transpose
//   reduce_window(x, -inf, maximum)  ->  max_pool(x), with transposes likewise
//   reduce(transpose(x))             ->  reduce(x) along other dimensions
//
// What other frameworks export becomes what assignLayouts knows. Between two
// convolutions the transposes meet, through what is elementwise, and cancel.
//
// Restrictions: four dimensions, f32, constant weights; a window over two
// dimensions, without base dilation. Where no convolution changes, transposes
// are left where they are.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_CHANNELSFIRST_H
#define SINTER_BACKEND_CPU_LAYOUT_CHANNELSFIRST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites \p function before layouts are assigned.
void channelsFirst(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_CHANNELSFIRST_H
