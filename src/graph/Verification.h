//===- Verification.h - how often the verifier looks at graphs ------------===//

#ifndef SINTER_GRAPH_VERIFICATION_H
#define SINTER_GRAPH_VERIFICATION_H

namespace sinter {

/// Whether verifiers look at graphs after each pass, not only after the last
/// one of a pipeline, and at kernels at each stage on their way to code. On in
/// debug and sanitizer builds, and where the environment has
/// SINTER_VERIFY_CODE=1; off where it has another value.
bool verifiesEachStage();

} // namespace sinter

#endif // SINTER_GRAPH_VERIFICATION_H
