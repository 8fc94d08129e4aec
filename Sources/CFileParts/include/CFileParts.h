#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// The name of a way to files (an SQLite VFS) for a database that is a stretch of a larger file, such as a file that is stored in a zip
/// file. It is opened to be read, by a URI that says where the stretch begins and how long it is:
///
///     file:/path/to/map.zip?immutable=1&offset=1024&size=4096
///
/// The larger file must not change meanwhile: nothing is locked, and no log beside it is looked for.
///
/// Returns 0 where it could not be registered.
const char *fieldwork_fileParts(void);

#ifdef __cplusplus
}
#endif
