//===- AlgebraRules.h - tables of identities ------------------------------===//
//
// Each identity is exact for every value, signed zeros included, or says what
// it needs to be allowed. (Which bits a NaN has is nobody's business.)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_ALGEBRARULES_H
#define SINTER_PASSES_ALGEBRARULES_H

#include "passes/Rules.h"

namespace sinter {

/// Arithmetic, elementwise functions and activations.
llvm::ArrayRef<Rule> elementwiseRules();
/// Truth, bits, comparisons, choices, minimum and maximum.
llvm::ArrayRef<Rule> logicRules();
/// Conversions, and parts of complex numbers.
llvm::ArrayRef<Rule> conversionRules();
/// Transpose, reshape, broadcast, slice, concatenate, pad.
llvm::ArrayRef<Rule> movementRules();
/// The same of repeated, padded and joined tensors.
llvm::ArrayRef<Rule> rearrangementRules();
/// dynamic_slice, dynamic_update_slice, gather, scatter, iota.
llvm::ArrayRef<Rule> indexingRules();
/// What holds nothing, and what is done with it.
llvm::ArrayRef<Rule> emptyRules();
/// reduce, reduce_window, sort.
llvm::ArrayRef<Rule> reductionRules();
/// Tuples, and operations that the specification replaces by others: deprecated
/// ones, dynamic ones of constants.
llvm::ArrayRef<Rule> modernRules();
/// What is known of sizes that are not.
llvm::ArrayRef<Rule> dynamicRules();
/// if, case, while.
llvm::ArrayRef<Rule> controlRules();
/// Recurrent layers.
llvm::ArrayRef<Rule> recurrentRules();

/// All of these, and shapeRules().
llvm::ArrayRef<llvm::ArrayRef<Rule>> algebraRules();

} // namespace sinter

#endif // SINTER_PASSES_ALGEBRARULES_H
