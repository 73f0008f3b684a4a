// dynamic-broadcast-nothing
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<?x?xf32> {
    %0 = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
}

// -----
// dynamic-broadcast-own-shape
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %2 = stablehlo.abs %1 : tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
}

// -----
// dynamic-broadcast-reshaped
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<?x?xf32> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
}

// -----
// dynamic-reshape-own-shape
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %2 = stablehlo.abs %1 : tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
}

// -----
// dynamic-reshape-same
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi64>) -> tensor<?xf32> {
    %0 = stablehlo.constant dense<6> : tensor<1xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?xf32>
    return %1 : tensor<?xf32>
  }
}

// -----
// dynamic-reshape-transpose
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<?xf32> {
    %0 = stablehlo.constant dense<[2, 1, 3]> : tensor<3xi64>
    %1 = stablehlo.constant dense<6> : tensor<1xi64>
    %2 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<3xi64>) -> tensor<?x1x3xf32>
    %3 = stablehlo.dynamic_reshape %2, %1 : (tensor<?x1x3xf32>, tensor<1xi64>) -> tensor<?xf32>
    return %3 : tensor<?xf32>
  }
}

// -----
// dynamic-reshape-through
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<?x?xf32> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %2 = stablehlo.add %1, %1 : tensor<?x?xf32>
    return %2 : tensor<?x?xf32>
  }
}

// -----
// dynamic-slice-of-size
module {
  func.func @main(%arg0: tensor<4x5xf32>, %arg1: tensor<2xi1>) -> tensor<2x3xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<2xi1>) -> tensor<2xi64>
    %1 = stablehlo.slice %0 [0:1] : (tensor<2xi64>) -> tensor<1xi64>
    %2 = stablehlo.reshape %1 : (tensor<1xi64>) -> tensor<i64>
    %3 = stablehlo.slice %0 [1:2] : (tensor<2xi64>) -> tensor<1xi64>
    %4 = stablehlo.reshape %3 : (tensor<1xi64>) -> tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %2, %4,  sizes = [2, 3] : (tensor<4x5xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
    return %5 : tensor<2x3xf32>
  }
}

// -----
// dynamic-iota-broadcast
module {
  func.func @main() -> tensor<?x3xi32> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.iota dim = 0 : tensor<3xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %1, %0, dims = [1] : (tensor<3xi32>, tensor<2xi64>) -> tensor<?x3xi32>
    return %2 : tensor<?x3xi32>
  }
}

// -----
// custom-call-wrapper
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----
// shape-of-unread
module {
  func.func @main(%arg0: tensor<6xf32>) -> (tensor<?x3xf32>, tensor<2xi64>, tensor<i32>) {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
    %2 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %3 = nn.broadcast_like %1, %2 : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %4 = nn.shape %2 : (tensor<?x3xf32>) -> tensor<2xi64>
    %5 = stablehlo.get_dimension_size %2, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %6 = stablehlo.multiply %2, %3 : tensor<?x3xf32>
    return %6, %4, %5 : tensor<?x3xf32>, tensor<2xi64>, tensor<i32>
  }
}

// -----
// dynamic-reshape-reshape
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>) {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
    %2 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %3 = stablehlo.dynamic_reshape %arg0, %1 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x2xf32>
    return %2, %3 : tensor<?x3xf32>, tensor<?x2xf32>
  }
}

// -----
// shape-of-dynamic-reshape
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) -> (tensor<2xi64>, tensor<2xi64>) {
    %0 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %1 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %2 = stablehlo.convert %0 : (tensor<2xi32>) -> tensor<2xi64>
    return %2, %1 : tensor<2xi64>, tensor<2xi64>
  }
}

// -----
// broadcast-beside
module {
  func.func @main(%arg0: tensor<6xf32>, %arg1: tensor<3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %2 = nn.broadcast_like %arg1, %1 : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<?x3xf32>
    return %3 : tensor<?x3xf32>
  }
}

// -----
// dynamic-reshape-own-shape/known
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<?x?xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<?x3xf32>
    %1 = stablehlo.convert %0 : (tensor<?x3xf32>) -> tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
}

// -----
// shape-of-dynamic-reshape/sizes
module {
  func.func @main(%arg0: tensor<6xf32>) -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %1 = stablehlo.convert %0 : (tensor<2xi64>) -> tensor<2xindex>
    %2 = stablehlo.convert %1 : (tensor<2xindex>) -> tensor<2xi64>
    return %2 : tensor<2xi64>
  }
}

// -----
