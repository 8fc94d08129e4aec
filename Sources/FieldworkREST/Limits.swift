/// The limits of what is read from a request. Each is far beyond what a client of the protocol sends.
package enum Limits {
    /// Bytes of a condition, an order or another expression.
    package static let whereBytes = 262_144
    /// Expressions within expressions. Parsing, binding, compiling and evaluating each take a few frames a level.
    package static let whereDepth = 64
    /// Parts of one expression.
    package static let whereNodes = 20_000
    /// Values of one `IN` list.
    package static let whereListCount = 10_000
    /// Signs of one chain such as `a + b + c`.
    package static let whereArithmetic = 200
    /// Characters of one `LIKE`, `POSITION` or `TRIM` with its operands: the time in which a text is looked for in another
    /// grows with the product of both, and no database can be stopped within it.
    package static let whereSearchCharacters = 2_000
    /// Characters of a text field whose length nothing limits, as they are counted for a search in it.
    package static let whereTextCharacters = 1_000_000
    /// Characters of what `LIKE`, `POSITION` or `TRIM` looks for, times those of the text that it looks in.
    package static let whereSearchProduct = 200_000_000
    /// Vertices of a geometry that a query compares features with.
    package static let filterVertices = 500_000
    /// Bytes that the work with such a geometry takes for each of its vertices, in all of its forms.
    static let filterBytesPerVertex = 200
    /// Fields of a form in an address or a body.
    package static let parameterCount = 1_000
    /// Bytes of a parameter that is a short list: of layers, moments, sizes or coordinates.
    package static let listBytes = 1_024 * 1_024
    /// Bytes of memory that the values of one JSON document of a request may take: up to twenty times its text. Features of edits
    /// are read one by one, each held to it.
    package static let documentBytes = 256 * 1_024 * 1_024
    /// Metres by which a query may widen its geometry: half of the Earth's circumference.
    package static let queryDistanceMeters = 20_040_000.0
    /// Terms of one order.
    package static let orderTermCount = 100
    /// Object ids or global ids of one request.
    package static let identifierCount = 100_000
    /// Features of one edit request.
    package static let editCount = 100_000
    /// Features of which one answer says that they do not keep a validation rule.
    package static let violations = 10_000
    /// Messages within messages of a protocol buffer.
    package static let pbfDepth = 16
    /// Features that one answer may hold, whatever a service says of itself.
    package static let recordCount = 100_000
    /// Features of an answer with `resultType=tile`, where the layer does not say itself.
    package static let tileRecordCount = 8_000
    /// Features of an answer with `resultType=standard`, where the layer does not say itself.
    package static let standardRecordCount = 32_000
    /// The largest `maxRecordCountFactor`.
    package static let recordCountFactor = 5
    /// Steps of one `datumTransformation`.
    package static let datumTransformationSteps = 4
    /// Fields that one `calculate` changes.
    package static let calculatedFields = 100
    /// Features that one `calculate` changes: it is one transaction.
    package static let calculatedFeatures = 100_000
    /// Features that a condition chose and whose deletion an answer lists one by one.
    package static let listedDeletes = 100_000
    /// Reasons that the error of a `calculate` tells.
    package static let calculationReasons = 20
    /// Fields that `queryTopFeatures` groups by or orders by, each.
    package static let topFields = 20
    /// Statistics of one query.
    package static let statisticCount = 100
    /// Geometries that a row of statistics has: one of each kind. Each holds the corners of a hull while rows stream past.
    package static let geometryStatisticCount = 3
    /// Fields and expressions that statistics are grouped by.
    package static let groupFieldCount = 20
    /// Pixels across and down of a symbol's picture.
    package static let symbolPixels = 512
    /// Pixels across and down of a picture that a symbol brings along.
    package static let pictureEdge = 1_024
    /// Pixels across a line or an outline of a symbol.
    package static let symbolStrokePixels = 64.0
    /// Problems of one definition document that are told.
    static let definitionProblems = 1_000
    /// Bytes of the edits that an upload brings, expanded.
    package static let uploadedEditsBytes = 256 * 1_024 * 1_024
    /// Bytes of one attachment.
    package static let attachmentBytes = 512 * 1_024 * 1_024
    /// Attachments of one feature.
    package static let attachmentsPerFeature = 1_000
    /// Attachments that one answer lists.
    package static let attachmentsPerAnswer = 10_000
    /// Attachments that one answer lists with what their photos say of themselves: each is read for it.
    package static let attachmentsWithMetadata = 1_000
    /// Characters of an attachment's name; a longer one is cut.
    package static let attachmentNameLength = 250
    /// Characters of an attachment's keywords.
    package static let attachmentKeywordsLength = 1_024
    /// Characters of a content type.
    package static let contentTypeLength = 128
    /// Bytes at the begin of a photo that are searched for what it says of itself.
    package static let exifBytes = 256 * 1_024
    /// Values that are read of what a photo says of itself.
    package static let exifTags = 256
}
