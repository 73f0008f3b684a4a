#include "passes/proofs/ProveMovement.h"

#include "graph/Model.h"
#include "mlir/IR/Verifier.h"
#include "passes/RuleTables.h"
#include "passes/proofs/IndexFormula.h"
#include "passes/proofs/RandomMovement.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter::test {
namespace {

/// How often a rule is proved for results of one rank; more says nothing new.
constexpr unsigned enough = 20;

/// The rules that are about moving, by the operation that they begin at.
std::multimap<std::string, const RewriteRule *> movingRules() {
  std::multimap<std::string, const RewriteRule *> rules;
  for (llvm::ArrayRef<RewriteRule> table :
       {movementRules().rules, rearrangementRules().rules})
    for (const RewriteRule &rule : table)
      rules.emplace(rule.op.str(), &rule);
  return rules;
}

void check(const RewriteRule &rule, Operation *op, MovementVerdict &verdict) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned &proved = verdict.proved[type.getRank()];
  OpBuilder builder(op);
  Values values = proved < enough ? rule.apply(op, builder) : Values();
  // The engine does not take what is of another type.
  if (values.empty() || values[0].getType() != type)
    return;
  z3::context context;
  IndexFormula formula(context);
  z3::solver solver(context);
  solver.set("timeout", 10000u);
  solver.add(formula.difference(op->getResult(0), values[0]));
  switch (solver.check()) {
  case z3::unsat:
    ++proved;
    return;
  case z3::unknown:
    ++verdict.undecided;
    return;
  case z3::sat:
    break;
  }
  llvm::raw_string_ostream stream(verdict.wrong);
  op->getParentOp()->print(stream);
  std::ostringstream model;
  model << solver.get_model();
  stream << "at " << *op << "\n" << model.str();
}

} // namespace

std::map<std::string, MovementVerdict> proveMovement(unsigned chains,
                                                     uint64_t seed) {
  auto rules = movingRules();
  std::map<std::string, MovementVerdict> verdicts;
  std::mt19937_64 random(seed);
  auto context = makeContext();
  context->loadAllAvailableDialects();
  OpBuilder builder(context.get());
  for (unsigned i = 0; i < chains; ++i) {
    OwningOpRef<ModuleOp> module(ModuleOp::create(builder.getUnknownLoc()));
    builder.setInsertionPointToStart(module->getBody());
    func::FuncOp function = randomMovement(builder, random);
    if (failed(verify(*module)))
      continue;
    SmallVector<Operation *> made;
    for (Operation &op : function.front().without_terminator())
      made.push_back(&op);
    for (Operation *op : made) {
      auto [first, last] =
          rules.equal_range(op->getName().getStringRef().str());
      for (auto rule = first; rule != last; ++rule)
        check(*rule->second, op,
              verdicts[(rule->second->label + " | " + rule->second->picture)
                           .str()]);
    }
  }
  return verdicts;
}

std::string summary(const MovementVerdict &verdict) {
  std::string ranks;
  for (auto [rank, count] : verdict.proved)
    if (count > 0)
      ranks += " " + std::to_string(rank);
  std::string text =
      ranks.empty() ? "tested only" : "proved on indices: rank" + ranks;
  if (verdict.undecided)
    text += "; some undecided";
  return text + (verdict.wrong.empty() ? "" : "; WRONG");
}

} // namespace sinter::test
