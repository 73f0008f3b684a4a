// Truth, bits, comparisons, choices: a function a rule, called by the rule's label. RewriteRuleTest applies
// this rule alone: it must apply, and the results must stay what they were; in
// those called `label/stays-...` it must not apply.

func.func @"and-same/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.and %x, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"and-zero/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.and %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"and-ones/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-1> : tensor<2x3xi32>
  %r = stablehlo.and %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"and-not/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.not %x : tensor<2x3xi32>
  %r = stablehlo.and %n, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"and-or/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.or %y, %x : tensor<2x3xi32>
  %r = stablehlo.and %n, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"and-nots/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.not %x : tensor<2x3xi32>
  %m = stablehlo.not %y : tensor<2x3xi32>
  %r = stablehlo.and %n, %m : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-same/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.or %x, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-zero/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.or %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-ones/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-1> : tensor<2x3xi32>
  %r = stablehlo.or %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-not/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.not %x : tensor<2x3xi32>
  %r = stablehlo.or %n, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-and/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.and %y, %x : tensor<2x3xi32>
  %r = stablehlo.or %n, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-nots/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.not %x : tensor<2x3xi32>
  %m = stablehlo.not %y : tensor<2x3xi32>
  %r = stablehlo.or %n, %m : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"xor-same/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.xor %x, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"xor-zero/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.xor %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"xor-ones/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-1> : tensor<2x3xi32>
  %r = stablehlo.xor %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"xor-not/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.not %x : tensor<2x3xi32>
  %m = stablehlo.not %y : tensor<2x3xi32>
  %r = stablehlo.xor %n, %m : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"not-not/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.not %x : tensor<2x3xi32>
  %r = stablehlo.not %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"and-same/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r = stablehlo.and %x, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"and-zero/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.and %c, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"and-ones/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.and %c, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"and-not/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.not %x : tensor<2x3xi1>
  %r = stablehlo.and %n, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"and-or/b"(%x: tensor<2x3xi1>, %y: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.or %y, %x : tensor<2x3xi1>
  %r = stablehlo.and %n, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"and-nots/b"(%x: tensor<2x3xi1>, %y: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.not %x : tensor<2x3xi1>
  %m = stablehlo.not %y : tensor<2x3xi1>
  %r = stablehlo.and %n, %m : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"or-same/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r = stablehlo.or %x, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"or-zero/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.or %c, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"or-ones/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.or %c, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"or-not/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.not %x : tensor<2x3xi1>
  %r = stablehlo.or %n, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"or-and/b"(%x: tensor<2x3xi1>, %y: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.and %y, %x : tensor<2x3xi1>
  %r = stablehlo.or %n, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"or-nots/b"(%x: tensor<2x3xi1>, %y: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.not %x : tensor<2x3xi1>
  %m = stablehlo.not %y : tensor<2x3xi1>
  %r = stablehlo.or %n, %m : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"xor-same/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r = stablehlo.xor %x, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"xor-zero/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.xor %c, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"xor-ones/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.xor %c, %x : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"xor-not/b"(%x: tensor<2x3xi1>, %y: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.not %x : tensor<2x3xi1>
  %m = stablehlo.not %y : tensor<2x3xi1>
  %r = stablehlo.xor %n, %m : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-not/b"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %n = stablehlo.not %x : tensor<2x3xi1>
  %r = stablehlo.not %n : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"and-constants"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %d = stablehlo.constant dense<10> : tensor<2x3xi32>
  %a = stablehlo.and %c, %x : tensor<2x3xi32>
  %r = stablehlo.and %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"constant-right/and"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %r = stablehlo.and %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"or-constants"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %d = stablehlo.constant dense<10> : tensor<2x3xi32>
  %a = stablehlo.or %c, %x : tensor<2x3xi32>
  %r = stablehlo.or %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"constant-right/or"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %r = stablehlo.or %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"xor-constants"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %d = stablehlo.constant dense<10> : tensor<2x3xi32>
  %a = stablehlo.xor %c, %x : tensor<2x3xi32>
  %r = stablehlo.xor %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"constant-right/xor"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %r = stablehlo.xor %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"constant-right/stays-right"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<12> : tensor<2x3xi32>
  %r = stablehlo.and %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"constant-right/max"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.1> : tensor<2x3xf32>
  %r = stablehlo.maximum %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"constant-right/min"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.1> : tensor<2x3xf32>
  %r = stablehlo.minimum %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"shift-left-zero"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.shift_left %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"shift-right-zero/0"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.shift_right_logical %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"shift-right-zero/1"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.shift_right_arithmetic %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"not-equal/EQ-f"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare EQ, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-equal/EQ-i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare EQ, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-equal/NE-f"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare NE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-equal/NE-i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare NE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/LT"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare LT, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/stays-float-LT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/LE"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare LE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/stays-float-LE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare LE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/GT"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare GT, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/stays-float-GT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare GT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/GE"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare GE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"not-less/stays-float-GE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %a = stablehlo.compare GE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.not %a : tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-constant-right/LT"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0.25> : tensor<2x3xf32>
  %r = stablehlo.compare LT, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/LT"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare LT, %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same-relaxed/LT"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare LT, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-constant-right/LE"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0.25> : tensor<2x3xf32>
  %r = stablehlo.compare LE, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/LE"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare LE, %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same-relaxed/LE"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare LE, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-constant-right/GT"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0.25> : tensor<2x3xf32>
  %r = stablehlo.compare GT, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/GT"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare GT, %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same-relaxed/GT"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare GT, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-constant-right/GE"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0.25> : tensor<2x3xf32>
  %r = stablehlo.compare GE, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/GE"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare GE, %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same-relaxed/GE"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare GE, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-constant-right/EQ"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0.25> : tensor<2x3xf32>
  %r = stablehlo.compare EQ, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/EQ"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare EQ, %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same-relaxed/EQ"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare EQ, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-constant-right/NE"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0.25> : tensor<2x3xf32>
  %r = stablehlo.compare NE, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/NE"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare NE, %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same-relaxed/NE"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare NE, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-same/stays-float"(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r = stablehlo.compare EQ, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-truth/0"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.compare NE, %x, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-truth/1"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.compare EQ, %x, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-truth/2"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.compare EQ, %x, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-truth/3"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.compare NE, %x, %c : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-unsigned-zero/LT"(%x: tensor<2x3xui8>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xui8>
  %r = stablehlo.compare LT, %x, %c : (tensor<2x3xui8>, tensor<2x3xui8>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-unsigned-zero/stays-signed-LT"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.compare LT, %x, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-unsigned-zero/GE"(%x: tensor<2x3xui8>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xui8>
  %r = stablehlo.compare GE, %x, %c : (tensor<2x3xui8>, tensor<2x3xui8>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-unsigned-zero/stays-signed-GE"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.compare GE, %x, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-converted/0"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %a = stablehlo.convert %x : (tensor<2x3xi1>) -> tensor<2x3xi32>
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.compare NE, %a, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-converted/1"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %a = stablehlo.convert %x : (tensor<2x3xi1>) -> tensor<2x3xi32>
  %c = stablehlo.constant dense<1> : tensor<2x3xi32>
  %r = stablehlo.compare EQ, %a, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-converted/2"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %a = stablehlo.convert %x : (tensor<2x3xi1>) -> tensor<2x3xi32>
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.compare EQ, %a, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-converted/3"(%x: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %a = stablehlo.convert %x : (tensor<2x3xi1>) -> tensor<2x3xi32>
  %c = stablehlo.constant dense<1> : tensor<2x3xi32>
  %r = stablehlo.compare NE, %a, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-shifted/EQ"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<3> : tensor<2x3xi32>
  %d = stablehlo.constant dense<5> : tensor<2x3xi32>
  %a = stablehlo.add %c, %x : tensor<2x3xi32>
  %r = stablehlo.compare EQ, %a, %d : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"compare-shifted/NE"(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>) {
  %c = stablehlo.constant dense<3> : tensor<2x3xi32>
  %d = stablehlo.constant dense<5> : tensor<2x3xi32>
  %a = stablehlo.add %c, %x : tensor<2x3xi32>
  %r = stablehlo.compare NE, %a, %d : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"select-same"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.select %p, %x, %x : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-not"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.not %p : tensor<2x3xi1>
  %r = stablehlo.select %n, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-broadcast-not"(%s: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.not %s : tensor<i1>
  %p = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i1>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-truth/0"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %t = stablehlo.constant dense<true> : tensor<2x3xi1>
  %f = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.select %p, %t, %f : tensor<2x3xi1>, tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"select-truth/1"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %t = stablehlo.constant dense<true> : tensor<2x3xi1>
  %f = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.select %p, %f, %t : tensor<2x3xi1>, tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"select-and"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %f = stablehlo.constant dense<false> : tensor<2x3xi1>
  %r = stablehlo.select %p, %q, %f : tensor<2x3xi1>, tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"select-or"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %t = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.select %p, %t, %q : tensor<2x3xi1>, tensor<2x3xi1>
  return %r : tensor<2x3xi1>
}

func.func @"select-select/0"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  %r = stablehlo.select %p, %a, %z : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-select/1"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.select %p, %y, %z : tensor<2x3xi1>, tensor<2x3xf32>
  %r = stablehlo.select %p, %x, %a : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-select/stays-other"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.select %q, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  %r = stablehlo.select %p, %a, %z : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-max/GT"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare GT, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-max/stays-float-GT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare GT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-max-relaxed/GT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare GT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-max/GE"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare GE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-max/stays-float-GE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare GE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-max-relaxed/GE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare GE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-max/LT"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare LT, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-max/stays-float-LT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-max/LE"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare LE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-max/stays-float-LE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare LE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-min/LT"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare LT, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-min/stays-float-LT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-min-relaxed/LT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-min/LE"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare LE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-min/stays-float-LE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare LE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-min-relaxed/LE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare LE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-min/GT"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare GT, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-min/stays-float-GT"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare GT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-min/GE"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %p = stablehlo.compare GE, %x, %y : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"select-min/stays-float-GE"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %p = stablehlo.compare GE, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %r = stablehlo.select %p, %y, %x : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"select-constant"(%p: tensor<2x3xi1>, %q: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %t = stablehlo.constant dense<true> : tensor<2x3xi1>
  %r = stablehlo.select %t, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"max-same/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.maximum %x, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"min-same/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.minimum %x, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"max-same/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.maximum %x, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"min-same/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.minimum %x, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"max-least/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<2x3xf32>
  %r = stablehlo.maximum %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"min-greatest/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0x7F800000> : tensor<2x3xf32>
  %r = stablehlo.minimum %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"max-least/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-2147483648> : tensor<2x3xi32>
  %r = stablehlo.maximum %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"min-greatest/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<2147483647> : tensor<2x3xi32>
  %r = stablehlo.minimum %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"max-greatest"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<2147483647> : tensor<2x3xi32>
  %r = stablehlo.maximum %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"min-least"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-2147483648> : tensor<2x3xi32>
  %r = stablehlo.minimum %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"max-min"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %a = stablehlo.minimum %x, %y : tensor<2x3xi32>
  %r = stablehlo.maximum %a, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"min-max"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %a = stablehlo.maximum %x, %y : tensor<2x3xi32>
  %r = stablehlo.minimum %a, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"max-max"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.1> : tensor<2x3xf32>
  %d = stablehlo.constant dense<0.3> : tensor<2x3xf32>
  %a = stablehlo.maximum %x, %c : tensor<2x3xf32>
  %r = stablehlo.maximum %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"min-min"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.1> : tensor<2x3xf32>
  %d = stablehlo.constant dense<0.3> : tensor<2x3xf32>
  %a = stablehlo.minimum %x, %c : tensor<2x3xf32>
  %r = stablehlo.minimum %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"clamp-one-value"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.clamp %x, %y, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"clamp-clamp"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.constant dense<-0.5> : tensor<f32>
  %e = stablehlo.constant dense<0.5> : tensor<f32>
  %d = stablehlo.constant dense<0.0> : tensor<f32>
  %g = stablehlo.constant dense<2.0> : tensor<f32>
  %m = stablehlo.clamp %a, %x, %e : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = stablehlo.clamp %d, %m, %g : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"clamp-nothing"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %r = stablehlo.clamp %a, %x, %e : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"compare-same/unsigned"(%x: tensor<3xi32>) -> tensor<3xi1> {
  %r = stablehlo.compare GE, %x, %x, UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}

func.func @"compare-constant-right/unsigned"(%x: tensor<3xi32>) -> tensor<3xi1> {
  %c = stablehlo.constant dense<5> : tensor<3xi32>
  %r = stablehlo.compare LT, %c, %x, UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}

func.func @"compare-unsigned-zero/signless"(%x: tensor<3xi32>) -> tensor<3xi1> {
  %c = stablehlo.constant dense<0> : tensor<3xi32>
  %r = stablehlo.compare LT, %x, %c, UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}

func.func @"not-less/unsigned"(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi1> {
  %c = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %r = stablehlo.not %c : tensor<3xi1>
  return %r : tensor<3xi1>
}

// maximum goes by the type, which is signed.
func.func @"select-max/stays-unsigned"(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %c = stablehlo.compare GT, %x, %y, UNSIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %r = stablehlo.select %c, %x, %y : tensor<3xi1>, tensor<3xi32>
  return %r : tensor<3xi32>
}

// The type of what is compared is no matter.
func.func @"select-truth/of-floats"(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xi1> {
  %c = stablehlo.compare GT, %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %t = stablehlo.constant dense<true> : tensor<3xi1>
  %f = stablehlo.constant dense<false> : tensor<3xi1>
  %r = stablehlo.select %c, %t, %f : tensor<3xi1>, tensor<3xi1>
  return %r : tensor<3xi1>
}

func.func @"max-negate/f"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %n = stablehlo.negate %x : tensor<5xf32>
  %r = stablehlo.maximum %n, %x : tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"max-negate/i"(%x: tensor<5xi8>) -> tensor<5xi8> {
  %n = stablehlo.negate %x : tensor<5xi8>
  %r = stablehlo.maximum %x, %n : tensor<5xi8>
  return %r : tensor<5xi8>
}

// abs is of signed types only.
func.func @"max-negate/stays-unsigned"(%x: tensor<5xui8>) -> tensor<5xui8> {
  %n = stablehlo.negate %x : tensor<5xui8>
  %r = stablehlo.maximum %x, %n : tensor<5xui8>
  return %r : tensor<5xui8>
}

func.func @"max-negate/stays-other"(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %n = stablehlo.negate %y : tensor<5xf32>
  %r = stablehlo.maximum %x, %n : tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"select-abs/GT"(%x: tensor<5xi32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<0> : tensor<5xi32>
  %n = stablehlo.negate %x : tensor<5xi32>
  %p = stablehlo.compare GT, %x, %c : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %x, %n : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

func.func @"select-abs-relaxed/GT"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<5xf32>
  %n = stablehlo.negate %x : tensor<5xf32>
  %p = stablehlo.compare GT, %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %x, %n : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"select-abs/GE"(%x: tensor<5xi32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<0> : tensor<5xi32>
  %n = stablehlo.negate %x : tensor<5xi32>
  %p = stablehlo.compare GE, %x, %c : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %x, %n : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

func.func @"select-abs-relaxed/GE"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<5xf32>
  %n = stablehlo.negate %x : tensor<5xf32>
  %p = stablehlo.compare GE, %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %x, %n : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"select-abs/LT"(%x: tensor<5xi32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<0> : tensor<5xi32>
  %n = stablehlo.negate %x : tensor<5xi32>
  %p = stablehlo.compare LT, %x, %c : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %n, %x : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

func.func @"select-abs-relaxed/LT"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<5xf32>
  %n = stablehlo.negate %x : tensor<5xf32>
  %p = stablehlo.compare LT, %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %n, %x : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @"select-abs/LE"(%x: tensor<5xi32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<0> : tensor<5xi32>
  %n = stablehlo.negate %x : tensor<5xi32>
  %p = stablehlo.compare LE, %x, %c : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %n, %x : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

func.func @"select-abs-relaxed/LE"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<5xf32>
  %n = stablehlo.negate %x : tensor<5xf32>
  %p = stablehlo.compare LE, %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %n, %x : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

// -0.0 would become 0.0.
func.func @"select-abs/stays-float"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<5xf32>
  %n = stablehlo.negate %x : tensor<5xf32>
  %p = stablehlo.compare LT, %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %n, %x : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

// Unsigned values are never negative.
func.func @"select-abs/stays-unsigned"(%x: tensor<5xi32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<0> : tensor<5xi32>
  %n = stablehlo.negate %x : tensor<5xi32>
  %p = stablehlo.compare GT, %x, %c, UNSIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %x, %n : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

func.func @"select-abs/stays-other-bound"(%x: tensor<5xi32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<1> : tensor<5xi32>
  %n = stablehlo.negate %x : tensor<5xi32>
  %p = stablehlo.compare LT, %x, %c : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %n, %x : tensor<5xi1>, tensor<5xi32>
  return %r : tensor<5xi32>
}

func.func @"select-abs-relaxed/stays-minus"(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<5xf32>
  %n = stablehlo.negate %x : tensor<5xf32>
  %p = stablehlo.compare LT, %x, %c : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %r = stablehlo.select %p, %x, %n : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}
