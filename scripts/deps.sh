#!/usr/bin/env bash
# Installs the Debian packages that Sinter needs and that are missing.
#
#   scripts/deps.sh            what building, testing and fuzzing need
#   scripts/deps.sh --build    what building needs
#   scripts/deps.sh --python   also what training the example and making the benchmark models need
set -euo pipefail

packages=(
  libmlir-19-dev mlir-19-tools llvm-19-dev llvm-19-tools clang-19 lld-19
  libprotobuf-dev protobuf-compiler libeigen3-dev libcli11-dev nlohmann-json3-dev
  libpng-dev libjpeg-dev libwebp-dev libgif-dev libtiff-dev libxxhash-dev libre2-dev libopenmpi-dev libgtest-dev libbenchmark-dev libz3-dev
  ninja-build ccache cmake python3 libpython3-dev git
)
tests=(
  clang-format-19 clang-tidy-19 libclang-rt-19-dev libfuzzer-19-dev libonnx-testdata
  python3-venv python3-jsonschema python3-numpy python3-pil valgrind qemu-user mmdebstrap
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
  qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi
  abigail-tools chromium groff-base zsh
)
case "${1-}" in
  '') packages+=("${tests[@]}") ;;
  --build) ;;
  --python) packages+=("${tests[@]}" python3-torch python3-torchvision python3-onnx python3-pil fonts-dejavu libopenblas0-pthread) ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "deps.sh: this is not a Debian system; install the counterparts of: ${packages[*]}" >&2
  exit 1
fi

# dpkg-query fails on a package it has never heard of, and prints the others all the same.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qx "$package installed" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "deps.sh: installing ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "deps.sh: this needs root; run as root: apt-get install -y ${missing[*]}" >&2
  exit 1
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
