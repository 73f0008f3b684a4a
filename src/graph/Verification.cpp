//===- Verification.cpp - when verifiers run ------------------------------===//

#include "graph/Verification.h"

#include <cstdlib>
#include <string_view>

bool sinter::verifiesEachStage() {
  static const bool wanted = [] {
    const char *text = std::getenv("SINTER_VERIFY_CODE");
    return text ? std::string_view(text) == "1" : SINTER_VERIFY_CODE != 0;
  }();
  return wanted;
}
