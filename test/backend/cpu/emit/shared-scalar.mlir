// RUN: sinter run %s --backend cpu --input random:1 > %t.cpu
// RUN: sinter run %s --backend interpreter --input random:1 > %t.oracle
// RUN: diff %t.cpu %t.oracle

// The kernel of the second result computes the slice and its reshape; that of
// the first broadcasts the reshape, too, and reads it from memory.
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %slice = stablehlo.slice %x [1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %scalar = stablehlo.reshape %slice : (tensor<1xf32>) -> tensor<f32>
  %wide = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %first = stablehlo.add %y, %wide : tensor<2xf32>
  %negative = stablehlo.negate %scalar : tensor<f32>
  %other = stablehlo.broadcast_in_dim %negative, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %product = stablehlo.multiply %first, %other : tensor<2xf32>
  %second = stablehlo.subtract %product, %wide : tensor<2xf32>
  return %first, %second : tensor<2xf32>, tensor<2xf32>
}
