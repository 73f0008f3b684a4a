//===- WritePaddle.h - write the graph language as a Paddle program -------===//

#ifndef SINTER_FORMATS_PADDLE_WRITEPADDLE_H
#define SINTER_FORMATS_PADDLE_WRITEPADDLE_H

#include "formats/paddle/file/PaddleFile.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter::paddle {

/// A program with the parameters that it reads.
struct WrittenProgram {
  Program program;
  std::vector<WrittenParameter> parameters;
};

/// \p model as a program. What came from an operator of a Paddle program and
/// was not changed since is that operator (Records.h), and a model of which
/// nothing was changed its program; everything else is written by the rules of
/// formats/paddle/write, and where there is none by its decomposition. Names of
/// inputs, outputs, parameters and of variables between untouched operators
/// are kept.
///
/// ErrorKind::Unsupported lists everything that Paddle cannot say, with counts.
Result<WrittenProgram> toProgram(const Model &model);

/// Has \p program written in the form of another era.
void setEra(Program &program, Era era);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITEPADDLE_H
