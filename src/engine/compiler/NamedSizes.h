//===- NamedSizes.h - a graph whose dynamic sizes have names -----------===//

#ifndef SINTER_ENGINE_COMPILER_NAMEDSIZES_H
#define SINTER_ENGINE_COMPILER_NAMEDSIZES_H

#include "backend/cpu/shapes/SizeTable.h"
#include "graph/Model.h"
#include "runtime/Result.h"

#include <string>

namespace sinter {

/// A graph in which each dynamic size is an expression over the dimensions of
/// its inputs (graph/Dim.h). Operations about sizes are gone.
struct NamedSizes {
  /// Makes one of \p model, which the caller has copied. Unsupported, with the
  /// operation, if a size follows from no input's.
  static Result<NamedSizes> of(Model model);

  /// "2*S+1", or the number of a static size; empty if nothing is known.
  std::string nameOf(Dim size) const;

  /// Whether it is an expression over dimensions of inputs alone.
  bool isOfInputs(Dim size) const;

  Model model;
  cpu::SizeTable table;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_NAMEDSIZES_H
