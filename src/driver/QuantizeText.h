//===- QuantizeText.h - what sinter quantize prints -----------------------===//

#ifndef SINTER_DRIVER_QUANTIZETEXT_H
#define SINTER_DRIVER_QUANTIZETEXT_H

#include "engine/Quantize.h"

namespace sinter::driver {

/// "41.3 dB", "exact" or "-".
std::string decibelText(const std::optional<double> &decibels);

struct QuantizeTextOptions {
  /// Whether a bound of the loss was given, and whether each layer is listed.
  bool hasBound = false, withLayers = false;
};

void printQuantized(const QuantizeReport &report,
                    const QuantizeTextOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_QUANTIZETEXT_H
