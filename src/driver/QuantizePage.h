//===- QuantizePage.h - what quantising cost, to look at ------------------===//

#ifndef SINTER_DRIVER_QUANTIZEPAGE_H
#define SINTER_DRIVER_QUANTIZEPAGE_H

#include "engine/Quantize.h"

#include <string>

namespace sinter::driver {

/// One HTML page that stands alone, for light and dark screens.
std::string quantizePage(const std::string &model,
                         const QuantizeReport &report);

} // namespace sinter::driver

#endif // SINTER_DRIVER_QUANTIZEPAGE_H
