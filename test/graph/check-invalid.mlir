// RUN: sinter-opt %s -verify-diagnostics -split-input-file
// Covers: graph/check CheckDialect

func.func @types(%a: tensor<2xf32>) {
  // expected-error@+1 {{all of {lhs, value} have same type}}
  "check.expect_eq_const"(%a) <{value = dense<1.0> : tensor<3xf32>}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @no_such_function() {
  // expected-error@+1 {{finds no function 'f'}}
  "interpreter.run_parallel"() {programs = [[@f]]} : () -> ()
  return
}

// -----

func.func @f() {
  return
}
func.func @ragged() {
  // expected-error@+1 {{expects as many partitions of every replica: 2, not 1}}
  "interpreter.run_parallel"() {programs = [[@f, @f], [@f]]} : () -> ()
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  return
}
func.func @operands() {
  // expected-error@+1 {{expects the arguments of all programs as operands}}
  "interpreter.run_parallel"() {programs = [[@f]]} : () -> ()
  return
}

// -----

func.func @f() {
  return
}
func.func @infeed() {
  // expected-error@+1 {{expects functions without arguments and with results in `infeed`, not 'f'}}
  "interpreter.run_parallel"() {programs = [[@f]], infeed = [@f]} : () -> ()
  return
}
