//===- Binomial.h - confidence bounds of proportions ----------------------===//

#ifndef SINTER_METRICS_BINOMIAL_H
#define SINTER_METRICS_BINOMIAL_H

#include <cstdint>

namespace sinter {

struct Interval {
  double low = 0, high = 0;
};

/// The probability that at most \p found of \p count samples are of a kind that
/// each is with \p probability, in (0, 1).
double binomialSum(uint64_t found, uint64_t count, double probability);

/// The upper bound of the probability of an event that occurred in \p found of
/// \p count samples, with a confidence of 1 - \p missed (C. J. Clopper and E.
/// S. Pearson, "The use of confidence or fiducial limits", 1934).
double upperBinomialBound(uint64_t found, uint64_t count, double missed);
/// The lower bound.
double lowerBinomialBound(uint64_t found, uint64_t count, double missed);

/// The 95 % confidence interval of the probability of an event that occurred in
/// \p found of \p count samples; all of [0, 1] without samples (E. B. Wilson,
/// "Probable inference, the law of succession, and statistical inference",
/// 1927).
Interval wilsonInterval(uint64_t found, uint64_t count);

/// Of paired answers, \p first samples are right in the first only, and \p
/// second in the second only: the two-sided probability of a split as uneven
/// as this, or more, if both are as accurate (Q. McNemar, "Note on the sampling
/// error of the difference between correlated proportions", 1947; exact).
double mcNemarProbability(uint64_t first, uint64_t second);
/// The 95 % confidence interval of the difference of the two proportions, the
/// first's less the second's, of \p count pairs (D. G. Bonett and R. M. Price,
/// "Adjusted Wald confidence interval for a difference of binomial proportions
/// based on paired data", 2012).
Interval pairedInterval(uint64_t first, uint64_t second, uint64_t count);

} // namespace sinter

#endif // SINTER_METRICS_BINOMIAL_H
