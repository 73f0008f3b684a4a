//===- TileCompiler.cpp - the compiler for a machine with matrix units ----===//
//
// With this in it, libsinter-compiler.so compiles for the machine it runs on as
// if that had matrix units, whose instructions are emulated (TileEmulator.h).
// So whole models and the public suites can be run on any machine with AVX-512.
// Tiles compute whatever they can or, where SINTER_TILES is `estimated`, what a
// Sapphire Rapids would give them. Code calls functions of the process, hence
// no other process may have it: nothing is kept.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/TileEmulator.h"
#include "engine/compiler/CpuAdjustment.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace sinter;

namespace {

void compileForTiles(cpu::CpuOptions &options) {
  // A machine that somebody asked for.
  if (options.target)
    return;
  static const std::optional<cpu::Target> target = [] {
    std::optional<cpu::Target> host = cpu::hostWithTiles();
    const char *wanted = std::getenv("SINTER_TILES");
    if (host && !(wanted && std::string_view(wanted) == "estimated"))
      cpu::preferTiles(*host);
    return host;
  }();
  if (!target) {
    std::fputs("matrix units are emulated on machines with AVX-512 only\n",
               stderr);
    std::exit(77);
  }
  options.target = target;
  options.onCode = cpu::emulateTiles;
  options.kernelFolder.clear();
}

const bool isSet = [] {
  cpuAdjustment() = compileForTiles;
  return true;
}();

} // namespace
