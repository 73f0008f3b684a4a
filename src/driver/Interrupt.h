//===- Interrupt.h - a signal that ends work at its next good point -------===//

#ifndef SINTER_DRIVER_INTERRUPT_H
#define SINTER_DRIVER_INTERRUPT_H

namespace sinter::driver {

/// While one lives, the first interrupt or termination is only remembered, from
/// ready() on; before that, and for the second one, this process ends as it
/// would have without it. At most one at a time.
class Interrupt {
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;
  Interrupt &operator=(const Interrupt &) = delete;

  /// From now on there is something to keep.
  static void ready();
  /// Whether a signal came since then.
  static bool isAsked();
  /// Ends this process by the signal that came, as if nobody had caught it.
  static void end();
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_INTERRUPT_H
