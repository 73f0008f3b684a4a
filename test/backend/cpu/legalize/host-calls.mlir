// RUN: sinter-opt %s --cpu-lower-host-calls | FileCheck %s --check-prefix=CALLS
// RUN: sinter-opt %s --cpu-lower-host-calls --cpu-flatten | FileCheck %s --check-prefix=FLAT

// A token orders calls until it is a tensor without elements.
// CALLS: cpu.host_call "sinter.infeed"(%arg0)
// CALLS-SAME: (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
// FLAT: cpu.host_call "sinter.infeed"
// FLAT-SAME: (tensor<0xi8>) -> (tensor<2xf32>, tensor<0xi8>)
// FLAT-NOT: token
func.func @main(%t: !stablehlo.token) -> tensor<2xf32> {
  %r:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %r#0 : tensor<2xf32>
}
