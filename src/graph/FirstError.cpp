//===- FirstError.cpp - what went wrong first, instead of on the screen ---===//

#include "graph/FirstError.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace sinter {

FirstError::FirstError(MLIRContext *context)
    : handler(
          context,
          [this](Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
                text.empty()) {
              // Some show the operation, over many lines.
              text = diagnostic.str();
              text.resize(std::min(text.find('\n'), text.size()));
              place =
                  diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
            }
            return success();
          }),
      context(context),
      didShowOperations(context->shouldPrintOpOnDiagnostic()) {
  context->printOpOnDiagnostic(false);
}

FirstError::~FirstError() { context->printOpOnDiagnostic(didShowOperations); }

std::string FirstError::take() { return std::exchange(text, {}); }

std::string FirstError::takeWithPlace() {
  if (text.empty() || !place)
    return take();
  return place.getFilename().str() + ":" + std::to_string(place.getLine()) +
         ":" + std::to_string(place.getColumn()) + ": " + take();
}

} // namespace sinter
