//===- DynamicPrograms.h - a session's programs for more than some sizes --===//
//
// A model usually has one program for all sizes of its dynamic dimensions, or,
// where all sizes of inputs are static and others follow from values, for all
// values. Where the graph itself follows from sizes (`takesBranches`), each is
// for those with which some branches are taken, as its shape guards say, and
// there may be several.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_DYNAMICPROGRAMS_H
#define SINTER_ENGINE_DYNAMICPROGRAMS_H

#include "engine/Compiler.h"
#include "runtime/Program.h"

#include <memory>

namespace sinter {

/// Whether \p program has dynamic dimensions, so that it is for all sizes of
/// these, not only for all values.
bool isForAllSizes(const Program &program);

/// Whether the shape guards of \p program, which is dynamic, hold for the sizes
/// of \p inputs; the error is the one that does not.
Result<void> serves(const Program &program, std::span<const Tensor> inputs);

/// Those of one choice of what is dynamic, the last one asked for.
class DynamicPrograms {
public:
  /// Whether there are some for what is dynamic of \p request.
  bool areFor(const CompileRequest &request) const;
  size_t count() const { return programs.size(); }
  /// How many \p request finds when it asks for one more.
  size_t countFor(const CompileRequest &request) const {
    return areFor(request) ? count() : 0;
  }
  /// The last one; there are some.
  const Program &last() const { return *programs.back(); }

  /// One that serves \p inputs, or null.
  std::shared_ptr<const Program> find(std::span<const Tensor> inputs) const;

  /// Adds one that was made for \p request, instead of those for other sizes.
  /// Returns whether it was added: one for all values is not where there are
  /// some for all sizes.
  bool add(std::shared_ptr<const Program> program,
           const CompileRequest &request);

  void clear() { programs.clear(); }

private:
  std::vector<std::shared_ptr<const Program>> programs;
  /// What is dynamic of them, as in CompileRequest::dynamic, or else the
  /// shapes.
  std::vector<Shape> shapes;
};

} // namespace sinter

#endif // SINTER_ENGINE_DYNAMICPROGRAMS_H
