#pragma once

/// The commit that the program was built of; empty where the build was not told.
const char *fieldwork_commit(void);
