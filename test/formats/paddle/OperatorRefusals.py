#!/usr/bin/env python3
"""What operators of Paddle are refused, and with which words: one line, exit code 3 for what is not valid, 4 for what is not supported.

  OperatorRefusals.py --sinter build/bin/sinter
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import PaddleBytes as paddle
from Arrays import counted
from OperatorCases import fixed, longs
from OperatorsByValue import build

INVALID, UNSUPPORTED = 3, 4
CASES = []


def refused(type_name, inputs, code, *mentions, outputs=("Out",), **attributes):
    class Case:
        name, type = type_name, type_name
    case = Case()
    case.inputs, case.attributes, case.outputs = inputs, attributes, {slot: counted(1) for slot in outputs}
    CASES.append((case, code, mentions))


X = counted(2, 4, 5, 6)
F, V = counted(3, 4, 3, 3), counted(4)
NORM = {"X": X, "Scale": V, "Bias": V, "Mean": V, "Variance": V}
refused("batch_norm", NORM, UNSUPPORTED, "statistics of the batch", outputs=["Y"])
refused("batch_norm", NORM, UNSUPPORTED, "statistics of the batch", outputs=["Y"], is_test=True, trainable_statistics=True)
refused("batch_norm", NORM, UNSUPPORTED, "that gives 'r0_Y_0'", outputs=["MeanOut", "Y"])
refused("batch_norm", NORM, INVALID, "'data_layout' is 'NCWH'", outputs=["Y"], is_test=True, data_layout="NCWH")
refused("batch_norm", {**NORM, "Mean": counted(5)}, INVALID, outputs=["Y"], is_test=True)
refused("dropout", {"X": X}, UNSUPPORTED, "random numbers", dropout_prob=0.5)
refused("dropout", {"X": X}, INVALID, "dropout_implementation", is_test=True, dropout_implementation="later")
refused("conv2d", {"Input": X, "Filter": F}, INVALID, "one element a spatial dimension", outputs=["Output"], strides=[1, 1, 1])
refused("conv2d", {"Input": X, "Filter": F}, INVALID, "not positive", outputs=["Output"], strides=[0, 1])
refused("conv2d", {"Input": X, "Filter": F}, INVALID, "padding_algorithm", outputs=["Output"], padding_algorithm="MAYBE")
refused("conv2d", {"Input": X, "Filter": F}, INVALID, "groups is not positive", outputs=["Output"], groups=0)
refused("conv2d", {"Input": X}, INVALID, "Filter", outputs=["Output"])
refused("conv2d", {"Input": [X, X], "Filter": F}, INVALID, "2 tensors, not one", outputs=["Output"])
refused("conv2d", {"Input": X, "Filter": F}, INVALID, "'strides' is not a list of integers", outputs=["Output"], strides="2")
BENT = {"Input": X, "Filter": F, "Offset": counted(2, 18, 3, 4)}
refused("deformable_conv", {**BENT, "Offset": counted(2, 9, 3, 4)}, INVALID, "dimension 1 of the offset is 9, not 18", outputs=["Output"])
refused("deformable_conv", {**BENT, "Offset": counted(2, 18, 4, 4)}, INVALID, "dimension 2 of the offset is 4, not 3", outputs=["Output"])
refused("deformable_conv", {**BENT, "Mask": counted(2, 9, 3, 5)}, INVALID, "dimension 3 of the mask is 5, not 4", outputs=["Output"])
refused("deformable_conv", BENT, INVALID, "go together", outputs=["Output"], groups=3)
refused("deformable_conv_v1", BENT, INVALID, "go together", outputs=["Output"], deformable_groups=3)
refused("deformable_conv_v1", {**BENT, "Filter": counted(3, 4, 8, 3)}, INVALID, "larger than the image", outputs=["Output"])
refused("conv2d_transpose", {"Input": X, "Filter": counted(4, 3, 3, 3)}, INVALID, "output_size is 40", "11 to 12", outputs=["Output"], strides=[2, 2], output_size=[40, 13])
refused("conv2d_transpose", {"Input": X, "Filter": counted(4, 3, 3, 3)}, INVALID, "output_padding", outputs=["Output"], strides=[2, 2], output_padding=[2, 0])
refused("pool2d", {"X": X}, INVALID, "pooling_type", ksize=[2, 2], pooling_type="median")
refused("pool2d", {"X": X}, INVALID, "ksize is not positive", ksize=[0, 3], adaptive=True)
refused("pool2d", {"X": X}, INVALID, "too large", ksize=paddle.longs(1 << 60, 3), adaptive=True)
refused("affine_grid", {"Theta": counted(1, 2, 3)}, INVALID, "out of range", outputs=["Output"], output_shape=[1, 1, 1 << 30, 1 << 30])
refused("elementwise_add", {"X": X, "Y": counted(3)}, INVALID, "broadcast", axis=1)
refused("elementwise_add", {"X": X, "Y": counted(4, 5)}, INVALID, "'axis' is 3", axis=3)
refused("elementwise_add", {"X": X, "Y": counted(4, 5)}, INVALID, "does not fit", axis=2**63 - 1)
refused("nearest_interp_v2", {"X": X}, INVALID, "scale", scale=[2.0, 2.0, 2.0])
refused("nearest_interp_v2", {"X": X}, INVALID, "scale", scale=[-2.0, 2.0])
refused("nearest_interp_v2", {"X": X}, INVALID, "not positive")
refused("bilinear_interp_v2", {"X": X}, INVALID, "align_mode", align_mode=2, out_h=3, out_w=3)
refused("reshape2", {"X": X}, INVALID, "240 elements", shape=[7, -1])
refused("reshape2", {"X": X}, INVALID, "more than one -1", shape=[-1, -1])
refused("concat", {"X": [X, counted(2, 4)]}, INVALID, axis=0)
refused("concat", {"X": [X, X]}, INVALID, "axis 4", axis=4)
refused("split", {"X": X}, INVALID, "sum up", axis=1, sections=[1])
refused("split", {"X": X}, INVALID, "negative", axis=1, sections=[-2])
refused("slice", {"Input": X}, INVALID, "differ in length", axes=[0, 1], starts=[0], ends=[1])
refused("slice", {"Input": X}, INVALID, "not 1", axes=[1], starts=[0], ends=[2], decrease_axis=[1])
refused("strided_slice", {"Input": X}, INVALID, "stride is 0", axes=[1], starts=[0], ends=[2], strides=[0])
refused("gather", {"X": X, "Index": fixed(2)}, INVALID, "index 2")
refused("gather", {"X": X, "Index": counted(2, 2, element=paddle.INT64)}, INVALID, "2 columns, not one")
refused("one_hot_v2", {"X": longs(1)}, INVALID, "depth", depth=0)
refused("cast", {"X": X}, UNSUPPORTED, "data type 25", out_dtype=25)
refused("fill_constant", {}, INVALID, "negative", shape=[-2], dtype=5, value=1.0)
refused("fill_constant", {}, INVALID, "no number", shape=[2], dtype=5, str_value="seven")
refused("assign_value", {}, INVALID, "1 elements for 2", shape=[2], dtype=5, fp32_values=[1.0])
refused("expand_v2", {"X": X}, INVALID, "broadcast", shape=[2, 4, 5, 7])
refused("pad3d", {"X": counted(1, 2, 3, 4, 5)}, INVALID, "mode", paddings=[0] * 6, mode="mirror")
refused("group_norm", {"X": X}, INVALID, "multiple of groups", outputs=["Y"], groups=3)
refused("matmul_v2", {"X": counted(2, 3), "Y": counted(2, 3)}, INVALID, "3 and 2")
refused("mul", {"X": X, "Y": counted(6, 2)}, INVALID, "inner dimensions")
refused("einsum", {"Operands": [X]}, INVALID, "terms", equation="ij,jk->ik")
refused("einsum", {"Operands": [counted(2, 3), counted(4, 2)]}, INVALID, equation="ij,jk->ik")
refused("space_to_depth", {"X": X}, INVALID, "no multiple of 2", blocksize=2)
refused("space_to_depth", {"X": counted(2, 3)}, INVALID, "four dimensions", blocksize=2)
refused("expand_as", {"X": counted(2, 3), "target_tensor": counted(2, 4)}, INVALID, "no multiple of X's 3")
refused("expand_as", {"X": counted(2, 3), "target_tensor": counted(2)}, INVALID, "2 dimensions")
refused("crop", {"X": counted(2, 3)}, INVALID, "outside", offsets=[1, 0], shape=[2, 3])
refused("crop", {"X": counted(2, 3)}, INVALID, "outside", offsets=[0, -1], shape=[2, 3])
refused("crop", {"X": counted(2, 3)}, INVALID, "one element a dimension", shape=[2])
refused("unique", {"X": longs(1, 2)}, INVALID, "more than one element", is_sorted=True, axis=[0, 1])
refused("uniform_random", {}, UNSUPPORTED, "diag_num", shape=[2, 2], diag_num=2)
refused("uniform_random", {}, INVALID, "not floating-point", shape=[2, 2], dtype=3)
refused("gaussian_random", {}, INVALID, "negative", shape=[-2])
refused("gaussian_random", {}, UNSUPPORTED, "more than", shape=[1 << 20, 1 << 20])
refused("prelu", {"X": X, "Alpha": counted(1)}, INVALID, "mode", mode="some")
refused("quantize_linear", {"X": X, "Scale": counted(1)}, INVALID, "bits", outputs=["Y"], bit_length=64)
refused("fake_quantize_moving_average_abs_max", {"X": X, "InScale": counted(1)}, UNSUPPORTED, "measures its scale")
BOXES, SCORES = counted(1, 5, 4), counted(1, 2, 5)
LIMITS = {"score_threshold": 0.1, "nms_top_k": 3, "keep_top_k": 3}
for name in ("multiclass_nms", "multiclass_nms2", "multiclass_nms3", "matrix_nms"):
    refused(name, {"BBoxes": counted(1, 5, 8), "Scores": SCORES}, UNSUPPORTED, "polygons", **LIMITS)
    refused(name, {"BBoxes": counted(1, 6, 4), "Scores": SCORES}, INVALID, "do not go together", **LIMITS)
    refused(name, {"BBoxes": counted(5, 4), "Scores": SCORES}, INVALID, "dimensions", **LIMITS)
    refused(name, {"BBoxes": BOXES, "Scores": SCORES}, INVALID, "no result", **{**LIMITS, "keep_top_k": 0})
refused("multiclass_nms3", {"BBoxes": counted(5, 2, 4), "Scores": counted(5, 2)}, UNSUPPORTED, "RoisNum", **LIMITS)
refused("multiclass_nms3", {"BBoxes": counted(0, 1 << 28, 4), "Scores": counted(0, 2, 1 << 28)}, UNSUPPORTED, "boxes or classes", **LIMITS)
refused("multiclass_nms3", {"BBoxes": BOXES, "Scores": SCORES}, UNSUPPORTED, "eta below 1", nms_eta=0.9, nms_threshold=0.6, **LIMITS)
REGIONS = {"Scores": counted(1, 2, 3, 3), "BboxDeltas": counted(1, 8, 3, 3), "ImShape": counted(1, 2), "RootKernels": counted(3, 3, 2, 4), "Variances": counted(3, 3, 2, 4)}
refused("generate_proposals_v2", {**REGIONS, "BboxDeltas": counted(1, 6, 3, 3)}, INVALID, "do not go together", outputs=["RpnRois"])
refused("generate_proposals_v2", {**REGIONS, "Scores": counted(2, 3, 3)}, INVALID, "four dimensions", outputs=["RpnRois"])
refused("generate_proposals_v2", {**REGIONS, "ImShape": counted(2)}, INVALID, "ImShape is no matrix", outputs=["RpnRois"])
refused("generate_proposals_v2", REGIONS, UNSUPPORTED, "eta below 1", outputs=["RpnRois"], eta=0.5, nms_thresh=0.7)
FLOOR = {"MultiLevelRois": counted(3, 4), "MultiLevelScores": counted(3, 1), "MultiLevelRoIsNum": longs(3)}
refused("collect_fpn_proposals", {**FLOOR, "MultiLevelScores": [counted(3, 1), counted(3, 1)]}, INVALID, "each level", outputs=["FpnRois"], post_nms_topN=2)
refused("collect_fpn_proposals", {"MultiLevelRois": FLOOR["MultiLevelRois"], "MultiLevelScores": FLOOR["MultiLevelScores"]}, UNSUPPORTED, "LoD", outputs=["FpnRois"], post_nms_topN=2)
refused("collect_fpn_proposals", FLOOR, INVALID, "negative", outputs=["FpnRois"], post_nms_topN=-2)
refused("distribute_fpn_proposals", {"FpnRois": counted(3, 4)}, INVALID, "one output a level", outputs=["MultiFpnRois"], min_level=2, max_level=3)
refused("distribute_fpn_proposals", {"FpnRois": counted(3, 4)}, INVALID, "makes no sense", outputs=["MultiFpnRois"], min_level=2, max_level=2, refer_scale=0)
refused("distribute_fpn_proposals", {"FpnRois": counted(3, 4)}, INVALID, "makes no sense", outputs=["MultiFpnRois"], min_level=-2**63, max_level=5)
refused("distribute_fpn_proposals", {"FpnRois": counted(3, 4)}, UNSUPPORTED, "RoisNum", outputs=["MultiFpnRois", "MultiLevelRoIsNum"], min_level=2, max_level=2)
refused("roi_align", {"X": X, "ROIs": counted(3, 4)}, INVALID, "out of range", sampling_ratio=5000)
refused("roi_align", {"X": counted(1, 4, 0, 6), "ROIs": counted(3, 4)}, UNSUPPORTED, "without pixels")
refused("roi_align", {"X": X, "ROIs": counted(3, 4)}, UNSUPPORTED, "RoisNum", sampling_ratio=2)
refused("rnn", {"Input": counted(3, 2, 3), "PreState": counted(1, 2, 2), "WeightList": [counted(2, 3)]}, INVALID, "WeightList", mode="RNN_TANH", hidden_size=2, is_test=True)
refused("rnn", {"Input": counted(3, 2, 3), "PreState": counted(1, 2, 2), "WeightList": [counted(2, 3)]}, INVALID, "'mode' is 'CELL'", mode="CELL", hidden_size=2)
refused("round", {"X": X}, UNSUPPORTED, "decimals", decimals=2)
for name in ("lstm", "gru", "sequence_pool", "sequence_conv", "sequence_expand", "im2sequence", "lod_reset"):
    refused(name, {"X": X}, UNSUPPORTED, f"1 x {name}", "levels of detail (LoD)")
refused("custom_gap", {"X": X}, UNSUPPORTED, "1 x custom_gap", "not known")


def check(sinter, case, code, mentions):
    """What is wrong, or None."""
    program, _, _ = build([case], False)
    with tempfile.TemporaryDirectory() as folder:
        program.save(folder)
        done = subprocess.run([sinter, "run", os.path.join(folder, "inference.pdmodel"), "--input", "random:1", "--no-cache", "--backend", "interpreter"],
                              capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    if done.returncode != code or len(lines) != 1 or not lines[0].startswith("error: "):
        return f"{case.name} {case.attributes}: exit code {done.returncode}, not {code}: {done.stderr.strip()}"
    for mention in (*mentions, case.type):
        if mention not in lines[0]:
            return f"{case.name}: '{mention}' is not in: {lines[0]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sinter", required=True)
    options = parser.parse_args()
    wrong = [each for each in (check(options.sinter, *case) for case in CASES) if each]
    print("\n".join(wrong + [f"{len(CASES)} cases, {len(wrong)} defects"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
