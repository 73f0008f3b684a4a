//===- OptionNames.cpp - options in messages ------------------------------===//

#include "runtime/OptionNames.h"

#include <atomic>

namespace sinter {

static std::atomic<bool> hasCommandLine = false;

std::string optionText(std::string_view name) {
  return (hasCommandLine ? "--" : "") + std::string(name);
}

void nameOptionsOfCommandLine() { hasCommandLine = true; }

} // namespace sinter
