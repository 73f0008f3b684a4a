# What every folder of src/ and test/ uses to become a target: sources are
# found by name, so a new file costs no line here.

add_library(sinter_options INTERFACE)
target_include_directories(sinter_options INTERFACE
  ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/src)
target_compile_options(sinter_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Werror=return-type)
target_compile_definitions(sinter_options INTERFACE
  SINTER_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Precompiled headers and ccache agree only if the PCH is reproducible.
  target_compile_options(sinter_options INTERFACE
    "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(SINTER_SANITIZE)
  # Null pointers and what lies beyond an object are the address sanitizer's
  # affair, too; the checks of all pointers are much of the code.
  target_compile_options(sinter_options INTERFACE
    -fsanitize=${SINTER_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined
    -fno-sanitize=vptr,function,null,object-size,pointer-overflow)
  target_link_options(sinter_options INTERFACE -fsanitize=${SINTER_SANITIZE})
endif()

# LLVM's and MLIR's headers and shared libraries. Only the two shared
# libraries: the single components' targets pull in static copies.
add_library(sinter_mlir INTERFACE)
target_include_directories(sinter_mlir SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(sinter_mlir INTERFACE -Wno-deprecated-declarations)
separate_arguments(SINTER_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(sinter_mlir INTERFACE ${SINTER_LLVM_DEFINITIONS})
# A target whose property SINTER_STATIC_LLVM is set links their archives.
set(shared "$<NOT:$<BOOL:$<TARGET_PROPERTY:SINTER_STATIC_LLVM>>>")
target_link_libraries(sinter_mlir INTERFACE
  "$<${shared}:MLIR>" "$<${shared}:LLVM>")

# sinter_link_llvm_statically(target)
# Makes LLVM and MLIR parts of the shared library <target>, as far as it uses
# them, and leaves none of their names visible. Without their archives, or zstd, it
# links the shared libraries as others do, and says so.
function(sinter_link_llvm_statically target)
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  find_library(SINTER_ZSTD_LIBRARY NAMES zstd libzstd.so.1)
  list(LENGTH archives count)
  if(count LESS 100 OR NOT SINTER_ZSTD_LIBRARY)
    message(STATUS "${target}: links LLVM's shared libraries: no archives below "
      "${LLVM_LIBRARY_DIR}, or no zstd")
    return()
  endif()
  set_target_properties(${target} PROPERTIES SINTER_STATIC_LLVM ON)
  # Relocations of pointers to the library itself take bits instead of 24 bytes
  # each, and functions of equal code are one. (LLVM and MLIR tell passes and
  # types by addresses of variables, which stay apart.) Without lld the library
  # is larger.
  find_program(SINTER_LLD ld.lld-19 ld.lld)
  if(SINTER_LLD)
    target_link_options(${target} PRIVATE -fuse-ld=lld
      -Wl,-z,pack-relative-relocs -Wl,--icf=all)
  endif()
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-z,defs)
  target_link_libraries(${target} PRIVATE -Wl,--start-group ${archives}
    -Wl,--end-group ZLIB::ZLIB ${SINTER_ZSTD_LIBRARY} ${CMAKE_DL_LIBS})
endfunction()

# sinter_precompiled_header(target header)
# Precompiles <header>, a path below src/, for <target> and those that reuse it
# (PRECOMPILE_HEADERS_REUSE_FROM). The result
# holds the paths of its checkout, so its own hash would keep ccache from finding
# what another checkout compiled: beside it stands the hash of what it reads.
function(sinter_precompiled_header target header)
  target_precompile_headers(${target} PRIVATE <${header}>)
  if(NOT CCACHE)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir)
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_custom_command(OUTPUT ${folder}/cmake_pch.hxx.pch.sum
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++${CMAKE_CXX_STANDARD} -x c++ -E -P
      -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
      -MD -MF ${folder}/pch.d -MT ${folder}/cmake_pch.hxx.pch.sum
      -o ${folder}/pch.txt ${CMAKE_SOURCE_DIR}/src/${header}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${folder}/pch.txt
      -DOUTPUT=${folder}/cmake_pch.hxx.pch.sum
      "-DBESIDE=${CMAKE_CXX_COMPILER_VERSION} ${LLVM_PACKAGE_VERSION} ${CMAKE_BUILD_TYPE} ${SINTER_SANITIZE}"
      -P ${CMAKE_SOURCE_DIR}/cmake/HashFile.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/src/${header}
    DEPFILE ${folder}/pch.d
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${target}_sum DEPENDS ${folder}/cmake_pch.hxx.pch.sum)
  add_dependencies(${target} ${target}_sum)
endfunction()

# sinter_merge_sources(out target root sources...)
# Sources of <target> below <root> (src or test) in groups of some four of one
# folder, each group as a file that includes its members by their paths below <root>: most of
# what a small file takes to compile is reading headers, which a group does once. A
# source with definitions of its own stays alone. All do without
# SINTER_MERGE_SOURCES. A name decides a source's group, so that a new file changes
# one group only, unless the folder has grown to need twice as many. (Files of
# CMake's unity builds hold the paths of their checkout, so ccache would not find
# what another one compiled.)
function(sinter_merge_sources out target root)
  set(result)
  set(folders)
  foreach(source ${ARGN})
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(definitions OR NOT SINTER_MERGE_SOURCES)
      list(APPEND result ${source})
      continue()
    endif()
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/${root} ${source})
    get_filename_component(folder ${path} DIRECTORY)
    list(APPEND folders ${folder})
    list(APPEND members_${folder} ${path})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH members_${folder} count)
    set(groups 1)
    while(count GREATER 5)
      math(EXPR groups "${groups} * 2")
      math(EXPR count "${count} / 2")
    endwhile()
    set(used)
    foreach(path ${members_${folder}})
      string(MD5 hash ${path})
      string(SUBSTRING ${hash} 0 6 hash)
      math(EXPR number "0x${hash} % ${groups}")
      list(APPEND used ${number})
      string(APPEND text_${number} "#include \"${path}\"\n")
    endforeach()
    list(REMOVE_DUPLICATES used)
    foreach(number ${used})
      set(merged
        ${CMAKE_BINARY_DIR}/merged/${root}/${target}/${folder}/${number}.cpp)
      file(CONFIGURE OUTPUT ${merged} CONTENT "${text_${number}}" @ONLY)
      list(APPEND result ${merged})
      unset(text_${number})
    endforeach()
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# sinter_library(name FOLDER dir [MLIR] [RUNTIME] [LINK libs...] [DEPENDS targets...])
# Makes a static library of every source below src/<dir> that is not below a
# nested folder with a CMakeLists.txt of its own. MLIR: uses the shared
# precompiled header and links MLIR and LLVM. RUNTIME: its code is for
# libsinter-runtime.so alone, which others link.
function(sinter_library name)
  cmake_parse_arguments(arg "MLIR;RUNTIME" "FOLDER" "LINK;DEPENDS;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/src/${arg_FOLDER}/*.cpp)
  foreach(pattern ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  sinter_merge_sources(sources ${name} src ${sources})
  if(arg_RUNTIME)
    add_library(${name} OBJECT ${sources})
  else()
    add_library(${name} STATIC ${sources})
  endif()
  target_link_libraries(${name} PUBLIC sinter_options ${arg_LINK})
  if(arg_MLIR)
    target_link_libraries(${name} PUBLIC sinter_mlir)
    if(TARGET sinter_pch)
      target_precompile_headers(${name} REUSE_FROM sinter_pch)
    endif()
  endif()
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
endfunction()

# sinter_export(target names...)
# The symbols of the shared library <target> that others see; `*` stands for
# anything.
function(sinter_export target)
  list(JOIN ARGN ";\n    " names)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(CONFIGURE OUTPUT ${script}
    CONTENT "{\n  global:\n    ${names};\n  local:\n    *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${script})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# sinter_include_closure(out headers...)
# <headers>, paths below src/, and all headers of ours that they include, directly
# or not: as paths. A generated header stands for what it is made of.
function(sinter_include_closure out)
  set(result)
  set(waiting ${ARGN})
  while(waiting)
    list(POP_FRONT waiting header)
    string(REGEX REPLACE "\\.pb\\.h$" ".proto" source ${header})
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/src/${source})
      string(APPEND source .in)
    endif()
    set(path ${CMAKE_SOURCE_DIR}/src/${source})
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "\"${header}\" is included, and is not in src/")
    endif()
    if(path IN_LIST result)
      continue()
    endif()
    list(APPEND result ${path})
    file(STRINGS ${path} lines REGEX "^ *# *include *\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" included "${line}")
      list(APPEND waiting ${included})
    endforeach()
  endwhile()
  list(SORT result)
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# sinter_gtest(folder [MLIR] LINK libs... [EXCLUDE patterns...])
# One GoogleTest program, test-<folder>, of every *Test.cpp below test/<folder>;
# CTest runs each of its cases (Cases.cmake).
function(sinter_gtest folder)
  cmake_parse_arguments(arg "MLIR" "" "LINK;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/test/${folder}/*Test.cpp)
  foreach(pattern ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "-" target test-${folder})
  sinter_merge_sources(sources ${target} test ${sources})
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/test)
  target_link_libraries(${target} PRIVATE sinter_options ${arg_LINK}
    GTest::gtest GTest::gtest_main Threads::Threads)
  if(arg_MLIR)
    target_link_libraries(${target} PRIVATE sinter_mlir)
    # The precompiled header is made for libraries.
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM sinter_pch)
  endif()
  string(REPLACE "/" "-" name ${folder})
  set(cases ${CMAKE_CURRENT_BINARY_DIR}/${target}-cases.cmake)
  file(GENERATE OUTPUT ${cases} CONTENT
    "include(${CMAKE_SOURCE_DIR}/cmake/Cases.cmake)
sinter_cases(${name} $<TARGET_FILE:${target}> ${SINTER_CASE_SECONDS} ${SINTER_TEST_SHARE} ${SINTER_CASE_ENVIRONMENT})
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${cases})
endfunction()
