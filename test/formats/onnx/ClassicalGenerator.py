"""Random nodes of ai.onnx.ml, in the forms that converters write: trees as scikit-learn, LightGBM and XGBoost grow them,
linear models, support vector machines, and what prepares features for them."""
import numpy as np
from onnx import TensorProto, helper

DOMAIN = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TRANSFORMS = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"]


class Case:
    """A node, the shapes and arrays of its inputs (by name), and whether its first dimension is one of rows."""

    def __init__(self, operator, feeds, outputs, attributes, version=1, constants=None):
        self.operator, self.feeds, self.outputs, self.attributes = operator, feeds, outputs, attributes
        self.version, self.constants = version, constants or {}

    def __repr__(self):
        kept = {k: v for k, v in self.attributes.items() if isinstance(v, (int, float, str)) or isinstance(v, list) and len(v) < 12}
        return f"{self.operator} {kept} {[(v.dtype, v.shape) for v in self.feeds.values()]}"


def features(random, rows, width, dtype=np.float32, missing=0.0):
    """Numbers on a grid, so that some are equal to thresholds."""
    x = np.round(random.normal(0, 2, (rows, width)) * 4) / 4
    if np.issubdtype(dtype, np.floating) and missing:
        x[random.uniform(size=x.shape) < missing] = np.nan
    return x.astype(dtype)


class Tree:
    """Nodes in the order in which they were grown, the root first; a child is an index, and leaves have none."""

    def __init__(self, random, width, leaves, shape="any"):
        self.feature, self.split, self.children = [0], [0.0], [None]
        tips = [0]
        while len(tips) < leaves:
            tip = tips.pop(0 if shape == "balanced" else len(tips) - 1 if shape == "chain" else random.integers(len(tips)))
            self.feature[tip], self.split[tip] = int(random.integers(width)), round(float(random.normal(0, 2)) * 4) / 4
            self.children[tip] = (len(self.feature), len(self.feature) + 1)
            for _ in range(2):
                tips.append(len(self.feature))
                self.feature.append(0)
                self.split.append(0.0)
                self.children.append(None)

    def __len__(self):
        return len(self.feature)

    def leaves(self):
        return [i for i, children in enumerate(self.children) if children is None]


def numbered(random, trees, modes, tracks=None, prefix="target", weights=None, as_tensor=None):
    """The lists of the older operators. `weights` gives the (target, weight) pairs of a leaf of a tree."""
    lists = {key: [] for key in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
                                 "hitrates", "missing_value_tracks_true")}
    given = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}
    for t, tree in enumerate(trees):
        for i in range(len(tree)):
            children = tree.children[i]
            row = (t, i, tree.feature[i], "LEAF" if children is None else str(random.choice(modes)), tree.split[i],
                   children[0] if children else 0, children[1] if children else 0, 1.0,
                   int(tracks is not None and children is not None and random.uniform() < tracks))
            for each, value in zip(lists.values(), row):
                each.append(value)
            if children is None:
                for target, weight in weights(t):
                    for each, value in zip(given.values(), (t, i, target, float(np.float32(weight)))):
                        each.append(value)
    attributes = {f"nodes_{key}": value for key, value in lists.items()}
    if tracks is None:
        del attributes["nodes_missing_value_tracks_true"]
    attributes.update({f"{prefix}_{key}": value for key, value in given.items()})
    if as_tensor:
        for name in ("nodes_values", f"{prefix}_weights"):
            attributes[name + "_as_tensor"] = helper.make_tensor("t", as_tensor, [len(attributes[name])], attributes.pop(name))
        del attributes["nodes_hitrates"]
    return attributes


def grown(random, width):
    count = int(random.choice([1, 2, 5, 20, 70]))
    shape = str(random.choice(["any", "any", "balanced", "chain"]))
    return [Tree(random, width, int(random.choice([1, 2, 3, 8, 31, 64])), shape) for _ in range(count)]


def input_of(random, width, missing):
    dtype = random.choice([np.float32, np.float32, np.float32, np.float64, np.int64, np.int32])
    return features(random, int(random.choice([1, 2, 7, 33, 70])), width, dtype, missing)


def some_modes(random):
    return [str(random.choice(MODES))] if random.uniform() < 0.7 else MODES


def regressor(random):
    width, targets = int(random.integers(1, 9)), int(random.choice([1, 1, 2, 3]))
    tracks = 0.5 if random.uniform() < 0.3 else None
    x = input_of(random, width, 0.2 if tracks or random.uniform() < 0.2 else 0)
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float32)
    sparse = random.uniform() < 0.3
    def weights(tree):
        if sparse:
            return [(tree % targets, random.normal())]
        return [(k, random.normal()) for k in range(targets)]
    double = x.dtype == np.float64 and random.uniform() < 0.6
    trees = grown(random, width)
    attributes = numbered(random, trees, some_modes(random), tracks, weights=weights,
                          as_tensor=TensorProto.DOUBLE if double else None)
    attributes.update(n_targets=targets, aggregate_function=str(random.choice(["SUM", "AVERAGE", "MIN", "MAX"])),
                      post_transform=str(random.choice(TRANSFORMS[:4])))
    # ONNX Runtime leaves the base value out where no tree gives anything.
    if random.uniform() < 0.4 and (not sparse or len(trees) >= targets):
        attributes["base_values"] = [round(float(each), 2) for each in random.normal(0, 1, targets)]
    return Case("TreeEnsembleRegressor", {"x": x}, ["y"], attributes, 3)


def classifier(random):
    width, classes = int(random.integers(1, 9)), int(random.choice([1, 2, 2, 2, 3, 4]))
    tracks = 0.5 if random.uniform() < 0.3 else None
    x = input_of(random, width, 0.2 if tracks else 0)
    way = random.integers(4)
    positive = random.uniform() < 0.5
    def weight():
        return abs(random.normal()) * 0.2 if positive else random.normal()
    def weights(tree):
        if way == 0:
            return [(0, weight())]
        if way == 1:
            return [(tree % classes, weight())]
        if way == 2:
            return [(int(random.integers(classes)), weight())]
        return [(k, weight()) for k in range(classes)]
    attributes = numbered(random, grown(random, width), some_modes(random), tracks, "class", weights)
    attributes.update(classlabels_int64s=[int(each) for each in random.choice(20, classes, replace=False)],
                      post_transform=str(random.choice(TRANSFORMS[:4])))
    if random.uniform() < 0.4:
        attributes["base_values"] = [round(float(each), 2) for each in
                                     random.normal(0, 1, classes if classes != 2 else int(random.integers(1, 3)))]
    return Case("TreeEnsembleClassifier", {"x": x}, ["l", "y"], attributes, int(random.choice([1, 3])))


def indexed(random):
    """TreeEnsemble of version 5."""
    width, targets = int(random.integers(1, 9)), int(random.choice([1, 1, 2, 3]))
    tracks = random.uniform() < 0.3
    dtype = random.choice([np.float32, np.float32, np.float64])
    x = features(random, int(random.choice([1, 2, 7, 33, 70])), width, dtype, 0.2 if tracks else 0)
    trees = [Tree(random, width, max(2, int(random.choice([2, 3, 8, 31, 64]))),
                  str(random.choice(["any", "balanced", "chain"]))) for _ in range(int(random.choice([1, 2, 5, 20])))]
    modes = list(range(7)) if random.uniform() < 0.4 else [int(random.integers(6))]
    lists = {key: [] for key in ("featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs",
                                 "missing_value_tracks_true")}
    targetids, weights, roots, members = [], [], [], []
    for tree in trees:
        inner = [i for i in range(len(tree)) if tree.children[i]]
        first = {node: len(lists["modes"]) + k for k, node in enumerate(inner)}
        roots.append(first[0])
        def child(node):
            if tree.children[node]:
                return first[node], 0
            targetids.append(int(random.integers(targets)))
            weights.append(float(np.float32(random.normal())))
            return len(weights) - 1, 1
        for node in inner:
            mode = int(random.choice(modes))
            if mode == 6:
                members += [float(each) / 4 for each in random.choice(40, int(random.integers(1, 5)), replace=False)] + [np.nan]
            row = (tree.feature[node], mode, tree.split[node], *child(tree.children[node][0]), *child(tree.children[node][1]),
                   int(tracks and random.uniform() < 0.5))
            for each, value in zip(lists.values(), row):
                each.append(value)
    kind = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
    attributes = {f"nodes_{key}": value for key, value in lists.items()}
    attributes["nodes_modes"] = helper.make_tensor("m", TensorProto.UINT8, [len(lists["modes"])], lists["modes"])
    attributes["nodes_splits"] = helper.make_tensor("s", kind, [len(lists["splits"])], lists["splits"])
    if not tracks:
        del attributes["nodes_missing_value_tracks_true"]
    if members:
        attributes["membership_values"] = helper.make_tensor("v", kind, [len(members)], members)
    attributes.update(leaf_targetids=targetids, leaf_weights=helper.make_tensor("w", kind, [len(weights)], weights),
                      tree_roots=roots, n_targets=targets, aggregate_function=int(random.integers(4)), post_transform=0)
    return Case("TreeEnsemble", {"x": x}, ["y"], attributes, 5)


def numbers(random, *shape):
    return [float(np.float32(each)) for each in random.normal(0, 1, shape).flatten()]


def linear_regressor(random):
    width, targets = int(random.integers(1, 9)), int(random.choice([1, 1, 3]))
    attributes = dict(coefficients=numbers(random, targets, width), targets=targets,
                      post_transform=str(random.choice(TRANSFORMS[:4])))
    if random.uniform() < 0.7:
        attributes["intercepts"] = numbers(random, targets)
    return Case("LinearRegressor", {"x": features(random, 7, width)}, ["y"], attributes)


def linear_classifier(random):
    width, targets = int(random.integers(1, 9)), int(random.choice([1, 1, 2, 3]))
    classes = max(targets, 2)
    x = input_of(random, width, 0)
    return Case("LinearClassifier", {"x": x}, ["l", "y"],
                dict(coefficients=numbers(random, targets, width), intercepts=numbers(random, targets),
                     classlabels_ints=[int(each) for each in random.choice(20, classes, replace=False)], multi_class=0,
                     post_transform=str(random.choice(TRANSFORMS[:4]))))


def kernel(random):
    return dict(kernel_type=str(random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])),
                kernel_params=[0.25, float(random.choice([0.0, 0.5])), float(random.choice([1.0, 2.0, 3.0]))])


def svm_regressor(random):
    width, count = int(random.integers(1, 9)), int(random.choice([0, 1, 5]))
    attributes = dict(coefficients=numbers(random, count or width), rho=numbers(random, 1), n_supports=count,
                      post_transform="NONE", one_class=int(random.uniform() < 0.3), **kernel(random))
    if count:
        attributes["support_vectors"] = numbers(random, count, width)
    return Case("SVMRegressor", {"x": features(random, 7, width)}, ["y"], attributes)


def svm_classifier(random):
    width, classes = int(random.integers(1, 9)), int(random.choice([2, 2, 3, 5]))
    labels = [int(each) for each in random.choice(20, classes, replace=False)]
    x = input_of(random, width, 0)
    attributes = dict(classlabels_ints=labels, post_transform=str(random.choice(TRANSFORMS[:4])), **kernel(random))
    if random.uniform() < 0.2:
        attributes.update(coefficients=numbers(random, classes, width), rho=numbers(random, 1))
        return Case("SVMClassifier", {"x": x}, ["l", "y"], attributes)
    perClass = [int(each) for each in random.integers(1, 4, classes)]
    count, pairs = sum(perClass), classes * (classes - 1) // 2
    attributes.update(coefficients=numbers(random, classes - 1, count), support_vectors=numbers(random, count, width),
                      vectors_per_class=perClass, rho=numbers(random, pairs))
    if random.uniform() < 0.5:
        attributes.update(prob_a=[-abs(each) for each in numbers(random, pairs)], prob_b=numbers(random, pairs))
    return Case("SVMClassifier", {"x": x}, ["l", "y"], attributes)


def scaler(random):
    width = int(random.integers(1, 9))
    size = width if random.uniform() < 0.7 else 1
    return Case("Scaler", {"x": input_of(random, width, 0)}, ["y"], dict(offset=numbers(random, size), scale=numbers(random, size)))


def normalizer(random):
    x = input_of(random, int(random.integers(1, 9)), 0)
    x[0] = 0
    return Case("Normalizer", {"x": x}, ["y"], dict(norm=str(random.choice(["MAX", "L1", "L2"]))))


def imputer(random):
    width = int(random.integers(1, 9))
    size = width if random.uniform() < 0.7 else 1
    if random.uniform() < 0.4:
        return Case("Imputer", {"x": features(random, 7, width, np.int64)}, ["y"],
                    dict(imputed_value_int64s=[int(each) for each in random.integers(-90, 90, size)], replaced_value_int64=1))
    replaced = float("nan") if random.uniform() < 0.7 else 0.25
    return Case("Imputer", {"x": features(random, 7, width, missing=0.3)}, ["y"],
                dict(imputed_value_floats=numbers(random, size), replaced_value_float=replaced))


def binarizer(random):
    return Case("Binarizer", {"x": features(random, 7, 5)}, ["y"], dict(threshold=float(random.choice([0.0, 0.25, -1.5]))))


def one_hot(random):
    x = features(random, 7, int(random.integers(1, 4)), random.choice([np.float32, np.float64, np.int64]))
    return Case("OneHotEncoder", {"x": x}, ["y"], dict(cats_int64s=[int(each) for each in random.integers(-4, 4, 6)], zeros=1))


def vectorizer(random):
    kinds = [random.choice([np.float32, np.float64, np.int64, np.int32]) for _ in range(int(random.integers(1, 4)))]
    feeds = {f"x{i}": features(random, 7, int(random.integers(1, 4)), kinds[0]) for i in range(len(kinds))}
    # One more than the first has: else nothing might be left to do, and the node would not be written again.
    sizes = [feeds["x0"].shape[1] + 1, *[int(random.integers(1, 5)) for _ in kinds[1:]]]
    return Case("FeatureVectorizer", feeds, ["y"], dict(inputdimensions=sizes))


def extractor(random):
    width = int(random.integers(2, 9))
    x = features(random, 7, width, random.choice([np.float32, np.float64, np.int64, np.int32]))
    return Case("ArrayFeatureExtractor", {"x": x}, ["y"], {},
                constants={"at": random.integers(0, width, int(random.integers(1, 5))).astype(np.int64)})


def encoder(random):
    count = int(random.choice([1, 2, 3, 9]))
    kinds = {"int64s": np.int64, "floats": np.float32}
    source, target = (str(random.choice(list(kinds))) for _ in range(2))
    keys = [int(each) for each in random.choice(20, count, replace=False) - 10]
    if source == "floats":
        keys = [each / 4 for each in keys]
        if random.uniform() < 0.3:
            keys[0] = float("nan")
    values = [int(each) for each in random.integers(-99, 99, count)]
    if target == "floats":
        values = [each / 4 for each in values]
    attributes = {f"keys_{source}": keys, f"values_{target}": values}
    if target == "int64s":
        attributes["default_int64"] = -7
    else:
        attributes["default_float"] = 0.5
    x = features(random, 7, 5, kinds[source], 0.2)
    return Case("LabelEncoder", {"x": x}, ["y"], attributes, int(random.choice([2, 4])))


TREES = [regressor, classifier, classifier, indexed]
OTHERS = [linear_regressor, linear_classifier, svm_regressor, svm_classifier, svm_classifier, scaler, normalizer, imputer,
          binarizer, one_hot, vectorizer, extractor, encoder]


def pipelines(random, rows):
    """Whole models in the forms in which skl2onnx and onnxmltools write pipelines: (name, nodes, initializers, outputs), with
    an input x [rows, 6] of f32 whose last two columns are categories, and the maps of the last node left out."""
    def node(operator, inputs, outputs, domain=DOMAIN, **attributes):
        return helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **attributes)

    def prepared(x, y):
        """An imputer, a scaler and one-hot encodings, side by side."""
        return [node("ArrayFeatureExtractor", [x, "numeric"], ["numbers"]),
                node("Imputer", ["numbers"], ["imputed"], imputed_value_floats=numbers(random, 4), replaced_value_float=float("nan")),
                node("Scaler", ["imputed"], ["scaled"], offset=numbers(random, 4), scale=[abs(each) + 0.1 for each in numbers(random, 4)]),
                node("ArrayFeatureExtractor", [x, "first"], ["column1"]),
                node("OneHotEncoder", ["column1"], ["hot1"], cats_int64s=[-2, -1, 0, 1, 2], zeros=1),
                node("Reshape", ["hot1", "flat"], ["flat1"], domain=""),
                node("ArrayFeatureExtractor", [x, "second"], ["column2"]),
                node("OneHotEncoder", ["column2"], ["hot2"], cats_int64s=[0, 1, 3], zeros=1),
                node("Reshape", ["hot2", "flat"], ["flat2"], domain=""),
                node("Concat", ["scaled", "flat1", "flat2"], [y], domain="", axis=-1)]

    indices = {"numeric": [0, 1, 2, 3], "first": [4], "second": [5], "flat": [0, -1]}
    width = 12

    def forest(count, leaves, modes, tracks, prefix, weights):
        return numbered(random, [Tree(random, width, leaves) for _ in range(count)], modes, tracks, prefix, weights)

    yield ("logistic", [*prepared("x", "features"),
                        node("LinearClassifier", ["features"], ["label", "raw"], coefficients=numbers(random, 3, width),
                             intercepts=numbers(random, 3), classlabels_ints=[0, 1, 2], multi_class=1, post_transform="SOFTMAX"),
                        node("Normalizer", ["raw"], ["probabilities"], norm="L1")], indices, ["label", "probabilities"])
    shares = [[float(each) for each in random.dirichlet(np.ones(3)) / 10] for _ in range(8)]
    yield ("random forest", [*prepared("x", "features"),
                             node("TreeEnsembleClassifier", ["features"], ["label", "probabilities"], classlabels_int64s=[0, 1, 2],
                                  post_transform="NONE", **forest(10, 40, ["BRANCH_LEQ"], 0.0, "class",
                                                                  lambda tree: list(enumerate(shares[int(random.integers(8))]))))],
           indices, ["label", "probabilities"])
    yield ("gradient boosting", [*prepared("x", "features"),
                                 node("TreeEnsembleRegressor", ["features"], ["variable"], n_targets=1, base_values=[0.25],
                                      **forest(40, 8, ["BRANCH_LEQ"], 0.0, "target", lambda tree: [(0, random.normal() * 0.1)]))],
           indices, ["variable"])
    yield ("LightGBM", [*prepared("x", "features"),
                        node("TreeEnsembleClassifier", ["features"], ["label", "probabilities"], classlabels_int64s=[0, 1],
                             post_transform="LOGISTIC", **forest(30, 31, ["BRANCH_LEQ"], 0.5, "class",
                                                                 lambda tree: [(0, random.normal() * 0.1)])),
                        node("Cast", ["label"], ["cast"], domain="", to=int(TensorProto.INT64))], indices, ["cast", "probabilities"])
    yield ("XGBoost", [*prepared("x", "features"),
                       node("TreeEnsembleClassifier", ["features"], ["label", "probabilities"], classlabels_int64s=[0, 1, 2],
                            post_transform="SOFTMAX", base_values=[0.5, 0.5, 0.5],
                            **forest(30, 16, ["BRANCH_LT"], 0.5, "class", lambda tree: [(tree % 3, random.normal() * 0.1)]))],
           indices, ["label", "probabilities"])
