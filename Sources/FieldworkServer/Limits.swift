/// What the server refuses to exceed. Each has a test on both sides of the edge; the configurable ones are defaults of
/// `ServerConfiguration`.
package enum Limits {
    /// Features of an export that are read at a time.
    package static let exportPageFeatures = 1_000
    /// How long a request to a provider of sign-ins may take, in seconds, with its answer.
    package static let providerSeconds = 10
    /// Bytes of an answer of a provider of sign-ins.
    package static let providerBytes = 256 * 1_024
    /// Requests to a provider of sign-ins at a time. Further people are told to try again.
    package static let providerRequests = 64
    /// Keys of a provider of sign-ins.
    package static let providerKeys = 100
    /// For how long what a provider says of itself, and its keys, are believed, in seconds.
    package static let providerMemorySeconds = 3_600
    /// Seconds between two requests for a provider's keys because of a token whose key is not known.
    package static let providerKeySeconds = 10
    /// Bytes of a token by which a provider says who somebody is.
    package static let identityTokenBytes = 32 * 1_024
    /// How far the clocks of a provider and of the server may differ, in seconds.
    package static let providerClockSeconds: Int64 = 60
    /// Addresses that one request may have found.
    package static let addressesPerBatch = 1_000
    /// Items, people or groups on one of the portal's pages.
    package static let itemsPerPage = 48
    /// Suggestions of one answer.
    static let suggestions = 50
    /// Candidates of one answer.
    static let candidates = 100
    /// Superseded versions of a feature that one answer tells.
    package static let versionsPerAnswer = 1_000
    /// Bytes of a request's body. The protocol's clients send edits of up to 50 MB in one request.
    package static let bodyBytes = 64 * 1_024 * 1_024
    /// Bytes of the bodies of all requests that are being read or worked on. Further ones are told to come again.
    package static let bodyBytesInFlight = 256 * 1_024 * 1_024
    /// Bytes of a request's address and of all of its header fields. QGIS asks for a hundred ids in one address.
    package static let headerBytes = 80 * 1_024
    /// How long the work of one request may take, in seconds; waiting for a turn or for the client does not count.
    package static let requestSeconds = 10
    /// Bytes that the work of one request may hold at a time.
    package static let requestMemoryBytes = 512 * 1_024 * 1_024
    /// Bytes that the work of all requests together may hold, with their bodies.
    package static let memoryBytes = 1_024 * 1_024 * 1_024
    /// Bytes that a request held at a time, from which on freed memory is given back to the system after it.
    package static let muchMemoryBytes = 8 * 1_024 * 1_024
    /// Seconds until that is done, for all such requests together.
    static let memoryReleaseSeconds = 2
    /// Seconds without the end of a request after which freed memory is given back, however little each request held.
    static let memoryRestSeconds = 5
    /// Bytes of memory that a tree of JSON takes for each byte of its text.
    static let treeBytesPerByte = 12
    /// Milliseconds for which a request whose client sends nothing more is still answered: some close their half of the
    /// connection when they have asked.
    static let departureMilliseconds: Int64 = 500
    /// Seconds for which the server's finding holds whether each service can be read.
    static let readinessSeconds = 5
    /// Seconds for which the sizes and states of the services in the metrics hold.
    static let storeMetricsSeconds = 15
    /// Services that the metrics tell of.
    static let meteredServices = 1_000
    /// Open conflicts that the metrics count.
    static let countedConflicts = 1_000
    /// Bytes of parameters from which on a request is worked on by threads of its own.
    static let largeRequestBytes = 4 * 1_024
    /// Threads for large requests.
    static let largeRequestThreads = 16
    /// Fields of a form.
    package static let formFields = 256
    /// Bytes of the header of one field of a multipart form.
    package static let fieldHeaderBytes = 8 * 1_024
    /// Segments of a request's path.
    package static let pathSegments = 16
    /// Characters of the name of a JSONP function.
    package static let callbackLength = 128
    /// Answers below this many bytes are not worth compressing: they fit one network packet.
    package static let compressionThreshold = 1_400
    /// Connections at once. The one that has been idle for the longest gives way to a further one; without an idle one,
    /// further ones wait in the system's queue.
    package static let connections = 4_096
    /// Connections of one client's address, or of one network of 64 bits. The one that has been idle for the longest gives
    /// way to a further one; without an idle one, that is closed.
    package static let connectionsPerAddress = 1_024
    /// Files that the process keeps for its own work: connections may not take the last ones.
    package static let reservedFiles = 512
    /// How long the head of a request may take to arrive, in seconds.
    package static let headSeconds = 30
    /// How long a body may stay behind its lowest rate, in seconds: as long as a line may be gone.
    package static let bodyGraceSeconds = 60
    /// Bytes of a body that must arrive in a second: a quarter of what the slowest line of a field crew brings.
    package static let slowestBodyBytesPerSecond = 512
    /// Bytes of a host's name: what the name system allows, and a port.
    package static let hostNameBytes = 260

    /// Names under which programs have reached a server that it need not read anew.
    static let knownHosts = 64
    /// Characters of a path that are written to the log.
    package static let loggedPathCharacters = 200
    /// Connections in the system's queue.
    package static let connectionBacklog = 512
    /// How long a connection may stay without a request, or a request without a byte, in seconds.
    package static let idleSeconds = 75
    /// How long a client may take to accept the next piece of an answer, in seconds. A cursor of the store is held meanwhile.
    package static let stalledWriteSeconds = 60
    /// Seconds after which a client that was told that the service is busy may come again.
    package static let retryAfterSeconds = 1
    /// How long requests may take to finish when the server is told to stop, in seconds.
    package static let shutdownSeconds = 30
    /// How long a definition is used before the store is asked again whether it changed, in milliseconds.
    package static let definitionLifetimeMilliseconds = 1_000
    /// Seconds until the files of the certificate are looked at again: a renewed one is taken then.
    package static let certificateSeconds = 10
    /// Bytes that are read of the file with the hash of the administration key.
    package static let administrationKeyFileBytes = 1_024
    /// Services whose definitions are kept in memory.
    package static let cachedServices = 1_024
    /// Layers that one `identify` or `find` names.
    package static let mapLayers = 1_000
    /// Results of one `identify` or `find`: they are held in memory as a whole.
    package static let mapResults = 1_000
    /// Bytes of the text that `find` looks for.
    package static let searchTextBytes = 1_024
    /// How long an image waits for the client that was told its address, in seconds.
    package static let imageSeconds = 60
    /// Bytes of images that wait; of more, the oldest are dropped.
    package static let shelfBytes = 64 * 1_024 * 1_024
    /// Entries of a layer's legend.
    package static let legendEntries = 1_000
    /// Characters of a picture, in base64, that a legend shows as it is.
    package static let swatchBytes = 256 * 1_024
    /// Features that a page of the directory shows.
    package static let pageRecords = 1_000
    /// Codes of a domain that a page of the directory shows.
    package static let pageCodes = 50
    /// Characters of a geometry that a page of the directory shows.
    package static let pageGeometryCharacters = 200
    /// How long the work of a job, or of a synchronisation, may take in seconds; the edits in it are taken in all the same.
    package static let jobSeconds = 1_800
    /// Jobs of one client that are under way or wait.
    package static let jobsPerClient = 256
    /// Bytes of the requests of all jobs of a process that are under way or wait: they are on the disk.
    package static let jobBytesAtOnce = 2_048 * 1_024 * 1_024
    /// Jobs that are under way or wait.
    package static let jobsAtOnce = 1_024
    /// Jobs of other processes that one takes over before it has finished some.
    package static let jobsTakenOver = 4
    /// Times that a job is begun before it is given up: one that ends each process that does it must not go on for ever.
    package static let jobAttempts = 5
    /// For so long after it was submitted, a beginning that trouble with the database broke off does not count against a
    /// job, in seconds: the database may be away for a night.
    static let jobTroubleSeconds: Double = 24 * 3_600
    /// How long a process of a database may say nothing of its jobs before another takes them over, in seconds.
    package static let jobLeaseSeconds = 15
    /// Seconds between two looks for what is too old in a database.
    static let workSweepSeconds: Int64 = 3_600
    /// How long jobs and their results are kept, in seconds: clients come back the next day.
    package static let resultLifetimeSeconds: Double = 48 * 3_600
    /// Replicas of one service that are prepared for others to start from, each with a file that is kept.
    package static let preparedReplicas = 1_000
    /// Bytes of a document of a replica within an answer. Larger ones are fetched as files.
    package static let embeddedBytes = 64 * 1_024 * 1_024
    /// Files of one form.
    static let filesOfForm = 16
    /// Uploads that are kept at a time, whosever they are.
    static let uploads = 10_000
    /// Parts of one upload.
    static let uploadParts = 10_000
    /// Stretches of one upload: one comes for each time that the connection breaks.
    static let uploadStretches = 20_000
    /// Bytes of an upload's part that are held in memory when parts are joined.
    static let uploadPiece = 256 * 1_024
    /// How long an upload waits for the request that uses it, in seconds.
    static let uploadLifetimeSeconds: Double = 24 * 3_600
    /// Reasons that one error tells.
    static let reasonsPerError = 20
    /// Seconds without a synchronisation after which a replica expires: half a year.
    package static let replicaSilenceSeconds: Double = 182 * 86_400
    /// Seconds for which changes stay in the log though every live replica has them: a month.
    package static let changeLogSeconds: Double = 30 * 86_400
    /// Seconds between two looks at what may be dropped from the change logs.
    static let careSeconds: Int64 = 6 * 3_600
    /// Deleted features that a list of changes tells in full: each is looked up in the history.
    static let deletedFeaturesPerAnswer = 1_000
    /// Conflicts in one answer.
    static let conflictsPerAnswer = 1_000
    /// Tiles that a part of a basemap may have, as the grid counts them.
    package static let exportedTiles = 100_000
    /// Bytes of a package with a part of a basemap.
    static let exportedBytes = 4_096 * 1_024 * 1_024
    /// Packages of tiles that are held open.
    static let openBasemaps = 64
    /// Bytes of tiles and glyphs that are kept in memory, compressed.
    package static let tileCacheBytes = 64 * 1_024 * 1_024
    /// Bytes of a compressed answer for a client that wants it expanded.
    static let expandedAnswerBytes = 64 * 1_024 * 1_024
    /// Changed features that are looked up to tell which tiles they change; of more, all tiles are new.
    static let tileChanges = 500
    /// Tiles of one level that a changed feature may touch; of more, all tiles are new.
    static let tilesPerChange = 256
    /// Seconds for which the size of a layer is remembered at most.
    static let layerMeasureSeconds = 300
    /// Layers, as different people may read them, whose sizes are remembered.
    static let layerMeasures = 1_000
    /// Tiles of one service that are known to have changed; of more, all tiles are new.
    static let changedTiles = 200_000
    /// Tiles across and down of one block of `tilemap`.
    package static let tileBlockSide = 128
    /// Object ids of one answer in protocol buffers: it is held in memory as a whole.
    package static let idsInProtocolBuffer = 1_000_000
    /// Addresses of the part of a locator that is cut for a client.
    package static let addressesPerCut = 250_000
}
