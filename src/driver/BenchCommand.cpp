//===- BenchCommand.cpp - sinter bench ------------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/InputOptions.h"
#include "driver/LatencyStatistics.h"
#include "driver/LayerProfile.h"
#include "driver/Machine.h"
#include "driver/MachineReport.h"
#include "driver/Progress.h"
#include "driver/Roofline.h"
#include "driver/Streams.h"
#include "driver/Summary.h"
#include "driver/Sweep.h"
#include "driver/Text.h"
#include "driver/Trace.h"
#include "interface/OutputFiles.h"
#include "runtime/CpuCount.h"
#include "runtime/CpuFeatures.h"
#include "runtime/MappedFile.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace sinter::driver {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// All measurements.
struct Measurement {
  double firstMs = 0;
  std::vector<double> latenciesMs;
  /// From the first run to the end of the last, if there are streams.
  std::optional<double> seconds;
  LayerProfile layers;

  double runsPerSecond() const {
    const auto runs = static_cast<double>(latenciesMs.size());
    return seconds ? runs / *seconds
                   : 1000 / LatencyStatistics(latenciesMs).mean;
  }
};

class BenchCommand : public Command {
public:
  explicit BenchCommand(CLI::App &app) {
    addModel(app, common, /*needed=*/false);
    addParameters(app, common);
    addFunction(app, common);
    addInputs(app, inputs);
    addStates(app, states, /*writes=*/false);
    addShapes(app, common);
    addDynamic(app, common);
    addBinding(app, common);
    addBackend(app, common);
    addPasses(app, common);
    addCache(app, common);
    app.add_option("--seconds", seconds, "how long to measure")
        ->check(CLI::Range(0.0, 1e6) & isNumber())
        ->capture_default_str()
        ->group("Measure");
    app.add_option("--warmup", warmup,
                   "warm-up runs before that, besides the first")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str()
        ->group("Measure");
    CLI::Option *concurrent =
        app.add_option("--streams", streams,
                       "concurrent runs, which share --threads: for "
                       "throughput; each run takes longer")
            ->check(CLI::Range(1, 1024))
            ->capture_default_str()
            ->group("Measure");
    CLI::Option *layers =
        app.add_flag("--layers", perLayer, "also the time of each layer")
            ->excludes(concurrent)
            ->group("Measure");
    CLI::Option *plot =
        app.add_option("--plot", plotFile,
                       "draw a roofline as SVG: the layers beside the peak "
                       "rates of one thread of this machine (bench --machine)")
            ->excludes(concurrent)
            ->type_name("FILE")
            ->group("Measure");
    app.add_flag("--machine", ofMachine,
                 "measure the peak rates of one thread of this machine instead "
                 "of a model: multiply-adds of each type, bandwidth of each "
                 "level of memory; stored in the folder of --cache-dir")
        ->group("Measure");
    app.add_option("--sweep", sweepText,
                   "several sizes of a dynamic dimension, by its name: "
                   "sequence=16,33,128")
        ->type_name("NAME=SIZES")
        ->excludes(layers)
        ->excludes(plot)
        ->group("Measure");
    addReport(app, common);
    addTrace(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    if (ofMachine && !common.model.empty())
      return usageError("--machine measures no model: leave out '" +
                        common.model + "', or --machine");
    if (ofMachine)
      return reportMachine(seconds, cacheFolder(common), common.json);
    if (common.model.empty())
      return usageError("MODEL is missing; sinter bench net.onnx, or sinter "
                        "bench --machine");
    for (const auto &[flag, file] :
         {std::pair("--trace", common.traceFile), {"--plot", plotFile}})
      if (Result<void> good = checkOutputFile(flag, file, common.model); !good)
        return good.takeError();
    if (Result<void> good = checkStreams(); !good)
      return good.takeError();
    if (!sweepText.empty())
      return sweep();
    Result<ReadySession> ready = openSession(common, inputs, true);
    if (!ready)
      return ready.takeError();
    Session &session = *ready->session;
    Result<Measurement> measured = measure(*ready);
    if (!measured)
      return measured.takeError();
    report(session, ready->inputs, *measured);
    if (Result<void> drawn = plot(measured->layers); !drawn)
      return drawn.takeError();
    if (Result<void> written = writeTrace(common, session.executor()); !written)
      return written.takeError();
    return 0;
  }

private:
  /// Before anything is compiled.
  Result<void> checkStreams() const {
    if (streams > 1 && !common.traceFile.empty())
      return usageError("--streams: --trace is of one run at a time");
    auto shares = threadsOfStreams(
        common.threads ? common.threads : usableCpuCount(), streams);
    return shares ? Result<void>() : shares.takeError();
  }

  /// One size after the other, in this process.
  Result<int> sweep() {
    if (!common.traceFile.empty())
      return usageError("--sweep: --trace is of one size");
    Result<Sweep> sweep = Sweep::parse(sweepText);
    if (!sweep)
      return sweep.takeError();
    Result<SessionOptions> wanted = sessionOptions(common);
    if (!wanted)
      return wanted.takeError();
    auto opened = openWithDefaults(common.model, *wanted, inputs);
    if (!opened)
      return opened.takeError();
    const std::shared_ptr<Session> session = std::move(*opened);
    nlohmann::json all = nlohmann::json::array();
    Activity activity("measuring " + common.model);
    for (int64_t size : sweep->sizes) {
      Result<NamedShapes> shapes =
          sweep->shapesAt(size, session->model(), wanted->shapes);
      if (!shapes)
        return inFile(shapes.takeError(), common.model);
      Result<ReadySession> ready = sized(session, *shapes);
      if (!ready)
        return ready.takeError();
      activity.update(all.size(), sweep->sizes.size(), "sizes");
      Result<Measurement> measured = measure(*ready);
      if (!measured)
        return measured.takeError();
      all.push_back(asJson(*ready->session, batchOf(ready->inputs), *measured));
      all.back()["size"] = size;
      if (!common.json)
        printRow(sweep->symbol, *ready->session, all.back(), all.size() == 1);
    }
    if (common.json)
      printJsonLine(all);
    return 0;
  }

  /// Prepares \p session for \p shapes.
  Result<ReadySession> sized(const std::shared_ptr<Session> &session,
                             const NamedShapes &shapes) {
    session->setShapes(shapes);
    Result<std::vector<Tensor>> tensors =
        loadInputs(*session, common.model, inputs, shapes, true);
    if (!tensors)
      return tensors.takeError();
    if (Result<void> ready = session->prepare(*tensors); !ready)
      return ready.takeError();
    return ReadySession{session, std::move(*tensors)};
  }

  void printRow(const std::string &symbol, const Session &session,
                const nlohmann::json &row, bool isFirst) const {
    if (isFirst)
      printTo(stdout, "%12s  %10s  %10s  %10s  %10s\n", oneLine(symbol).c_str(),
              "compile ms", "first ms", "median ms", "GFLOP/s");
    printTo(stdout, "%12lld  %10.1f  %10.3f  %10.3f  %10.1f%s\n",
            static_cast<long long>(row["size"].get<int64_t>()),
            row["compile_ms"].get<double>(), row["first_ms"].get<double>(),
            row["latency_ms"]["median"].get<double>(),
            row["gflops"].get<double>(),
            session.facts().fromCache ? "  (from the cache)" : "");
    std::fflush(stdout);
  }

  Result<Measurement> measure(ReadySession &ready) {
    // Each run would copy what lies anywhere in a file.
    for (Tensor &tensor : ready.inputs)
      if (!tensor.isAligned())
        tensor = tensor.owned();
    Executor &executor = ready.session->executor();
    if (Result<void> given = giveStates(executor, states); !given)
      return inFile(given.takeError(), common.model);
    Result<Measurement> measured = measure(executor, ready.inputs);
    if (measured && streams > 1)
      if (Result<void> done = measureStreams(ready, *measured); !done)
        measured = done.takeError();
    if (!measured)
      return inFile(measured.takeError(), common.model);
    return measured;
  }

  /// Replaces the latencies of \p measured by those of concurrent runs.
  Result<void> measureStreams(ReadySession &ready, Measurement &measured) {
    Result<std::vector<unsigned>> threads =
        threadsOfStreams(ready.session->threads(), streams);
    if (!threads)
      return threads.takeError();
    Activity activity(text("measuring %u streams of ", streams) + common.model);
    Result<StreamMeasurement> done = driver::measureStreams(
        *ready.session, ready.inputs,
        {std::move(*threads), warmup, seconds,
         [this](Executor &executor) { return giveStates(executor, states); },
         [&](double passed) { goesOn(activity, passed * 1000, seconds); }});
    if (!done)
      return done.takeError();
    measured.latenciesMs = std::move(done->latenciesMs);
    measured.seconds = done->seconds;
    return {};
  }

  Result<Measurement> measure(Executor &executor,
                              const std::vector<Tensor> &tensors) {
    Measurement measured;
    std::optional<Error> failure;
    const auto timedRun = [&]() -> double {
      const Clock::time_point start = Clock::now();
      Result<std::vector<Tensor>> results = executor.run(tensors);
      const double took = millisecondsSince(start);
      if (!results)
        failure = results.takeError();
      return took;
    };
    measured.firstMs = timedRun();
    for (unsigned i = 0; i < warmup && !failure; ++i)
      timedRun();
    if (failure)
      return *failure;
    // Streams are measured by themselves.
    const double ownSeconds = streams > 1 ? 0 : seconds;
    const Clock::time_point start = Clock::now();
    Activity activity("measuring " + common.model);
    do
      measured.latenciesMs.push_back(timedRun());
    while (!failure && goesOn(activity, millisecondsSince(start), ownSeconds));
    if (!failure)
      profile(executor, measured, timedRun, failure);
    if (failure)
      return *failure;
    return measured;
  }

  /// Whether measuring for \p wanted seconds goes on after \p passed
  /// milliseconds, which \p activity shows.
  bool goesOn(Activity &activity, double passed, double wanted) {
    // Seconds, and not runs: to tell of each would take time from short ones.
    const auto done = static_cast<uint64_t>(passed / 1000);
    if (wanted >= 1 && std::exchange(shownSeconds, done) != done)
      activity.update(done, static_cast<uint64_t>(wanted), "seconds");
    return passed < wanted * 1000;
  }

  /// Runs with a timer per layer: separately, since timers take time.
  template <typename Run>
  void profile(Executor &executor, Measurement &measured, const Run &timedRun,
               const std::optional<Error> &failure) {
    constexpr double budgetMs = 500;
    executor.setProfiling(true);
    const Clock::time_point start = Clock::now();
    do {
      timedRun();
      measured.layers.add(executor.layerTimes());
    } while (!failure && (perLayer || !plotFile.empty()) &&
             millisecondsSince(start) < budgetMs);
    executor.setProfiling(false);
  }

  void report(const Session &session, const std::vector<Tensor> &tensors,
              const Measurement &measured) {
    const LatencyStatistics latency(measured.latenciesMs);
    const nlohmann::json result = asJson(session, batchOf(tensors), measured);
    if (common.json)
      printJsonLine(result);
    else
      printTable(session, result, latency, measured);
    // Streams disturb each other.
    if (streams == 1 && latency.variation > unstable)
      printNote(text("the times vary by %.0f %% (standard deviation by mean), "
                     "so they mean little; is something else running?",
                     latency.variation * 100));
  }

  static int64_t batchOf(const std::vector<Tensor> &tensors) {
    return !tensors.empty() && tensors[0].rank() > 0 ? tensors[0].dim(0) : 1;
  }

  nlohmann::json asJson(const Session &session, int64_t batch,
                        const Measurement &measured) const {
    const LatencyStatistics latency(measured.latenciesMs);
    const double gflop = measured.layers.flops() / 1e9;
    nlohmann::json result = {
        {"model", common.model},
        {"backend", common.backend},
        {"threads", session.threads()},
        {"streams", streams},
        {"runs", measured.latenciesMs.size()},
        {"cpu", cpuModel()},
        {"isa", instructionSet()},
        {"precision", common.precision},
        {"matrix_units", usesMatrixUnits(session.program())},
        {"batch", batch},
        {"latency_ms",
         {{"min", latency.min},
          {"median", latency.median},
          {"mean", latency.mean},
          {"p90", latency.p90},
          {"p99", latency.p99},
          {"max", latency.max}}},
        {"throughput_per_s",
         static_cast<double>(batch) * measured.runsPerSecond()},
        {"gflop_per_inference", gflop},
        {"gflops", streams > 1 ? gflop * measured.runsPerSecond()
                               : gflop / (latency.median / 1000)},
        {"load_ms", session.facts().loadMs},
        {"compile_ms", session.facts().compileMs},
        {"first_ms", measured.firstMs},
        {"peak_rss_mb", peakMemoryMb()},
        {"cv", latency.variation}};
    if (perLayer)
      result["layers"] = measured.layers.json();
    return result;
  }

  void printTable(const Session &session, const nlohmann::json &result,
                  const LatencyStatistics &latency,
                  const Measurement &measured) const {
    const auto number = [&](const char *key) {
      return result[key].get<double>();
    };
    const SessionFacts &facts = session.facts();
    printTo(stdout,
            "%s on %s (%s%s), backend %s, precision %s, %u thread%s%s, batch "
            "%lld\n",
            common.model.c_str(), cpuModel().c_str(), instructionSet().c_str(),
            usesMatrixUnits(session.program()) ? ", matrix units" : "",
            common.backend.c_str(), common.precision.c_str(), session.threads(),
            session.threads() == 1 ? "" : "s",
            streams == 1 ? "" : text(" in %u streams", streams).c_str(),
            static_cast<long long>(result["batch"].get<int64_t>()));
    printTo(stdout,
            "latency      median %.3f ms, min %.3f, mean %.3f, p90 %.3f, "
            "p99 %.3f, max %.3f (%zu runs after %u of warm-up, variation "
            "%.1f %%)\n",
            latency.median, latency.min, latency.mean, latency.p90, latency.p99,
            latency.max, measured.latenciesMs.size(), warmup + 1,
            latency.variation * 100);
    printTo(stdout,
            "throughput   %.1f inferences/s, %.2f GFLOP each, %.1f "
            "GFLOP/s\n",
            number("throughput_per_s"), number("gflop_per_inference"),
            number("gflops"));
    printTo(stdout,
            "start        load %.1f ms, compile %.1f ms%s, first run %.3f "
            "ms\n",
            facts.loadMs, facts.compileMs,
            facts.fromCache ? " (from the cache)" : "", measured.firstMs);
    printTo(stdout, "memory       peak %.0f MB\n", number("peak_rss_mb"));
    if (perLayer)
      printTo(stdout, "%s", measured.layers.table().c_str());
  }

  Result<void> plot(const LayerProfile &layers) const {
    if (plotFile.empty())
      return {};
    Result<MachineCeilings> ceilings = machineCeilings(cacheFolder(common));
    if (!ceilings)
      return ceilings.takeError();
    return writeFileAtomically(
        plotFile, rooflineSvg(common.model, *ceilings, layers.fastest()));
  }

  /// A larger coefficient of variation causes a warning.
  static constexpr double unstable = 0.1;

  CommonOptions common;
  InputOptions inputs;
  StateOptions states;
  double seconds = 3;
  unsigned warmup = 3, streams = 1;
  bool perLayer = false, ofMachine = false;
  uint64_t shownSeconds = 0;
  std::string plotFile, sweepText;
};

} // namespace

std::unique_ptr<Command> makeBenchCommand(CLI::App &app) {
  return std::make_unique<BenchCommand>(app);
}

} // namespace sinter::driver
