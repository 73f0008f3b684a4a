//===- LoopSize.h - how many nodes a loop runs ----------------------------===//

#ifndef SINTER_FORMATS_ONNX_LOOPSIZE_H
#define SINTER_FORMATS_ONNX_LOOPSIZE_H

#include "formats/onnx/file/onnx.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace sinter::onnx {

/// The known integer value of a name at the loop, if any.
using KnownInteger =
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

/// A lower bound of the number of nodes that run when the Loop \p node does,
/// nested loops of constant trip count included, saturated at \p limit, which
/// is at most 2^62. Loops that may end early and branches of an If count as
/// their minimum. The file's check bounds the nesting of graphs.
int64_t leastNodesRun(const NodeProto &node, KnownInteger known, int64_t limit);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_LOOPSIZE_H
