#include "driver/StepOptions.h"

#include <CLI/CLI.hpp>

namespace sinter::driver {

void addSteps(CLI::App &app, StepOptions &options) {
  options.windows.names = {"--frame", "--hop", "--time-axis"};
  app.add_option("--feed", options.feeds,
                 "an output that becomes an input of the next step, as in "
                 "stateN=state; its first value is zeros, or what --input "
                 "gives; may be repeated. Each of many samples is a stream of "
                 "its own")
      ->allow_extra_args(false)
      ->type_name("OUTPUT=INPUT")
      ->group("Stream");
  CLI::Option *frames =
      app.add_option(
             "--frames", options.frames,
             "an array (.npy) or audio (WAV) of which each step takes a "
             "window along time, for the first input that is not "
             "given; a folder, a pattern or a list (@FILE): a stream each; -: "
             "standard input, WAV, .npy after .npy, or elements without a "
             "header, as they come")
          ->type_name("[INPUT=]FILE")
          ->group("Stream");
  app.add_option("--hop", options.windows.hop,
                 "from one window to the next (default: a window's length)")
      ->check(CLI::PositiveNumber)
      ->needs(frames)
      ->type_name("N")
      ->group("Stream");
  app.add_option("--frame", options.windows.frame,
                 "the length of a window (default: the input's)")
      ->check(CLI::PositiveNumber)
      ->needs(frames)
      ->type_name("N")
      ->group("Stream");
  app.add_option("--time-axis", options.windows.axis,
                 "the dimension of time in the array (default: -1, the last)")
      ->check(CLI::Range(-64, 63))
      ->needs(frames)
      ->type_name("N")
      ->group("Stream");
  app.add_option("--raw", options.raw,
                 "--frames has no header: elements of this type, time in "
                 "front, as in i16; integers for floats become -1..1, as those "
                 "of WAV")
      ->needs(frames)
      ->type_name("TYPE")
      ->group("Stream");
}

} // namespace sinter::driver
