// Arithmetic: a function a rule, called by the rule's label. RewriteRuleTest applies
// this rule alone: it must apply, and the results must stay what they were; in
// those called `label/stays-...` it must not apply.

func.func @"add-zero"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.add %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-zero/float"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<-0.0> : tensor<2x3xf32>
  %r = stablehlo.add %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-zero/stays-positive"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.add %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-zero-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.add %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-negate/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.negate %y : tensor<2x3xi32>
  %r = stablehlo.add %n, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"subtract-negate/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.negate %y : tensor<2x3xi32>
  %r = stablehlo.subtract %x, %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"subtract-zero/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.subtract %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"zero-subtract/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.subtract %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"negate-negate/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.negate %x : tensor<2x3xi32>
  %r = stablehlo.negate %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-one/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<1> : tensor<2x3xi32>
  %r = stablehlo.multiply %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-minus-one/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-1> : tensor<2x3xi32>
  %r = stablehlo.multiply %c, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-negate/i"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.negate %x : tensor<2x3xi32>
  %m = stablehlo.negate %y : tensor<2x3xi32>
  %r = stablehlo.multiply %n, %m : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-abs/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.abs %x : tensor<2x3xi32>
  %r = stablehlo.multiply %n, %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"divide-one/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<1> : tensor<2x3xi32>
  %r = stablehlo.divide %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"divide-minus-one/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<-1> : tensor<2x3xi32>
  %r = stablehlo.divide %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-negated-by/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<3> : tensor<2x3xi32>
  %n = stablehlo.negate %x : tensor<2x3xi32>
  %r = stablehlo.multiply %n, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"negate-multiply/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<3> : tensor<2x3xi32>
  %n = stablehlo.multiply %x, %c : tensor<2x3xi32>
  %r = stablehlo.negate %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"power-zero/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.power %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"power-one/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<1> : tensor<2x3xi32>
  %r = stablehlo.power %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"abs-abs/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.abs %x : tensor<2x3xi32>
  %r = stablehlo.abs %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"abs-negate/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.negate %x : tensor<2x3xi32>
  %r = stablehlo.abs %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"sign-sign/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %n = stablehlo.sign %x : tensor<2x3xi32>
  %r = stablehlo.sign %n : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"constant-right/i"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<3> : tensor<2x3xi32>
  %a = stablehlo.add %c, %x : tensor<2x3xi32>
  %r = stablehlo.multiply %c, %a : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-negate/f"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %y : tensor<2x3xf32>
  %r = stablehlo.add %n, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"subtract-negate/f"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %y : tensor<2x3xf32>
  %r = stablehlo.subtract %x, %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"subtract-zero/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.subtract %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"zero-subtract/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<-0.0> : tensor<2x3xf32>
  %r = stablehlo.subtract %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"negate-negate/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %x : tensor<2x3xf32>
  %r = stablehlo.negate %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-one/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %r = stablehlo.multiply %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-minus-one/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<-1.0> : tensor<2x3xf32>
  %r = stablehlo.multiply %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-negate/f"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %x : tensor<2x3xf32>
  %m = stablehlo.negate %y : tensor<2x3xf32>
  %r = stablehlo.multiply %n, %m : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-abs/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.abs %x : tensor<2x3xf32>
  %r = stablehlo.multiply %n, %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-one/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %r = stablehlo.divide %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-minus-one/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<-1.0> : tensor<2x3xf32>
  %r = stablehlo.divide %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-negated-by/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.5> : tensor<2x3xf32>
  %n = stablehlo.negate %x : tensor<2x3xf32>
  %r = stablehlo.multiply %n, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"negate-multiply/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.5> : tensor<2x3xf32>
  %n = stablehlo.multiply %x, %c : tensor<2x3xf32>
  %r = stablehlo.negate %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"power-zero/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.power %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"power-one/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %r = stablehlo.power %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"abs-abs/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.abs %x : tensor<2x3xf32>
  %r = stablehlo.abs %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"abs-negate/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %x : tensor<2x3xf32>
  %r = stablehlo.abs %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"sign-sign/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.sign %x : tensor<2x3xf32>
  %r = stablehlo.sign %n : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"constant-right/f"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.5> : tensor<2x3xf32>
  %a = stablehlo.add %c, %x : tensor<2x3xf32>
  %r = stablehlo.multiply %c, %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-subtract"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %s = stablehlo.subtract %x, %y : tensor<2x3xi32>
  %r = stablehlo.add %y, %s : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"subtract-same"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r = stablehlo.subtract %x, %x : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"subtract-add"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %s = stablehlo.add %y, %x : tensor<2x3xi32>
  %r = stablehlo.subtract %s, %y : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"negate-subtract"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %s = stablehlo.subtract %x, %y : tensor<2x3xi32>
  %r = stablehlo.negate %s : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-zero"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<0> : tensor<2x3xi32>
  %r = stablehlo.multiply %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"factor-out"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>, %z: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %a = stablehlo.multiply %x, %y : tensor<2x3xi32>
  %d = stablehlo.multiply %z, %x : tensor<2x3xi32>
  %r = stablehlo.add %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-constants/0"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.add %x, %c : tensor<2x3xi32>
  %r = stablehlo.add %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-constants/1"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.subtract %x, %c : tensor<2x3xi32>
  %r = stablehlo.add %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-constants/2"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.subtract %c, %x : tensor<2x3xi32>
  %r = stablehlo.add %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-constants/3"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.add %x, %c : tensor<2x3xi32>
  %r = stablehlo.subtract %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-constants/4"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.subtract %x, %c : tensor<2x3xi32>
  %r = stablehlo.subtract %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-constants/5"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.add %x, %c : tensor<2x3xi32>
  %r = stablehlo.subtract %d, %a : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"multiply-constants"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<5> : tensor<2x3xi32>
  %d = stablehlo.constant dense<7> : tensor<2x3xi32>
  %a = stablehlo.multiply %c, %x : tensor<2x3xi32>
  %r = stablehlo.multiply %a, %d : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"add-subtract-relaxed"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %s = stablehlo.subtract %x, %y : tensor<2x3xf32>
  %r = stablehlo.add %y, %s : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"subtract-same-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.subtract %x, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"subtract-add-relaxed"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %s = stablehlo.add %y, %x : tensor<2x3xf32>
  %r = stablehlo.subtract %s, %y : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"negate-subtract-relaxed"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %s = stablehlo.subtract %x, %y : tensor<2x3xf32>
  %r = stablehlo.negate %s : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-zero-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.multiply %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"factor-out-relaxed"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.multiply %x, %y : tensor<2x3xf32>
  %d = stablehlo.multiply %z, %x : tensor<2x3xf32>
  %r = stablehlo.add %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-constants-relaxed/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.add %x, %c : tensor<2x3xf32>
  %r = stablehlo.add %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-constants-relaxed/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.subtract %x, %c : tensor<2x3xf32>
  %r = stablehlo.add %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-constants-relaxed/2"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.subtract %c, %x : tensor<2x3xf32>
  %r = stablehlo.add %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-constants-relaxed/3"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.add %x, %c : tensor<2x3xf32>
  %r = stablehlo.subtract %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-constants-relaxed/4"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.subtract %x, %c : tensor<2x3xf32>
  %r = stablehlo.subtract %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"add-constants-relaxed/5"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.add %x, %c : tensor<2x3xf32>
  %r = stablehlo.subtract %d, %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-constants-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.multiply %c, %x : tensor<2x3xf32>
  %r = stablehlo.multiply %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-constants-relaxed/stays-subnormal"(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>) {
  %c = stablehlo.constant dense<1.0e-3> : tensor<2x3xf16>
  %d = stablehlo.constant dense<1.0e-3> : tensor<2x3xf16>
  %a = stablehlo.multiply %x, %c : tensor<2x3xf16>
  %r = stablehlo.multiply %a, %d : tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

func.func @"multiply-constants-relaxed/stays-infinite"(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>) {
  %c = stablehlo.constant dense<1.0e+3> : tensor<2x3xf16>
  %d = stablehlo.constant dense<1.0e+3> : tensor<2x3xf16>
  %v = stablehlo.subtract %x, %x : tensor<2x3xf16>
  %a = stablehlo.multiply %v, %c : tensor<2x3xf16>
  %r = stablehlo.multiply %a, %d : tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

func.func @"multiply-constants-relaxed/stays-zero-bf16"(%x: tensor<2x3xbf16>) -> (tensor<2x3xbf16>) {
  %c = stablehlo.constant dense<1.0e-30> : tensor<2x3xbf16>
  %d = stablehlo.constant dense<1.0e-30> : tensor<2x3xbf16>
  %a = stablehlo.multiply %x, %c : tensor<2x3xbf16>
  %r = stablehlo.multiply %a, %d : tensor<2x3xbf16>
  return %r : tensor<2x3xbf16>
}

func.func @"multiply-constants-relaxed/stays-infinite-f32"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<1.0e+30> : tensor<2x3xf32>
  %d = stablehlo.constant dense<1.0e+30> : tensor<2x3xf32>
  %v = stablehlo.subtract %x, %x : tensor<2x3xf32>
  %a = stablehlo.multiply %v, %c : tensor<2x3xf32>
  %r = stablehlo.multiply %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-constants-relaxed/stays-infinite"(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>) {
  %c = stablehlo.constant dense<1.0e+3> : tensor<2x3xf16>
  %d = stablehlo.constant dense<1.0e+3> : tensor<2x3xf16>
  %a = stablehlo.divide %x, %c : tensor<2x3xf16>
  %r = stablehlo.divide %a, %d : tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

func.func @"divide-constant-relaxed/stays-subnormal"(%x: tensor<2x3xf16>) -> (tensor<2x3xf16>) {
  %c = stablehlo.constant dense<5.0e+4> : tensor<2x3xf16>
  %r = stablehlo.divide %x, %c : tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}

func.func @"subtract-same/stays-float"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.subtract %x, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"multiply-zero/stays-float"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.multiply %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"factor-out/stays-shared"(%x: tensor<2x3xi32>, %y: tensor<2x3xi32>, %z: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %a = stablehlo.multiply %x, %y : tensor<2x3xi32>
  %d = stablehlo.multiply %z, %x : tensor<2x3xi32>
  %r = stablehlo.add %a, %d : tensor<2x3xi32>
  return %r, %a : tensor<2x3xi32>, tensor<2x3xi32>
}

func.func @"add-constants/stays-float"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<7.0> : tensor<2x3xf32>
  %a = stablehlo.add %x, %c : tensor<2x3xf32>
  %r = stablehlo.add %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"zero-subtract-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.subtract %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"zero-subtract/stays-positive"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r = stablehlo.subtract %c, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-negate"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %x : tensor<2x3xf32>
  %m = stablehlo.negate %y : tensor<2x3xf32>
  %r = stablehlo.divide %n, %m : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-same-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r = stablehlo.divide %x, %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-constant-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %r = stablehlo.divide %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-power-of-two"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<8.0> : tensor<2x3xf32>
  %r = stablehlo.divide %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-power-of-two/stays-three"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %r = stablehlo.divide %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-constants-relaxed/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %a = stablehlo.divide %x, %c : tensor<2x3xf32>
  %r = stablehlo.divide %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"divide-constants-relaxed/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %d = stablehlo.constant dense<5.0> : tensor<2x3xf32>
  %a = stablehlo.divide %x, %c : tensor<2x3xf32>
  %r = stablehlo.multiply %a, %d : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"remainder-one"(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %c = stablehlo.constant dense<1> : tensor<2x3xi32>
  %r = stablehlo.remainder %x, %c : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

func.func @"negate-divide"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
  %a = stablehlo.divide %x, %c : tensor<2x3xf32>
  %r = stablehlo.negate %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"power-square"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<2.0> : tensor<2x3xf32>
  %r = stablehlo.power %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"power-minus-one"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %c = stablehlo.constant dense<-1.0> : tensor<2x3xf32>
  %r = stablehlo.power %x, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"power-half-relaxed/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.exponential %x : tensor<2x3xf32>
  %c = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %r = stablehlo.power %a, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"power-half-relaxed/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.exponential %x : tensor<2x3xf32>
  %c = stablehlo.constant dense<-0.5> : tensor<2x3xf32>
  %r = stablehlo.power %a, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"abs-positive/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.multiply %x, %x : tensor<2x3xf32>
  %r = stablehlo.abs %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"abs-positive/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.exponential %x : tensor<2x3xf32>
  %r = stablehlo.abs %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"abs-positive/2"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = stablehlo.logistic %x : tensor<2x3xf32>
  %r = stablehlo.abs %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"floor-floor/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.floor %m : tensor<2x3xf32>
  %r = stablehlo.floor %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"floor-floor/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.ceil %m : tensor<2x3xf32>
  %r = stablehlo.floor %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"ceil-ceil/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.ceil %m : tensor<2x3xf32>
  %r = stablehlo.ceil %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"ceil-ceil/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.floor %m : tensor<2x3xf32>
  %r = stablehlo.ceil %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"round-round/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.round_nearest_even %m : tensor<2x3xf32>
  %r = stablehlo.round_nearest_even %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"round-round/1"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.round_nearest_afz %m : tensor<2x3xf32>
  %r = stablehlo.round_nearest_afz %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"cosine-negate"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %k = stablehlo.constant dense<7.3> : tensor<2x3xf32>
  %m = stablehlo.multiply %x, %k : tensor<2x3xf32>
  %a = stablehlo.negate %m : tensor<2x3xf32>
  %r = stablehlo.cosine %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"rsqrt-relaxed/0"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %e = stablehlo.exponential %x : tensor<2x3xf32>
  %a = stablehlo.sqrt %e : tensor<2x3xf32>
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %r = stablehlo.divide %c, %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"rsqrt-relaxed/1"(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %e = stablehlo.exponential %x : tensor<2x3xf32>
  %a = stablehlo.sqrt %e : tensor<2x3xf32>
  %r = stablehlo.divide %y, %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"exp-minus-one-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %e = stablehlo.exponential %x : tensor<2x3xf32>
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %r = stablehlo.subtract %e, %c : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"log-plus-one-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %e = stablehlo.exponential %x : tensor<2x3xf32>
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %a = stablehlo.add %c, %e : tensor<2x3xf32>
  %r = stablehlo.log %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"logistic-relaxed"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %n = stablehlo.negate %x : tensor<2x3xf32>
  %e = stablehlo.exponential %n : tensor<2x3xf32>
  %c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %a = stablehlo.add %c, %e : tensor<2x3xf32>
  %r = stablehlo.divide %c, %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"relu-nonnegative"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = nn.relu %x : tensor<2x3xf32>
  %r = nn.relu %a : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

func.func @"clamp-relu"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %l = stablehlo.constant dense<-0.5> : tensor<f32>
  %h = stablehlo.constant dense<0.75> : tensor<f32>
  %a = nn.relu %x : tensor<2x3xf32>
  %r = stablehlo.clamp %l, %a, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
// Where both bounds are negative, all values are the upper one.
func.func @"clamp-relu/stays-negative"(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %l = stablehlo.constant dense<-0.5> : tensor<f32>
  %h = stablehlo.constant dense<-0.25> : tensor<f32>
  %a = nn.relu %x : tensor<2x3xf32>
  %r = stablehlo.clamp %l, %a, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
