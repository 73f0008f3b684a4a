// RUN: sinter-opt --fold-constants %s | FileCheck %s

// A part of a node that stays is not folded away from it where the graph is
// exported.
module attributes {sinter.source.whole = []} {
  // CHECK-LABEL: func @part_of_node
  func.func @part_of_node(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
    // CHECK: stablehlo.reshape %{{.*}} {sinter.source = 3 : i64}
    %w = stablehlo.constant {sinter.name = "w"} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %0 = stablehlo.reshape %w {sinter.source = 3 : i64} : (tensor<4xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {sinter.source = 3 : i64} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    return %1 : tensor<1x2xf32>
  }
}
