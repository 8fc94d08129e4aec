import FieldworkGeometry
public import Foundation

/// A picture or a chart of a pop-up.
public final class PopupMedia: Sendable {
    /// The kinds of media.
    public enum Kind: Sendable {
        /// A picture, or a chart of bars, columns, a line, slices.
        case image, barChart, columnChart, lineChart, pieChart
        /// Something else.
        case unknown
    }

    let json: JSONValue
    /// What stands above it, with names replaced in an evaluated pop-up.
    public let title: String
    /// What stands below it.
    public let caption: String
    /// What it shows, for who can't see it.
    public let alternativeText: String
    /// The data; nil in a definition, and when it can't be shown.
    public let value: PopupMediaValue?

    /// As it was authored.
    init(_ json: JSONValue) {
        self.json = json
        title = json["title"]?.stringValue ?? ""
        caption = json["caption"]?.stringValue ?? ""
        alternativeText = json["altText"]?.stringValue ?? ""
        value = nil
    }

    /// With values filled in.
    init(_ authored: PopupMedia, title: String, caption: String, alternativeText: String, value: PopupMediaValue?) {
        json = authored.json
        self.title = title
        self.caption = caption
        self.alternativeText = alternativeText
        self.value = value
    }

    /// The kind.
    public var kind: Kind {
        switch json["type"]?.stringValue?.lowercased() {
        case "image": .image
        case "barchart": .barChart
        case "columnchart": .columnChart
        case "linechart": .lineChart
        case "piechart": .pieChart
        default: .unknown
        }
    }

    /// After how many seconds a picture is fetched again; 0 for never.
    public var imageRefreshInterval: TimeInterval { (json["refreshInterval"]?.doubleValue ?? 0) * 60 }

    /// The names of the fields that a chart shows.
    var fieldNames: [String] { json["value"]?["fields"]?.arrayValue?.compactMap(\.stringValue) ?? [] }
    /// The colours of a chart.
    var colors: [SymbolColor] { (json["value"]?["colors"]?.arrayValue ?? []).compactMap { SymbolColor($0) } }
    /// The field that the data of a chart are divided by; some authors write the text "null" for none.
    var normalizeField: String? { json["value"]?["normalizeField"]?.stringValue.flatMap { $0 == "null" ? nil : $0 } }
    /// The field that labels the related records of a chart.
    var tooltipField: String? { json["value"]?["tooltipField"]?.stringValue }
}

/// What a picture or a chart shows.
public final class PopupMediaValue: Sendable {
    /// The numbers of a chart, in the order of `labels`.
    public let data: [any Sendable]
    /// What the numbers are.
    public let labels: [String]
    /// Where a picture leads.
    public let linkURL: URL?
    /// Where a picture is.
    public let sourceURL: URL?

    /// The colours of a chart in the order of its fields, as its author chose them; none where they are left to who draws.
    public let chartColors: [SymbolColor]

    init(
        data: [any Sendable] = [], labels: [String] = [], linkURL: URL? = nil, sourceURL: URL? = nil,
        chartColors: [SymbolColor] = []
    ) {
        self.chartColors = chartColors
        self.data = data
        self.labels = labels
        self.linkURL = linkURL
        self.sourceURL = sourceURL
    }
}
