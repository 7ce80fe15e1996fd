// Sums of products without rounding: error-free transformations (Dekker 1971; Ogita, Rump and Oishi 2005, "Accurate sum and
// dot product"). The twin of `excess` in likely/schema/rules.py.
#pragma once

#include <cmath>

namespace likely {

// The sum is high + low: exact for whole numbers of up to a hundred bits, and to about as many digits otherwise.
class ExactSum {
 public:
  void add(double x) {
    const double sum = high_ + x, part = sum - high_;
    low_ += (high_ - (sum - part)) + (x - part);
    high_ = sum;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    low_ += std::fma(a, b, -product);
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0, low_ = 0;
};

}  // namespace likely
