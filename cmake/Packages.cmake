# `cpack -G DEB` in the build folder: Debian packages, one of each component of
# Install.cmake, for a prefix of /usr.

set(CPACK_PACKAGE_NAME sinter)
set(CPACK_PACKAGE_VENDOR Sinter)
set(CPACK_PACKAGE_CONTACT "Sinter <sinter@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${SINTER_COMPONENTS})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Programs of others run with every later build (docs/c-api.md); our packages need
# the very same one of each other ("One build" in docs/architecture.md).
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(libraries "libsinter0 (= ${PROJECT_VERSION})")

# sinter_package(component section description depends)
# <depends> is what dpkg-shlibdeps does not see.
macro(sinter_package name section description depends)
  string(TOUPPER ${name} component)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${component}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "${depends}")
endmacro()
sinter_package(libsinter0 libs
  "Neural-network compiler for CPUs: libraries
 Runs models of ONNX, StableHLO and PaddlePaddle in programs." "")
sinter_package(libsinter-dev libdevel
  "Neural-network compiler for CPUs: headers for C and C++" "${libraries}")
sinter_package(sinter science
  "Neural-network compiler for CPUs: the command
 Runs, simplifies, quantises, trains, compares and converts models."
  "${libraries}")
# A linker: `sinter compile` runs it for shared libraries.
set(CPACK_DEBIAN_SINTER_PACKAGE_SUGGESTS "sinter-mpi, lld | binutils")
# What is loaded only when it is needed.
set(CPACK_DEBIAN_LIBSINTER0_PACKAGE_RECOMMENDS libtiff6)
sinter_package(sinter-mpi science
  "Neural-network compiler for CPUs: several processes under mpirun"
  "${libraries}, openmpi-bin")
sinter_package(python3-sinter python
  "Neural-network compiler for CPUs: Python package"
  "${libraries}, python3 (>= 3.11)")
include(CPack)
