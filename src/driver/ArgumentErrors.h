//===- ArgumentErrors.h - messages on arguments that do not parse ---------===//

#ifndef SINTER_DRIVER_ARGUMENTERRORS_H
#define SINTER_DRIVER_ARGUMENTERRORS_H

#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace sinter::driver {

/// What is wrong with arguments of \p app that the parser did not take, and
/// what would help.
std::string explained(const CLI::App &app, const CLI::ParseError &error);

} // namespace sinter::driver

#endif // SINTER_DRIVER_ARGUMENTERRORS_H
