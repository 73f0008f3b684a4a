// and-same/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// and-zero/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<0> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// and-ones/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// and-not/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<0> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// and-or/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// and-nots/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.or %arg0, %arg1 : tensor<2x3xi32>
    %1 = stablehlo.not %0 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
}

// -----
// or-same/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// or-zero/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// or-ones/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<-1> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// or-not/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<-1> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// or-and/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// or-nots/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.and %arg0, %arg1 : tensor<2x3xi32>
    %1 = stablehlo.not %0 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
}

// -----
// xor-same/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<0> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// xor-zero/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// xor-ones/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// xor-not/i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.xor %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// not-not/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// and-same/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// and-zero/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// and-ones/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// and-not/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// and-or/b
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// and-nots/b
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.or %arg0, %arg1 : tensor<2x3xi1>
    %1 = stablehlo.not %0 : tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// or-same/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// or-zero/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// or-ones/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// or-not/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// or-and/b
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// or-nots/b
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.and %arg0, %arg1 : tensor<2x3xi1>
    %1 = stablehlo.not %0 : tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// xor-same/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// xor-zero/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// xor-ones/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// xor-not/b
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.xor %arg0, %arg1 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-not/b
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// and-constants
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<12> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<10> : tensor<2x3xi32>
    %2 = stablehlo.and %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.and %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// constant-right/and
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<12> : tensor<2x3xi32>
    %1 = stablehlo.and %arg0, %0 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
}

// -----
// or-constants
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<12> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<10> : tensor<2x3xi32>
    %2 = stablehlo.or %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.or %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// constant-right/or
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<12> : tensor<2x3xi32>
    %1 = stablehlo.or %arg0, %0 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
}

// -----
// xor-constants
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<12> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<10> : tensor<2x3xi32>
    %2 = stablehlo.xor %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.xor %arg0, %2 : tensor<2x3xi32>
    return %3 : tensor<2x3xi32>
  }
}

// -----
// constant-right/xor
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<12> : tensor<2x3xi32>
    %1 = stablehlo.xor %arg0, %0 : tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
}

// -----
// constant-right/max
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.000000e-01> : tensor<2x3xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// constant-right/min
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.000000e-01> : tensor<2x3xf32>
    %1 = stablehlo.minimum %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// shift-left-zero
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// shift-right-zero/0
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// shift-right-zero/1
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// not-equal/EQ-f
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  NE, %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-equal/EQ-i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  NE, %arg0, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-equal/NE-f
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  EQ, %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-equal/NE-i
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  EQ, %arg0, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-less/LT
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  GE, %arg0, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-less/LE
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  GT, %arg0, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-less/GT
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  LE, %arg0, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// not-less/GE
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.compare  LT, %arg0, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-constant-right/LT
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %1 = stablehlo.compare  GT, %arg0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// compare-same/LT
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-same-relaxed/LT
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-constant-right/LE
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %1 = stablehlo.compare  GE, %arg0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// compare-same/LE
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-same-relaxed/LE
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-constant-right/GT
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %1 = stablehlo.compare  LT, %arg0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// compare-same/GT
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-same-relaxed/GT
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-constant-right/GE
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %1 = stablehlo.compare  LE, %arg0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// compare-same/GE
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-same-relaxed/GE
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-constant-right/EQ
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %1 = stablehlo.compare  EQ, %arg0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// compare-same/EQ
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-same-relaxed/EQ
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-constant-right/NE
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %1 = stablehlo.compare  NE, %arg0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1 : tensor<2x3xi1>
  }
}

// -----
// compare-same/NE
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-same-relaxed/NE
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-truth/0
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// compare-truth/1
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// compare-truth/2
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-truth/3
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-unsigned-zero/LT
module {
  func.func @main(%arg0: tensor<2x3xui8>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-unsigned-zero/GE
module {
  func.func @main(%arg0: tensor<2x3xui8>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-converted/0
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// compare-converted/1
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// compare-converted/2
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-converted/3
module {
  func.func @main(%arg0: tensor<2x3xi1>) -> tensor<2x3xi1> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// compare-shifted/EQ
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<3> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %2 = stablehlo.subtract %1, %0 : tensor<2x3xi32>
    %3 = stablehlo.compare  EQ, %arg0, %2 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %3 : tensor<2x3xi1>
  }
}

// -----
// compare-shifted/NE
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi1> {
    %0 = stablehlo.constant dense<3> : tensor<2x3xi32>
    %1 = stablehlo.constant dense<5> : tensor<2x3xi32>
    %2 = stablehlo.subtract %1, %0 : tensor<2x3xi32>
    %3 = stablehlo.compare  NE, %arg0, %2 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    return %3 : tensor<2x3xi1>
  }
}

// -----
// select-same
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg2 : tensor<2x3xf32>
  }
}

// -----
// select-not
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.select %arg0, %arg3, %arg2 : tensor<2x3xi1>, tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-broadcast-not
module {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<i1>) -> tensor<2x3xi1>
    %1 = stablehlo.select %0, %arg2, %arg1 : tensor<2x3xi1>, tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// select-truth/0
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xi1> {
    return %arg0 : tensor<2x3xi1>
  }
}

// -----
// select-truth/1
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.not %arg0 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// select-and
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.and %arg0, %arg1 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// select-or
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xi1> {
    %0 = stablehlo.or %arg0, %arg1 : tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----
// select-select/0
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.select %arg0, %arg2, %arg4 : tensor<2x3xi1>, tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-select/1
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.select %arg0, %arg2, %arg4 : tensor<2x3xi1>, tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-max/GT
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-max-relaxed/GT
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-max/GE
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-max-relaxed/GE
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-max/LT
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-max/LE
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-min/LT
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-min-relaxed/LT
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-min/LE
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-min-relaxed/LE
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// select-min/GT
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-min/GE
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// select-constant
module {
  func.func @main(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xi1>, %arg2: tensor<2x3xf32>, %arg3: tensor<2x3xf32>, %arg4: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg2 : tensor<2x3xf32>
  }
}

// -----
// max-same/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// min-same/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// max-same/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// min-same/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// max-least/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// min-greatest/f
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// max-least/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// min-greatest/i
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// max-greatest
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<2147483647> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// min-least
module {
  func.func @main(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
    %0 = stablehlo.constant dense<-2147483648> : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
}

// -----
// max-min
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// min-max
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// max-max
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<3.000000e-01> : tensor<2x3xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// min-min
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<1.000000e-01> : tensor<2x3xf32>
    %1 = stablehlo.minimum %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// clamp-one-value
module {
  func.func @main(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3xi32>) -> tensor<2x3xi32> {
    return %arg0 : tensor<2x3xi32>
  }
}

// -----
// clamp-clamp
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.clamp %0, %arg0, %1 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}

// -----
// clamp-nothing
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// compare-same/unsigned
module {
  func.func @main(%arg0: tensor<3xi32>) -> tensor<3xi1> {
    %0 = stablehlo.constant dense<true> : tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}

// -----
// compare-constant-right/unsigned
module {
  func.func @main(%arg0: tensor<3xi32>) -> tensor<3xi1> {
    %0 = stablehlo.constant dense<5> : tensor<3xi32>
    %1 = stablehlo.compare  GT, %arg0, %0,  UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    return %1 : tensor<3xi1>
  }
}

// -----
// compare-unsigned-zero/signless
module {
  func.func @main(%arg0: tensor<3xi32>) -> tensor<3xi1> {
    %0 = stablehlo.constant dense<false> : tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}

// -----
// not-less/unsigned
module {
  func.func @main(%arg0: tensor<3xi32>, %arg1: tensor<3xi32>) -> tensor<3xi1> {
    %0 = stablehlo.compare  GE, %arg0, %arg1,  UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}

// -----
// select-truth/of-floats
module {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xi1> {
    %0 = stablehlo.compare  GT, %arg0, %arg1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}

// -----
// max-negate/f
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<5xf32> {
    %0 = stablehlo.abs %arg0 : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// max-negate/i
module {
  func.func @main(%arg0: tensor<5xi8>) -> tensor<5xi8> {
    %0 = stablehlo.abs %arg0 : tensor<5xi8>
    return %0 : tensor<5xi8>
  }
}

// -----
// select-abs/GT
module {
  func.func @main(%arg0: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.abs %arg0 : tensor<5xi32>
    return %0 : tensor<5xi32>
  }
}

// -----
// select-abs-relaxed/GT
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<5xf32> {
    %0 = stablehlo.abs %arg0 : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// select-abs/GE
module {
  func.func @main(%arg0: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.abs %arg0 : tensor<5xi32>
    return %0 : tensor<5xi32>
  }
}

// -----
// select-abs-relaxed/GE
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<5xf32> {
    %0 = stablehlo.abs %arg0 : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// select-abs/LT
module {
  func.func @main(%arg0: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.abs %arg0 : tensor<5xi32>
    return %0 : tensor<5xi32>
  }
}

// -----
// select-abs-relaxed/LT
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<5xf32> {
    %0 = stablehlo.abs %arg0 : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// select-abs/LE
module {
  func.func @main(%arg0: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.abs %arg0 : tensor<5xi32>
    return %0 : tensor<5xi32>
  }
}

// -----
// select-abs-relaxed/LE
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<5xf32> {
    %0 = stablehlo.abs %arg0 : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
