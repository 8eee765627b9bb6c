// The distributions that comparing leans on: binomial tails of counts of any size, normal and Student
// quantiles.
#pragma once

namespace profd {

// How one count came out among two, given their sum. Between whole numbers the tails go on smoothly, by the
// beta function, so that counts divided by a dispersion have tails too.
struct BinomialTails {
  double at_most = 1;
  double at_least = 1;
  double exactly = 1;  // the density of the count; at_most + at_least - exactly is 1
};

// Of `count` beside `other`, when each unit of their sum falls to `count` in the proportion weight :
// other_weight. Both counts are >= 0 and finite, both weights > 0 and finite (asserted). The smaller of the
// two tails has a relative error below 1e-9, whatever the counts, at a cost that does not grow with them.
BinomialTails binomial_tails(double count, double other, double weight, double other_weight);

// The value that a standard normal exceeds with probability `upper`, 1e-300 <= upper < 1 (asserted).
double normal_quantile(double upper);

// The same of Student's t of any degrees of freedom > 0, for 0 < upper < 1 (asserted).
double student_quantile(double upper, double degrees);

}  // namespace profd
