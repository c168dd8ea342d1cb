# add_engine_variant(<abi>): the program wireproof-engine.<abi>.
#
# For an MPI ABI: our own minimal mpi.h (engine/abi/<abi>) and a do-nothing stub library with the ABI's soname, generated
# from one list of functions. Only the dynamic linker on the node decides which MPI answers; no run path is written.
set(WIREPROOF_SONAME_mpiabi libmpi_abi.so.1)
set(WIREPROOF_SONAME_mpich libmpi.so.12)
set(WIREPROOF_SONAME_openmpi libmpi.so.40)

# add_program(<target>): built into build/bin by the target `engines`, installed by the component `engine`.
# find_object.cpp is part of the program itself: from a library the linker would take it too late, after libgcc.
function(add_program program)
  target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/engine/base/find_object.cpp)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  install(TARGETS ${program} RUNTIME DESTINATION ${WIREPROOF_INSTALL_DIR} COMPONENT engine)
  add_dependencies(engines ${program})
endfunction()

function(add_mpi_stub abi)
  add_library(mpi_stub_${abi} SHARED ${PROJECT_SOURCE_DIR}/engine/abi/stub.c)
  target_include_directories(mpi_stub_${abi} PRIVATE ${PROJECT_SOURCE_DIR}/engine/abi)
  string(TOUPPER ${abi} upper)
  target_compile_definitions(mpi_stub_${abi} PRIVATE WIREPROOF_STUB_${upper})
  set_target_properties(mpi_stub_${abi} PROPERTIES
    OUTPUT_NAME mpi_stub_${abi} NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stubs)
  target_link_options(mpi_stub_${abi} PRIVATE -Wl,-soname,${WIREPROOF_SONAME_${abi}} -nostdlib)
endfunction()

function(add_engine_variant abi)
  set(program wireproof-engine.${abi})
  set(engine ${PROJECT_SOURCE_DIR}/engine)
  add_executable(${program} $<TARGET_OBJECTS:wireproof_main>)
  if(abi STREQUAL nompi)
    target_sources(${program} PRIVATE ${engine}/variant_nompi.cpp)
  else()
    add_folders(${program} transport/mpi)
    target_sources(${program} PRIVATE ${engine}/variant_mpi.cpp)
    # nothing of this is timed: one compilation with the rest of the folder
    set_source_files_properties(${engine}/variant_mpi.cpp ${engine}/base/find_object.cpp
                                PROPERTIES UNITY_GROUP transport_mpi)
    add_mpi_stub(${abi})
    target_include_directories(${program} SYSTEM PRIVATE ${engine}/abi/${abi})
    target_link_libraries(${program} PRIVATE mpi_stub_${abi})
  endif()
  precompile(${program} wireproof_engine)
  target_compile_definitions(${program} PRIVATE WIREPROOF_ABI="${abi}")
  target_link_libraries(${program} PRIVATE wireproof_measure ${CMAKE_DL_LIBS})
  add_program(${program})
endfunction()
