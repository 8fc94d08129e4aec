/// The bounds of the store. Each is tested on both sides.
package enum Limits {
    /// Readers of the tables that belong to no service, each a connection.
    package static let recordReaders = 3
    /// Views of which a process remembers what they show.
    static let knownViews = 1_000
    /// Seconds until every process has learnt that a view was changed. What a device was given until then it is given anew.
    static let viewSettlingSeconds = 5
    /// Columns of a layer besides its geometry: as many as the bit masks of the change log tell apart.
    package static let fieldsPerLayer = 240
    /// Layers and tables of one service.
    package static let layersPerService = 1_000
    /// Characters of a service's or folder's name: it becomes a file's name.
    package static let serviceNameLength = 120
    /// Readers of one file, each a connection of its own.
    package static let readersPerFile = 12
    /// Connections that all files of a folder of services may have open in one process. When a file needs one more, the
    /// connection that was unused for the longest time is closed.
    package static let connectionsOfFolder = 128
    /// Readers that long reads may use, and those that hold a statement open between the pieces of an answer. The rest stays
    /// free for short reads, so that long ones and slow takers of long answers never stop everybody else.
    package static let openStreamsPerFile = 8
    /// Features that are read by id, or to which others are related, on the thread of whoever asks; more are read on a thread of the
    /// reader's own.
    package static let glancedFeatures = 128
    /// Milliseconds that a read may hold up the thread of whoever asks. One that takes longer begins again on the reader's own.
    static let glanceMilliseconds = 2
    /// Groups of statistics that are found by one walk over the features; for more SQLite sorts them.
    static let foldedGroups = 1_024
    /// Values of all those groups together: each becomes an argument of a statement.
    static let foldedValues = 8_192
    /// Bytes of the texts among them.
    static let foldedBytes = 1 << 20
    /// Milliseconds after which a read is no short one any more, and needs one of the places for long reads.
    package static let shortReadMilliseconds = 50
    /// How long a request waits for a reader, in seconds.
    package static let readerWaitSeconds = 30
    /// Rows of a layer that an attribute rule reads at once, for one question.
    package static let ruleRows = 20_000
    /// Characters of what a validation says of one feature; a script could say more than anybody reads.
    package static let ruleMessageCharacters = 1_000
    /// Features that are read at a time to be asked about by validation rules.
    static let validatedAtOnce = 500
    /// Edits of rules that may call for one another, one after the other: rules that go round in a circle end here.
    package static let ruleCascade = 16
    /// Features that the rules of layers may edit because of one edit.
    package static let ruleEdits = 1_000
    /// Steps of a statement of SQLite between two looks at whether it may go on.
    static let stepsBetweenChecks: Int32 = 4_000
    /// Bytes of a geometry from which on the work is charged for its encoding.
    static let largeValueBytes = 256 * 1_024
    /// Bytes that the encoding of a geometry takes for each of its own.
    static let encodedBytesPerByte = 4
    /// Rows that are encoded between two looks at whether that may go on: power of two.
    static let rowsBetweenChecks = 16
    /// Readers of one service in PostgreSQL: each is a connection, of which a server has a hundred or so for all services and
    /// processes.
    static let sessionReaders = 4
    /// Those of a service's readers in PostgreSQL that may hold a statement open between the pieces of an answer.
    static let sessionStreams = 3
    /// Bytes of a table's, column's or schema's name in PostgreSQL, which cuts off the rest.
    package static let sessionNameBytes = 63
    /// Characters of a text field that PostgreSQL can index whatever its value: an entry has at most 2,704 bytes.
    package static let sessionIndexCharacters = 650
    /// Partitions of a layer's table in PostgreSQL: planning a query over them takes longer, the more there are.
    package static let partitions = 256
    /// Rows that a session gives at once; more come one by one.
    package static let rowsOfPage = 10_000
    /// Prepared statements kept by a connection.
    package static let cachedStatements = 96
    /// Bytes of a statement that a connection keeps: one of many conditions takes a hundred times its bytes.
    package static let cachedStatementBytes = 16 * 1_024
    /// Milliseconds to wait for a lock that another program (QGIS, GDAL) holds on the file.
    package static let busyMilliseconds: Int32 = 10_000
    /// The same for a file that is only looked at.
    package static let summaryBusyMilliseconds: Int32 = 250
    /// Layers that are told of a file that is only looked at.
    package static let summaryLayers = 100
    /// Batches that one transaction commits at most, so that the first of them is not kept waiting by the last.
    package static let batchesPerCommit = 256
    /// Edits in a batch that may share a transaction with others.
    package static let itemsPerSharedBatch = 50
    /// New features of a layer from which on they go into a database by a bulk load.
    package static let bulkAdds = 8
    /// Rows of a service from which on they are taken over without the triggers that would look at each.
    package static let bulkTakeOver = 500
    /// Rows that one deletion takes at most: the feature, its parts and theirs.
    package static let rowsPerDelete = 100_000
    /// Features that an answer to edits tells with all their values.
    package static let editedFeatures = 10_000
    /// Features that `records` gives when the query sets no limit of its own.
    package static let recordsPerAnswer = 1_000_000
    /// How deep the pieces of an expression may lie within each other: three a function or a pair of parentheses, up to seven a
    /// CASE. SQLite's parser has room for 100, of which the statement around it needs some.
    package static let expressionDepth = 60
    /// Values of an expression outside of lists: the time in which a database reads them grows with their square.
    package static let expressionValues = 5_000
    /// Values of all lists of an expression: PostgreSQL takes 65,535 of everything.
    package static let expressionListedValues = 50_000
    /// Bytes of one geometry or binary value (SQLite's own limit is 1,000,000,000).
    package static let valueBytes = 256 * 1_024 * 1_024
    /// Pages that a reader keeps, in KiB: the operating system has the rest of the file. So much holds the inner pages of
    /// the trees of 10,000,000 rows beside 1,000 changed ones, so that a sync costs the same on layers of any size.
    package static let readerCacheKibibytes = 16_384
    /// Bytes of a file that a reader maps into its memory; it reads what lies behind them page by page. (SQLite's own limit.)
    package static let mappedBytes = 0x7fff_0000
    /// Bytes of memory that SQLite keeps for all connections of a process together. What more there is in files is read of the
    /// operating system's memory.
    package static let cacheBytes = 128 * 1_024 * 1_024
    /// Seconds without a read after which the readers of a file give back what they keep of it.
    package static let readerRestSeconds = 60
    /// Pages that the writer keeps, in KiB: a batch that doesn't fit is written twice.
    package static let writerCacheKibibytes = 16_384
    /// Pages that the maker of a replica's file keeps, in KiB: indexes are built in it.
    package static let replicaFileCacheKibibytes = 65_536
    /// Microseconds for which a file that was seen at its place is taken to be there still, before a commit. After each commit
    /// it is looked at again.
    package static let lookMicroseconds = 1_000
    /// Pages of 4 KiB in the write-ahead log before they are moved into the file: the more, the more often changed
    /// pages of indexes are written once instead of many times.
    package static let logPages = 4_000
    /// Pages in the write-ahead log at which edits wait until it is moved.
    package static let logPagesMost = 16_000
    /// Replicas of one service that have not been unregistered.
    package static let replicasPerService = 100_000
    /// Characters of a replica's name, before a number that makes it unique.
    package static let replicaNameLength = 200
    /// Ids that one statement is given.
    static let idsPerStatement = 10_000
    /// Edits, or transactions of edits, that can be undone in one file.
    package static let undoSteps = 1_000
    /// Conflicts in one listing.
    package static let conflictsPerList = 10_000
    /// Bytes of an attachment's content that are held in memory at a time.
    static let mediaPiece = 256 * 1_024
    /// Attachments that are listed at once when they are published in a database.
    static let attachmentsOfPage = 1_000
    /// Connections of a process to a database for all of its services together, and as many to each standby.
    package static let sessions = 40
    /// The fewest connections that a process may be told to make do with: one slow service of a database takes half of them.
    package static let fewestSessions = 10
    /// Milliseconds to wait for a connection when all are in use.
    static let connectionWaitMilliseconds = 10_000
    /// Connections of a process for uploads, jobs and results in a database, beside those of its services.
    package static let workSessions = 4
    /// Bytes of an upload or a result that one row of a database holds.
    package static let workPiece = 256 * 1_024
    /// Seconds after which a file that no upload and no result names is removed: its writer has gone.
    package static let unnamedFileSeconds = 86_400
    /// Files that one look at what is unnamed removes.
    static let filesPerSweep = 1_000
    /// Milliseconds to wait for a standby to come up to what the primary has committed, before the primary answers itself.
    static let standbyPatienceMilliseconds = 50
    /// Milliseconds between two looks at how far a standby is.
    static let standbyStepMilliseconds = 2
    /// Seconds for which a standby that is away is not asked.
    package static let standbyRestSeconds = 5
    /// Large objects that one transaction frees in PostgreSQL.
    static let contentsPerUnlinking = 500
    /// Attachments whose changes or versions one answer lists.
    package static let attachmentChanges = 1_000_000
    /// Contents of attachments in one file that are known to be what their hashes say.
    static let verifiedContents = 10_000
    /// Seconds without a write after which what a killed publish left may be removed.
    package static let leftoverSeconds = 3_600.0
    /// Pages of a file that are copied at once, between two looks whether to go on.
    static let pagesPerCopyStep: Int32 = 4_096
    /// Seconds that a file which was copied over an open one must have been left alone before it is opened.
    static let replacedSettledSeconds = 2
    /// Generations left out when a service is put back to an earlier state; the next one is a multiple of it.
    package static let restorationStep: Int64 = 1_000_000
    /// Generations that a service can have: what clients in JavaScript count exactly, less a step.
    package static let generations: Int64 = 9_007_199_000_000_000
    /// Seconds since the last change of a file after which its times tell one state from the next.
    static let settledSeconds = 2
}
