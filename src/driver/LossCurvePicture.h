//===- LossCurvePicture.h - the losses of a training as a plot ------------===//

#ifndef SINTER_DRIVER_LOSSCURVEPICTURE_H
#define SINTER_DRIVER_LOSSCURVEPICTURE_H

#include "train/LossCurve.h"

#include <string>

namespace sinter::driver {

/// Plots means as a curve, and validations as points, over steps, as SVG.
std::string lossCurveSvg(const LossCurve &curve, const std::string &title);

} // namespace sinter::driver

#endif // SINTER_DRIVER_LOSSCURVEPICTURE_H
