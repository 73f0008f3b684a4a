// A gelu that is spelt out: a function a rule, called by the rule's label
// (see arithmetic.mlir).

// As jax.nn.gelu writes it
func.func @"raise-gelu"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<37xf32>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hg = stablehlo.multiply %h, %g : tensor<37xf32>
  %r = stablehlo.multiply %x, %hg : tensor<37xf32>
  return %r : tensor<37xf32>
}

func.func @"raise-gelu/half-first"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<37xf32>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hx = stablehlo.multiply %x, %h : tensor<37xf32>
  %r = stablehlo.multiply %hx, %g : tensor<37xf32>
  return %r : tensor<37xf32>
}

func.func @"raise-gelu/f64"(%x: tensor<37xf64>) -> tensor<37xf64> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf64>
  %q = stablehlo.constant dense<0.79788456080286541> : tensor<37xf64>
  %o = stablehlo.constant dense<1.0> : tensor<37xf64>
  %h = stablehlo.constant dense<0.5> : tensor<37xf64>
  %x2 = stablehlo.multiply %x, %x : tensor<37xf64>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xf64>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf64>
  %in = stablehlo.add %x, %ax : tensor<37xf64>
  %l = stablehlo.multiply %q, %in : tensor<37xf64>
  %th = stablehlo.tanh %l : tensor<37xf64>
  %g = stablehlo.add %o, %th : tensor<37xf64>
  %hg = stablehlo.multiply %h, %g : tensor<37xf64>
  %r = stablehlo.multiply %x, %hg : tensor<37xf64>
  return %r : tensor<37xf64>
}

func.func @"raise-narrow-gelu"(%x: tensor<37xbf16>) -> tensor<37xbf16> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xbf16>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xbf16>
  %o = stablehlo.constant dense<1.0> : tensor<37xbf16>
  %h = stablehlo.constant dense<0.5> : tensor<37xbf16>
  %x2 = stablehlo.multiply %x, %x : tensor<37xbf16>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xbf16>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xbf16>
  %in = stablehlo.add %x, %ax : tensor<37xbf16>
  %l = stablehlo.multiply %q, %in : tensor<37xbf16>
  %th = stablehlo.tanh %l : tensor<37xbf16>
  %g = stablehlo.add %o, %th : tensor<37xbf16>
  %hg = stablehlo.multiply %h, %g : tensor<37xbf16>
  %r = stablehlo.multiply %x, %hg : tensor<37xbf16>
  return %r : tensor<37xbf16>
}

// As PyTorch exports gelu_new
func.func @"raise-gelu/power"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %t = stablehlo.constant dense<3.0> : tensor<37xf32>
  %x3 = stablehlo.power %x, %t : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hg = stablehlo.multiply %h, %g : tensor<37xf32>
  %r = stablehlo.multiply %x, %hg : tensor<37xf32>
  return %r : tensor<37xf32>
}

func.func @"raise-gelu/stays-other-number"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.0447> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<37xf32>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hg = stablehlo.multiply %h, %g : tensor<37xf32>
  %r = stablehlo.multiply %x, %hg : tensor<37xf32>
  return %r : tensor<37xf32>
}

func.func @"raise-gelu/stays-shared"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<37xf32>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hx = stablehlo.multiply %x, %h : tensor<37xf32>
  %p = stablehlo.multiply %hx, %g : tensor<37xf32>
  %r = stablehlo.add %p, %g : tensor<37xf32>
  return %r : tensor<37xf32>
}

func.func @"raise-gelu/stays-other-power"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %t = stablehlo.constant dense<2.0> : tensor<37xf32>
  %x3 = stablehlo.power %x, %t : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hg = stablehlo.multiply %h, %g : tensor<37xf32>
  %r = stablehlo.multiply %x, %hg : tensor<37xf32>
  return %r : tensor<37xf32>
}

// The gate is of another value than what it is multiplied by.
func.func @"raise-gelu/stays-of-another"(%x: tensor<37xf32>, %y: tensor<37xf32>) -> tensor<37xf32> {
  %a = stablehlo.constant dense<0.044715> : tensor<37xf32>
  %q = stablehlo.constant dense<0.797884583> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %x2 = stablehlo.multiply %x, %x : tensor<37xf32>
  %x3 = stablehlo.multiply %x2, %x : tensor<37xf32>
  %ax = stablehlo.multiply %a, %x3 : tensor<37xf32>
  %in = stablehlo.add %x, %ax : tensor<37xf32>
  %l = stablehlo.multiply %q, %in : tensor<37xf32>
  %th = stablehlo.tanh %l : tensor<37xf32>
  %g = stablehlo.add %o, %th : tensor<37xf32>
  %hg = stablehlo.multiply %h, %g : tensor<37xf32>
  %r = stablehlo.multiply %y, %hg : tensor<37xf32>
  return %r : tensor<37xf32>
}

// As PyTorch exports gelu; half of it may have gone into weights
func.func @"carry-gelu"(%x: tensor<37xf16>) -> tensor<37xf16> {
  %c = stablehlo.constant dense<1.4140625> : tensor<37xf16>
  %o = stablehlo.constant dense<1.0> : tensor<37xf16>
  %l = stablehlo.divide %x, %c : tensor<37xf16>
  %e = nn.erf %l : tensor<37xf16>
  %g = stablehlo.add %e, %o : tensor<37xf16>
  %r = stablehlo.multiply %x, %g : tensor<37xf16>
  return %r : tensor<37xf16>
}

func.func @"carry-gelu/half-first"(%x: tensor<37xbf16>) -> tensor<37xbf16> {
  %c = stablehlo.constant dense<1.4140625> : tensor<37xbf16>
  %o = stablehlo.constant dense<1.0> : tensor<37xbf16>
  %h = stablehlo.constant dense<0.5> : tensor<37xbf16>
  %l = stablehlo.divide %x, %c : tensor<37xbf16>
  %e = nn.erf %l : tensor<37xbf16>
  %g = stablehlo.add %e, %o : tensor<37xbf16>
  %hx = stablehlo.multiply %x, %h : tensor<37xbf16>
  %r = stablehlo.multiply %hx, %g : tensor<37xbf16>
  return %r : tensor<37xbf16>
}

func.func @"carry-gelu/times"(%x: tensor<37xf16>) -> tensor<37xf16> {
  %c = stablehlo.constant dense<0.70703125> : tensor<37xf16>
  %o = stablehlo.constant dense<1.0> : tensor<37xf16>
  %h = stablehlo.constant dense<0.5> : tensor<37xf16>
  %l = stablehlo.multiply %c, %x : tensor<37xf16>
  %e = nn.erf %l : tensor<37xf16>
  %g = stablehlo.add %e, %o : tensor<37xf16>
  %hx = stablehlo.multiply %x, %h : tensor<37xf16>
  %r = stablehlo.multiply %hx, %g : tensor<37xf16>
  return %r : tensor<37xf16>
}

// As fast where it is spelt out
func.func @"carry-gelu/stays-wide"(%x: tensor<37xf32>) -> tensor<37xf32> {
  %c = stablehlo.constant dense<1.41421354> : tensor<37xf32>
  %o = stablehlo.constant dense<1.0> : tensor<37xf32>
  %h = stablehlo.constant dense<0.5> : tensor<37xf32>
  %l = stablehlo.divide %x, %c : tensor<37xf32>
  %e = nn.erf %l : tensor<37xf32>
  %g = stablehlo.add %e, %o : tensor<37xf32>
  %hx = stablehlo.multiply %x, %h : tensor<37xf32>
  %r = stablehlo.multiply %hx, %g : tensor<37xf32>
  return %r : tensor<37xf32>
}

func.func @"carry-gelu/stays-shared"(%x: tensor<37xf16>) -> tensor<37xf16> {
  %c = stablehlo.constant dense<1.4140625> : tensor<37xf16>
  %o = stablehlo.constant dense<1.0> : tensor<37xf16>
  %l = stablehlo.divide %x, %c : tensor<37xf16>
  %e = nn.erf %l : tensor<37xf16>
  %g = stablehlo.add %e, %o : tensor<37xf16>
  %r = stablehlo.multiply %x, %g : tensor<37xf16>
  %s = stablehlo.add %r, %g : tensor<37xf16>
  return %s : tensor<37xf16>
}

// The gate is of another value than what it is multiplied by.
func.func @"carry-gelu/stays-of-another"(%x: tensor<37xf16>) -> tensor<37xf16> {
  %c = stablehlo.constant dense<1.4140625> : tensor<37xf16>
  %o = stablehlo.constant dense<1.0> : tensor<37xf16>
  %l = stablehlo.divide %x, %c : tensor<37xf16>
  %e = nn.erf %l : tensor<37xf16>
  %g = stablehlo.add %e, %o : tensor<37xf16>
  %r = stablehlo.multiply %l, %g : tensor<37xf16>
  return %r : tensor<37xf16>
}
