//===- ExternalSymbols.cpp - the functions that kernels may call ----------===//

#include "runtime/ExternalSymbols.h"
#include "runtime/Float.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace sinter {

namespace {

// The compiler's helpers for targets without the instructions, in their calling
// convention. Not every libgcc has all of them.
_Float16 floatToHalf(float value) {
  return std::bit_cast<_Float16>(Half(value).bits());
}
_Float16 doubleToHalf(double value) {
  return std::bit_cast<_Float16>(Half(value).bits());
}
float halfToFloat(_Float16 value) {
  return float(Half::fromBits(std::bit_cast<uint16_t>(value)));
}
double halfToDouble(_Float16 value) {
  return double(Half::fromBits(std::bit_cast<uint16_t>(value)));
}
__bf16 floatToBFloat(float value) {
  return std::bit_cast<__bf16>(BFloat16(value).bits());
}
__bf16 doubleToBFloat(double value) {
  return std::bit_cast<__bf16>(BFloat16(value).bits());
}

using Table = std::unordered_map<std::string_view, void *>;

template <typename Function> void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

void addConversions(Table &table) {
  table["__truncsfhf2"] = address(floatToHalf);
  table["__gnu_f2h_ieee"] =
      address(+[](float value) { return Half(value).bits(); });
  table["__truncdfhf2"] = address(doubleToHalf);
  table["__extendhfsf2"] = address(halfToFloat);
  table["__gnu_h2f_ieee"] =
      address(+[](uint16_t bits) { return float(Half::fromBits(bits)); });
  table["__extendhfdf2"] = address(halfToDouble);
  table["__truncsfbf2"] = address(floatToBFloat);
  table["__truncdfbf2"] = address(doubleToBFloat);
}

void addMemory(Table &table) {
  table["memcpy"] = address(&::memcpy);
  table["memmove"] = address(&::memmove);
  table["memset"] = address(&::memset);
  table["memcmp"] = address(&::memcmp);
}

/// f and ff, of one argument and of more.
void addMathematics(Table &table) {
#define UNARY(name)                                                            \
  {#name, address(static_cast<double (*)(double)>(&::name))}, {                \
    #name "f", address(static_cast<float (*)(float)>(&::name##f))              \
  }
#define BINARY(name)                                                           \
  {#name, address(static_cast<double (*)(double, double)>(&::name))}, {        \
    #name "f", address(static_cast<float (*)(float, float)>(&::name##f))       \
  }
  table.insert(
      {UNARY(exp),    UNARY(exp2),      UNARY(expm1),      UNARY(log),
       UNARY(log2),   UNARY(log10),     UNARY(log1p),      UNARY(sin),
       UNARY(cos),    UNARY(tan),       UNARY(asin),       UNARY(acos),
       UNARY(atan),   UNARY(sinh),      UNARY(cosh),       UNARY(tanh),
       UNARY(asinh),  UNARY(acosh),     UNARY(atanh),      UNARY(erf),
       UNARY(erfc),   UNARY(tgamma),    UNARY(lgamma),     UNARY(sqrt),
       UNARY(cbrt),   UNARY(fabs),      UNARY(floor),      UNARY(ceil),
       UNARY(trunc),  UNARY(round),     UNARY(rint),       UNARY(nearbyint),
       BINARY(pow),   BINARY(fmod),     BINARY(remainder), BINARY(atan2),
       BINARY(hypot), BINARY(copysign), BINARY(nextafter), BINARY(fmin),
       BINARY(fmax)});
#undef UNARY
#undef BINARY
  table["fma"] =
      address(static_cast<double (*)(double, double, double)>(&::fma));
  table["fmaf"] = address(static_cast<float (*)(float, float, float)>(&::fmaf));
  table["ldexp"] = address(static_cast<double (*)(double, int)>(&::ldexp));
  table["ldexpf"] = address(static_cast<float (*)(float, int)>(&::ldexpf));
  table["roundeven"] = address(static_cast<double (*)(double)>(&::roundeven));
  table["roundevenf"] = address(static_cast<float (*)(float)>(&::roundevenf));
  table["sincos"] = address(&::sincos);
  table["sincosf"] = address(&::sincosf);
}

const Table &table() {
  static const Table symbols = [] {
    Table filled;
    addMemory(filled);
    addMathematics(filled);
    addConversions(filled);
    return filled;
  }();
  return symbols;
}

} // namespace

void *externalSymbol(std::string_view name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string_view> externalSymbolNames() {
  std::vector<std::string_view> names;
  for (const auto &[name, symbol] : table())
    names.push_back(name);
  return names;
}

} // namespace sinter
