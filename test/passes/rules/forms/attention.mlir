// raise-attention
module {
  func.func @main(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>, %arg2: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2 scale = 1.000000e+00 : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
    return %0 : tensor<2x3x5x7xf32>
  }
}

// -----
// raise-attention/onnx
module {
  func.func @main(%arg0: tensor<2x5x3x4xf32>, %arg1: tensor<2x6x3x4xf32>, %arg2: tensor<2x6x3x7xf32>, %arg3: tensor<2x1x1x6xf32>) -> tensor<2x5x3x7xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1, 3] : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
    %1 = stablehlo.transpose %arg1, dims = [0, 2, 1, 3] : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
    %2 = stablehlo.transpose %arg2, dims = [0, 2, 1, 3] : (tensor<2x6x3x7xf32>) -> tensor<2x3x6x7xf32>
    %3 = nn.attention %0, %1, %2, %arg3 scale = 5.000000e-01 : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>, tensor<2x1x1x6xf32>) -> tensor<2x3x5x7xf32>
    %4 = stablehlo.transpose %3, dims = [0, 2, 1, 3] : (tensor<2x3x5x7xf32>) -> tensor<2x5x3x7xf32>
    return %4 : tensor<2x5x3x7xf32>
  }
}

// -----
// raise-attention/jax
module {
  func.func @main(%arg0: tensor<2x5x3x4xf32>, %arg1: tensor<2x6x3x4xf32>, %arg2: tensor<2x6x3x7xf32>, %arg3: tensor<5x6xi1>) -> tensor<2x5x3x7xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1, 3] : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
    %1 = stablehlo.transpose %arg1, dims = [0, 2, 1, 3] : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
    %2 = stablehlo.transpose %arg2, dims = [0, 2, 1, 3] : (tensor<2x6x3x7xf32>) -> tensor<2x3x6x7xf32>
    %3 = stablehlo.reshape %arg3 : (tensor<5x6xi1>) -> tensor<1x1x5x6xi1>
    %4 = stablehlo.constant dense<0.000000e+00> : tensor<1x1x5x6xf32>
    %5 = stablehlo.constant dense<-3.40282347E+38> : tensor<1x1x5x6xf32>
    %6 = stablehlo.select %3, %4, %5 : tensor<1x1x5x6xi1>, tensor<1x1x5x6xf32>
    %7 = nn.attention %0, %1, %2, %6 scale = 5.000000e-01 chosen : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>, tensor<1x1x5x6xf32>) -> tensor<2x3x5x7xf32>
    %8 = stablehlo.transpose %7, dims = [0, 1, 3, 2] : (tensor<2x3x5x7xf32>) -> tensor<2x3x7x5xf32>
    %9 = stablehlo.transpose %8, dims = [0, 3, 1, 2] : (tensor<2x3x7x5xf32>) -> tensor<2x5x3x7xf32>
    return %9 : tensor<2x5x3x7xf32>
  }
}

// -----
// raise-attention/keys-first
module {
  func.func @main(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>, %arg2: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2 scale = 1.000000e+00 : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
    return %0 : tensor<2x3x5x7xf32>
  }
}

// -----
// raise-attention/groups
module {
  func.func @main(%arg0: tensor<2x5x3x2x4xf32>, %arg1: tensor<2x6x3x4xf32>, %arg2: tensor<2x6x3x7xf32>, %arg3: tensor<2x5x6xi1>) -> tensor<2x5x3x2x7xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1, 4] : (tensor<2x5x3x2x4xf32>) -> tensor<2x3x2x5x4xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<2x6x3x4xf32>) -> tensor<1x2x6x3x4xf32>
    %2 = stablehlo.transpose %1, dims = [1, 3, 0, 2, 4] : (tensor<1x2x6x3x4xf32>) -> tensor<2x3x1x6x4xf32>
    %3 = stablehlo.reshape %arg2 : (tensor<2x6x3x7xf32>) -> tensor<1x2x6x3x7xf32>
    %4 = stablehlo.transpose %3, dims = [1, 3, 0, 2, 4] : (tensor<1x2x6x3x7xf32>) -> tensor<2x3x1x6x7xf32>
    %5 = stablehlo.reshape %arg3 : (tensor<2x5x6xi1>) -> tensor<1x1x2x5x6xi1>
    %6 = stablehlo.transpose %5, dims = [2, 0, 1, 3, 4] : (tensor<1x1x2x5x6xi1>) -> tensor<2x1x1x5x6xi1>
    %7 = stablehlo.constant dense<0.000000e+00> : tensor<2x1x1x5x6xf32>
    %8 = stablehlo.constant dense<-2.38197633E+38> : tensor<2x1x1x5x6xf32>
    %9 = stablehlo.select %6, %7, %8 : tensor<2x1x1x5x6xi1>, tensor<2x1x1x5x6xf32>
    %10 = nn.attention %0, %2, %4, %9 scale = 1.000000e+00 chosen : (tensor<2x3x2x5x4xf32>, tensor<2x3x1x6x4xf32>, tensor<2x3x1x6x7xf32>, tensor<2x1x1x5x6xf32>) -> tensor<2x3x2x5x7xf32>
    %11 = stablehlo.transpose %10, dims = [0, 1, 4, 3, 2] : (tensor<2x3x2x5x7xf32>) -> tensor<2x3x7x5x2xf32>
    %12 = stablehlo.transpose %11, dims = [0, 3, 1, 4, 2] : (tensor<2x3x7x5x2xf32>) -> tensor<2x5x3x2x7xf32>
    return %12 : tensor<2x5x3x2x7xf32>
  }
}

// -----
// raise-attention/groups-first
module {
  func.func @main(%arg0: tensor<3x2x5x4xf32>, %arg1: tensor<3x6x4xf32>, %arg2: tensor<3x6x7xf32>, %arg3: tensor<2x6xf32>) -> tensor<3x2x5x7xf32> {
    %0 = stablehlo.reshape %arg1 : (tensor<3x6x4xf32>) -> tensor<1x3x6x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2, 3] : (tensor<1x3x6x4xf32>) -> tensor<3x1x6x4xf32>
    %2 = stablehlo.reshape %arg2 : (tensor<3x6x7xf32>) -> tensor<1x3x6x7xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2, 3] : (tensor<1x3x6x7xf32>) -> tensor<3x1x6x7xf32>
    %4 = stablehlo.reshape %arg3 : (tensor<2x6xf32>) -> tensor<1x1x2x6xf32>
    %5 = stablehlo.transpose %4, dims = [0, 2, 1, 3] : (tensor<1x1x2x6xf32>) -> tensor<1x2x1x6xf32>
    %6 = nn.attention %arg0, %1, %3, %5 scale = 1.000000e+00 : (tensor<3x2x5x4xf32>, tensor<3x1x6x4xf32>, tensor<3x1x6x7xf32>, tensor<1x2x1x6xf32>) -> tensor<3x2x5x7xf32>
    return %6 : tensor<3x2x5x7xf32>
  }
}

// -----
// raise-attention/group-of-one
module {
  func.func @main(%arg0: tensor<2x5x3x4xf32>, %arg1: tensor<2x6x3x4xf32>, %arg2: tensor<2x6x3x7xf32>, %arg3: tensor<2x1x5x6xi1>) -> tensor<2x5x3x7xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x5x3x4xf32>) -> tensor<1x2x5x3x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 3, 0, 2, 4] : (tensor<1x2x5x3x4xf32>) -> tensor<2x3x1x5x4xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<2x6x3x4xf32>) -> tensor<1x2x6x3x4xf32>
    %3 = stablehlo.transpose %2, dims = [1, 3, 0, 2, 4] : (tensor<1x2x6x3x4xf32>) -> tensor<2x3x1x6x4xf32>
    %4 = stablehlo.reshape %arg2 : (tensor<2x6x3x7xf32>) -> tensor<1x2x6x3x7xf32>
    %5 = stablehlo.transpose %4, dims = [1, 3, 0, 2, 4] : (tensor<1x2x6x3x7xf32>) -> tensor<2x3x1x6x7xf32>
    %6 = stablehlo.reshape %arg3 : (tensor<2x1x5x6xi1>) -> tensor<1x2x1x5x6xi1>
    %7 = stablehlo.transpose %6, dims = [1, 2, 0, 3, 4] : (tensor<1x2x1x5x6xi1>) -> tensor<2x1x1x5x6xi1>
    %8 = stablehlo.constant dense<0.000000e+00> : tensor<2x1x1x5x6xf32>
    %9 = stablehlo.constant dense<-2.38197633E+38> : tensor<2x1x1x5x6xf32>
    %10 = stablehlo.select %7, %8, %9 : tensor<2x1x1x5x6xi1>, tensor<2x1x1x5x6xf32>
    %11 = nn.attention %1, %3, %5, %10 scale = 5.000000e-01 chosen : (tensor<2x3x1x5x4xf32>, tensor<2x3x1x6x4xf32>, tensor<2x3x1x6x7xf32>, tensor<2x1x1x5x6xf32>) -> tensor<2x3x1x5x7xf32>
    %12 = stablehlo.transpose %11, dims = [0, 1, 4, 2, 3] : (tensor<2x3x1x5x7xf32>) -> tensor<2x3x7x1x5xf32>
    %13 = stablehlo.transpose %12, dims = [0, 4, 1, 3, 2] : (tensor<2x3x7x1x5xf32>) -> tensor<2x5x3x1x7xf32>
    %14 = stablehlo.reshape %13 : (tensor<2x5x3x1x7xf32>) -> tensor<2x5x3x7xf32>
    return %14 : tensor<2x5x3x7xf32>
  }
}

// -----
// raise-attention/batch-of-one
module {
  func.func @main(%arg0: tensor<1x3x5x4xf32>, %arg1: tensor<1x3x6x4xf32>, %arg2: tensor<3x6x7xf32>, %arg3: tensor<1x1x1x6xf32>) -> tensor<3x5x7xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<1x3x5x4xf32>) -> tensor<3x5x4xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<1x3x6x4xf32>) -> tensor<3x6x4xf32>
    %2 = stablehlo.reshape %arg3 : (tensor<1x1x1x6xf32>) -> tensor<1x1x6xf32>
    %3 = nn.attention %0, %1, %arg2, %2 scale = 1.000000e+00 : (tensor<3x5x4xf32>, tensor<3x6x4xf32>, tensor<3x6x7xf32>, tensor<1x1x6xf32>) -> tensor<3x5x7xf32>
    return %3 : tensor<3x5x7xf32>
  }
}

// -----
// raise-attention/keys-in-rows
module {
  func.func @main(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>, %arg2: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2 scale = 1.000000e+00 : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
    return %0 : tensor<2x3x5x7xf32>
  }
}

// -----
// raise-attention/scaled-keys
module {
  func.func @main(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>, %arg2: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2 scale = 1.250000e-01 : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
    return %0 : tensor<2x3x5x7xf32>
  }
}

// -----
// raise-attention/hidden
module {
  func.func @main(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>, %arg2: tensor<2x3x6x7xf32>, %arg3: tensor<2x5x6xi1>) -> tensor<2x3x5x7xf32> {
    %0 = stablehlo.reshape %arg3 : (tensor<2x5x6xi1>) -> tensor<1x2x5x6xi1>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2, 3] : (tensor<1x2x5x6xi1>) -> tensor<2x1x5x6xi1>
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<2x1x5x6xf32>
    %3 = stablehlo.constant dense<-3.40282347E+38> : tensor<2x1x5x6xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<2x1x5x6xi1>, tensor<2x1x5x6xf32>
    %5 = nn.attention %arg0, %arg1, %arg2, %4 scale = 1.000000e+00 chosen : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>, tensor<2x1x5x6xf32>) -> tensor<2x3x5x7xf32>
    return %5 : tensor<2x3x5x7xf32>
  }
}

// -----
// raise-attention/one-head
module {
  func.func @main(%arg0: tensor<5x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<6x7xf32>, %arg3: tensor<5x6xf32>) -> tensor<5x7xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2, %arg3 scale = 1.000000e+00 : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<6x7xf32>, tensor<5x6xf32>) -> tensor<5x7xf32>
    return %0 : tensor<5x7xf32>
  }
}

// -----
// raise-attention/causal
module {
  func.func @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>, %arg2: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2 scale = 1.000000e+00 causal : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32>
  }
}

// -----
// raise-attention/causal-chosen
module {
  func.func @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>, %arg2: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
    %0 = nn.attention %arg0, %arg1, %arg2 scale = 1.000000e+00 causal : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32>
  }
}

// -----
// raise-attention/small-number
module {
  func.func @main(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>, %arg2: tensor<2x3x6x7xf32>, %arg3: tensor<2x3x5x6xi1>) -> tensor<2x3x5x7xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<2x3x5x6xf32>
    %1 = stablehlo.constant dense<-1.000000e+04> : tensor<2x3x5x6xf32>
    %2 = stablehlo.select %arg3, %0, %1 : tensor<2x3x5x6xi1>, tensor<2x3x5x6xf32>
    %3 = nn.attention %arg0, %arg1, %arg2, %2 scale = 1.000000e+00 chosen : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x5x7xf32>
    return %3 : tensor<2x3x5x7xf32>
  }
}

// -----
// raise-attention/half
module {
  func.func @main(%arg0: tensor<2x5x4xf16>, %arg1: tensor<2x6x4xf16>, %arg2: tensor<2x6x7xf16>, %arg3: tensor<5x6xf16>) -> tensor<2x5x7xf16> {
    %0 = stablehlo.reshape %arg3 : (tensor<5x6xf16>) -> tensor<1x5x6xf16>
    %1 = nn.attention %arg0, %arg1, %arg2, %0 scale = 5.000000e-01 : (tensor<2x5x4xf16>, tensor<2x6x4xf16>, tensor<2x6x7xf16>, tensor<1x5x6xf16>) -> tensor<2x5x7xf16>
    return %1 : tensor<2x5x7xf16>
  }
}

// -----
// raise-attention/mixed
module {
  func.func @main(%arg0: tensor<2x5x4xbf16>, %arg1: tensor<2x6x4xbf16>, %arg2: tensor<2x6x7xbf16>, %arg3: tensor<5x6xi1>) -> tensor<2x5x7xbf16> {
    %0 = stablehlo.reshape %arg3 : (tensor<5x6xi1>) -> tensor<1x5x6xi1>
    %1 = stablehlo.constant dense<0.000000e+00> : tensor<1x5x6xf32>
    %2 = stablehlo.constant dense<-2.38197633E+38> : tensor<1x5x6xf32>
    %3 = stablehlo.select %0, %1, %2 : tensor<1x5x6xi1>, tensor<1x5x6xf32>
    %4 = stablehlo.convert %arg0 : (tensor<2x5x4xbf16>) -> tensor<2x5x4xf32>
    %5 = stablehlo.convert %arg1 : (tensor<2x6x4xbf16>) -> tensor<2x6x4xf32>
    %6 = stablehlo.convert %arg2 : (tensor<2x6x7xbf16>) -> tensor<2x6x7xf32>
    %7 = nn.attention %4, %5, %6, %3 scale = 1.000000e+00 chosen : (tensor<2x5x4xf32>, tensor<2x6x4xf32>, tensor<2x6x7xf32>, tensor<1x5x6xf32>) -> tensor<2x5x7xf32>
    %8 = stablehlo.convert %7 : (tensor<2x5x7xf32>) -> tensor<2x5x7xbf16>
    return %8 : tensor<2x5x7xbf16>
  }
}

// -----
// raise-attention/narrow-query
module {
  func.func @main(%arg0: tensor<5x4xf16>, %arg1: tensor<6x4xf16>, %arg2: tensor<6x7xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<5x4xf16>) -> tensor<5x4xf32>
    %1 = stablehlo.convert %arg1 : (tensor<6x4xf16>) -> tensor<6x4xf32>
    %2 = nn.attention %0, %1, %arg2 scale = 1.000000e+00 : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<6x7xf32>) -> tensor<5x7xf32>
    return %2 : tensor<5x7xf32>
  }
}

// -----
// raise-attention/narrow-result
module {
  func.func @main(%arg0: tensor<5x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<6x7xf16>) -> tensor<5x7xf16> {
    %0 = stablehlo.convert %arg2 : (tensor<6x7xf16>) -> tensor<6x7xf32>
    %1 = nn.attention %arg0, %arg1, %0 scale = 1.000000e+00 : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<6x7xf32>) -> tensor<5x7xf32>
    %2 = stablehlo.convert %1 : (tensor<5x7xf32>) -> tensor<5x7xf16>
    return %2 : tensor<5x7xf16>
  }
}

// -----
