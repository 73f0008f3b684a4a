// Replica 0 waits for a value of replica 1, which computes it for a while and ends at once after: what it says last comes together with the value.
module {
  func.func @main() -> tensor<f32> {
    %replica = stablehlo.replica_id : tensor<ui32>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %first = stablehlo.compare EQ, %replica, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %token = stablehlo.create_token : !stablehlo.token
    %0 = "stablehlo.if"(%first) ({
      %1:2 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}
        : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
      stablehlo.return %1#0 : tensor<f32>
    }, {
      %begin = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<60> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %x = stablehlo.constant dense<0.001> : tensor<300x300xf32>
      %2:2 = stablehlo.while(%i = %begin, %m = %x) : tensor<i32>, tensor<300x300xf32>
        cond {
          %3 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %3 : tensor<i1>
        } do {
          %4 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
          %5 = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %5, %4 : tensor<i32>, tensor<300x300xf32>
        }
      %6 = stablehlo.slice %2#1 [0:1, 0:1] : (tensor<300x300xf32>) -> tensor<1x1xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x1xf32>) -> tensor<f32>
      %8 = "stablehlo.send"(%7, %token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}
        : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
