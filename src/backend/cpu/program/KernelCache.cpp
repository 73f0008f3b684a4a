//===- KernelCache.cpp - the code of kernels, kept from run to run --------===//

#include "backend/cpu/program/KernelCache.h"

#include "runtime/ByteStream.h"
#include "runtime/Cache.h"
#include "runtime/ContractBytes.h"
#include "runtime/MappedFile.h"
#include "runtime/TemporaryFiles.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr std::string_view magic{"SINTERK\0", 8};
/// Goes up with every change of what the file means.
constexpr uint32_t formatVersion = 2;

std::string describe(const Target &target) {
  std::string text = target.triple + " " + target.cpu + " " + target.features;
  for (const std::string &set : target.instructionSets)
    text += " " + set;
  for (int64_t number : {target.f32Lanes,
                         target.vectorRegisters,
                         int64_t(target.hasAvx512),
                         int64_t(target.hasFma),
                         target.multiplyAdds,
                         int64_t(target.dividesSlowly),
                         int64_t(target.hasVnni),
                         int64_t(target.hasPairSum),
                         int64_t(target.hasSignedDotProduct),
                         int64_t(target.hasLongPairSum),
                         int64_t(target.convertsF16),
                         int64_t(target.convertsBF16),
                         int64_t(target.hasBF16Dot),
                         int64_t(target.hasByteMatrices),
                         int64_t(target.hasBF16Matrices),
                         int64_t(target.hasTableOf16),
                         int64_t(target.hasMatrixUnits),
                         int64_t(target.isSmall),
                         target.l1Bytes,
                         target.l2Bytes})
    text += " " + std::to_string(number);
  // What decides between kernels.
  for (double rate :
       {target.rates.f32, target.rates.f64, target.rates.i8, target.rates.bf16,
        target.rates.cache, target.rates.memory, target.rates.tiles,
        target.rates.tileLoads})
    text += " " + std::to_string(rate);
  return text;
}

} // namespace

KernelCache::KernelCache(std::string folder, std::string_view compiler,
                         const Target &target)
    : folder(std::move(folder)),
      maker(std::string(compiler) + " " + describe(target)) {
  if (!this->folder.empty())
    removeLeftovers(this->folder);
}

Hash128 KernelCache::keyOf(std::string_view text) const {
  return Hasher().add(SINTER_VERSION).add(maker).add(text).finish();
}

std::string KernelCache::pathOf(const Hash128 &key) const {
  return folder + "/" + key.text() + "-kernel.sinter";
}

std::optional<KernelCode> KernelCache::lookup(const Hash128 &key,
                                              size_t functions) const {
  if (folder.empty())
    return std::nullopt;
  const std::string path = pathOf(key);
  // What is wrong with an entry or the folder, the cache of programs tells.
  Result<std::shared_ptr<const MappedFile>> file = openEntry(path);
  if (!file || !*file)
    return std::nullopt;
  ByteReader in((*file)->bytes());
  const auto start = in.raw(magic.size());
  const auto version = in.number<uint32_t>();
  Hash128 expected;
  expected.low = in.number<uint64_t>();
  expected.high = in.number<uint64_t>();
  const auto size = in.number<uint64_t>();
  const auto contents = in.raw(size);
  if (in.failed() || !in.atEnd() || version != formatVersion ||
      !std::ranges::equal(start, bytesOf(magic)) ||
      hashOf(contents) != expected)
    return std::nullopt;
  ByteReader body(contents);
  KernelCode kernel;
  kernel.contracts =
      body.list(contractSize, [&] { return readContract(body); });
  kernel.features = body.list(sizeof(uint64_t), [&] { return body.text(); });
  const std::string object = body.text();
  if (body.failed() || !body.atEnd() || kernel.contracts.size() != functions)
    return std::nullopt;
  kernel.object.assign(object.begin(), object.end());
  // The time of last use decides who has to go.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return kernel;
}

void KernelCache::store(const Hash128 &key, const KernelCode &kernel) const {
  if (folder.empty())
    return;
  ByteWriter body;
  body.list(kernel.contracts, [&](const KernelContract &contract) {
    writeContract(body, contract);
  });
  body.list(kernel.features,
            [&](const std::string &feature) { body.text(feature); });
  body.text({kernel.object.data(), kernel.object.size()});
  const Hash128 hash = hashOf(body.bytes());
  ByteWriter file;
  file.raw(bytesOf(magic));
  file.number(formatVersion);
  file.number(hash.low);
  file.number(hash.high);
  file.number(static_cast<uint64_t>(body.size()));
  file.raw(body.bytes());
  makeCacheFolder(folder);
  const std::span<const std::byte> bytes = file.bytes();
  // The cache of programs, which lies in the same folder, tells what is wrong
  // with it. What the disk has lost is found by its hash.
  (void)writeFileAtomically(pathOf(key), std::span(&bytes, 1),
                            WriteMode::Unsynchronised, Access::OwnerOnly);
}
