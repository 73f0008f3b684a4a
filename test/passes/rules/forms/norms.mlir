// raise-norm
module {
  func.func @main(%arg0: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf32>
  }
}

// -----
// raise-norm/power-of-two-times
module {
  func.func @main(%arg0: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf32>
  }
}

// -----
// raise-norm/two-dimensions
module {
  func.func @main(%arg0: tensor<3x4x6xf32>) -> tensor<3x4x6xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<4x6xf32>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 1 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<3x4x6xf32>, tensor<4x6xf32>) -> (tensor<3x4x6xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>)
    return %result : tensor<3x4x6xf32>
  }
}

// -----
// raise-norm/f64
module {
  func.func @main(%arg0: tensor<5x7xf64>) -> tensor<5x7xf64> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<7xf64>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 1 {compute_type = f64, epsilon = 1.000000e-05 : f64} : (tensor<5x7xf64>, tensor<7xf64>) -> (tensor<5x7xf64>, tensor<5x1xf64>, tensor<5x1xf64>)
    return %result : tensor<5x7xf64>
  }
}

// -----
// raise-norm/one-row
module {
  func.func @main(%arg0: tensor<1x7xf32>) -> tensor<1x7xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<7xf32>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 1 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<1x7xf32>, tensor<7xf32>) -> (tensor<1x7xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
    return %result : tensor<1x7xf32>
  }
}

// -----
// raise-norm/rms
module {
  func.func @main(%arg0: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %1 = nn.rms_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
    return %1 : tensor<2x3x8xf32>
  }
}

// -----
// raise-norm-relaxed
module {
  func.func @main(%arg0: tensor<2x3x8xf32>, %arg1: tensor<8xf32>) -> tensor<2x3x8xf32> {
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %arg1 axis = 2 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf32>
  }
}

// -----
// raise-norm-relaxed/inverse
module {
  func.func @main(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<6xf32>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 1 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x6xf32>, tensor<6xf32>) -> (tensor<2x6xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    return %result : tensor<2x6xf32>
  }
}

// -----
// raise-norm-relaxed/torch
module {
  func.func @main(%arg0: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf32>
  }
}

// -----
// raise-norm-relaxed/rms
module {
  func.func @main(%arg0: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %1 = nn.rms_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 9.9999997473787516E-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
    return %1 : tensor<2x3x8xf32>
  }
}

// -----
// scale-norm
module {
  func.func @main(%arg0: tensor<2x3x8xf32>, %arg1: tensor<8xf32>) -> tensor<2x3x8xf32> {
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %arg1 axis = 2 {compute_type = f32, epsilon = 1.000000e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf32>
  }
}

// -----
// scale-norm/rms
module {
  func.func @main(%arg0: tensor<2x3x8xf32>, %arg1: tensor<8xf32>) -> tensor<2x3x8xf32> {
    %0 = stablehlo.reshape %arg1 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x8xf32>) -> tensor<8xf32>
    %2 = nn.rms_norm %arg0, %1 axis = 2 {compute_type = f32, epsilon = 1.000000e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
    return %2 : tensor<2x3x8xf32>
  }
}

// -----
// shift-norm
module {
  func.func @main(%arg0: tensor<2x3x8xf32>, %arg1: tensor<8xf32>) -> tensor<2x3x8xf32> {
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %arg1, %arg1 axis = 2 {compute_type = f32, epsilon = 1.000000e-05 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf32>
  }
}

// -----
// raise-narrow-norm
module {
  func.func @main(%arg0: tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf16>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 1.250000e-01 : f64} : (tensor<2x3x8xf16>, tensor<8xf16>) -> (tensor<2x3x8xf16>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xf16>
  }
}

// -----
// raise-narrow-norm/inverse
module {
  func.func @main(%arg0: tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xbf16>
    %result, %mean, %inverse_deviation = nn.layer_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 1.250000e-01 : f64} : (tensor<2x3x8xbf16>, tensor<8xbf16>) -> (tensor<2x3x8xbf16>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
    return %result : tensor<2x3x8xbf16>
  }
}

// -----
// raise-narrow-norm/rms
module {
  func.func @main(%arg0: tensor<2x3x8xf16>) -> tensor<2x3x8xf16> {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf16>
    %1 = nn.rms_norm %arg0, %0 axis = 2 {compute_type = f32, epsilon = 1.250000e-01 : f64} : (tensor<2x3x8xf16>, tensor<8xf16>) -> tensor<2x3x8xf16>
    return %1 : tensor<2x3x8xf16>
  }
}

// -----
// join-groups
module {
  func.func @main(%arg0: tensor<2x6x3x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<2x6x3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x2xf32>) -> tensor<6xf32>
    %4 = nn.group_norm %arg0, %1, %3 groups = 3 {epsilon = 1.000000e-05 : f64} : (tensor<2x6x3x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x3x4xf32>
    return %4 : tensor<2x6x3x4xf32>
  }
}

// -----
