// if-constant
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// if-to-select
module {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<2xf32>
    return %0, %arg1 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----
// if-to-select/dynamic
module {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<6xf32>) -> tensor<?xf32> {
    %0 = stablehlo.constant dense<6> : tensor<1xi64>
    %1 = stablehlo.dynamic_reshape %arg1, %0 : (tensor<6xf32>, tensor<1xi64>) -> tensor<?xf32>
    %2 = stablehlo.exponential %1 : tensor<?xf32>
    %3 = stablehlo.select %arg0, %1, %2 : tensor<i1>, tensor<?xf32>
    return %3 : tensor<?xf32>
  }
}

// -----
// case-constant
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// case-constant/outside
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// case-one
module {
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %arg1 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----
// while-never
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----
// while-never/false
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----
// while-invariant
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%arg2 = %0, %arg3 = %arg0) : tensor<i32>, tensor<2xf32>
     cond {
      %2 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare  LT, %arg2, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %2 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %arg2, %2 : tensor<i32>
      %4 = stablehlo.add %arg3, %arg1 : tensor<2xf32>
      stablehlo.return %3, %4 : tensor<i32>, tensor<2xf32>
    }
    return %1#1, %arg1 : tensor<2xf32>, tensor<2xf32>
  }
}

// -----
// while-dead
module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%arg2 = %0, %arg3 = %arg0) : tensor<i32>, tensor<2xf32>
     cond {
      %2 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare  LT, %arg2, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %2 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %arg2, %2 : tensor<i32>
      %4 = stablehlo.add %arg3, %arg3 : tensor<2xf32>
      stablehlo.return %3, %4 : tensor<i32>, tensor<2xf32>
    }
    return %1#1 : tensor<2xf32>
  }
}

// -----
