//===- CpuFeatures.cpp - features of this machine's processor -------------===//

#include "runtime/CpuFeatures.h"

#include "runtime/MatrixUnits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace sinter {

namespace {

enum class Register : uint8_t { Eax, Ebx, Ecx, Edx };

/// The registers that the operating system must save for a feature: bits of
/// XCR0 (Intel SDM volume 1, chapter 13).
enum class State : uint32_t {
  None = 0,
  Avx = 0x6,
  Avx512 = 0xE6,
  Amx = 0x60000,
  Apx = 0x80000
};

struct X86Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  unsigned bit;
  State state;
};

using enum Register;

// Intel SDM volume 2, CPUID.
constexpr X86Feature x86Features[] = {
    {"sse3", 1, 0, Ecx, 0, State::None},
    {"pclmul", 1, 0, Ecx, 1, State::None},
    {"ssse3", 1, 0, Ecx, 9, State::None},
    {"fma", 1, 0, Ecx, 12, State::Avx},
    {"cx16", 1, 0, Ecx, 13, State::None},
    {"sse4.1", 1, 0, Ecx, 19, State::None},
    {"sse4.2", 1, 0, Ecx, 20, State::None},
    {"movbe", 1, 0, Ecx, 22, State::None},
    {"popcnt", 1, 0, Ecx, 23, State::None},
    {"aes", 1, 0, Ecx, 25, State::None},
    {"avx", 1, 0, Ecx, 28, State::Avx},
    {"f16c", 1, 0, Ecx, 29, State::Avx},
    {"sse", 1, 0, Edx, 25, State::None},
    {"sse2", 1, 0, Edx, 26, State::None},
    {"bmi", 7, 0, Ebx, 3, State::None},
    {"avx2", 7, 0, Ebx, 5, State::Avx},
    {"bmi2", 7, 0, Ebx, 8, State::None},
    {"avx512f", 7, 0, Ebx, 16, State::Avx512},
    {"avx512dq", 7, 0, Ebx, 17, State::Avx512},
    {"adx", 7, 0, Ebx, 19, State::None},
    {"avx512ifma", 7, 0, Ebx, 21, State::Avx512},
    {"avx512cd", 7, 0, Ebx, 28, State::Avx512},
    {"sha", 7, 0, Ebx, 29, State::None},
    {"avx512bw", 7, 0, Ebx, 30, State::Avx512},
    {"avx512vl", 7, 0, Ebx, 31, State::Avx512},
    {"avx512vbmi", 7, 0, Ecx, 1, State::Avx512},
    {"avx512vbmi2", 7, 0, Ecx, 6, State::Avx512},
    {"gfni", 7, 0, Ecx, 8, State::None},
    {"vaes", 7, 0, Ecx, 9, State::Avx},
    {"vpclmulqdq", 7, 0, Ecx, 10, State::Avx},
    {"avx512vnni", 7, 0, Ecx, 11, State::Avx512},
    {"avx512bitalg", 7, 0, Ecx, 12, State::Avx512},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, State::Avx512},
    {"avx512vp2intersect", 7, 0, Edx, 8, State::Avx512},
    {"amx-bf16", 7, 0, Edx, 22, State::Amx},
    {"avx512fp16", 7, 0, Edx, 23, State::Avx512},
    {"amx-tile", 7, 0, Edx, 24, State::Amx},
    {"amx-int8", 7, 0, Edx, 25, State::Amx},
    {"raoint", 7, 1, Eax, 3, State::None},
    {"avxvnni", 7, 1, Eax, 4, State::Avx},
    {"avx512bf16", 7, 1, Eax, 5, State::Avx512},
    {"cmpccxadd", 7, 1, Eax, 7, State::None},
    {"amx-fp16", 7, 1, Eax, 21, State::Amx},
    {"avxifma", 7, 1, Eax, 23, State::Avx},
    {"avxvnniint8", 7, 1, Edx, 4, State::Avx},
    {"avxneconvert", 7, 1, Edx, 5, State::Avx},
    {"amx-complex", 7, 1, Edx, 8, State::Amx},
    {"avxvnniint16", 7, 1, Edx, 10, State::Avx},
    {"avx10.1-256", 7, 1, Edx, 19, State::Avx512},
    {"avx10.1-512", 7, 1, Edx, 19, State::Avx512},
    {"ccmp", 7, 1, Edx, 21, State::Apx},
    {"cf", 7, 1, Edx, 21, State::Apx},
    {"egpr", 7, 1, Edx, 21, State::Apx},
    {"ndd", 7, 1, Edx, 21, State::Apx},
    {"nf", 7, 1, Edx, 21, State::Apx},
    {"ppx", 7, 1, Edx, 21, State::Apx},
    {"push2pop2", 7, 1, Edx, 21, State::Apx},
    {"zu", 7, 1, Edx, 21, State::Apx},
    {"sahf", 0x80000001, 0, Ecx, 0, State::None},
    {"lzcnt", 0x80000001, 0, Ecx, 5, State::None},
    {"sse4a", 0x80000001, 0, Ecx, 6, State::None},
    {"sse-unaligned-mem", 0x80000001, 0, Ecx, 7, State::None},
    {"prfchw", 0x80000001, 0, Ecx, 8, State::None},
    {"xop", 0x80000001, 0, Ecx, 11, State::Avx},
    {"fma4", 0x80000001, 0, Ecx, 16, State::Avx},
    {"tbm", 0x80000001, 0, Ecx, 21, State::None},
};

constexpr unsigned long HwCap = 16, HwCap2 = 26;

struct ArmFeature {
  const char *name;
  unsigned long auxiliary;
  unsigned bit;
};

// AT_HWCAP and AT_HWCAP2 of getauxval; the bits: Linux,
// arch/arm64/include/uapi/asm/hwcap.h.
constexpr ArmFeature armFeatures[] = {
    {"fp-armv8", HwCap, 0},   {"neon", HwCap, 1},   {"aes", HwCap, 3},
    {"sha2", HwCap, 6},       {"crc", HwCap, 7},    {"lse", HwCap, 8},
    {"fullfp16", HwCap, 10},  {"rdm", HwCap, 12},   {"jsconv", HwCap, 13},
    {"complxnum", HwCap, 14}, {"rcpc", HwCap, 15},  {"sha3", HwCap, 17},
    {"dotprod", HwCap, 20},   {"sve", HwCap, 22},   {"fp16fml", HwCap, 23},
    {"sve2", HwCap2, 1},      {"i8mm", HwCap2, 13}, {"bf16", HwCap2, 14},
};

} // namespace

std::vector<std::string_view> knownCpuFeatures(std::string_view architecture) {
  std::vector<std::string_view> names;
  if (architecture == "x86_64")
    for (const X86Feature &feature : x86Features)
      names.emplace_back(feature.name);
  else if (architecture == "aarch64")
    for (const ArmFeature &feature : armFeatures)
      names.emplace_back(feature.name);
  return names;
}

bool isMatrixFeature(std::string_view feature) {
  return feature.starts_with("amx-");
}

#if defined(__x86_64__)

namespace {

/// The register states that the operating system saves.
uint32_t enabledState() {
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & osxsave))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// Whether the processor and the operating system have \p feature, and this
/// process may use it, which AMX needs a request for.
bool isUsable(const X86Feature &feature, uint32_t enabled) {
  std::array<uint32_t, 4> registers = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[0],
                         &registers[1], &registers[2], &registers[3]))
    return false;
  const auto needed = static_cast<uint32_t>(feature.state);
  return (registers[static_cast<size_t>(feature.where)] >> feature.bit & 1) &&
         (enabled & needed) == needed &&
         (feature.state != State::Amx || errorOfTilePermission() == 0);
}

std::vector<std::string> detect() {
  std::vector<std::string> found;
  const uint32_t enabled = enabledState();
  for (const X86Feature &feature : x86Features)
    if (isUsable(feature, enabled))
      found.emplace_back(feature.name);
  return found;
}

} // namespace

std::string_view hostArchitecture() { return "x86_64"; }

#elif defined(__aarch64__)

namespace {

std::vector<std::string> detect() {
  std::vector<std::string> found;
  for (const ArmFeature &feature : armFeatures)
    if (::getauxval(feature.auxiliary) >> feature.bit & 1)
      found.emplace_back(feature.name);
  return found;
}

} // namespace

std::string_view hostArchitecture() { return "aarch64"; }

#else
#error "CpuFeatures: add this architecture's way to ask for its features"
#endif

const std::vector<std::string> &hostCpuFeatures() {
  static const std::vector<std::string> sorted = [] {
    std::vector<std::string> found = detect();
    std::ranges::sort(found);
    return found;
  }();
  return sorted;
}

Result<void> checkHost(std::string_view triple,
                       std::span<const std::string> features) {
  const std::string_view architecture = triple.substr(0, triple.find('-'));
  if (architecture != hostArchitecture() ||
      triple.find("linux") == std::string_view::npos)
    return unsupported("the program was compiled for '" + std::string(triple) +
                       "', this machine is " + std::string(hostArchitecture()) +
                       " Linux");
  std::string missing;
  bool needsTiles = false;
  for (const std::string &feature : features)
    if (!std::ranges::binary_search(hostCpuFeatures(), feature)) {
      missing += (missing.empty() ? "" : ", ") + feature;
      needsTiles |= isMatrixFeature(feature);
    }
  if (missing.empty())
    return {};
  std::string message = "the program needs processor features that this "
                        "machine does not have: " +
                        missing;
  if (const std::string why = whyNoTiles(); needsTiles && !why.empty())
    message +=
        "; the system does not let this process use matrix units: " + why;
  return unsupported(message);
}

std::string cpuModel() {
  // All processors are listed, hundreds on a server: the first one suffices.
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return std::string(hostArchitecture());
}

} // namespace sinter
