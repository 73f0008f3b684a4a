// Branches and loops: a function a rule, called by the rule's label (see
// arithmetic.mlir).

func.func @"if-constant"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.exponential %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"if-to-select"(%p: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %r:2 = "stablehlo.if"(%p) ({
    stablehlo.return %x, %x : tensor<2xf32>, tensor<2xf32>
  }, {
    stablehlo.return %y, %x : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}

func.func @"if-to-select/stays-computing"(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.exponential %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// Of dynamic sizes that are equal.
func.func @"if-to-select/dynamic"(%p: tensor<i1>, %v: tensor<6xf32>) -> tensor<?xf32> {
  %n = stablehlo.constant dense<6> : tensor<1xi64>
  %x = stablehlo.dynamic_reshape %v, %n : (tensor<6xf32>, tensor<1xi64>) -> tensor<?xf32>
  %a = stablehlo.exponential %x : tensor<?xf32>
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %a : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @"if-to-select/stays-of-other-size"(%p: tensor<i1>, %v: tensor<6xf32>, %w: tensor<4xf32>) -> tensor<?xf32> {
  %n = stablehlo.constant dense<6> : tensor<1xi64>
  %m = stablehlo.constant dense<4> : tensor<1xi64>
  %x = stablehlo.dynamic_reshape %v, %n : (tensor<6xf32>, tensor<1xi64>) -> tensor<?xf32>
  %y = stablehlo.dynamic_reshape %w, %m : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %y : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @"case-constant"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %a = stablehlo.exponential %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }, {
    %a = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// An index outside takes the last.
func.func @"case-constant/outside"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %i = stablehlo.constant dense<-1> : tensor<i32>
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %a = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"case-one"(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "stablehlo.case"(%i) ({
    %a = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @"while-never"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %five = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%i = %five, %v = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %w = stablehlo.negate %v : tensor<2xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

func.func @"while-never/false"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = stablehlo.while(%v = %x) : tensor<2xf32>
  cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %w = stablehlo.negate %v : tensor<2xf32>
    stablehlo.return %w : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

func.func @"while-never/stays-running"(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.negate %v : tensor<2xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

func.func @"while-invariant"(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %v = %x, %u = %y) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %u : tensor<2xf32>
    stablehlo.return %j, %w, %u : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  }
  return %r#1, %r#2 : tensor<2xf32>, tensor<2xf32>
}

func.func @"while-dead"(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %v = %x, %u = %y) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %v : tensor<2xf32>
    %t = stablehlo.multiply %u, %v : tensor<2xf32>
    %q = stablehlo.negate %t : tensor<2xf32>
    stablehlo.return %j, %w, %q : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

func.func @"while-dead/stays-read"(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %v = %x, %u = %y) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %u : tensor<2xf32>
    %q = stablehlo.negate %u : tensor<2xf32>
    stablehlo.return %j, %w, %q : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}
