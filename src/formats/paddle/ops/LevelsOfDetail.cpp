// Operators on levels of detail (LoD): sequences of several lengths in one
// tensor. They are listed so that the error for a program with one has the
// reason.

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

static LogicalResult needsLevels(OperatorContext &op) {
  return op.unsupported("it works on levels of detail (LoD), sequences of "
                        "several lengths in one tensor, which are not "
                        "supported");
}

OperatorReaders levelOfDetailReaders() {
  static const OperatorReader table[] = {
      {"attention_lstm", needsLevels},
      {"ctc_align", needsLevels},
      {"dynamic_recurrent", needsLevels},
      {"edit_distance", needsLevels},
      {"fusion_gru", needsLevels},
      {"fusion_lstm", needsLevels},
      {"fusion_seqpool_concat", needsLevels},
      {"gru", needsLevels},
      {"im2sequence", needsLevels},
      {"lod_array_to_tensor", needsLevels},
      {"lod_rank_table", needsLevels},
      {"lod_reset", needsLevels},
      {"lod_tensor_to_array", needsLevels},
      {"lstm", needsLevels},
      {"lstmp", needsLevels},
      {"max_sequence_len", needsLevels},
      {"merge_lod_tensor", needsLevels},
      {"row_conv", needsLevels},
      {"sequence_concat", needsLevels},
      {"sequence_conv", needsLevels},
      {"sequence_enumerate", needsLevels},
      {"sequence_erase", needsLevels},
      {"sequence_expand", needsLevels},
      {"sequence_expand_as", needsLevels},
      {"sequence_pad", needsLevels},
      {"sequence_pool", needsLevels},
      {"sequence_reshape", needsLevels},
      {"sequence_reverse", needsLevels},
      {"sequence_scatter", needsLevels},
      {"sequence_slice", needsLevels},
      {"sequence_softmax", needsLevels},
      {"sequence_unpad", needsLevels},
      {"split_lod_tensor", needsLevels},
      {"warpctc", needsLevels},
  };
  return table;
}

} // namespace sinter::paddle
