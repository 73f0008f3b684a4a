// Headers that nearly every command includes, longer than the commands; see
// src/driver/CMakeLists.txt.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
