//===- FirstError.h - keeps the first error instead of printing it --------===//

#ifndef SINTER_GRAPH_FIRSTERROR_H
#define SINTER_GRAPH_FIRSTERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "runtime/Result.h"

#include <string>

namespace sinter {

/// While it lives, no diagnostic of \p context is printed, and the text of the
/// first error is kept. Errors do not print the operation, which is slow where
/// its types have many scales.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context);
  ~FirstError();
  FirstError(const FirstError &) = delete;
  FirstError &operator=(const FirstError &) = delete;

  /// Returns the text and clears it; empty if there was no error since the last
  /// call.
  std::string take();
  /// The same as an error of \p kind in the file at \p path, with line and
  /// column if the diagnostic has them.
  Error takeError(ErrorKind kind, const std::string &path);

private:
  std::string text;
  mlir::FileLineColLoc line;
  mlir::ScopedDiagnosticHandler handler;
  mlir::MLIRContext *context;
  bool didShowOperations;
};

} // namespace sinter

#endif // SINTER_GRAPH_FIRSTERROR_H
