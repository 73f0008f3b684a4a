//===- FirstError.h - what went wrong first, instead of on the screen -----===//

#ifndef SINTER_GRAPH_FIRSTERROR_H
#define SINTER_GRAPH_FIRSTERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <string>

namespace sinter {

/// While it lives, no diagnostic of \p context is printed, and the text of the
/// first error is kept. Errors do not show the operation, which takes long
/// where its types have many scales.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context);
  ~FirstError();
  FirstError(const FirstError &) = delete;
  FirstError &operator=(const FirstError &) = delete;

  /// The text, which is forgotten; empty if there was no error since the last
  /// call.
  std::string take();
  /// The same with the place in the file where there is one: "a.mlir:3:7: ...".
  std::string takeWithPlace();

private:
  std::string text;
  mlir::FileLineColLoc place;
  mlir::ScopedDiagnosticHandler handler;
  mlir::MLIRContext *context;
  bool didShowOperations;
};

} // namespace sinter

#endif // SINTER_GRAPH_FIRSTERROR_H
