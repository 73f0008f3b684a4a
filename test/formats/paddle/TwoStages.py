#!/usr/bin/env python3
"""A detector of two stages by value: how many regions the first one proposes, and so all sizes after it, follow from values.

  TwoStages.py --sinter build/bin/sinter
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import PaddleBytes as paddle
from Arrays import Array, drawn, matmul
from OperatorCases import ANCHORED, FRAMES, MOVES, STRETCH, VIEWS, bilinear, clamp, detections, ints, kept, proposals
from OperatorsByValue import judge

IMAGES, CLASSES, SCALE = drawn(2, 2, 8, 10, seed=3), 3, 0.25
WEIGHTS = drawn(8, CLASSES, seed=5)
# How the first stage chooses.
FIRST = {"pre_nms_topN": 40, "post_nms_topN": 8, "nms_thresh": 0.5, "min_size": 1.0, "eta": 1.0, "pixel_offset": False}


def program():
    built = paddle.Program()
    for name, value in feeds().items():
        built.input(name, value.dims, value.element)
    for name, dims in (("regions", [-1, 4]), ("likely", [-1, 1]), ("part_0", [-1, 4]), ("part_1", [-1, 4]), ("seen_0", [-1, 2, 2, 2]), ("seen_1", [-1, 2, 2, 2]),
                       ("seen", [-1, 2, 2, 2]), ("sorted", [-1, 2, 2, 2]), ("flat", [-1, 8]), ("product", [-1, CLASSES]), ("sure", [-1, CLASSES]), ("one", [-1, 1, 4]),
                       ("each", [-1, CLASSES, 4]), ("found", [-1, 6])):
        built.variable(name, dims)
    for name, dims in (("count", [-1]), ("count_0", [-1]), ("count_1", [-1]), ("places", [-1, 1]), ("numbers", [-1, 1]), ("counts", [-1])):
        built.variable(name, dims, paddle.INT32)
    built.parameter("weights", WEIGHTS.dims, WEIGHTS.values)
    built.op("generate_proposals_v2", {"Scores": "scores", "BboxDeltas": "deltas", "ImShape": "sizes", "RootKernels": "anchors", "Variances": "variances"},
             {"RpnRois": "regions", "RpnRoiProbs": "likely", "RpnRoisNum": "count"}, **FIRST)
    built.op("distribute_fpn_proposals", {"FpnRois": "regions", "RoisNum": "count"},
             {"MultiFpnRois": ["part_0", "part_1"], "MultiLevelRoIsNum": ["count_0", "count_1"], "RestoreIndex": "places"},
             min_level=3, max_level=4, refer_level=4, refer_scale=16, pixel_offset=False)
    for level in "01":
        built.op("roi_align", {"X": "images", "ROIs": f"part_{level}", "RoisNum": f"count_{level}"}, {"Out": f"seen_{level}"}, pooled_height=2, pooled_width=2,
                 spatial_scale=SCALE, sampling_ratio=-1, aligned=True)
    built.op("concat", {"X": ["seen_0", "seen_1"]}, {"Out": "seen"}, axis=0)
    built.op("gather", {"X": "seen", "Index": "places"}, {"Out": "sorted"}, axis=0)
    built.op("flatten_contiguous_range", {"X": "sorted"}, {"Out": "flat"}, start_axis=1, stop_axis=3)
    built.op("matmul_v2", {"X": "flat", "Y": "weights"}, {"Out": "product"})
    built.op("softmax", {"X": "product"}, {"Out": "sure"}, axis=-1)
    built.op("unsqueeze2", {"X": "regions"}, {"Out": "one"}, axes=[1])
    built.op("tile", {"X": "one"}, {"Out": "each"}, repeat_times=[1, CLASSES, 1])
    built.op("multiclass_nms3", {"BBoxes": "each", "Scores": "sure", "RoisNum": "count"}, {"Out": "found", "Index": "numbers", "NmsRoisNum": "counts"}, background_label=0,
             score_threshold=0.3, nms_top_k=-1, keep_top_k=5, nms_threshold=0.5, normalized=True)
    for name in ("regions", "sorted", "found", "numbers", "counts"):
        built.output(name)
    return built


def feeds():
    return {"scores": ANCHORED, "deltas": MOVES, "sizes": VIEWS, "anchors": FRAMES, "variances": STRETCH, "images": IMAGES}


def features(n, box):
    """Two by two bins of two channels, each the mean of as many samples as it has pixels."""
    _, channels, height, width = IMAGES.dims
    low, high = [edge * SCALE - 0.5 for edge in box[:2]], [edge * SCALE - 0.5 for edge in box[2:]]
    counts = [math.ceil((high[k] - low[k]) / 2) for k in range(2)]

    def sample(c, y, x):
        if not (-1 <= y <= height and -1 <= x <= width):
            return 0.0
        return bilinear(lambda i, j: IMAGES.at(n, c, min(i, height - 1), min(j, width - 1)), clamp(y, 0, height - 1), clamp(x, 0, width - 1))

    def place(k, index, step):
        return low[k] + (index + (step + 0.5) / counts[k]) * (high[k] - low[k]) / 2
    return [sum(sample(c, place(1, h, i), place(0, w, j)) for i in range(counts[1]) for j in range(counts[0])) / max(counts[0] * counts[1], 1)
            for c in range(channels) for h in range(2) for w in range(2)]


def expected():
    first = proposals(ANCHORED, MOVES, VIEWS, FRAMES, STRETCH, FIRST["pre_nms_topN"], FIRST["post_nms_topN"], FIRST["nms_thresh"], FIRST["min_size"], 0.0)
    regions, counts = first["RpnRois"], first["RpnRoisNum"].values
    boxes = [regions.values[4 * r:4 * r + 4] for r in range(regions.dims[0])]
    images = [n for n, count in enumerate(counts) for _ in range(count)]
    seen = Array([len(boxes), 8], [x for n, box in zip(images, boxes) for x in features(n, box)])
    powers = matmul(seen, WEIGHTS).map(math.exp)
    sure = [[powers.at(r, c) / sum(powers.at(r, k) for k in range(CLASSES)) for c in range(CLASSES)] for r in range(len(boxes))]
    found = []
    for n in range(2):
        own = [r for r, image in enumerate(images) if image == n]
        rows = [(c, sure[own[i]][c], own[i]) for c in range(1, CLASSES) for i in sorted(kept([boxes[r] for r in own], [sure[r][c] for r in own], 0.3, -1, 0.5, 0.0))]
        found.append(sorted(sorted(rows, key=lambda row: -row[1])[:5], key=lambda row: (row[0], row[2])))
    last = detections(found, lambda n, c, r: boxes[r], lambda n, c, r: r * CLASSES + c)
    return {"regions": regions, "sorted": seen.reshape(len(boxes), 2, 2, 2), "found": last["Out"], "numbers": last["Index"], "counts": last["NmsRoisNum"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sinter", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, given = program().save(os.path.join(folder, "model")), []
        for name, value in feeds().items():
            paddle.write(os.path.join(folder, name + ".npy"), paddle.npy(value.dims, value.values, value.element))
            given += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
        done = subprocess.run([options.sinter, "run", model, *given, "--backend", "interpreter", "--no-cache", "--output-dir", folder], capture_output=True, text=True)
        if done.returncode:
            print(done.stderr.strip())
            return 1
        results = expected()
        wrong = judge(folder, {name: ("two stages", value) for name, value in results.items()})
        assert 0 < results["found"].dims[0] < results["regions"].dims[0] * 2
    print("\n".join(wrong + [f"{len(results)} results, {len(wrong)} defects"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
