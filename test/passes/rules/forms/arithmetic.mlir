// add-zero
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// add-zero/float
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// add-zero-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// add-negate/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// subtract-negate/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// subtract-zero/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// zero-subtract/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// negate-negate/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// multiply-one/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// multiply-minus-one/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// multiply-negate/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// multiply-abs/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// divide-one/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// divide-minus-one/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// multiply-negated-by/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<3> : tensor<2x3xi32>
    %1 = stablehlo.negate %0 : tensor<2x3xi32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<2x3xi32>
    return %2 : tensor<2x3xi32>
  }
}

// -----
// negate-multiply/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<3> : tensor<2x3xi32>
    %1 = stablehlo.negate %0 : tensor<2x3xi32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<2x3xi32>
    return %2 : tensor<2x3xi32>
  }
}

// -----
// power-zero/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<1> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// power-one/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// abs-abs/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// abs-negate/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// sign-sign/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.sign %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// constant-right/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<3> : tensor<2x3xi32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x3xi32>
    %2 = stablehlo.multiply %1, %0 : tensor<2x3xi32>
    return %2 : tensor<2x3xi32>
  }
}

// -----
// add-negate/f
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// subtract-negate/f
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// subtract-zero/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// zero-subtract/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// negate-negate/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// multiply-one/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// multiply-minus-one/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// multiply-negate/f
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// multiply-abs/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// divide-one/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// divide-minus-one/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// multiply-negated-by/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.500000e+00> : tensor<2x3xf32>
    %1 = stablehlo.negate %0 : tensor<2x3xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// negate-multiply/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.500000e+00> : tensor<2x3xf32>
    %1 = stablehlo.negate %0 : tensor<2x3xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// power-zero/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// power-one/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// abs-abs/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// abs-negate/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// sign-sign/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.sign %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// constant-right/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.500000e+00> : tensor<2x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// add-subtract
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// subtract-same
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<0> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// subtract-add
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// negate-subtract
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.subtract %arg1, %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// multiply-zero
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<0> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// factor-out
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>, %arg2: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.add %arg1, %arg2 : tensor<2x3xi32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
}

// -----
// add-constants/0
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.add %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// add-constants/1
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.subtract %1, %0 : tensor<2x3xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// add-constants/2
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.add %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.subtract %2, %arg0 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// add-constants/3
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.subtract %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// add-constants/4
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.add %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// add-constants/5
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.subtract %1, %0 : tensor<2x3xi32>
    %3 = stablehlo.subtract %2, %arg0 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// multiply-constants
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x3xi32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// add-subtract-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// subtract-same-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// subtract-add-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// negate-subtract-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.subtract %arg1, %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// multiply-zero-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// factor-out-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.add %arg1, %arg2 : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// add-constants-relaxed/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// add-constants-relaxed/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.subtract %1, %0 : tensor<2x3xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// add-constants-relaxed/2
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.subtract %2, %arg0 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// add-constants-relaxed/3
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// add-constants-relaxed/4
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// add-constants-relaxed/5
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.subtract %1, %0 : tensor<2x3xf32>
    %3 = stablehlo.subtract %2, %arg0 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// multiply-constants-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<7.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// zero-subtract-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// divide-negate
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// divide-same-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// divide-constant-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.divide %1, %0 : tensor<2x3xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// divide-power-of-two
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.250000e-01> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// divide-constants-relaxed/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.divide %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// divide-constants-relaxed/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.constant dense<5.000000e+00> : tensor<2x3xf32>
    %2 = stablehlo.divide %1, %0 : tensor<2x3xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}

// -----
// remainder-one
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<0> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// negate-divide
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.negate %0 : tensor<2x3xf32>
    %2 = stablehlo.divide %arg0, %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// power-square
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// power-minus-one
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    %1 = stablehlo.divide %0, %arg0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// power-half-relaxed/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %1 = stablehlo.sqrt %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// power-half-relaxed/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %1 = stablehlo.rsqrt %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// abs-positive/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// abs-positive/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// abs-positive/2
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.logistic %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// floor-floor/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.floor %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// floor-floor/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.ceil %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// ceil-ceil/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.ceil %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// ceil-ceil/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.floor %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// round-round/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.round_nearest_even %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// round-round/1
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.round_nearest_afz %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// cosine-negate
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<7.300000e+00> : tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.cosine %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// rsqrt-relaxed/0
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %1 = stablehlo.rsqrt %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// rsqrt-relaxed/1
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %1 = stablehlo.rsqrt %0 : tensor<2x3xf32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// exp-minus-one-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// log-plus-one-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %1 = stablehlo.log_plus_one %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// logistic-relaxed
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.logistic %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// relu-nonnegative
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = nn.relu %arg0 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// clamp-relu
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.constant dense<7.500000e-01> : tensor<f32>
    %2 = stablehlo.clamp %0, %arg0, %1 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
