#!/usr/bin/env bash
# Makes the benchmark models (ONNX test form, about 2 GB) in DIR.
#
#   scripts/zoo.sh DIR [NAME ...]     no names: every model
#
# The script that writes them, zoo.py, is looked for in $SINTER_ZOO and then at ../shared/zoo/zoo.py beside the checkout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
directory=$1
shift
zoo=${SINTER_ZOO:-$root/../shared/zoo/zoo.py}
if [ ! -f "$zoo" ]; then
  echo "zoo.sh: $zoo is not there; set SINTER_ZOO to zoo.py, or use any folder of models in ONNX test form" >&2
  exit 1
fi
"$root/scripts/deps.sh" --python
exec nice /usr/bin/python3 "$zoo" --out "$directory" "$@"
