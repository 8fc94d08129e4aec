/// The figures that `bench` takes. A raw value is the figure's name in recorded results, so it must stay as it is; a figure that
/// is measured in another way gets another name.
package enum Figure: String, CaseIterable, Sendable {
    case extentsRandomJSON = "extents.random.json"
    case extentsRandomP99 = "extents.random.json.p99"
    case extentsRandomPBF = "extents.random.pbf"
    case extentsCurveJSON = "extents.curve.json"
    case extentsCurveP99 = "extents.curve.json.p99"
    case extentsCurvePBF = "extents.curve.pbf"
    case extentsCurveGeoJSON = "extents.curve.geojson"
    case extentsMapServer = "extents.curve.geojson.mapserver"
    case extentsTipg = "extents.curve.geojson.tipg"
    case single = "single"
    case count = "count"
    case wholeTable = "whole-table"
    case statisticsOfAll = "statistics.all"
    case statisticsOfExtent = "statistics.extent"
    case distinct = "distinct"
    case counted = "counted"
    case contained = "contained"
    case hull = "hull"
    case addsInBatches = "adds.batches"
    case addsOneAtATime = "adds.single"
    case memoryIdle = "memory.idle"
    case memoryAfterReads = "memory.after-reads"
    case memoryAfterQueries = "memory.after-queries"
    case memoryAfterEdits = "memory.after-edits"
    case offline = "offline"
    case changes = "changes"
    case wireHandedIn = "wire.handed-in"
    case wireFetched = "wire.fetched"
    case wireIdle = "wire.idle"
    case relatedQuery = "related.query"
    case relatedOffline = "related.offline"
    case sdkPopulate = "sdk.populate"
    case sdkPopulateMemory = "sdk.populate.memory"
    case sdkQuery = "sdk.query"
    case sdkQueryMemory = "sdk.query.memory"
    case appFrame = "app.frame"
    case appCallOut = "app.call-out"
    case appPopUp = "app.pop-up"
    case appList = "app.list"

    package var unit: Unit { meaning.unit }

    /// What it is, in words.
    package var title: String { meaning.title }

    private var meaning: (title: String, unit: Unit) {
        switch self {
        case .extentsRandomJSON: ("extents of about 1,000 features, rows in random order, JSON", .perSecond)
        case .extentsRandomP99: ("extents, rows in random order, JSON, 99 of 100 within", .milliseconds)
        case .extentsRandomPBF: ("extents of about 1,000 features, rows in random order, PBF", .perSecond)
        case .extentsCurveJSON: ("extents of about 1,000 features, rows along a Hilbert curve, JSON", .perSecond)
        case .extentsCurveP99: ("extents, rows along a Hilbert curve, JSON, 99 of 100 within", .milliseconds)
        case .extentsCurvePBF: ("extents of about 1,000 features, rows along a Hilbert curve, PBF", .perSecond)
        case .extentsCurveGeoJSON: ("extents of about 1,000 features, rows along a Hilbert curve, GeoJSON", .perSecond)
        case .extentsMapServer: ("the same extents of MapServer, GeoJSON", .perSecond)
        case .extentsTipg: ("the same extents of tipg, GeoJSON", .perSecond)
        case .single: ("single feature by id", .perSecond)
        case .count: ("count of all", .perSecond)
        case .wholeTable: ("whole table by key, one client, features", .perSecond)
        case .statisticsOfAll: ("statistics of all, by group", .perSecond)
        case .statisticsOfExtent: ("statistics of an extent, by group", .perSecond)
        case .distinct: ("distinct values of all", .perSecond)
        case .counted: ("a condition, counted", .perSecond)
        case .contained: ("contained in a polygon, ids (floor: in its box)", .perSecond)
        case .hull: ("convex hull of an extent (floor: its sides)", .perSecond)
        case .addsInBatches: ("adds in batches of 1,000, features", .perSecond)
        case .addsOneAtATime: ("adds one at a time from 16 clients", .perSecond)
        case .memoryIdle: ("memory of the idle server, without code", .megabytes)
        case .memoryAfterReads: ("memory of the server after reads, without code", .megabytes)
        case .memoryAfterQueries: ("memory of the server after queries, without code", .megabytes)
        case .memoryAfterEdits: ("memory of the server after edits, without code", .megabytes)
        case .offline: ("all points taken offline", .seconds)
        case .changes: ("the changes of 1,000 edits", .milliseconds)
        case .wireHandedIn: ("an edit of one attribute handed in, up", .bytes)
        case .wireFetched: ("an edit of one attribute fetched, down", .bytes)
        case .wireIdle: ("a sync with nothing to tell, both ways", .bytes)
        case .relatedQuery: ("related records of 100 features", .perSecond)
        case .relatedOffline: ("features offline with as many related rows", .seconds)
        case .sdkPopulate: ("brought to a device through the SDK", .seconds)
        case .sdkPopulateMemory: ("memory of the SDK's program at its highest while it fills the table", .megabytes)
        case .sdkQuery: ("extents queried through the SDK, features", .perSecond)
        case .sdkQueryMemory: ("memory of the SDK's program at its highest while it queries", .megabytes)
        case .appFrame: ("app: frame of the page, 95 of 100 within", .milliseconds)
        case .appCallOut: ("app: tap to call-out, 95 of 100 within", .milliseconds)
        case .appPopUp: ("app: pop-up, 95 of 100 within", .milliseconds)
        case .appList: ("app: list, first rows, 95 of 100 within", .milliseconds)
        }
    }
}
