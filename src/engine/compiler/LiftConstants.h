//===- LiftConstants.h - constants of a test program become inputs --------===//
//
//   main() {                              main(x) {
//     x = constant [1, 2]           ->      y = add(x, x)
//     y = add(x, x)                         ...                x is [1, 2]
//
// The compiler would fold constants; as inputs they leave something to compile.
//
// Restrictions: scalars, quantised constants, those in regions and those that
// determine shapes stay.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_LIFTCONSTANTS_H
#define SINTER_ENGINE_COMPILER_LIFTCONSTANTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Tensor.h"

#include <vector>

namespace sinter {

/// Makes arguments of \p function's constants, after the present ones. Returns
/// their values.
std::vector<Tensor> liftConstants(mlir::func::FuncOp function);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_LIFTCONSTANTS_H
