//===- GraphCheck.h - names, scopes and order inside a graph --------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_GRAPHCHECK_H
#define SINTER_FORMATS_ONNX_FILE_GRAPHCHECK_H

#include "runtime/Result.h"

namespace sinter::onnx {

class FunctionProto;
class GraphProto;

/// The checks of checkModel for one graph (with all nested graphs), and for a
/// function's body. Sorts the nodes.
Result<void> checkGraph(GraphProto &graph);
Result<void> checkFunction(FunctionProto &function);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_GRAPHCHECK_H
