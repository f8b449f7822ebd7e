"""
The ops that a graph from elsewhere may have.

Each computes on its inputs and nothing else: no file, no network, no Python, no device that
must be there, no state that lives longer than an iteration. An op that is not named here does
not travel. Not here, though they look harmless:

```
PrintV2                                    its output stream may be a file
DecodeProtoV2  ImmutableConst  RecordInput     named files
*CandidateSampler  InitializeTableFromTextFile     files of words
DatasetFromGraph  XlaCallModule                    a graph within, which nobody has checked
Abort  Stage  Queue*  Stack*  Rng*  *Variable*     the process's own state
```
"""

from __future__ import annotations

_STRUCTURE = """
_Retval Assert Const EnsureShape GuaranteeConst Identity IdentityN NoOp PlaceholderWithDefault
Print PartitionedCall StatefulPartitionedCall Case If While For StatelessCase StatelessIf
StatelessWhile ToBool FakeParam PyFuncStateless
"""

_DATASETS = """
AnonymousMemoryCache AnonymousRandomSeedGenerator AnonymousSeedGenerator AssertCardinalityDataset
BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2 ChooseFastestDataset ConcatenateDataset
DatasetCardinality DatasetToSingleElement DeleteMemoryCache DeleteRandomSeedGenerator
DeleteSeedGenerator DenseToSparseBatchDataset DirectedInterleaveDataset DummyIterationCounter
DummyMemoryCache DummySeedGenerator FilterByLastComponentDataset FilterDataset FlatMapDataset
GetElementAtIndex GlobalShuffleDataset GroupByReducerDataset GroupByWindowDataset
IgnoreErrorsDataset IndexFlatMapDataset InterleaveDataset LegacyParallelInterleaveDatasetV2
ListDataset MapAndBatchDataset MapDataset MapDefun MaxIntraOpParallelismDataset OptionalFromValue
OptionalGetValue OptionalHasValue OptionalNone OptionsDataset PaddedBatchDataset
PaddedBatchDatasetV2 ParallelBatchDataset ParallelFilterDataset ParallelInterleaveDataset
ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4
ParallelMapDataset ParallelMapDatasetV2 ParseExampleDataset ParseExampleDatasetV2 PrefetchDataset
PrivateThreadPoolDataset RandomDataset RandomDatasetV2 RangeDataset RebatchDataset
RebatchDatasetV2 ReduceDataset RepeatDataset RewriteDataset SamplingDataset ScanDataset
ShardDataset ShuffleAndRepeatDataset ShuffleAndRepeatDatasetV2 ShuffleDataset ShuffleDatasetV2
ShuffleDatasetV3 SkipDataset SlidingWindowDataset SparseTensorSliceDataset TakeDataset
TakeWhileDataset TensorDataset TensorSliceDataset UnbatchDataset UniqueDataset
WeightedFlatMapDataset WindowDataset WindowOp ZipDataset
"""

_TABLES = """
HashTableV2 LookupTableFindV2 LookupTableImportV2 LookupTableSizeV2 MutableHashTableV2
"""

_ARITHMETIC = """
Abs AccumulateNV2 Acos Acosh Add AddN AddV2 All Angle Any ApproximateEqual ArgMax ArgMin Asin Asinh
Atan Atan2 Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e
BesselK1 BesselK1e BesselY0 BesselY1 Betainc Bincount BitwiseAnd BitwiseOr BitwiseXor Bucketize
Cast Ceil CheckNumerics CheckNumericsV2 ClipByValue Complex ComplexAbs Conj Cos Cosh Cross Cumprod
Cumsum CumulativeLogsumexp Dawsn DenseBincount Digamma Div DivNoNan Equal Erf Erfc Erfinv
EuclideanNorm Exp Expint Expm1 Floor FloorDiv FloorMod FresnelCos FresnelSin Greater GreaterEqual
HistogramFixedWidth Igamma Igammac Imag Inv Invert IsFinite IsInf IsNan L2Loss LeftShift Less
LessEqual Lgamma LinSpace Log Log1p LogicalAnd LogicalNot LogicalOr LowerBound Max Maximum Mean
Min Minimum Mod Mul MulNoNan Ndtri Neg NextAfter NotEqual NthElement Polygamma PopulationCount Pow
Prod Range Real RealDiv Reciprocal RightShift Rint Round Rsqrt SegmentMax SegmentMaxV2 SegmentMean
SegmentMin SegmentMinV2 SegmentProd SegmentProdV2 SegmentSum SegmentSumV2 Select SelectV2 Sigmoid
Sign Sin Sinh Softplus Softsign Spence Sqrt Square SquaredDifference Sub Sum Tan Tanh TruncateDiv
TruncateMod UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
UpperBound Xdivy Xlog1py Xlogy Zeta
"""

_SHAPES = """
BatchToSpace BatchToSpaceND Bitcast BroadcastArgs BroadcastTo Concat ConcatOffset ConcatV2
DepthToSpace Diag DiagPart DynamicPartition DynamicStitch Empty ExpandDims Fill Gather GatherNd
GatherV2 InvertPermutation ListDiff MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2
MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MirrorPad
OneHot OnesLike Pack Pad PadV2 ParallelConcat ParallelDynamicStitch Rank Reshape Reverse
ReverseSequence ReverseV2 Roll ScatterNd Shape ShapeN Size Slice Snapshot SpaceToBatch
SpaceToBatchND SpaceToDepth Split SplitV Squeeze StridedSlice TensorScatterAdd TensorScatterMax
TensorScatterMin TensorScatterSub TensorScatterUpdate TensorStridedSliceUpdate Tile TopK TopKV2
Transpose Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 Unpack UnravelIndex Where ZerosLike
"""

_LISTS = """
EmptyTensorList TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape
TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack
TensorListPushBack TensorListPushBackBatch TensorListReserve TensorListResize TensorListScatter
TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit
TensorListStack
"""

_LINEAR_ALGEBRA = """
BatchMatMul BatchMatMulV2 BatchMatMulV3 Cholesky Eig Einsum MatMul MatrixDeterminant
MatrixExponential MatrixInverse MatrixLogarithm MatrixSolve MatrixSolveLs MatrixSquareRoot
MatrixTriangularSolve Qr SelfAdjointEigV2 Svd FFT FFT2D FFT3D FFTND IFFT IFFT2D IFFT3D IFFTND
IRFFT IRFFT2D IRFFT3D IRFFTND RFFT RFFT2D RFFT3D RFFTND
"""

_FILTERS = """
AvgPool AvgPool3D BiasAdd Conv Conv2D Conv2DBackpropInput Conv3D DepthwiseConv2dNative Dilation2D
Elu FusedBatchNormV3 LRN LeakyRelu LogSoftmax MaxPool MaxPool3D MaxPoolV2 MaxPoolWithArgmax Relu
Relu6 Selu Softmax
"""

_IMAGES = """
AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation CombinedNonMaxSuppression CropAndResize
DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodeJxl DecodePng DecodeWebP
DrawBoundingBoxes DrawBoundingBoxesV2 EncodeJpeg EncodeJpegVariableQuality EncodePng
ExtractGlimpse ExtractGlimpseV2 ExtractImagePatches ExtractJpegShape ExtractVolumePatches HSVToRGB
ImageProjectiveTransformV2 ImageProjectiveTransformV3 NonMaxSuppression NonMaxSuppressionV2
NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps RGBToHSV
ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor SampleDistortedBoundingBox
SampleDistortedBoundingBoxV2 ScaleAndTranslate StatelessSampleDistortedBoundingBox
"""

_RECORDS = """
AsString AudioSpectrogram DecodeBase64 DecodeCSV DecodeCompressed DecodeJSONExample
DecodePaddedRaw DecodeRaw DecodeWav EditDistance EncodeBase64 EncodeWav Fingerprint Mfcc
ParseExample ParseExampleV2 ParseSequenceExample ParseSequenceExampleV2 ParseSingleExample
ParseSingleSequenceExample ParseTensor ReduceJoin RegexFullMatch RegexReplace SerializeTensor
StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin StringLength StringLower
StringNGrams StringSplit StringSplitV2 StringStrip StringToHashBucket StringToHashBucketFast
StringToHashBucketStrong StringToNumber StringUpper Substr UnicodeDecode UnicodeDecodeWithOffsets
UnicodeEncode UnicodeScript UnicodeTranscode UnsortedSegmentJoin
"""

_SPARSE_AND_RAGGED = """
DenseToDenseSetOperation DenseToSparseSetOperation DeserializeManySparse DeserializeSparse
RaggedBincount RaggedCross RaggedFillEmptyRows RaggedGather RaggedRange RaggedTensorFromVariant
RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant SerializeManySparse SerializeSparse
SetSize SparseAdd SparseBincount SparseConcat SparseCross SparseCrossHashed SparseCrossV2
SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows SparseReduceMax
SparseReduceSum SparseReorder SparseReshape SparseSlice SparseSoftmax SparseSparseMaximum
SparseSparseMinimum SparseSplit SparseTensorDenseAdd SparseTensorDenseMatMul SparseToDense
SparseToSparseSetOperation
"""

_RANDOM = """
Multinomial NonDeterministicInts ParameterizedTruncatedNormal RandomCrop RandomGamma
RandomIndexShuffle RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform
RandomUniformInt StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomBinomial
StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomGetAlg StatelessRandomGetKeyCounter
StatelessRandomGetKeyCounterAlg StatelessRandomNormal StatelessRandomNormalV2
StatelessRandomPoisson StatelessRandomUniform StatelessRandomUniformFullInt
StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformIntV2
StatelessRandomUniformV2 StatelessShuffle StatelessTruncatedNormal StatelessTruncatedNormalV2
Timestamp TruncatedNormal
"""

ALLOWED = frozenset(
    " ".join(
        (
            *(_STRUCTURE, _DATASETS, _TABLES, _ARITHMETIC, _SHAPES, _LISTS, _LINEAR_ALGEBRA),
            *(_FILTERS, _IMAGES, _RECORDS, _SPARSE_AND_RAGGED, _RANDOM),
        )
    ).split()
)
"""`tests/graph/test_allowed_ops.py` holds them to the ops that TensorFlow has."""
