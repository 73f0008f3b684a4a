// dynamic-slice-full
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-to-slice
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %arg0 [1:3, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-to-slice/clamped
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<2x2xf32> {
    %0 = stablehlo.slice %arg0 [3:5, 0:2] : (tensor<5x3xf32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}

// -----
// dynamic-slice-to-slice/unsigned
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<2xf32> {
    %0 = stablehlo.slice %arg0 [3:5] : (tensor<5xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// dynamic-slice-splat
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<i32>) -> tensor<2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// dynamic-slice-update
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> tensor<2xf32> {
    return %arg1 : tensor<2xf32>
  }
}

// -----
// dynamic-update-nothing
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<0xf32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    return %arg0 : tensor<5xf32>
  }
}

// -----
// dynamic-update-full
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    return %arg1 : tensor<5xf32>
  }
}

// -----
// dynamic-update-again
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg3 : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----
// gather-to-slice
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.slice %arg0 [3:4, 0:3] : (tensor<5x3xf32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}

// -----
// gather-to-slice/clamped
module {
  func.func @main(%arg0: tensor<5x3xf32>) -> tensor<1x2x3xf32> {
    %0 = stablehlo.slice %arg0 [3:5, 0:3] : (tensor<5x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    return %1 : tensor<1x2x3xf32>
  }
}

// -----
// gather-steps
module {
  func.func @main(%arg0: tensor<7x3xf32>) -> tensor<3x3xf32> {
    %0 = stablehlo.slice %arg0 [1:6:2, 0:3] : (tensor<7x3xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
    return %1 : tensor<3x3xf32>
  }
}

// -----
// gather-steps/last
module {
  func.func @main(%arg0: tensor<2x7xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:3] : (tensor<2x7xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// scatter-nothing
module {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<0xf32>, %arg2: tensor<0x1xi32>) -> tensor<5xf32> {
    return %arg0 : tensor<5xf32>
  }
}

// -----
// iota-unit
module {
  func.func @main() -> tensor<1x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<1x3xf32>
    return %0 : tensor<1x3xf32>
  }
}

// -----
// iota-broadcast
module {
  func.func @main() -> tensor<2x3xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// empty-result
module {
  func.func @main(%arg0: tensor<0x3xf32>) -> tensor<0x3xf32> {
    %0 = stablehlo.constant dense<> : tensor<0x3xf32>
    return %0 : tensor<0x3xf32>
  }
}

// -----
// dimension-size-constant
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<i32> {
    %0 = stablehlo.constant dense<3> : tensor<i32>
    return %0 : tensor<i32>
  }
}

// -----
// dynamic-reshape-constant
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// dynamic-broadcast-constant
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-iota-constant
module {
  func.func @main() -> tensor<2x3xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-constant
module {
  func.func @main(%arg0: tensor<5xf32>) -> tensor<2xf32> {
    %0 = stablehlo.slice %arg0 [1:4:2] : (tensor<5xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// shape-constant
module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
}

// -----
// broadcast-like-static
module {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// gather-splat
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<2x1xi32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// gather-splat/constant
module {
  func.func @main(%arg0: tensor<2x1xi32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<2.500000e+00> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----
// dynamic-slice-splat/constant
module {
  func.func @main(%arg0: tensor<i32>) -> tensor<1xcomplex<f32>> {
    %0 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f32>>
    return %0 : tensor<1xcomplex<f32>>
  }
}

// -----
// set-dimension-size-slice
module {
  func.func @main(%arg0: tensor<4x2xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.slice %arg0 [0:3, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----
// scatter-full
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<1x2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.reshape %arg1 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.subtract %arg0, %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----
// scatter-full/no-index
module {
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<1x0xi32>, %arg2: tensor<1xf32>) -> tensor<f32> {
    %0 = stablehlo.reshape %arg2 : (tensor<1xf32>) -> tensor<f32>
    %1 = stablehlo.add %arg0, %0 : tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----
// raise-rows
module {
  func.func @main(%arg0: tensor<6x3x5xf32>, %arg1: tensor<4xi64>, %arg2: tensor<4x3x5x1xi64>, %arg3: tensor<4x3x5xf32>) -> tensor<6x3x5xf32> {
    %0 = stablehlo.constant dense<0> : tensor<4x3x5xi64>
    %1 = stablehlo.constant dense<6> : tensor<4x3x5xi64>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xi64>) -> tensor<4x3x5xi64>
    %3 = stablehlo.compare  LT, %2, %0 : (tensor<4x3x5xi64>, tensor<4x3x5xi64>) -> tensor<4x3x5xi1>
    %4 = stablehlo.add %2, %1 : tensor<4x3x5xi64>
    %5 = stablehlo.select %3, %4, %2 : tensor<4x3x5xi1>, tensor<4x3x5xi64>
    %6 = stablehlo.reshape %5 : (tensor<4x3x5xi64>) -> tensor<4x3x5x1xi64>
    %7 = stablehlo.slice %6 [0:4, 0:1, 0:1, 0:1] : (tensor<4x3x5x1xi64>) -> tensor<4x1x1x1xi64>
    %8 = stablehlo.reshape %7 : (tensor<4x1x1x1xi64>) -> tensor<4x1xi64>
    %9 = "stablehlo.scatter"(%arg0, %8, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %10 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<6x3x5xf32>, tensor<4x1xi64>, tensor<4x3x5xf32>) -> tensor<6x3x5xf32>
    return %9 : tensor<6x3x5xf32>
  }
}

// -----
// raise-rows/of-columns
module {
  func.func @main(%arg0: tensor<6x3x5xf32>, %arg1: tensor<4xi64>, %arg2: tensor<4x3x5x1xi64>, %arg3: tensor<4x3x5xf32>) -> tensor<6x3x5xf32> {
    %0 = stablehlo.constant dense<0> : tensor<4x3x5xi64>
    %1 = stablehlo.constant dense<6> : tensor<4x3x5xi64>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xi64>) -> tensor<4x3x5xi64>
    %3 = stablehlo.compare  LT, %2, %0 : (tensor<4x3x5xi64>, tensor<4x3x5xi64>) -> tensor<4x3x5xi1>
    %4 = stablehlo.add %2, %1 : tensor<4x3x5xi64>
    %5 = stablehlo.select %3, %4, %2 : tensor<4x3x5xi1>, tensor<4x3x5xi64>
    %6 = stablehlo.reshape %5 : (tensor<4x3x5xi64>) -> tensor<4x3x5x1xi64>
    %7 = stablehlo.slice %6 [0:4, 0:3, 0:1, 0:1] : (tensor<4x3x5x1xi64>) -> tensor<4x3x1x1xi64>
    %8 = stablehlo.reshape %7 : (tensor<4x3x1x1xi64>) -> tensor<4x3x1xi64>
    %9 = stablehlo.slice %6 [0:4, 0:3, 0:1, 0:1] : (tensor<4x3x5x1xi64>) -> tensor<4x3x1x1xi64>
    %10 = stablehlo.reshape %9 : (tensor<4x3x1x1xi64>) -> tensor<4x3x1xi64>
    %11 = stablehlo.concatenate %8, %10,  dim = 2 : (tensor<4x3x1xi64>, tensor<4x3x1xi64>) -> tensor<4x3x2xi64>
    %12 = "stablehlo.scatter"(%arg0, %11, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %13 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %13 : tensor<f32>
    }) : (tensor<6x3x5xf32>, tensor<4x3x2xi64>, tensor<4x3x5xf32>) -> tensor<6x3x5xf32>
    return %12 : tensor<6x3x5xf32>
  }
}

// -----
// raise-rows/of-one
module {
  func.func @main(%arg0: tensor<6x1xf32>, %arg1: tensor<4x1xi64>, %arg2: tensor<4x1xf32>) -> tensor<6x1xf32> {
    %0 = stablehlo.reshape %arg1 : (tensor<4x1xi64>) -> tensor<4x1x1xi64>
    %1 = stablehlo.slice %0 [0:4, 0:1, 0:1] : (tensor<4x1x1xi64>) -> tensor<4x1x1xi64>
    %2 = stablehlo.reshape %1 : (tensor<4x1x1xi64>) -> tensor<4x1xi64>
    %3 = "stablehlo.scatter"(%arg0, %2, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %4 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<6x1xf32>, tensor<4x1xi64>, tensor<4x1xf32>) -> tensor<6x1xf32>
    return %3 : tensor<6x1xf32>
  }
}

// -----
