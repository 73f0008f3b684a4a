"""Detects objects: letterbox, run, boxes above a score, non-maximum suppression."""
import argparse
from typing import List, Tuple

import numpy as np
import onnxruntime


class Detector:
    def __init__(self, path: str, score: float = 0.5, iou: float = 0.45):
        self.score, self.iou = score, iou
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.intra_op_num_threads = 2
        self.session = onnxruntime.InferenceSession(path, options, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        self.input_names = [each.name for each in self.session.get_inputs()]
        self.output_names = [each.name for each in self.session.get_outputs()]
        self.height, self.width = self.session.get_inputs()[0].shape[2:]

    def prepare(self, image: np.ndarray) -> np.ndarray:
        padded = np.full((self.height, self.width, 3), 114, np.uint8)
        padded[:image.shape[0], :image.shape[1]] = image
        blob = padded[..., ::-1].transpose(2, 0, 1)[np.newaxis]
        return np.ascontiguousarray(blob, dtype=np.float32) / 255

    def suppress(self, boxes: np.ndarray, scores: np.ndarray) -> List[int]:
        order, kept = scores.argsort()[::-1], []
        while order.size:
            best, order = order[0], order[1:]
            kept.append(int(best))
            low = np.maximum(boxes[best, :2], boxes[order, :2])
            high = np.minimum(boxes[best, 2:], boxes[order, 2:])
            inside = np.prod(np.clip(high - low, 0, None), axis=1)
            areas = np.prod(boxes[order, 2:] - boxes[order, :2], axis=1)
            own = np.prod(boxes[best, 2:] - boxes[best, :2])
            order = order[inside / (areas + own - inside + 1e-9) < self.iou]
        return kept

    def __call__(self, image: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        boxes, scores = self.session.run(self.output_names, {self.input_names[0]: self.prepare(image)})
        chosen = scores[0] > self.score
        boxes, scores = boxes[0][chosen], scores[0][chosen]
        kept = self.suppress(boxes, scores)
        return boxes[kept], scores[kept]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    found, confidence = Detector(parser.parse_args().model)(np.random.default_rng(1).integers(0, 256, (40, 64, 3), dtype=np.uint8))
    assert len(found) == len(confidence)
    print(f"{len(found)} objects")
