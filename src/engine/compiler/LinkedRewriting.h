//===- LinkedRewriting.h - simplifies, and links nodes before and after ---===//
//
// A node after has the values of nodes before that passes hand on (trace
// numbers), and the rewrites of these. A new one without such values came from
// the place in the user's file where it says it did, and was made by what made
// the values of its users.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_LINKEDREWRITING_H
#define SINTER_ENGINE_COMPILER_LINKEDREWRITING_H

#include "engine/Compiler.h"
#include "engine/compiler/ViewGraph.h"

namespace sinter {

/// Rewrites \p model, whose nodes are \p before, as for a program, and gives
/// the nodes that it has then. Sets `counterparts` and `rewrites` of both.
Result<NodesOfGraph> rewriteLinked(Model &model, NodesOfGraph &before,
                                   const PassOptions &passes);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_LINKEDREWRITING_H
