//===- WideFloats.h - a program with all its floats in f64 ----------------===//

#ifndef SINTER_RANDOM_WIDEFLOATS_H
#define SINTER_RANDOM_WIDEFLOATS_H

#include "graph/Model.h"

namespace sinter {

/// A copy of \p model in which every real number is an f64 and every complex
/// one is made of two, so that differences of what it computes say something of
/// its derivative. The model has no quantised types; the copy is not verified.
Model withWideFloats(const Model &model);

} // namespace sinter

#endif // SINTER_RANDOM_WIDEFLOATS_H
