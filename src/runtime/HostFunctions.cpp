//===- HostFunctions.cpp - functions that programs call by name -----------===//

#include "runtime/HostFunctions.h"
#include "runtime/host/Builtin.h"

#include <charconv>
#include <map>
#include <memory>
#include <mutex>

namespace sinter {

namespace {
struct Functions {
  Functions() {
    add("sinter.fft", host::fft);
    add("sinter.cholesky", host::cholesky);
    add("sinter.triangular_solve", host::triangularSolve);
    add("sinter.rng_bit_generator", host::rngBitGenerator);
    add("sinter.rng", host::rng);
    add("sinter.non_zero", host::nonZero);
    add("sinter.suppress", host::suppress);
    add("sinter.begin_rows", host::beginRows);
    add("sinter.add_rows", host::addRows);
    add("sinter.count_rows", host::countRows);
    add("sinter.take_rows", host::takeRows);
    add("sinter.run_loop", host::runLoop);
    add("sinter.run_branch", host::runBranch);
    add("sinter.nested_size", host::nestedSize);
    add("sinter.take_nested", host::takeNested);
    add("sinter.expect", host::expectation);
    add("sinter.print", host::print);
    add("sinter.probe", host::probe);
    add("sinter.decode_image", host::decodeImage);
    add("sinter.strings", host::strings);
    add("sinter.format_numbers", host::formatted);
    add("sinter.parse_numbers", host::parsed);
    add("sinter.concat_strings", host::concatenated);
    add("sinter.change_case", host::caseChanged);
    add("sinter.match_strings", host::matched);
    add("sinter.rank_strings", host::ranked);
    add("sinter.find_strings", host::found);
    add("sinter.count_parts", host::partsCounted);
    add("sinter.split_strings", host::stringsSplit);
    add("sinter.probe_strings", host::stringsProbed);
    add("sinter.print_strings", host::stringsPrinted);
    add("sinter.all_gather", host::allGather);
    add("sinter.all_to_all", host::allToAll);
    add("sinter.collective_broadcast", host::collectiveBroadcast);
    add("sinter.collective_permute", host::collectivePermute);
    add("sinter.all_reduce", host::allReduce);
    add("sinter.reduce_scatter", host::allReduce);
    add("sinter.collective_reduce", host::collectiveReduce);
    add("sinter.gather", host::gatherParts);
    add("sinter.gathered", host::gatheredPart);
    add("sinter.replica_id", host::replicaId);
    add("sinter.partition_id", host::partitionId);
    add("sinter.send", host::send);
    add("sinter.recv", host::receive);
    add("sinter.infeed", host::infeed);
    add("sinter.outfeed", host::outfeed);
    for (const char *type : {"s", "d", "c", "z"}) {
      const std::string prefix = std::string("lapack_") + type;
      const bool isComplex = *type == 'c' || *type == 'z';
      add(prefix + "potrf_ffi", host::lapackPotrf);
      add(prefix + "getrf_ffi", host::lapackGetrf);
      add(prefix + "geqrf_ffi", host::lapackGeqrf);
      add(prefix + (isComplex ? "ungqr_ffi" : "orgqr_ffi"), host::lapackOrgqr);
      add(prefix + (isComplex ? "heevd_ffi" : "syevd_ffi"), host::lapackSyevd);
      add(prefix + "gesdd_ffi", host::lapackGesdd);
      add(prefix + "trsm_ffi", host::lapackTrsm);
      add(prefix + "geev_ffi", host::lapackGeev);
      add(prefix + "gees_ffi", host::lapackGees);
      add(prefix + "gehrd_ffi", host::lapackGehrd);
      add(prefix + (isComplex ? "hetrd_ffi" : "sytrd_ffi"), host::lapackSytrd);
      add(prefix + "geqp3_ffi", host::lapackGeqp3);
      add(prefix + "gtsv_ffi", host::lapackGtsv);
    }
  }
  void add(std::string name, HostFunction function) {
    all.push_back(std::make_unique<HostFunction>(std::move(function)));
    byName[std::move(name)] = all.back().get();
  }

  std::mutex mutex;
  /// Replaced functions stay valid: they may be running.
  std::vector<std::unique_ptr<HostFunction>> all;
  std::map<std::string, const HostFunction *, std::less<>> byName;
};
} // namespace

static Functions &functions() {
  static Functions instance;
  return instance;
}

void registerHostFunction(std::string name, HostFunction function) {
  Functions &registry = functions();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.add(std::move(name), std::move(function));
}

const HostFunction *findHostFunction(std::string_view name) {
  Functions &registry = functions();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto found = registry.byName.find(name);
  return found == registry.byName.end() ? nullptr : found->second;
}

/// Splits off the text up to \p separator from \p rest.
static std::string_view takeUntil(std::string_view &rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest =
      end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

std::optional<std::vector<int64_t>>
HostConfiguration::numbers(std::string_view key) const {
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view values = takeUntil(rest, ';');
    if (takeUntil(values, '=') != key)
      continue;
    std::vector<int64_t> result;
    while (!values.empty()) {
      const std::string_view digits = takeUntil(values, ',');
      int64_t value = 0;
      auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size())
        return std::nullopt;
      result.push_back(value);
    }
    return result;
  }
  return std::nullopt;
}

int64_t HostConfiguration::number(std::string_view key,
                                  int64_t otherwise) const {
  auto values = numbers(key);
  return values && values->size() == 1 ? values->front() : otherwise;
}

} // namespace sinter
