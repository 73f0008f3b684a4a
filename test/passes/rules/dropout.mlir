// What drops nothing, and what has been told what to drop.

func.func @"remove-dropout/at_inference"(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = nn.dropout %x {ratio = 0.5} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
func.func @"remove-dropout/of_all"(%x: tensor<5xf16>) -> tensor<5xf16> {
  %0 = nn.dropout %x {ratio = 1.0} : (tensor<5xf16>) -> tensor<5xf16>
  return %0 : tensor<5xf16>
}
func.func @"remove-dropout/stays-masked"(%x: tensor<3x5xf32>, %m: tensor<3x5xi1>) -> tensor<3x5xf32> {
  %0 = nn.dropout %x, %m {ratio = 0.5} : (tensor<3x5xf32>, tensor<3x5xi1>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
