#!/usr/bin/env bash
# Makes a wheel of the Python package and of the libraries that it needs, without the network: what `cmake --install`
# installs of a build, as a zip file. It runs on systems with the libraries of this one (libsinter0's dependencies).
#
#   scripts/wheel.sh [BUILD] [FOLDER]     BUILD: build by default; FOLDER: gets the wheel, BUILD by default
#
# The last line is the wheel's path. The same build makes the same bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$(realpath "${1-build}")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
for component in python3-sinter libsinter0; do
  cmake --install "$build" --component "$component" --strip --prefix "$stage" >/dev/null
done
python3 - "$stage" "$(realpath "${2-$build}")" <<'PYTHON'
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

stage, target = sys.argv[1:]


def files(folder):
    for root, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(root, name) for name in sorted(names))


def soname(path):
    """By which others load the library."""
    dynamic = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", dynamic)[1]


[package] = {os.path.dirname(path) for path in files(stage) if os.path.basename(path) == "py.typed"}
# {name in the wheel: file}. A wheel has no symbolic links.
content = {os.path.join("sinter", os.path.relpath(path, package)): path for path in files(package)}
for path in files(stage):
    if re.fullmatch(r"libsinter.*\.so[.\d]*", os.path.basename(path)) and not os.path.islink(path):
        content[f"sinter/lib/{soname(path)}"] = path
with open("CMakeLists.txt") as file:
    version = re.search(r"project\(\w+ VERSION ([\d.]+)", file.read())[1]
info = f"sinter-{version}.dist-info"
tag = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
data = {
    f"{info}/METADATA": f"""Metadata-Version: 2.1
Name: sinter
Version: {version}
Summary: A compiler of neural networks for CPUs
License: Apache-2.0
Requires-Python: >=3.11
License-File: LICENSE
""".encode(),
    f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: sinter\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
}
content[f"{info}/LICENSE"] = "LICENSE"
for name, path in content.items():
    with open(path, "rb") as file:
        data[name] = file.read()
record = ""
for name, each in sorted(data.items()):
    digest = base64.urlsafe_b64encode(hashlib.sha256(each).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(each)}\n"
data[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

path = os.path.join(target, f"sinter-{version}-{tag}.whl")
with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:
    # Times are those of ZipInfo, which are always the same.
    for name, each in sorted(data.items()):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if name.startswith("sinter/lib/") else 0o100644) << 16
        wheel.writestr(entry, each)
os.replace(path + ".part", path)
print(path)
PYTHON
