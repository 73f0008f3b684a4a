// What a process checks does not hold.
module {
  func.func @checks() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      check.expect_eq_const %next, dense<5> : tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
    return
  }
  func.func @main() {
    "interpreter.run_parallel"() {programs = [[@checks, @checks]]} : () -> ()
    return
  }
}
