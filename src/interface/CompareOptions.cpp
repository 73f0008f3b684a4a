#include "interface/CompareOptions.h"

#include "interface/CommonOptions.h"

#include <CLI/CLI.hpp>

namespace sinter {

void addCriteria(CLI::App &app, CompareCriteria &criteria, const char *group) {
  addTolerance(app, criteria.tolerance, group);
  for (const char *flag : {"--rtol", "--atol", "--range-atol"})
    app.get_option(flag)->each(
        [&criteria](const std::string &) { criteria.isToleranceGiven = true; });
  app.add_option("--min-snr", criteria.minDecibels,
                 "the least signal-to-quantisation-noise ratio of a tensor, in "
                 "place of tolerances (default: 20 if one model alone is "
                 "quantised and no tolerance is given)")
      ->check(CLI::Number & isNumber())
      ->type_name("DB")
      ->group(group);
  app.add_option("--min-cosine", criteria.minCosine,
                 "the least cosine similarity of a tensor, in place of "
                 "tolerances")
      ->check(CLI::Range(-1.0, 1.0) & isNumber())
      ->type_name("X")
      ->group(group);
}

} // namespace sinter
