# What `cmake --install` puts where. Each component is a package (Packages.cmake).
# Everything finds the rest by its place, so the whole may be moved.
include(CMakePackageConfigHelpers)

set(SINTER_INSTALL_PYTHON_DIR lib/python3/dist-packages CACHE PATH
  "Where the Python package is installed, below the prefix")
set(SINTER_INSTALL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sinter)
set(SINTER_COMPONENTS libsinter0 libsinter-dev sinter)

# CMake changes no path when it installs: a changed one would end with an empty
# folder, which is the current one.
function(sinter_rpath)
  cmake_parse_arguments(arg "" "" "TARGETS;PATHS" ${ARGN})
  list(REMOVE_DUPLICATES arg_PATHS)
  set_target_properties(${arg_TARGETS} PROPERTIES
    INSTALL_RPATH "${arg_PATHS}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# The command and the libraries.
set(libraries sinter_runtime sinter-compiler)
file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
sinter_rpath(TARGETS sinter PATHS "$ORIGIN/../lib" "$ORIGIN/${from_program}")
sinter_rpath(TARGETS ${libraries} sinter_c PATHS "$ORIGIN")
set_target_properties(${libraries} sinter_c PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS sinter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT sinter)
# Its manual pages, and completions for bash and zsh, where these look for them.
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}
  COMPONENT sinter)
# Nobody links these two by their names.
install(TARGETS ${libraries}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libsinter0 NAMELINK_SKIP)
install(TARGETS sinter_c EXPORT SinterTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libsinter0
  NAMELINK_COMPONENT libsinter-dev)
if(TARGET sinter-mpi)
  sinter_rpath(TARGETS sinter-mpi PATHS "$ORIGIN")
  set_target_properties(sinter-mpi PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS sinter-mpi
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sinter-mpi)
  list(APPEND SINTER_COMPONENTS sinter-mpi)
endif()

# What programs in C and C++ are built with.
install(FILES include/sinter.h include/sinter.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libsinter-dev)
install(EXPORT SinterTargets FILE SinterConfig.cmake NAMESPACE Sinter::
  DESTINATION ${SINTER_INSTALL_CMAKE_DIR} COMPONENT libsinter-dev)
# While the first number is 0, the second one changes what callers see.
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/install/SinterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/install/SinterConfigVersion.cmake
  DESTINATION ${SINTER_INSTALL_CMAKE_DIR} COMPONENT libsinter-dev)
file(RELATIVE_PATH SINTER_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/sinter.pc.in ${CMAKE_BINARY_DIR}/install/sinter.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/sinter.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libsinter-dev)

# The Python package, which lies in python/ of the build folder.
if(TARGET sinter_python)
  file(RELATIVE_PATH from_module
    /${SINTER_INSTALL_PYTHON_DIR}/sinter /${CMAKE_INSTALL_LIBDIR})
  # In a wheel the libraries lie inside the package (scripts/wheel.sh).
  sinter_rpath(TARGETS sinter_python PATHS
    "$ORIGIN/../../lib" "$ORIGIN/${from_module}" "$ORIGIN/lib")
  install(TARGETS sinter_python LIBRARY
    DESTINATION ${SINTER_INSTALL_PYTHON_DIR}/sinter COMPONENT python3-sinter)
  install(DIRECTORY src/bindings/python/sinter
    DESTINATION ${SINTER_INSTALL_PYTHON_DIR} COMPONENT python3-sinter
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN py.typed
    PATTERN __pycache__ EXCLUDE)
  list(APPEND SINTER_COMPONENTS python3-sinter)
endif()

foreach(component ${SINTER_COMPONENTS})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component}
    RENAME copyright COMPONENT ${component})
endforeach()
