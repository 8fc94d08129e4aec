/// What the SDK bounds, by name.
enum Limits {
    /// The most features that one query gathers from all its pages.
    static let queriedFeatures = 250_000
    /// The most pages that one query asks for.
    static let queryPages = 1_000
    /// The most entries that a journal of edits keeps; those that aren't on a service are kept beyond it.
    static let journalEntries = 1_000
    /// The largest answer that is read into memory, in bytes.
    static let answerBytes = 256 * 1_024 * 1_024
    /// The largest download that is looked at for an error of the protocol, in bytes.
    static let errorAnswerBytes: Int64 = 64 * 1_024
    /// Levels of groups within a map service.
    static let sublayerDepth = 20
    /// How many ids are named in one condition.
    static let idsPerCondition = 200
    /// How often a read is tried before its error is reported. Writes are tried once.
    static let readAttempts = 3
    /// How long a connection may be silent while an answer is awaited, in seconds.
    static let requestSeconds: Int64 = 60
    /// How long a request may take until its answer is complete, in seconds.
    static let exchangeSeconds: Int64 = 600
    /// How long a file may take to be transferred, in seconds.
    static let transferSeconds: Int64 = 86_400
    /// The wait before a read is tried the second time, in milliseconds; it doubles.
    static let firstRetryMilliseconds = 200
    /// The longest wait before a read is tried again, in seconds, whatever the service asks for.
    static let retrySeconds: Int64 = 30
    /// The most ways out of the process (time-outs, proxies) whose connections are kept.
    static let connectionPools = 8
    /// The longest address that is asked for by GET, in bytes: longer ones are refused by some servers and proxies.
    static let addressLength = 1_800
    /// The longest name of a parameter that is written to the log, in bytes.
    static let loggedNameLength = 40
    /// The longest value of a parameter that is written to the log, in bytes.
    static let loggedValueLength = 400
    /// How long connecting may take, in seconds.
    static let connectSeconds: Int64 = 10
    /// How many layers' resources, pages of features or contents of attachments are asked for at once.
    static let parallelRequests = 4
    /// Folders of a server's catalogue that are looked into.
    static let catalogueFolders = 100
    /// The most decimals that a number is shown with.
    static let decimalPlaces = 20
    /// The most related records that a pop-up looks at for one relationship.
    static let popupRelatedRecords = 1_000
    /// The most messages that a job keeps.
    static let jobMessages = 1_000
    /// How often a download goes on after a broken connection before its error is reported.
    static let downloadAttempts = 20
    /// How many features of a replica are written in one transaction.
    static let featuresPerLoad = 2_000
    /// How long a job waits between two questions to the service, in milliseconds: at first, and at most.
    static let firstPollMilliseconds = 100
    /// A job is looked at about so often while the time that it takes doubles.
    static let pollsPerDoubling = 8
    /// The longest wait between two looks at a job.
    static let lastPollMilliseconds = 2_000
    /// The largest document of a web map that is read from a file, in bytes.
    static let webMapBytes = 32_000_000
    /// How often the expressions of a form are evaluated until nothing changes any more.
    static let formRounds = 8
    /// The most features that filling the cache gives back; all are in the cache.
    static let populatedFeatures = 10_000
    /// The most features that one page of filling the cache asks for.
    static let featuresPerPage = 2_000
    /// The most parts that a layer is cut into while the cache is filled; parts may take several pages.
    static let populationPages = 100_000
    /// How many ids of the cache are in memory while it is looked through.
    static let idsPerLook = 10_000
    /// The most fields and texts of one label.
    static let labelParts = 50
    /// The most units of the calendar by which a layer's times are moved.
    static let timeOffsetUnits = 10_000
    /// The shortest time between two automatic refreshes of a layer, in seconds.
    static let refreshSeconds = 1.0
    /// The longest time between two automatic refreshes of a layer, in seconds.
    static let longestRefreshSeconds = 31_536_000.0
    /// The most steps of one geometry's editing that can be taken back.
    static let sketchSteps = 1_000
    /// The most letters of an item's id.
    static let itemIDLength = 64
    /// The most rules of one map.
    static let mapRules = 100
    /// The most letters of a picture that a symbol holds, as base64.
    static let symbolPictureBytes = 1_024 * 1_024
    /// The most letters that the swatch of a text shows.
    static let swatchLetters = 8
    /// The largest attachment that is kept on this device for sending, in bytes.
    static let attachmentBytes: UInt64 = 1_024 * 1_024 * 1_024
    /// The most unsent edits of attachments that one feature has.
    static let stagedAttachments = 1_000
    /// The longest name of an attachment, in characters.
    static let attachmentNameLength = 255
    /// Attachments up to this many bytes go within the edits, others as uploads before, where the service takes those.
    static let inlineAttachmentBytes: Int64 = 32 * 1_024
    /// How many bytes of attachments go within one request, where the service takes uploads: a request that breaks off goes
    /// whole again, and one that is too large for the line never arrives.
    static let inlineBytesPerRequest: Int64 = 64 * 1_024
    /// How many bytes of attachments belong to one request, within it or uploaded before.
    static let attachmentBytesPerRequest: Int64 = 8 * 1_024 * 1_024
    /// How often an upload goes on after a broken connection without a byte more at the service, before that is reported.
    static let resumedUploadAttempts = 20
    /// How much of a file goes in one part to a service that takes uploads in parts alone, in bytes: some refuse less.
    static let strangerPartBytes: Int64 = 5 * 1_024 * 1_024
    /// Contents of attachments up to this many bytes go within the edits of a sync, others as uploads before.
    static let inlineContentBytes: Int64 = 16 * 1_024
    /// Requests of at least this many bytes are compressed, for services that take that.
    static let compressedRequestBytes = 1_024
    /// Edits of a sync that are longer than this go as an upload, in bytes.
    static let inlineEditsBytes = 1_024 * 1_024
    /// How many attachments of a replica are written in one transaction.
    static let attachmentsPerLoad = 50
    /// The slowest connection that an upload's time-out allows for, in bytes a second.
    static let slowestBytesPerSecond: Int64 = 2 * 1_024
    /// The longest token that is taken, in bytes.
    static let tokenBytes = 16 * 1_024
    /// A token that expires within this time is renewed before it is sent, in seconds.
    static let tokenMarginSeconds = 30.0
    /// How long a person's sign-in is asked for, in seconds: two weeks.
    static let signInSeconds = 1_209_600.0
    /// The longest sign-in that is asked for, in seconds: a year.
    static let longestSignInSeconds = 31_536_000.0
    /// How long the token of an app itself is asked for, in seconds.
    static let applicationTokenSeconds = 7_200.0
    /// A refresh token that ends within this time is exchanged for a new one, in seconds: a day.
    static let refreshMarginSeconds = 86_400.0
    /// How often one request is sent with another token or after another sign-in.
    static let signInRounds = 4
    /// How often a sign-in service that does not answer is asked.
    static let secretAttempts = 4
    /// How long the system's keyring may take, in seconds.
    static let keyringSeconds = 20
    /// The longest address that a sign-in page may send the browser to, in bytes.
    static let redirectBytes = 8 * 1_024
    /// The most results of one page that a portal is asked for.
    static let portalPage = 100
    /// The most pages of one list of a portal that are asked for.
    static let portalPages = 1_000
    /// How many redirections of one request are followed.
    static let redirections = 5
    /// How much of a file is in memory while it is sent, in bytes.
    static let filePieceBytes = 64 * 1_024
    /// Uploads whose ids a file keeps: the service may be put back to a state that has only some of them.
    static let sentUploads = 200
}
