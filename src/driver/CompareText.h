//===- CompareText.h - prints the differences between two models ----------===//

#ifndef SINTER_DRIVER_COMPARETEXT_H
#define SINTER_DRIVER_COMPARETEXT_H

#include "compare/CompareReport.h"

namespace sinter::driver {

/// A table as text; \p isLong: every tensor.
std::string reportText(const CompareReport &report, bool isLong);
/// A self-contained HTML page.
std::string reportPage(const CompareReport &report);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMPARETEXT_H
