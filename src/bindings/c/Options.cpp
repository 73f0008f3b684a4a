//===- Options.cpp - options by name --------------------------------------===//

#include "bindings/c/Options.h"

#include "bindings/c/Session.h"
#include "bindings/c/ThreadPools.h"
#include "runtime/Suggestions.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace sinter::c {

Configuration Configuration::with(const Configuration &more) const {
  Configuration all = *this;
  const unsigned call = values.empty() ? 0 : values.back().call + 1;
  for (const Value &each : more.values)
    all.values.push_back({each.name, each.value, call});
  if (more.log)
    all.log = more.log;
  if (more.progress)
    all.progress = more.progress;
  if (more.print)
    all.print = more.print;
  if (more.allocator)
    all.allocator = more.allocator;
  if (more.pool)
    all.pool = more.pool;
  if (more.cancellation)
    all.cancellation = more.cancellation;
  return all;
}

std::function<void(const std::string &)> Configuration::note() const {
  return log ? log : [](const std::string &) {};
}

Result<void> Configuration::goesOn() const {
  return Cancellation::check(cancellation.get(), "the call");
}

void Configuration::applyTo(SessionOptions &options) const {
  options.print = print ? print : [](const std::string &) {};
  if (progress)
    options.progress = [told = progress](unsigned done, unsigned total) {
      told("compile", done, total);
    };
  options.passes.cancellation = cancellation;
  options.allocator = allocator;
  options.pool = pool;
  if (pool && options.threads == 0)
    options.threads = pool->size();
}

Result<Configuration> configurationOf(const sinter_options *options) {
  if (!options)
    return Configuration();
  Result<Use> use = Use::of(options, Handle::Kind::Options);
  if (!use)
    return use.takeError();
  const std::lock_guard lock(options->mutex);
  return options->configuration;
}

/// The names of the options that \p app takes, without dashes.
static std::vector<std::string> namesOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back(name);
  return names;
}

/// What the parser of command lines says of an option, with options named as
/// callers name them: it writes "--shape: ...".
static Error wrongValue(const CLI::ParseError &error) {
  std::string text = error.what();
  for (size_t at; (at = text.find("--")) != std::string::npos;)
    text.erase(at, 2);
  return usageError(text);
}

/// Whether a later call sets \p value of \p option, or another one where there
/// can be but one.
static bool isReplaced(const Configuration::Value &value,
                       const Configuration &given, const CLI::Option &option) {
  const bool mayRepeat = option.get_expected_max() > 1;
  return std::ranges::any_of(given.values, [&](const auto &other) {
    return other.call > value.call && other.name == value.name &&
           (!mayRepeat || other.value == value.value);
  });
}

Result<void> parse(const Configuration &given,
                   const std::function<void(CLI::App &app)> &add) {
  CLI::App app;
  app.set_help_flag();
  add(app);
  const std::vector<std::string> names = namesOf(app);
  // The parser takes them from the back.
  std::vector<std::string> words;
  for (const Configuration::Value &each : given.values) {
    const auto &[name, value, call] = each;
    const CLI::Option *option = std::ranges::find(names, name) == names.end()
                                    ? nullptr
                                    : app.get_option("--" + name);
    if (!option)
      return withHint(suggestion(name, names),
                      usageError("there is no option '" + name + "' here"));
    if (isReplaced(each, given, *option))
      continue;
    const bool isFlag = option->get_expected_min() == 0;
    if (isFlag && (value == "false" || value == "true")) {
      if (value == "true")
        words.push_back("--" + name);
      continue;
    }
    words.push_back("--" + name + "=" + value);
  }
  std::ranges::reverse(words);
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError &error) {
    return wrongValue(error);
  }
  return {};
}

void addModelOptions(CLI::App &app, CommonOptions &options) {
  addParameters(app, options);
  addFunction(app, options);
  addShapes(app, options);
  addBinding(app, options);
  addCache(app, options);
}

void addSessionOptions(CLI::App &app, CommonOptions &options) {
  addModelOptions(app, options);
  addDynamic(app, options);
  addBackend(app, options);
  addPasses(app, options);
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

/// Changes \p options by \p change, under its lock.
template <typename Change>
static sinter_status changed(sinter_options *options, sinter_error **error,
                             Change &&change) {
  return guarded(options, Handle::Kind::Options, error, [&]() -> Result<void> {
    const std::lock_guard lock(options->mutex);
    return change(options->configuration);
  });
}

extern "C" {

sinter_status sinter_options_new(sinter_options **options,
                                 sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(options, "options"); !good)
      return good;
    *options = new sinter_options();
    return {};
  });
}

sinter_status sinter_options_set(sinter_options *options, const char *name,
                                 const char *value, sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    if (Result<void> good = checkPointer(name, "name"); !good)
      return good;
    if (Result<void> good = checkPointer(value, "value"); !good)
      return good;
    all.values.push_back({name, value});
    return {};
  });
}

sinter_status sinter_options_set_log(sinter_options *options,
                                     sinter_log_callback log, void *user,
                                     sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    all.log = nullptr;
    if (log)
      all.log = [log, user](const std::string &line) {
        log(user, line.c_str());
      };
    return {};
  });
}

sinter_status sinter_options_set_print(sinter_options *options,
                                       sinter_print_callback print, void *user,
                                       sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    all.print = nullptr;
    if (print)
      all.print = [print, user](std::string_view text) {
        print(user, text.data(), text.size());
      };
    return {};
  });
}

sinter_status sinter_options_set_progress(sinter_options *options,
                                          sinter_progress_callback progress,
                                          void *user, sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    all.progress = nullptr;
    if (progress)
      all.progress = [progress, user](const std::string &stage, uint64_t done,
                                      uint64_t total) {
        progress(user, stage.c_str(), done, total);
      };
    return {};
  });
}

sinter_status sinter_options_set_allocator(sinter_options *options,
                                           const sinter_allocator *allocator,
                                           sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    if (!allocator) {
      all.allocator = nullptr;
      return {};
    }
    Result<std::shared_ptr<HostAllocator>> made = HostAllocator::of(allocator);
    if (!made)
      return made.takeError();
    all.allocator = std::move(*made);
    return {};
  });
}

sinter_status sinter_options_set_thread_pool(sinter_options *options,
                                             const sinter_thread_pool *pool,
                                             sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    if (!pool) {
      all.pool = nullptr;
      return {};
    }
    Result<Use> use = Use::of(pool, Handle::Kind::ThreadPool);
    if (!use)
      return use.takeError();
    all.pool = pool->pool;
    return {};
  });
}

sinter_status
sinter_options_set_cancellation(sinter_options *options,
                                const sinter_cancellation *cancellation,
                                sinter_error **error) {
  return changed(options, error, [&](Configuration &all) -> Result<void> {
    if (!cancellation) {
      all.cancellation = nullptr;
      return {};
    }
    Result<Use> use = Use::of(cancellation, Handle::Kind::Cancellation);
    if (!use)
      return use.takeError();
    all.cancellation = cancellation->cancellation;
    return {};
  });
}

sinter_status sinter_options_free(sinter_options *options,
                                  sinter_error **error) {
  return freeHandle(options, Handle::Kind::Options, error);
}

} // extern "C"
