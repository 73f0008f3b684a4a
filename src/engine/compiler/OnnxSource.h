//===- OnnxSource.h - an open ONNX file -----------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_ONNXSOURCE_H
#define SINTER_ENGINE_COMPILER_ONNXSOURCE_H

#include "engine/compiler/ModelSource.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/file/OnnxFile.h"

namespace sinter {

class OnnxSource : public ModelSource {
public:
  static Result<std::unique_ptr<ModelSource>> open(const std::string &path,
                                                   const NamedShapes &shapes);

  /// The model at \p path to be written as ONNX again: what cannot be
  /// translated is kept as the node that it is. Initializers that are inputs,
  /// too, become constants with \p freezesDefaults.
  static Result<Model> readToWrite(const std::string &path,
                                   const NamedShapes &shapes,
                                   bool freezesDefaults,
                                   ModelDescription &description);

  /// open() has done it.
  Result<void> describe() override { return {}; }
  bool isOnnx() const override { return true; }
  Result<Model> asItIs() override;
  Result<Model> spelledOut() override;
  Result<Model>
  specialized(const std::vector<Shape> &shapes,
              const std::vector<std::optional<Tensor>> &values) override;

private:
  OnnxSource(onnx::OnnxFile file, NamedShapes shapes)
      : file(std::move(file)), bound(std::move(shapes)) {}

  Result<void> read();
  ModelDescription declared() const;
  void findDataFiles();
  Result<Model>
  readWithSomeValues(const std::vector<Shape> &shapes,
                     const std::vector<std::optional<Tensor>> &values);
  Result<Model>
  readWithValues(const std::vector<Shape> &shapes,
                 const std::vector<std::optional<Tensor>> &values);

  onnx::OnnxFile file;
  NamedShapes bound;
  /// Read with `bound`; nothing where that takes sizes or values of inputs,
  /// which `needsMore` says.
  std::optional<Model> model;
  std::optional<Error> needsMore;
  /// Whether every node of `model` is translated.
  bool isWhole = false;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_ONNXSOURCE_H
