// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo VerifyControlFlow

func.func @if_i1(%p: tensor<2xi1>) {
  // expected-error@+1 {{(I1) 0-dimensional tensor of type i1, but got 'tensor<2xi1>'}}
  "stablehlo.if"(%p) ({
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @if_c1(%p: tensor<i1>) {
  // expected-error@+1 {{(C1) a branch takes arguments}}
  "stablehlo.if"(%p) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @if_c2(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error@+1 {{(C2) the branches return different types}}
  %r = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<f32>
    }, {
      stablehlo.return %y : tensor<f64>
    }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

func.func @if_c3(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+1 {{(C3) a branch does not return the results' types}}
  %r = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i1>) -> tensor<f64>
  return
}

// -----

func.func @case_c1(%p: tensor<i32>) {
  // expected-error@+1 {{(C1) has no branches}}
  "stablehlo.case"(%p) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_c2(%p: tensor<i32>) {
  // expected-error@+1 {{(C2) a branch takes arguments}}
  "stablehlo.case"(%p) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return
    }) : (tensor<i32>) -> ()
  return
}

// -----

func.func @case_c3(%p: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error@+1 {{(C3) the branches return different types}}
  %r = "stablehlo.case"(%p) ({
      stablehlo.return %x : tensor<f32>
    }, {
      stablehlo.return %y : tensor<f64>
    }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @case_c4(%p: tensor<i32>, %x: tensor<f32>) {
  // expected-error@+1 {{(C4) a branch does not return the results' types}}
  %r = "stablehlo.case"(%p) ({
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i32>) -> tensor<f64>
  return
}

// -----

func.func @while_c1(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+1 {{(C1) the condition does not return tensor<i1>}}
  %r = "stablehlo.while"(%x) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_c2(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+1 {{(C2) the body does not return the operands' types}}
  %r = "stablehlo.while"(%x) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %p : tensor<i1>
    }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @while_c3(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+1 {{(C3) results differ from operands in type}}
  %r = "stablehlo.while"(%x) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @async_start_c1(%x: tensor<f32>) {
  // expected-error@+1 {{(C1) the region is not one operation and a return}}
  %r = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }) : (tensor<f32>) -> !stablehlo.future<tensor<f32>>
  return
}

// -----

func.func @async_start_c2(%x: tensor<f32>) {
  // expected-error@+1 {{(C2) starts stablehlo.negate, which is neither a collective nor a slic}}
  %r = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<f32>):
      %b = stablehlo.negate %a : tensor<f32>
      stablehlo.return %b : tensor<f32>
    }) : (tensor<f32>) -> !stablehlo.future<tensor<f32>>
  return
}

// -----

func.func @async_start_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C3) the operation does not take the operands}}
  %r = "stablehlo.async_start"(%x, %x) ({
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %c = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
      stablehlo.return %c : tensor<2xf32>
    }) : (tensor<4xf32>, tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @async_start_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C4) the region does not return the operation's results}}
  %r = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<4xf32>):
      %c = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
      stablehlo.return %a : tensor<4xf32>
    }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}
