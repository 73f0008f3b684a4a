//===- ModelSource.h - a model file, translated for each need -------------===//
//
// What a reader makes of a file may depend on shapes, and on the values of
// inputs that say how large other tensors are. So a file is opened and parsed
// once, and translated to a graph at most once for each kind of graph, when it
// is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_MODELSOURCE_H
#define SINTER_ENGINE_COMPILER_MODELSOURCE_H

#include "engine/Compiler.h"
#include "engine/compiler/BranchSearch.h"
#include "engine/compiler/DescribeModel.h"

#include <memory>
#include <string>

namespace sinter {

enum class GraphKind : uint8_t {
  /// With the inputs bound that the request of open() binds. Nodes that cannot
  /// be translated
  /// before sizes are known are `nn.deferred`.
  AsIs,
  /// To be written in the file's own format again: nodes that cannot be
  /// translated are kept. AsIs if inputs are bound.
  OwnFormat,
  /// To be written in a format without nodes that wait for sizes: they are
  /// operations with dynamic dimensions, as far as there are any.
  OtherFormat,
  /// For a program with dynamic dimensions, which may be for some inputs only:
  /// `nn.assume` says so if a node takes one of two graphs (BranchSearch.h).
  Dynamic,
  /// For inputs of the given static shapes, whatever their values. Nodes that
  /// wait for values are operations with dynamic dimensions, as in Dynamic.
  /// Unsupported if there are none.
  AnyValues,
  /// For inputs of the given shapes, which may have dynamic dimensions, and
  /// values. If the graph's shapes depend on some of these, the description
  /// says so afterwards, and what cannot be translated without them is bound to
  /// them (though the arguments stay).
  Static,
};

/// How a graph of GraphKind::OwnFormat is read.
struct RewriteOptions {
  /// Whether inputs with a default become constants.
  bool freezesDefaults = false;
  /// Whether nodes that wait for sizes become operations of dynamic sizes, as
  /// far as there are any: what has to run must be translated.
  bool expandsUnknown = false;
  /// ReadOptions::standardOperators.
  bool standardOperators = false;
};

struct GraphRequest {
  GraphKind kind = GraphKind::AsIs;
  /// The shape of each input and its value, if it is known; both empty if
  /// nothing is known.
  std::vector<Shape> shapes = {};
  std::vector<std::optional<Tensor>> values = {};
  RewriteOptions rewrite = {};
};

struct TranslatedGraph {
  Model model;
  /// Of GraphKind::AnyValues: whether dimensions may be dynamic; else it is
  /// what GraphKind::Static gives.
  bool hasDynamicSizes = false;
};

class ModelSource {
public:
  /// Opens a model of any format. One that is to be written in its own format
  /// again needs ModelRequest::keepsSource. Errors name the file; those for
  /// files of other well-known kinds say what they are.
  static Result<std::unique_ptr<ModelSource>> open(const ModelRequest &request);

  const Format &format() const { return itsFormat; }
  /// Reads what the model takes and gives; to be called before description(),
  /// and before a graph to run is translated. It is an error where that is
  /// nothing to run: there are several functions and none was chosen, or the
  /// one there is takes what nobody can give. Such a model can be rewritten all
  /// the same.
  Result<void> describe();
  const ModelDescription &description() const { return known; }
  /// What the file consists of.
  Result<FileCounts> counts() { return file->counts(); }

  /// The graph that \p request is for, checked (CheckModel.h) unless it is for
  /// static shapes.
  Result<TranslatedGraph> translate(const GraphRequest &request);
  /// The graph as it is to look at, without a copy if possible; not to be kept
  /// longer than this. If its nodes need sizes, it has dynamic dimensions.
  Result<std::shared_ptr<const Model>> view();

private:
  ModelSource(const Format &format, std::unique_ptr<ModelFile> file,
              const ModelRequest &request)
      : itsFormat(format), file(std::move(file)), request(request) {}

  //===--- What the model takes and gives ---------------------------------===//

  ModelMetadata metadata() const;
  Result<void> readSignature();
  void describeDeclared(const Signature &declared);
  Result<Model> readSelected(const ReadOptions &options);
  bool isReadExpanded();
  Result<void> readAsIs();
  Result<void> describeGraph();
  Result<void> describeBound();
  void updateDescription();

  //===--- Translations, with all inputs ----------------------------------===//

  ReadOptions asIsOptions() const;
  ReadOptions optionsFor(const GraphRequest &given) const;
  Result<Model> copyOfAsIs() const;
  Result<Model> atGivenShapes(Result<Model> read) const;
  Result<TranslatedGraph> translateWhole(const GraphRequest &given);
  Result<Model> toRewrite(const RewriteOptions &rewrite);
  Result<Model> toConvert();
  Result<Model> withDynamicSizes(const GraphRequest &given);
  Result<Model> readDeciding(const GraphRequest &given, ReadOptions options);
  TakenBranches branchesTaken(const GraphRequest &given);
  Result<TranslatedGraph> forAnyValues(const GraphRequest &given);
  Result<Model> specialized(const GraphRequest &given);
  Result<Model> forShapes(const std::vector<Shape> &shapes);
  Result<Model> readForShapes(const std::vector<Shape> &shapes, bool isKept);
  Result<Model> withValues(const GraphRequest &given);
  Result<Model> withSomeValues(const GraphRequest &given);

  //===--- Bound inputs ---------------------------------------------------===//

  GraphRequest ofAllInputs(const GraphRequest &given) const;
  Result<void> bind(Model &graph) const;

  const Format &itsFormat;
  std::unique_ptr<ModelFile> file;
  const ModelRequest request;
  /// What every translation is given.
  ReadOptions base;
  /// Whether the file is translated again when more sizes are known.
  bool dependsOnSizes = false;

  /// The model with all inputs; with those that are not bound; and what callers
  /// see.
  ModelDescription whole, rest, known;
  bool isDescribed = false;
  /// For each input of the whole model, the index of its value among those that
  /// are bound.
  std::vector<std::optional<size_t>> boundAt;

  /// The graph as it is, or the error that it needs sizes or values of inputs.
  std::optional<Model> model;
  std::optional<Error> needsMore;
  /// The same without tuples and tokens in its signature, if it has such.
  std::optional<Model> flat;
  /// Whether every node of `model` is translated.
  bool isComplete = false;
  /// Whether the file has requirements on unknown sizes or values.
  bool hasRequirements = false;

  /// The last translation for shapes without values, if it may be asked for
  /// again.
  struct ForShapes {
    std::vector<Shape> shapes;
    Result<Model> read;
    TakenBranches taken;
  };
  std::optional<ForShapes> kept;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_MODELSOURCE_H
