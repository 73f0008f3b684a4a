//===- Options.h - options by name ----------------------------------------===//

#ifndef SINTER_BINDINGS_C_OPTIONS_H
#define SINTER_BINDINGS_C_OPTIONS_H

#include "bindings/c/Handles.h"
#include "bindings/c/HostAllocator.h"
#include "interface/CommonOptions.h"
#include "runtime/Cancellation.h"
#include "runtime/ThreadPool.h"

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace sinter::c {

/// What sinter_options_* has set.
struct Configuration {
  struct Value {
    std::string name, value;
    /// Grows with each call that sets more: see with().
    unsigned call = 0;
  };

  std::vector<Value> values;
  std::function<void(const std::string &line)> log;
  std::function<void(const std::string &stage, uint64_t done, uint64_t total)>
      progress;
  Printer print;
  std::shared_ptr<HostAllocator> allocator;
  std::shared_ptr<ThreadPool> pool;
  /// Ends calls with these options.
  std::shared_ptr<const Cancellation> cancellation;

  /// These, and what \p more sets besides and anew.
  Configuration with(const Configuration &more) const;
  /// The callback for options that are called when there is something to tell.
  std::function<void(const std::string &)> note() const;
  /// The Cancelled error of a call if it was cancelled before it began.
  Result<void> goesOn() const;
  /// Sets the callbacks for text and progress, the allocator, the thread pool
  /// and the cancellation.
  void applyTo(SessionOptions &options) const;
};

/// Those of \p options; of null: none.
Result<Configuration> configurationOf(const sinter_options *options);

/// Sets the values by the options that \p add adds to a command line. Usage
/// errors name the option. What a later call sets replaces the value of an
/// earlier one, and is added to it where an option may be repeated.
Result<void> parse(const Configuration &given,
                   const std::function<void(CLI::App &app)> &add);

/// Adds what a model is opened with.
void addModelOptions(CLI::App &app, CommonOptions &options);
/// Adds that, and what it is compiled with.
void addSessionOptions(CLI::App &app, CommonOptions &options);

} // namespace sinter::c

struct sinter_options : sinter::c::Handle {
  sinter_options() : Handle(Kind::Options) {}

  mutable std::mutex mutex;
  sinter::c::Configuration configuration;
};

#endif // SINTER_BINDINGS_C_OPTIONS_H
