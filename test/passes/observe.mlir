// RUN: sinter-opt --observe %s | FileCheck %s
// RUN: sinter-opt --observe="origins=act,inner" %s | FileCheck %s --check-prefix=SOME
// RUN: sinter-opt --observe %s | sinter-opt | FileCheck %s

// CHECK-LABEL: func.func @main
// SOME-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>, %p: tensor<i1>, %key: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token) {
  // CHECK: %[[SUM:.*]] = stablehlo.add
  // CHECK-NEXT: interpreter.probe %[[SUM]], probe_id = "sinter.observed.0" : tensor<8xf32>
  // SOME-NOT: observed.0
  %sum = stablehlo.add %x, %x : tensor<8xf32> loc("sum")
  // CHECK: %[[ACT:.*]] = nn.relu %[[SUM]]
  // CHECK-NEXT: interpreter.probe %[[ACT]], probe_id = "sinter.observed.1"
  // SOME: %[[ACT:.*]] = nn.relu
  // SOME-NEXT: interpreter.probe %[[ACT]], probe_id = "sinter.observed.1"
  %act = nn.relu %sum : tensor<8xf32> loc("act")
  // What a branch computes is seen where it is computed.
  // CHECK: %[[IF:.*]] = "stablehlo.if"
  // SOME: "stablehlo.if"
  %if = "stablehlo.if"(%p) ({
    // CHECK: %[[INNER:.*]] = stablehlo.tanh
    // CHECK-NEXT: interpreter.probe %[[INNER]], probe_id = "sinter.observed.3"
    // SOME: %[[INNER:.*]] = stablehlo.tanh
    // SOME-NEXT: interpreter.probe %[[INNER]], probe_id = "sinter.observed.3"
    %inner = stablehlo.tanh %act : tensor<8xf32> loc("inner")
    stablehlo.return %inner : tensor<8xf32>
  }, {
    stablehlo.return %act : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  // CHECK: interpreter.probe %[[IF]], probe_id = "sinter.observed.2"
  // A reduction's body has no values of its own.
  // CHECK: stablehlo.reduce
  // CHECK-NEXT: interpreter.probe {{.*}}, probe_id = "sinter.observed.5" : tensor<f32>
  // SOME-NOT: probe
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %total = stablehlo.reduce(%if init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  // Numbers that a quantised value stands for.
  // CHECK: %[[Q:.*]] = stablehlo.uniform_quantize
  // CHECK-NEXT: %[[PLAIN:.*]] = stablehlo.uniform_dequantize %[[Q]]
  // CHECK-NEXT: interpreter.probe %[[PLAIN]], probe_id = "sinter.observed.6" : tensor<8xf32>
  %q = stablehlo.uniform_quantize %if : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 0.5>>
  // A token is no tensor.
  // CHECK: stablehlo.after_all
  // CHECK-NEXT: stablehlo.uniform_dequantize %[[Q]]
  %token = stablehlo.after_all %key : !stablehlo.token
  %y = stablehlo.uniform_dequantize %q : (tensor<8x!quant.uniform<i8:f32, 0.5>>) -> tensor<8xf32>
  return %y, %token : tensor<8xf32>, !stablehlo.token
}
