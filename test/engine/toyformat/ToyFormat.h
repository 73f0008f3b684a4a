//===- ToyFormat.h - the least that a file format can be ------------------===//
//
// Lines of words. A value has a name; sizes are numbers, or names where they
// are not known:
//
//   toy 1
//   input x f32 N 3
//   weight w 3 = 1 2 3
//   add s x w
//   mean m s
//   relu y m
//   output y
//
// Operators: add, multiply (broadcast by NumPy's rule), relu, and mean over the
// last dimension, which stays as 1. It is here to show that a format needs
// nothing outside its folder but a row of the table.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_ENGINE_TOYFORMAT_TOYFORMAT_H
#define SINTER_TEST_ENGINE_TOYFORMAT_TOYFORMAT_H

#include "formats/Format.h"

namespace sinter::toy {

extern const Format toyFormat;

/// Reads and writes files of it.
Result<Model> readToy(std::string_view text, const std::string &path);
Result<void> writeToy(const Model &model, const std::string &path);

} // namespace sinter::toy

#endif // SINTER_TEST_ENGINE_TOYFORMAT_TOYFORMAT_H
