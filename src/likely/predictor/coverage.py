"""What is read of each framework, line by line: exactly, under a condition, or not at all and why.

This table is what refusals say, and what the page of the documentation is made of (`benchmarks/coverage.py`). Whoever teaches
`likely` another class changes its line here; a test fails where a class has no line, or a line that its readers do not keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

#: "exactly"; "where": under a condition; "refused": because of a reason.
Verdict: TypeAlias = Literal["exactly", "where", "refused"]


@dataclass(frozen=True)
class Line:
    """What is read of one class: `words` are the condition or the reason, `instead` the way out."""

    verdict: Verdict
    words: str = ""
    instead: str = ""

    def __str__(self) -> str:
        if self.verdict == "refused":
            return f"refused because {self.words}; {self.instead}"
        return "read exactly" if self.verdict == "exactly" else f"read where {self.words}"


EXACTLY = Line("exactly")
_SURROGATE = "train a model that can be read on what it predicts, and explain that"
_TREES = "use trees or a linear model"
_OWN = "write a reader for it (likely.predictor.register)"


def _where(condition: str) -> Line:
    return Line("where", condition)


def _refused(reason: str, instead: str) -> Line:
    return Line("refused", reason, instead)


_NEIGHBOURS = _refused("it compares a row with every training row", _SURROGATE)
_KERNEL = _refused("it compares a row with training rows by a kernel", _SURROGATE)
_SMOOTH_MAP = _refused("what it makes of a row is a smooth function of several features", "leave it out, or use PCA")
_TEXT = _refused("it reads texts, not the columns of a table", "make numbers of the texts before the pipeline")
_TARGETS = _refused("it is a transformer of targets, not of features", "leave it out of the model")
_LINEAR = _where("a linear model or a network follows")
_MEMBERS = _where("all its members are read")
_CLUSTERS = _refused("distances to clusters are products of features", _TREES)

_SKLEARN_MODELS: dict[str, Line] = {
    **dict.fromkeys(
        (
            "CategoricalNB", "ComplementNB", "DecisionTreeClassifier", "ExtraTreeClassifier",
            "ExtraTreesClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier", "LinearDiscriminantAnalysis",
            "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "MultinomialNB", "PassiveAggressiveClassifier",
            "Perceptron", "RandomForestClassifier", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier",
        ),
        EXACTLY,
    ),
    "AdaBoostClassifier": _where("it boosts decision trees"),
    "BaggingClassifier": _MEMBERS,
    "BernoulliNB": _where("the features have lists of values"),
    "FixedThresholdClassifier": _where("the model inside is read and has one score or is a forest; its own threshold decides"),
    "TunedThresholdClassifierCV": _where("the model inside is read and has one score or is a forest; its own threshold decides"),
    "MLPClassifier": _where("each row has one class"),
    "NuSVC": _where("kernel='linear'"),
    "SVC": _where("kernel='linear'"),
    "OneVsRestClassifier": _MEMBERS,
    "SelfTrainingClassifier": _where("the model inside is read"),
    "VotingClassifier": _MEMBERS,
    "CalibratedClassifierCV": _where("the model inside is read, and method is 'sigmoid' or 'isotonic'"),
    "ClassifierChain": _refused("it gives several labels per row", "fit one model per label"),
    "MultiOutputClassifier": _refused("it gives several labels per row", "fit one model per label"),
    "DummyClassifier": _refused("it says the same of every row", "train a model"),
    "GaussianNB": EXACTLY,
    "GaussianProcessClassifier": _KERNEL,
    "KNeighborsClassifier": _NEIGHBOURS,
    "RadiusNeighborsClassifier": _NEIGHBOURS,
    "LabelPropagation": _KERNEL,
    "LabelSpreading": _KERNEL,
    "NearestCentroid": _where("metric is 'euclidean', or the priors are uniform"),
    "OneVsOneClassifier": _MEMBERS,
    "OutputCodeClassifier": _refused("it compares a row's code with every class's by a distance", "use OneVsRestClassifier"),
    "QuadraticDiscriminantAnalysis": _refused("its scores are products of features", "use LinearDiscriminantAnalysis"),
    "StackingClassifier": _where("all its members are read, and the final estimator"),
}  # fmt: skip

_SKLEARN_REGRESSORS: dict[str, Line] = {
    **dict.fromkeys(
        (
            "ARDRegression", "BayesianRidge", "DecisionTreeRegressor", "ElasticNet", "ElasticNetCV", "ExtraTreeRegressor",
            "ExtraTreesRegressor", "GammaRegressor", "GradientBoostingRegressor", "HuberRegressor", "Lars", "LarsCV",
            "Lasso", "LassoCV", "LassoLars", "LassoLarsCV", "LassoLarsIC", "LinearRegression", "LinearSVR",
            "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV", "PassiveAggressiveRegressor",
            "PoissonRegressor", "QuantileRegressor", "RandomForestRegressor", "Ridge", "RidgeCV", "SGDRegressor",
            "TheilSenRegressor",
        ),
        EXACTLY,
    ),
    "BaggingRegressor": _MEMBERS,
    "HistGradientBoostingRegressor": EXACTLY,
    "MLPRegressor": _where("it predicts one column"),
    **dict.fromkeys(
        ("CCA", "PLSCanonical", "PLSRegression"),
        _where("it predicts one column; or, as a transformer, a linear model or a network follows"),
    ),
    "NuSVR": _where("kernel='linear'"),
    "SVR": _where("kernel='linear'"),
    "RANSACRegressor": _where("the model inside is read"),
    "VotingRegressor": _MEMBERS,
    "AdaBoostRegressor": _refused("it predicts a weighted median", "use GradientBoostingRegressor"),
    "DummyRegressor": _refused("it says the same of every row", "train a model"),
    "GaussianProcessRegressor": _KERNEL,
    "KernelRidge": _KERNEL,
    "KNeighborsRegressor": _NEIGHBOURS,
    "RadiusNeighborsRegressor": _NEIGHBOURS,
    "StackingRegressor": _where("all its members are read, and the final estimator"),
    "TransformedTargetRegressor": _refused("its prediction is bent by a function", "explain the model inside it"),
    "TweedieRegressor": _refused("its link depends on its power", "use PoissonRegressor or GammaRegressor"),
    **dict.fromkeys(
        ("MultiOutputRegressor", "MultiTaskElasticNet", "MultiTaskElasticNetCV", "MultiTaskLasso", "MultiTaskLassoCV",
         "RegressorChain"),
        _refused("it predicts several columns", "fit one model per column"),
    ),
}  # fmt: skip

_SKLEARN_TRANSFORMERS: dict[str, Line] = {
    **dict.fromkeys(
        (
            "ColumnTransformer", "FeatureUnion", "GenericUnivariateSelect", "MissingIndicator", "OneHotEncoder", "OrdinalEncoder",
            "RFE", "RFECV", "RobustScaler", "SelectFdr", "SelectFpr", "SelectFromModel", "SelectFwe", "SelectKBest",
            "SelectPercentile", "SequentialFeatureSelector", "SimpleImputer", "StandardScaler", "TargetEncoder",
            "VarianceThreshold",
        ),
        EXACTLY,
    ),
    "MaxAbsScaler": _where("it does not clip, or trees follow"),
    "MinMaxScaler": EXACTLY,
    **dict.fromkeys(
        (
            "PCA", "IncrementalPCA", "TruncatedSVD", "FastICA", "FactorAnalysis", "SparsePCA", "MiniBatchSparsePCA",
            "GaussianRandomProjection", "SparseRandomProjection", "NeighborhoodComponentsAnalysis",
        ),
        _LINEAR,
    ),
    "Binarizer": EXACTLY,
    "KBinsDiscretizer": EXACTLY,
    "PowerTransformer": EXACTLY,
    "QuantileTransformer": _where("trees follow, or its output is uniform, or it reads doubles"),
    "FunctionTransformer": _where(
        "func is None, or one of numpy's monotone functions and trees follow, or a logarithm, root, square or exponential;"
        " any function of one column of times"
    ),
    "KNNImputer": _where("the schema has no missing values: then it does nothing"),
    "IterativeImputer": _where("the schema has no missing values: then it does nothing"),
    "PolynomialFeatures": _where("it multiplies columns of 0 and 1, and a linear model or a ReLU network follows"),
    "AdditiveChi2Sampler": _SMOOTH_MAP,
    "BernoulliRBM": _SMOOTH_MAP,
    **dict.fromkeys(("Birch", "BisectingKMeans", "KMeans", "MiniBatchKMeans"), _CLUSTERS),
    "PLSSVD": _LINEAR,
    **dict.fromkeys(
        ("DictionaryLearning", "MiniBatchDictionaryLearning", "SparseCoder", "NMF", "MiniBatchNMF", "LatentDirichletAllocation"),
        _refused("it solves a problem for every row", "use PCA"),
    ),
    "FeatureAgglomeration": _where("pooling_func is np.mean, and a linear model or a network follows"),
    **dict.fromkeys(("Isomap", "LocallyLinearEmbedding", "KNeighborsTransformer", "RadiusNeighborsTransformer"), _NEIGHBOURS),
    "TSNE": _refused("it cannot be applied to new rows", "leave it out"),
    "IsotonicRegression": _refused("it is a calibration of one number", "leave it out"),
    **dict.fromkeys(("KernelCenterer", "KernelPCA", "Nystroem"), _KERNEL),
    **dict.fromkeys(("PolynomialCountSketch", "RBFSampler", "SkewedChi2Sampler", "SplineTransformer"), _SMOOTH_MAP),
    "Normalizer": _refused("it divides a row by its length", "use StandardScaler"),
    "RandomTreesEmbedding": _refused("a leaf is a test of several features", "use the trees themselves as the model"),
    **dict.fromkeys(("DictVectorizer", "FeatureHasher", "HashingVectorizer", "TfidfTransformer", "PatchExtractor"), _TEXT),
    **dict.fromkeys(("LabelBinarizer", "LabelEncoder", "MultiLabelBinarizer"), _TARGETS),
}  # fmt: skip

_BOOSTERS: dict[str, Line] = {
    **dict.fromkeys(
        ("xgboost.XGBClassifier", "xgboost.XGBRFClassifier", "xgboost.XGBRegressor", "xgboost.XGBRFRegressor", "xgboost.Booster"),
        _where("the booster is gbtree, dart or gblinear, and its objective tells classes apart or predicts a number"),
    ),
    "xgboost.XGBRanker": _refused("it ranks rows against each other", "use XGBClassifier or XGBRegressor"),
    **dict.fromkeys(
        ("lightgbm.LGBMClassifier", "lightgbm.LGBMRegressor", "lightgbm.Booster"),
        _where("its objective tells classes apart or predicts a number"),
    ),
    "lightgbm.LGBMRanker": _refused("it ranks rows against each other", "use LGBMClassifier or LGBMRegressor"),
    **dict.fromkeys(
        ("catboost.CatBoostClassifier", "catboost.CatBoostRegressor", "catboost.CatBoost"),
        _where("counters are of one column each (max_ctr_complexity=1), and trees with categories are symmetric"),
    ),
    "catboost.CatBoostRanker": _refused("it ranks rows against each other", "use CatBoostClassifier or CatBoostRegressor"),
}  # fmt: skip

_PRODUCT = _refused("it multiplies functions of a row by each other", "use Linear, and SiLU or Sigmoid")
_ACROSS = _refused(
    "it divides each row by its own spread, which is a function of all its numbers",
    "use BatchNorm1d, which is linear after training",
)
_PICTURES = _refused("it is a layer of pictures or signals, not of tables", "use Linear")
_SEQUENCES = _refused("it is a layer of sequences, and multiplies what it reads", "use Linear and ReLU")
_LOOKUP = _refused("it looks rows of a table up by whole numbers", "one-hot encode the column, and use Linear: that is the same")
_PARTS = _refused("it is no layer, but a list of them", "use it in a module with a forward")
_JUMPS = _refused("it jumps where a number passes another", "use ReLU, Softshrink or Hardtanh")

_TORCH: dict[str, Line] = {
    **dict.fromkeys(
        (
            "AlphaDropout", "BatchNorm1d", "CELU", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "ELU", "FeatureAlphaDropout",
            "Hardsigmoid", "Hardtanh", "Identity", "LeakyReLU", "Linear", "LogSigmoid", "PReLU", "ReLU", "ReLU6", "SELU",
            "Sequential", "SiLU", "Sigmoid", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
        ),
        EXACTLY,
    ),
    "Flatten": _where("start_dim is 1"),
    "LazyLinear": _where("it has run once"),
    "LazyBatchNorm1d": _where("it has run once"),
    "Module": _where("torch.fx can trace it, and its operations are affine, activations, +, -, cat and slices"),
    "GELU": _where("approximate is 'none'"),
    "Softplus": _where("threshold is at least 20, as it is by default"),
    **dict.fromkeys(("LogSoftmax", "Softmax"), _where("it is the last layer")),
    **dict.fromkeys(("Hardswish", "Mish"), _refused("it has no bounds here", "use SiLU, which is nearly the same")),
    **dict.fromkeys(("GLU", "Bilinear", "CosineSimilarity", "PairwiseDistance"), _PRODUCT),
    **dict.fromkeys(("Softmin", "Softmax2d"), _refused("it divides by a sum over all numbers", "use Softmax as the last layer")),
    **dict.fromkeys(("GroupNorm", "LayerNorm", "RMSNorm", "LocalResponseNorm", "CrossMapLRN2d", "InstanceNorm1d",
                     "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
                     "LazyInstanceNorm3d"), _ACROSS),
    **dict.fromkeys(("Hardshrink", "Threshold"), _JUMPS),
    "RReLU": _refused("it is random while it learns", "use LeakyReLU"),
    **dict.fromkeys(("Embedding", "EmbeddingBag"), _LOOKUP),
    **dict.fromkeys(
        ("GRU", "GRUCell", "LSTM", "LSTMCell", "MultiheadAttention", "RNN", "RNNBase", "RNNCell", "RNNCellBase", "Transformer",
         "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"),
        _SEQUENCES,
    ),
    **dict.fromkeys(("Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"), _PARTS),
    **dict.fromkeys(
        (
            "BatchNorm2d", "BatchNorm3d", "ChannelShuffle", "Fold", "FractionalMaxPool2d", "FractionalMaxPool3d",
            "LazyBatchNorm2d", "LazyBatchNorm3d", "PixelShuffle", "PixelUnshuffle", "SyncBatchNorm", "Unflatten", "Unfold",
            "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
            *(f"{name}{d}d" for d in (1, 2, 3) for name in (
                "AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "CircularPad", "ConstantPad", "Conv", "ConvTranspose", "LPPool",
                "LazyConv", "LazyConvTranspose", "MaxPool", "MaxUnpool", "ReflectionPad", "ReplicationPad", "ZeroPad",
            )),
        ),
        _PICTURES,
    ),
}  # fmt: skip

_ONNX: dict[str, Line] = {
    **dict.fromkeys(
        (
            "ArrayFeatureExtractor", "BatchNormalization", "Cast", "Concat", "Constant", "Dropout", "FeatureVectorizer",
            "Flatten", "Gemm", "HardSigmoid", "Identity", "LeakyRelu", "LinearClassifier", "LinearRegressor", "OneHotEncoder",
            "PRelu", "Relu", "Reshape", "Scaler", "Selu", "Softplus", "Softsign", "Tanh", "TreeEnsembleClassifier",
            "TreeEnsembleRegressor", "ZipMap", "Celu", "Clip", "Elu",
        ),
        EXACTLY,
    ),
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "MatMul"), _where("one side is constant")),
    "Gelu": _where("approximate is 'none'"),
    "Sigmoid": _where("it is the last step, or a layer with weights follows"),
    **dict.fromkeys(("LogSoftmax", "Softmax", "ArgMax", "Normalizer"), _where("it is the last step")),
    **dict.fromkeys(
        ("LayerNormalization", "LpNormalization", "MeanVarianceNormalization"),
        _refused(
            "it divides each row by its own spread, which is a function of all its numbers",
            "use BatchNormalization, which is linear after training",
        ),
    ),
    **dict.fromkeys(("HardSwish", "Mish"), _refused("it has no bounds here", "use a SiLU or ReLU of torch, and read that")),
}  # fmt: skip

#: "package.Class" -> its line.
LINES: Mapping[str, Line] = {
    **{f"sklearn.{name}": line for name, line in {**_SKLEARN_TRANSFORMERS, **_SKLEARN_REGRESSORS, **_SKLEARN_MODELS}.items()},
    **_BOOSTERS,
    **{f"torch.{name}": line for name, line in _TORCH.items()},
    **{f"onnx.{name}": line for name, line in _ONNX.items()},
}

#: What to do about what has no line of its own.
_FALLBACKS = {
    "torch": "use Linear, activations, BatchNorm1d, sums, concatenations and slices; or export it to ONNX and read the file",
    "onnx": "read the model that was exported instead",
}


def way_out(name: str) -> str:
    """Why a class is refused, and what to do instead.

    Args:
        name: "package.Class".
    """
    line = LINES.get(name)
    if line is not None and line.verdict == "refused":
        return f"{line.words}; {line.instead}"
    return _FALLBACKS.get(name.partition(".")[0], _OWN)
