//===- PaddleFormat.h - PaddlePaddle's row of the table of formats --------===//

#ifndef SINTER_FORMATS_PADDLE_PADDLEFORMAT_H
#define SINTER_FORMATS_PADDLE_PADDLEFORMAT_H

#include "formats/Format.h"

namespace sinter {

extern const Format paddleFormat;

} // namespace sinter

#endif // SINTER_FORMATS_PADDLE_PADDLEFORMAT_H
