#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Makes it safe that SQLite reads files through memory mappings. Where a mapped file was shortened by another program, or its
/// disk fails, the kernel sends SIGBUS to the thread that reads, which would end the process. From here on such a thread reads
/// zeros instead, and the fault is counted; signals from anywhere else go to whoever had asked for them before.
///
/// Call it before the first connection maps its file. It may be called again.
/// Returns 1, or 0 where it can't be had; then no file may be mapped.
int fieldwork_guardMappings(void);

/// How often the calling thread has met a page that could not be read. What it read between two calls that give different numbers
/// is worthless.
unsigned long fieldwork_mappingFaults(void);

#ifdef __cplusplus
}
#endif
