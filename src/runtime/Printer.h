//===- Printer.h - receives what programs print ---------------------------===//

#ifndef SINTER_RUNTIME_PRINTER_H
#define SINTER_RUNTIME_PRINTER_H

#include <cstdio>
#include <functional>
#include <string>

namespace sinter {

/// Called with what a program prints (interpreter.print), in whole lines with
/// their ends, by the thread that runs it.
using Printer = std::function<void(const std::string &text)>;

/// The printer for standard output, the default.
inline void printToStandardOutput(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace sinter

#endif // SINTER_RUNTIME_PRINTER_H
