// RUN: sinter-opt %s -split-input-file -verify-diagnostics
// Covers: graph/stablehlo ReplicaGroups VerifyDistribution

func.func @all_gather_c1(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{(C1) all_gather_dim is not a dimension of the operands}}
  %r = "stablehlo.all_gather"(%x)
      {all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c2(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{(C2) an id stands twice in replica_groups}}
  %r = "stablehlo.all_gather"(%x)
      {all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x2xi64>}
      : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c4(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{(C4) replica_groups has the id 2 and not all below it}}
  %r = "stablehlo.all_gather"(%x)
      {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}
      : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c5(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{(C5) use_global_device_ids needs a channel_handle with a positive hand}}
  %r = "stablehlo.all_gather"(%x)
      {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}
      : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @all_gather_c6(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{(C6) dimension 1 of a result does not follow from its operand}}
  %r = "stablehlo.all_gather"(%x)
      {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x2xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @all_reduce_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) an id stands twice in replica_groups}}
  %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<0> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c3(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C3) replica_groups has the id -2}}
  %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c4(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C4) use_global_device_ids needs a channel_handle with a positive hand}}
  %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @all_reduce_c5(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C5) elements of 'tensor<2xf32>' cannot be promoted to those of 'tenso}}
  %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %s = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @all_reduce_c6(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C6) a result differs from its operand in shape}}
  %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @all_reduce_c7(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C7) elements of the result 'tensor<2xf64>' are not those of 'tensor<f}}
  %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @reduce_scatter_c1(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{(C1) the size of scatter_dimension is not a multiple of the group's}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_scatter_c2(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C2) scatter_dimension is not a dimension of the operand}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_scatter_c3(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C3) an id stands twice in replica_groups}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_scatter_c5(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C5) replica_groups has the id -1}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_scatter_c6(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C6) use_global_device_ids needs a channel_handle with a positive hand}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @reduce_scatter_c7(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C7) elements of 'tensor<4x2xf32>' cannot be promoted to those of 'ten}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %s = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x2xf16>
  return
}

// -----

func.func @reduce_scatter_c8(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C8) dimension 0 of the result does not follow from the operand}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @reduce_scatter_c9(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{(C9) elements of the result 'tensor<2x2xf64>' are not those of 'tensor}}
  %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @all_to_all_c1(%x: tensor<2x4xf32>) {
  // expected-error@+2 {{(C1) split_dimension is not a dimension of the operands}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c2(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{(C2) the size of split_dimension is not a multiple of split_count}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c3(%x: tensor<2x4xf32>) {
  // expected-error@+2 {{(C3) concat_dimension is not a dimension of the operands}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 1 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c4(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{(C4)}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c5(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{(C5) an id stands twice in replica_groups}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<0> : tensor<1x2xi64>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c7(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{(C7) replica_groups has the id 5 and not all below it}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 5]]> : tensor<1x2xi64>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @all_to_all_c8(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{(C8) split_count is not the size of a group}}
  %r = "stablehlo.all_to_all"(%x)
      {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @collective_broadcast_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) an id stands twice in replica_groups}}
  %r = "stablehlo.collective_broadcast"(%x)
      {replica_groups = dense<0> : tensor<1x2xi64>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_broadcast_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C2) replica_groups has the id -2}}
  %r = "stablehlo.collective_broadcast"(%x)
      {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_broadcast_c3(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C3, C5) a result differs from its operand in shape}}
  %r = "stablehlo.collective_broadcast"(%x)
      {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @collective_broadcast_c4(%x: tensor<2xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{(C4, C5) the root is not a vector of one i32 for each result}}
  %r = "stablehlo.collective_broadcast"(%x, %i)
      {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}
      : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_reduce_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) an id stands twice in replica_groups}}
  %r = "stablehlo.collective_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<0> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_reduce_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C2) replica_groups has the id -2}}
  %r = "stablehlo.collective_reduce"(%x) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_reduce_c3(%x: tensor<2xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{(C3) the root is not a vector of one i32 for each result}}
  %r = "stablehlo.collective_reduce"(%x, %i) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @collective_reduce_c4(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C4) elements of 'tensor<2xf32>' cannot be promoted to those of 'tenso}}
  %r = "stablehlo.collective_reduce"(%x) ({
    ^bb0(%p: tensor<f16>, %q: tensor<f16>):
      %s = stablehlo.add %p, %q : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @collective_permute_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1) source_target_pairs is not a list of pairs}}
  %r = "stablehlo.collective_permute"(%x)
      {source_target_pairs = dense<0> : tensor<1x1xi64>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @send_c1(%x: tensor<2xf32>, %k: !stablehlo.token) {
  // expected-error@+1 {{(C1) source_target_pairs is not a list of pairs}}
  %r = "stablehlo.send"(%x, %k)
      {source_target_pairs = dense<0> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @recv_c1(%k: !stablehlo.token) {
  // expected-error@+1 {{(C1) source_target_pairs is not a list of pairs}}
  %r:2 = "stablehlo.recv"(%k)
      {source_target_pairs = dense<0> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @collective_permute_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C2) a source stands twice in source_target_pairs}}
  %r = "stablehlo.collective_permute"(%x)
      {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @send_c2(%x: tensor<2xf32>, %k: !stablehlo.token) {
  // expected-error@+1 {{(C2) a source stands twice in source_target_pairs}}
  %r = "stablehlo.send"(%x, %k)
      {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @recv_c2(%k: !stablehlo.token) {
  // expected-error@+1 {{(C2) a source stands twice in source_target_pairs}}
  %r:2 = "stablehlo.recv"(%k)
      {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @collective_permute_c3(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C3) a target stands twice in source_target_pairs}}
  %r = "stablehlo.collective_permute"(%x)
      {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @send_c3(%x: tensor<2xf32>, %k: !stablehlo.token) {
  // expected-error@+1 {{(C3) a target stands twice in source_target_pairs}}
  %r = "stablehlo.send"(%x, %k)
      {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @recv_c3(%k: !stablehlo.token) {
  // expected-error@+1 {{(C3) a target stands twice in source_target_pairs}}
  %r:2 = "stablehlo.recv"(%k)
      {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @collective_permute_c4(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C4) source_target_pairs has the id -1}}
  %r = "stablehlo.collective_permute"(%x)
      {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @send_c4(%x: tensor<2xf32>, %k: !stablehlo.token) {
  // expected-error@+1 {{(C4) source_target_pairs has the id -1}}
  %r = "stablehlo.send"(%x, %k)
      {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @recv_c4(%k: !stablehlo.token) {
  // expected-error@+1 {{(C4) source_target_pairs has the id -1}}
  %r:2 = "stablehlo.recv"(%k)
      {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @collective_permute_c5(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C5) the result differs from the operand in type}}
  %r = "stablehlo.collective_permute"(%x)
      {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @send_c5(%x: tensor<2xf32>, %k: !stablehlo.token) {
  // expected-error@+1 {{(C5) the channel's type is 2 and is_host_transfer false}}
  %r = "stablehlo.send"(%x, %k)
      {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @recv_c5(%k: !stablehlo.token) {
  // expected-error@+1 {{(C5) the channel's type is 2 and is_host_transfer false}}
  %r:2 = "stablehlo.recv"(%k)
      {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @infeed_c1(%k: !stablehlo.token) {
  // expected-error@+1 {{(C1) has no results}}
  "stablehlo.infeed"(%k) {infeed_config = ""} : (!stablehlo.token) -> ()
  return
}

// -----

func.func @infeed_c2(%k: !stablehlo.token) {
  // expected-error@+1 {{(C2) a result before the last is not a tensor}}
  %r:2 = "stablehlo.infeed"(%k)
      {infeed_config = ""}
      : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @infeed_c3(%k: !stablehlo.token) {
  // expected-error@+1 {{(C3) the last result is not a token}}
  %r = "stablehlo.infeed"(%k) {infeed_config = ""} : (!stablehlo.token) -> tensor<2xf32>
  return
}
