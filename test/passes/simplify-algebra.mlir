// RUN: sinter-opt --simplify-algebra %s | FileCheck %s
// RUN: sinter-opt --simplify-algebra="enable-patterns=add-zero-relaxed" %s | FileCheck %s --check-prefix=RELAXED

// CHECK-LABEL: func @numbers
func.func @numbers(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  // CHECK-NEXT: return %arg0, %arg1
  %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %minus = stablehlo.constant dense<-0.0> : tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %0 = stablehlo.multiply %one, %x : tensor<2x3xf32>
  %1 = stablehlo.divide %0, %one : tensor<2x3xf32>
  %2 = stablehlo.add %1, %minus : tensor<2x3xf32>
  %3 = stablehlo.subtract %2, %zeros : tensor<2x3xf32>
  %4 = stablehlo.power %3, %one : tensor<2x3xf32>
  %5 = stablehlo.negate %4 : tensor<2x3xf32>
  %6 = stablehlo.negate %5 : tensor<2x3xf32>
  %izero = stablehlo.constant dense<0> : tensor<2x3xi32>
  %7 = stablehlo.add %izero, %i : tensor<2x3xi32>
  %8 = stablehlo.or %7, %izero : tensor<2x3xi32>
  %9 = stablehlo.xor %8, %izero : tensor<2x3xi32>
  %10 = stablehlo.not %9 : tensor<2x3xi32>
  %11 = stablehlo.not %10 : tensor<2x3xi32>
  %12 = stablehlo.and %11, %11 : tensor<2x3xi32>
  %13 = stablehlo.maximum %12, %12 : tensor<2x3xi32>
  return %6, %13 : tensor<2x3xf32>, tensor<2x3xi32>
}

// -0.0 + 0.0 is 0.0, 0 * infinity is NaN, and NaN is not NaN.
// CHECK-LABEL: func @floats_stay
// RELAXED-LABEL: func @floats_stay
func.func @floats_stay(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) {
  // CHECK: stablehlo.add
  // CHECK: stablehlo.multiply
  // CHECK: stablehlo.compare
  // RELAXED-NOT: stablehlo.add
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = stablehlo.add %x, %zero : tensor<2xf32>
  %1 = stablehlo.multiply %x, %zero : tensor<2xf32>
  %2 = stablehlo.compare EQ, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}

// CHECK-LABEL: func @exact_products
func.func @exact_products(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: stablehlo.multiply %arg0, %{{.*}}
  // CHECK-DAG: stablehlo.multiply %arg0, %arg0
  // CHECK-DAG: stablehlo.divide
  %eight = stablehlo.constant dense<8.0> : tensor<2xf32>
  %three = stablehlo.constant dense<3.0> : tensor<2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0 = stablehlo.divide %x, %eight : tensor<2xf32>
  %1 = stablehlo.power %x, %two : tensor<2xf32>
  %2 = stablehlo.divide %x, %three : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @choices
func.func @choices(%x: tensor<2xi32>, %y: tensor<2xi32>, %c: tensor<2xi1>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>, tensor<2xi32>) {
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0>
  // CHECK-DAG: %[[TRUE:.*]] = stablehlo.constant dense<true>
  // CHECK: return %arg0, %arg1, %arg1, %[[TRUE]], %[[ZERO]]
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<2xi1>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.select %true, %x, %y : tensor<i1>, tensor<2xi32>
  %1 = stablehlo.select %false, %x, %y : tensor<2xi1>, tensor<2xi32>
  %2 = stablehlo.select %c, %y, %y : tensor<2xi1>, tensor<2xi32>
  %3 = stablehlo.compare GE, %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %4 = stablehlo.multiply %x, %zero : tensor<2xi32>
  return %0, %1, %2, %3, %4 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>, tensor<2xi32>
}

// CHECK-LABEL: func @converts
func.func @converts(%h: tensor<2xf16>, %f: tensor<2xf32>) -> (tensor<2xf16>, tensor<2xf64>, tensor<2xf32>) {
  // CHECK: %[[D:.*]] = stablehlo.convert %arg0 : (tensor<2xf16>) -> tensor<2xf64>
  // CHECK: %[[H:.*]] = stablehlo.convert %arg1 : (tensor<2xf32>) -> tensor<2xf16>
  // CHECK: %[[F:.*]] = stablehlo.convert %[[H]]
  // CHECK: return %arg0, %[[D]], %[[F]]
  %0 = stablehlo.convert %h : (tensor<2xf16>) -> tensor<2xf32>
  %1 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xf16>
  %2 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xf64>
  %3 = stablehlo.convert %f : (tensor<2xf32>) -> tensor<2xf16>
  %4 = stablehlo.convert %3 : (tensor<2xf16>) -> tensor<2xf32>
  return %1, %2, %4 : tensor<2xf16>, tensor<2xf64>, tensor<2xf32>
}

// CHECK-LABEL: func @limits
func.func @limits(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[SIX:.*]] = stablehlo.constant dense<6.000000e+00> : tensor<f32>
  // CHECK-DAG: stablehlo.clamp %[[ZERO]], %arg0, %[[SIX]]
  // CHECK-DAG: stablehlo.maximum %arg0
  // CHECK-DAG: nn.relu %arg0
  %minus = stablehlo.constant dense<-1.0> : tensor<f32>
  %four = stablehlo.constant dense<4.0> : tensor<f32>
  %six = stablehlo.constant dense<6.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = nn.relu %x : tensor<2xf32>
  %1 = nn.relu %0 : tensor<2xf32>
  %2 = stablehlo.clamp %minus, %0, %six : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = stablehlo.clamp %minus, %x, %four : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = stablehlo.clamp %zero, %3, %six : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %c2 = stablehlo.constant dense<2.0> : tensor<2xf32>
  %c5 = stablehlo.constant dense<5.0> : tensor<2xf32>
  %5 = stablehlo.maximum %x, %c2 : tensor<2xf32>
  %6 = stablehlo.maximum %5, %c5 : tensor<2xf32>
  return %1, %2, %4, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @deprecated
// RELAXED-LABEL: func @deprecated
func.func @deprecated(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: "stablehlo.all_reduce"(%arg0)
  %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// What other tools noted stays with what computes the same.
// CHECK-LABEL: func @notes
// CHECK: stablehlo.subtract {{.*}}mhlo.sharding = "{replicated}"
func.func @notes(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %n = stablehlo.negate %y : tensor<2xi32>
  %r = stablehlo.add %x, %n {mhlo.sharding = "{replicated}"} : tensor<2xi32>
  return %r : tensor<2xi32>
}

// The result's type says of a size what the operand's does not.
// CHECK-LABEL: func @sort_of_unknown_size
func.func @sort_of_unknown_size(%x: tensor<5x?xi8>, %y: tensor<?x1xf32>) -> tensor<5x1xi8> {
  // CHECK: "stablehlo.sort"(%arg0)
  // CHECK: (tensor<5x?xi8>) -> tensor<5x1xi8>
  %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<f32>, %d: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5x?xi8>, tensor<?x1xf32>) -> (tensor<5x1xi8>, tensor<5x1xf32>)
  return %r#0 : tensor<5x1xi8>
}

// What is widened to be summed up is no slice of the operand.
// CHECK-LABEL: func @windows_of_one_that_widen
func.func @windows_of_one_that_widen(%x: tensor<5xbf16>) -> tensor<3xf32> {
  // CHECK: "stablehlo.reduce_window"(%arg0
  %z = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<5xbf16>, tensor<bf16>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
