#include "graph/chlo/Functions.h"
using namespace mlir;
namespace sinter::chlo {
#define U(f)                                                                   \
  Value f(Emit &, Value) { return {}; }
#define B(f)                                                                   \
  Value f(Emit &, Value, Value) { return {}; }
U(acos)
U(acosh) U(asin) U(asinh) U(atan) U(atanh) U(conj) U(cosh) U(sinh) U(square)
    U(tan) U(asinAcosKernel) U(besselI1e) U(digamma) U(erf) U(erfc) U(erfInv)
        U(lgamma) B(polygamma) B(zeta) B(nextAfter) U(isInf) U(isPosInf)
            U(isNegInf) B(mulhi)
} // namespace sinter::chlo
