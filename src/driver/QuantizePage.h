//===- QuantizePage.h - the report of a quantisation as a page ------------===//

#ifndef SINTER_DRIVER_QUANTIZEPAGE_H
#define SINTER_DRIVER_QUANTIZEPAGE_H

#include "engine/Quantize.h"

#include <string>

namespace sinter::driver {

/// A self-contained HTML page, for light and dark screens.
std::string quantizePage(const std::string &model,
                         const QuantizeReport &report);

} // namespace sinter::driver

#endif // SINTER_DRIVER_QUANTIZEPAGE_H
