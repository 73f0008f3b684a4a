// Attention as exporters spell it, and what is left alone.

// Heads in front, no scale, no mask.
func.func @"raise-attention"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %p = nn.softmax %s, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// As PyTorch exports to ONNX: a divisor, a mask of keys.
func.func @"raise-attention/onnx"(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x7xf32>, %m: tensor<2x1x1x6xf32>) -> tensor<2x5x3x7xf32> {
  %a = stablehlo.transpose %q, dims = [0, 2, 1, 3] : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %b = stablehlo.transpose %k, dims = [0, 2, 3, 1] : (tensor<2x6x3x4xf32>) -> tensor<2x3x4x6xf32>
  %c = stablehlo.transpose %v, dims = [0, 2, 1, 3] : (tensor<2x6x3x7xf32>) -> tensor<2x3x6x7xf32>
  %s = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32>
  %n = stablehlo.constant dense<2.0> : tensor<2x3x5x6xf32>
  %d = stablehlo.divide %s, %n : tensor<2x3x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2, 3] : (tensor<2x1x1x6xf32>) -> tensor<2x3x5x6xf32>
  %e = stablehlo.add %d, %w : tensor<2x3x5x6xf32>
  %p = nn.softmax %e, axes = [3] : tensor<2x3x5x6xf32>
  %o = stablehlo.dot_general %p, %c, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  %r = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (tensor<2x3x5x7xf32>) -> tensor<2x5x3x7xf32>
  return %r : tensor<2x5x3x7xf32>
}

// As JAX exports: heads between, the scaled query, a choice, values on the left.
func.func @"raise-attention/jax"(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x7xf32>, %m: tensor<5x6xi1>) -> tensor<2x5x3x7xf32> {
  %n = stablehlo.constant dense<0.5> : tensor<2x5x3x4xf32>
  %a = stablehlo.multiply %q, %n : tensor<2x5x3x4xf32>
  %s = stablehlo.dot_general %a, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>) -> tensor<2x3x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<5x6xi1>) -> tensor<2x3x5x6xi1>
  %l = stablehlo.constant dense<-3.40282347E+38> : tensor<2x3x5x6xf32>
  %e = stablehlo.select %w, %s, %l : tensor<2x3x5x6xi1>, tensor<2x3x5x6xf32>
  %p = nn.softmax %e, axes = [3] : tensor<2x3x5x6xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x6x3x7xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x7x5xf32>
  %r = stablehlo.transpose %o, dims = [0, 3, 1, 2] : (tensor<2x3x7x5xf32>) -> tensor<2x5x3x7xf32>
  return %r : tensor<2x5x3x7xf32>
}

// The product of the scores is transposed.
func.func @"raise-attention/keys-first"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
  %t = stablehlo.dot_general %k, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x6x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x6x5xf32>
  %s = stablehlo.transpose %t, dims = [0, 1, 3, 2] : (tensor<2x3x6x5xf32>) -> tensor<2x3x5x6xf32>
  %p = nn.softmax %s, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// Groups of the query's heads share keys (%q is [batch, query, head, group, element]).
func.func @"raise-attention/groups"(%q: tensor<2x5x3x2x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x7xf32>, %m: tensor<2x5x6xi1>) -> tensor<2x5x3x2x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x5x3x2x4xf32>, tensor<2x6x3x4xf32>) -> tensor<2x3x5x2x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 2, 4] : (tensor<2x5x6xi1>) -> tensor<2x3x5x2x6xi1>
  %l = stablehlo.constant dense<-2.38197633E+38> : tensor<2x3x5x2x6xf32>
  %e = stablehlo.select %w, %s, %l : tensor<2x3x5x2x6xi1>, tensor<2x3x5x2x6xf32>
  %p = nn.softmax %e, axes = [4] : tensor<2x3x5x2x6xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x6x3x7xf32>, tensor<2x3x5x2x6xf32>) -> tensor<2x3x7x5x2xf32>
  %r = stablehlo.transpose %o, dims = [0, 3, 1, 4, 2] : (tensor<2x3x7x5x2xf32>) -> tensor<2x5x3x2x7xf32>
  return %r : tensor<2x5x3x2x7xf32>
}

// The group comes before the queries.
func.func @"raise-attention/groups-first"(%q: tensor<3x2x5x4xf32>, %k: tensor<3x6x4xf32>, %v: tensor<3x6x7xf32>, %m: tensor<2x6xf32>) -> tensor<3x2x5x7xf32> {
  %s = stablehlo.dot_general %k, %q, batching_dims = [0] x [0], contracting_dims = [2] x [3] : (tensor<3x6x4xf32>, tensor<3x2x5x4xf32>) -> tensor<3x6x2x5xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [2, 1] : (tensor<2x6xf32>) -> tensor<3x6x2x5xf32>
  %e = stablehlo.add %s, %w : tensor<3x6x2x5xf32>
  %p = nn.softmax %e, axes = [1] : tensor<3x6x2x5xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x6x2x5xf32>, tensor<3x6x7xf32>) -> tensor<3x2x5x7xf32>
  return %r : tensor<3x2x5x7xf32>
}

// The keys have two numbers.
func.func @"raise-attention/stays-two-keys"(%q: tensor<5x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x7xf32>) -> tensor<5x3x7xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [2] : (tensor<5x4xf32>, tensor<2x3x4xf32>) -> tensor<5x2x3xf32>
  %p = nn.softmax %s, axes = [1] : tensor<5x2x3xf32>
  %t = stablehlo.transpose %p, dims = [0, 2, 1] : (tensor<5x2x3xf32>) -> tensor<5x3x2xf32>
  %u = stablehlo.transpose %v, dims = [1, 0, 2] : (tensor<2x3x7xf32>) -> tensor<3x2x7xf32>
  %w = stablehlo.slice %u [0:1, 0:2, 0:7] : (tensor<3x2x7xf32>) -> tensor<1x2x7xf32>
  %x = stablehlo.reshape %w : (tensor<1x2x7xf32>) -> tensor<2x7xf32>
  %r = stablehlo.dot_general %t, %x, contracting_dims = [2] x [0] : (tensor<5x3x2xf32>, tensor<2x7xf32>) -> tensor<5x3x7xf32>
  return %r : tensor<5x3x7xf32>
}

// As JAX exports its own attention: a group of one in front of the scores.
func.func @"raise-attention/group-of-one"(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>, %v: tensor<2x6x3x7xf32>, %m: tensor<2x1x5x6xi1>) -> tensor<2x5x3x7xf32> {
  %a = stablehlo.reshape %q : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x1x4xf32>
  %s = stablehlo.dot_general %a, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x5x3x1x4xf32>, tensor<2x6x3x4xf32>) -> tensor<2x3x5x1x6xf32>
  %n = stablehlo.constant dense<0.5> : tensor<2x3x5x1x6xf32>
  %d = stablehlo.multiply %s, %n : tensor<2x3x5x1x6xf32>
  %f = stablehlo.reshape %d : (tensor<2x3x5x1x6xf32>) -> tensor<1x2x3x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2, 3] : (tensor<2x1x5x6xi1>) -> tensor<2x3x5x6xi1>
  %x = stablehlo.reshape %w : (tensor<2x3x5x6xi1>) -> tensor<1x2x3x5x6xi1>
  %l = stablehlo.constant dense<-2.38197633E+38> : tensor<1x2x3x5x6xf32>
  %e = stablehlo.select %x, %f, %l : tensor<1x2x3x5x6xi1>, tensor<1x2x3x5x6xf32>
  %p = nn.softmax %e, axes = [4] : tensor<1x2x3x5x6xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4] : (tensor<2x6x3x7xf32>, tensor<1x2x3x5x6xf32>) -> tensor<2x3x7x1x5xf32>
  %t = stablehlo.transpose %o, dims = [0, 4, 1, 3, 2] : (tensor<2x3x7x1x5xf32>) -> tensor<2x5x3x1x7xf32>
  %r = stablehlo.reshape %t : (tensor<2x5x3x1x7xf32>) -> tensor<2x5x3x7xf32>
  return %r : tensor<2x5x3x7xf32>
}

// One of the heads is none: a batch of one in the first product alone.
func.func @"raise-attention/batch-of-one"(%q: tensor<1x3x5x4xf32>, %k: tensor<1x3x6x4xf32>, %v: tensor<3x6x7xf32>, %m: tensor<1x1x1x6xf32>) -> tensor<3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x3x5x4xf32>, tensor<1x3x6x4xf32>) -> tensor<1x3x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<1x3x5x6xf32>
  %e = stablehlo.add %s, %w : tensor<1x3x5x6xf32>
  %f = stablehlo.reshape %e : (tensor<1x3x5x6xf32>) -> tensor<3x5x6xf32>
  %p = nn.softmax %f, axes = [2] : tensor<3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x5x6xf32>, tensor<3x6x7xf32>) -> tensor<3x5x7xf32>
  return %r : tensor<3x5x7xf32>
}

// The reshape between the products joins heads and queries.
func.func @"raise-attention/stays-joined"(%q: tensor<3x5x4xf32>, %k: tensor<3x6x4xf32>, %v: tensor<6x7xf32>) -> tensor<15x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x5x4xf32>, tensor<3x6x4xf32>) -> tensor<3x5x6xf32>
  %f = stablehlo.reshape %s : (tensor<3x5x6xf32>) -> tensor<15x6xf32>
  %p = nn.softmax %f, axes = [1] : tensor<15x6xf32>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<15x6xf32>, tensor<6x7xf32>) -> tensor<15x7xf32>
  return %r : tensor<15x7xf32>
}

// The values belong to no head.
func.func @"raise-attention/stays-shared-values"(%q: tensor<3x5x4xf32>, %k: tensor<3x6x4xf32>, %v: tensor<6x7xf32>) -> tensor<3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x5x4xf32>, tensor<3x6x4xf32>) -> tensor<3x5x6xf32>
  %p = nn.softmax %s, axes = [2] : tensor<3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [2] x [0] : (tensor<3x5x6xf32>, tensor<6x7xf32>) -> tensor<3x5x7xf32>
  return %r : tensor<3x5x7xf32>
}

// Scores with the keys in rows.
func.func @"raise-attention/keys-in-rows"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %k, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x6x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x6x5xf32>
  %p = nn.softmax %s, axes = [2] : tensor<2x3x6x5xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x3x6x5xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// A factor at the key and a divisor at the scores.
func.func @"raise-attention/scaled-keys"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = stablehlo.constant dense<0.5> : tensor<2x3x6x4xf32>
  %b = stablehlo.multiply %n, %k : tensor<2x3x6x4xf32>
  %s = stablehlo.dot_general %q, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %t = stablehlo.constant dense<4.0> : tensor<2x3x5x6xf32>
  %d = stablehlo.divide %s, %t : tensor<2x3x5x6xf32>
  %p = nn.softmax %d, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// The condition says what is hidden.
func.func @"raise-attention/hidden"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x5x6xi1>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 2, 3] : (tensor<2x5x6xi1>) -> tensor<2x3x5x6xi1>
  %l = stablehlo.constant dense<-3.40282347E+38> : tensor<2x3x5x6xf32>
  %e = stablehlo.select %w, %l, %s : tensor<2x3x5x6xi1>, tensor<2x3x5x6xf32>
  %p = nn.softmax %e, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// No heads.
func.func @"raise-attention/one-head"(%q: tensor<5x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x7xf32>, %m: tensor<5x6xf32>) -> tensor<5x7xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  %e = stablehlo.add %m, %s : tensor<5x6xf32>
  %p = nn.softmax %e, axes = [1] : tensor<5x6xf32>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<5x6xf32>, tensor<6x7xf32>) -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// The mask hides what comes later.
func.func @"raise-attention/causal"(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
  %c = stablehlo.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %m = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
  %e = stablehlo.add %s, %m : tensor<2x3x3xf32>
  %p = nn.softmax %e, axes = [2] : tensor<2x3x3xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// The same by a choice.
func.func @"raise-attention/causal-chosen"(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
  %c = stablehlo.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %m = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
  %l = stablehlo.constant dense<-2.38197633E+38> : tensor<2x3x3xf32>
  %e = stablehlo.select %m, %s, %l : tensor<2x3x3xi1>, tensor<2x3x3xf32>
  %p = nn.softmax %e, axes = [2] : tensor<2x3x3xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// The scores are a result.
func.func @"raise-attention/stays-scores-read"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %p = nn.softmax %s, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r, %s : tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>
}

// The weights are a result.
func.func @"raise-attention/stays-weights-read"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %p = nn.softmax %s, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r, %p : tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>
}

// Something between is read elsewhere.
func.func @"raise-attention/stays-scaled-read"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %n = stablehlo.constant dense<0.5> : tensor<2x3x5x6xf32>
  %d = stablehlo.multiply %s, %n : tensor<2x3x5x6xf32>
  %p = nn.softmax %d, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  %x = stablehlo.abs %d : tensor<2x3x5x6xf32>
  return %r, %x : tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>
}

// The softmax is over the queries.
func.func @"raise-attention/stays-other-axis"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %p = nn.softmax %s, axes = [2] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// The softmax is over keys and queries.
func.func @"raise-attention/stays-two-axes"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %p = nn.softmax %s, axes = [2, 3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// The mask is repeated along the keys.
func.func @"raise-attention/stays-mask-repeated"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x3x5x1xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2, 3] : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x6xf32>
  %e = stablehlo.add %s, %w : tensor<2x3x5x6xf32>
  %p = nn.softmax %e, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// The scale is one of the mask, too.
func.func @"raise-attention/stays-masked-then-scaled"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x3x5x6xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %e = stablehlo.add %s, %m : tensor<2x3x5x6xf32>
  %n = stablehlo.constant dense<0.5> : tensor<2x3x5x6xf32>
  %d = stablehlo.multiply %e, %n : tensor<2x3x5x6xf32>
  %p = nn.softmax %d, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// There are two masks.
func.func @"raise-attention/stays-two-masks"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x3x5x6xf32>, %n: tensor<2x3x5x6xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %e = stablehlo.add %s, %m : tensor<2x3x5x6xf32>
  %d = stablehlo.add %e, %n : tensor<2x3x5x6xf32>
  %p = nn.softmax %d, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// What is chosen instead of hidden scores leaves something of them.
func.func @"raise-attention/small-number"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x3x5x6xi1>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %l = stablehlo.constant dense<-1.0E+4> : tensor<2x3x5x6xf32>
  %e = stablehlo.select %m, %s, %l : tensor<2x3x5x6xi1>, tensor<2x3x5x6xf32>
  %p = nn.softmax %e, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// What is chosen instead of hidden scores is not told from what is seen.
func.func @"raise-attention/stays-zero"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x3x5x6xi1>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %l = stablehlo.constant dense<0.0> : tensor<2x3x5x6xf32>
  %e = stablehlo.select %m, %s, %l : tensor<2x3x5x6xi1>, tensor<2x3x5x6xf32>
  %p = nn.softmax %e, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// The scale is not a number.
func.func @"raise-attention/stays-varying-scale"(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>, %m: tensor<2x3x5x6xf32>) -> tensor<2x3x5x7xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32>
  %d = stablehlo.multiply %s, %m : tensor<2x3x5x6xf32>
  %p = nn.softmax %d, axes = [3] : tensor<2x3x5x6xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}

// Elements are not f32.
func.func @"raise-attention/stays-f64"(%q: tensor<5x4xf64>, %k: tensor<6x4xf64>, %v: tensor<6x7xf64>) -> tensor<5x7xf64> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<5x4xf64>, tensor<6x4xf64>) -> tensor<5x6xf64>
  %p = nn.softmax %s, axes = [1] : tensor<5x6xf64>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<5x6xf64>, tensor<6x7xf64>) -> tensor<5x7xf64>
  return %r : tensor<5x7xf64>
}

// Two dimensions number the elements of a value.
func.func @"raise-attention/stays-two-columns"(%q: tensor<5x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x2x7xf32>) -> tensor<5x2x7xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  %p = nn.softmax %s, axes = [1] : tensor<5x6xf32>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<5x6xf32>, tensor<6x2x7xf32>) -> tensor<5x2x7xf32>
  return %r : tensor<5x2x7xf32>
}

// Floats narrower than f32: only the result is rounded.
func.func @"raise-attention/half"(%q: tensor<2x5x4xf16>, %k: tensor<2x6x4xf16>, %v: tensor<2x6x7xf16>, %m: tensor<5x6xf16>) -> tensor<2x5x7xf16> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x5x4xf16>, tensor<2x6x4xf16>) -> tensor<2x5x6xf16>
  %n = stablehlo.constant dense<0.5> : tensor<2x5x6xf16>
  %d = stablehlo.multiply %s, %n : tensor<2x5x6xf16>
  %w = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<5x6xf16>) -> tensor<2x5x6xf16>
  %e = stablehlo.add %d, %w : tensor<2x5x6xf16>
  %p = nn.softmax %e, axes = [2] : tensor<2x5x6xf16>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x6xf16>, tensor<2x6x7xf16>) -> tensor<2x5x7xf16>
  return %r : tensor<2x5x7xf16>
}

// As JAX exports it for bf16: scores in f32, a choice among them, weights in bf16.
func.func @"raise-attention/mixed"(%q: tensor<2x5x4xbf16>, %k: tensor<2x6x4xbf16>, %v: tensor<2x6x7xbf16>, %m: tensor<5x6xi1>) -> tensor<2x5x7xbf16> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x5x4xbf16>, tensor<2x6x4xbf16>) -> tensor<2x5x6xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<5x6xi1>) -> tensor<2x5x6xi1>
  %l = stablehlo.constant dense<-2.38197633E+38> : tensor<2x5x6xf32>
  %e = stablehlo.select %w, %s, %l : tensor<2x5x6xi1>, tensor<2x5x6xf32>
  %p = nn.softmax %e, axes = [2] : tensor<2x5x6xf32>
  %c = stablehlo.convert %p : (tensor<2x5x6xf32>) -> tensor<2x5x6xbf16>
  %r = stablehlo.dot_general %c, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x5x6xbf16>, tensor<2x6x7xbf16>) -> tensor<2x5x7xbf16>
  return %r : tensor<2x5x7xbf16>
}

// Query and key alone are narrower.
func.func @"raise-attention/narrow-query"(%q: tensor<5x4xf16>, %k: tensor<6x4xf16>, %v: tensor<6x7xf32>) -> tensor<5x7xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<5x4xf16>, tensor<6x4xf16>) -> tensor<5x6xf32>
  %p = nn.softmax %s, axes = [1] : tensor<5x6xf32>
  %r = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<5x6xf32>, tensor<6x7xf32>) -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// The result has fewer digits than what it is computed of.
func.func @"raise-attention/narrow-result"(%q: tensor<5x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x7xf16>) -> tensor<5x7xf16> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  %p = nn.softmax %s, axes = [1] : tensor<5x6xf32>
  %c = stablehlo.convert %p : (tensor<5x6xf32>) -> tensor<5x6xf16>
  %r = stablehlo.dot_general %c, %v, contracting_dims = [1] x [0] : (tensor<5x6xf16>, tensor<6x7xf16>) -> tensor<5x7xf16>
  return %r : tensor<5x7xf16>
}
