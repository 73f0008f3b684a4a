//===- LoopSize.h - how many nodes a loop runs ----------------------------===//

#ifndef SINTER_FORMATS_ONNX_LOOPSIZE_H
#define SINTER_FORMATS_ONNX_LOOPSIZE_H

#include "formats/onnx/file/onnx.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace sinter::onnx {

/// The integer that a name stands for where the loop is, if that is known.
using KnownInteger =
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

/// At least so many nodes run when the Loop \p node does, nested loops of
/// constant length counted out; at most \p limit, which is no more than 2^62. A
/// loop that may end early and the branches of an If count as little as they
/// can. Graphs nest no deeper than the file's check allows.
int64_t leastNodesRun(const NodeProto &node, KnownInteger known, int64_t limit);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_LOOPSIZE_H
