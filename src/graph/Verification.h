//===- Verification.h - when verifiers run --------------------------------===//

#ifndef SINTER_GRAPH_VERIFICATION_H
#define SINTER_GRAPH_VERIFICATION_H

namespace sinter {

/// Whether verifiers run on graphs after each pass, not only after the last one
/// of a pipeline, and on kernels after each stage of lowering. On in debug and
/// sanitizer builds. SINTER_VERIFY_CODE=1 in the environment turns it on, any
/// other value off.
bool verifiesEachStage();

} // namespace sinter

#endif // SINTER_GRAPH_VERIFICATION_H
