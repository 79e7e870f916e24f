# ONNX Runtime: only its headers are needed to build; the library is opened at run time.
#   TAUTO_ONNXRUNTIME_ROOT     where ./dev keeps it: include/onnxruntime/, lib/libonnxruntime.so.1
#   TAUTO_ONNXRUNTIME_INCLUDE  the folder that holds onnxruntime_cxx_api.h; NOTFOUND = build without
#   TAUTO_ONNXRUNTIME_LIBRARY  for the tests of the engine; NOTFOUND = they skip

if(DEFINED ENV{XDG_CACHE_HOME})
  set(tauto_cache $ENV{XDG_CACHE_HOME}/tautochrone)
else()
  set(tauto_cache $ENV{HOME}/.cache/tautochrone)
endif()
set(TAUTO_ONNXRUNTIME_ROOT ${tauto_cache}/onnxruntime CACHE PATH
  "ONNX Runtime, as ./dev lays it out")
find_path(TAUTO_ONNXRUNTIME_INCLUDE onnxruntime_cxx_api.h
  HINTS ${TAUTO_ONNXRUNTIME_ROOT}/include PATH_SUFFIXES onnxruntime)
find_file(TAUTO_ONNXRUNTIME_LIBRARY libonnxruntime.so.1
  HINTS ${TAUTO_ONNXRUNTIME_ROOT}/lib ${CMAKE_LIBRARY_PATH} PATHS /usr/lib/x86_64-linux-gnu)
if(NOT TAUTO_ONNXRUNTIME_INCLUDE)
  message(STATUS "ONNX Runtime headers not found: building without the onnx engine (./dev setup)")
endif()
